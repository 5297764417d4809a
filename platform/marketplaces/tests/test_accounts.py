"""Accounts: keys are write-only and belong to one environment; who can sync, and how results are shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from exports.tests import building
from marketplaces import kinds, syncing
from marketplaces.kinds import MarketplaceError
from marketplaces.models import Account, Recruitment, credentials_of
from studies.models import Study

pytestmark = pytest.mark.django_db

UNUSED_ADDRESS = "http://127.0.0.1:9"


@pytest.fixture
def desk(client):
    client.force_login(User.objects.create_superuser("somebody"))
    return client


def new_account(**fields):
    return Account.objects.create(
        **{"title": "Ours", "kind": "mturk", "place": "rehearsal", "address": UNUSED_ADDRESS, **fields}
    )


def account_form(account, **fields):
    names = {f"credential_{credential.name}": "" for credential in kinds.get("mturk").credentials}
    return {"title": account.title, "place": account.place, "address": account.address, **names, **fields}


def entered_keys(prefix="SECRET"):
    return {
        f"credential_{credential.name}": f"{prefix}-{credential.name}" for credential in kinds.get("mturk").credentials
    }


def test_keys_are_stored_encrypted_and_never_shown(desk):
    account = new_account()
    address = f"/admin/marketplaces/account/{account.pk}/change/"
    assert desk.post(address, account_form(account, **entered_keys())).status_code == 302
    account.refresh_from_db()
    assert "SECRET" not in account.sealed_credentials
    assert set(credentials_of(account).values()) == set(entered_keys().values())
    for page in (address, f"/admin/marketplaces/account/{account.pk}/history/", "/admin/audit/record/"):
        assert "SECRET" not in desk.get(page).content.decode()


def test_empty_key_fields_keep_the_stored_keys(desk):
    account = new_account()
    account.keep_credentials({"access_key": "kept"})
    account.save()
    desk.post(f"/admin/marketplaces/account/{account.pk}/change/", account_form(account, title="New name"))
    account.refresh_from_db()
    assert (account.title, credentials_of(account)) == ("New name", {"access_key": "kept"})


def test_keys_are_not_sent_to_another_environment(desk):
    account = new_account()
    account.keep_credentials({"access_key": "kept"})
    account.save()
    answer = desk.post(
        f"/admin/marketplaces/account/{account.pk}/change/", account_form(account, address="http://127.0.0.1:10")
    )
    assert "belongs to the previous environment" in answer.content.decode()
    account.refresh_from_db()
    assert account.address == UNUSED_ADDRESS


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"place": "rehearsal", "address": ""}, "stand-in"),
        ({"place": "production", "address": UNUSED_ADDRESS}, "Only rehearsals"),
    ],
)
def test_only_a_rehearsal_has_its_own_address(desk, fields, reason):
    answer = desk.post("/admin/marketplaces/account/add/", {"title": "A", "kind": "mturk", **fields})
    assert reason in answer.content.decode()
    assert not Account.objects.exists()


def test_creator_of_an_account_owns_it(client):
    creator = User.objects.create_user("maker", is_staff=True)
    client.force_login(creator)
    client.post("/admin/marketplaces/account/add/", {"title": "A", "kind": "mturk", "place": "sandbox", "address": ""})
    assert [(member.user, member.role) for member in Account.objects.get().members.all()] == [(creator, "owner")]


def test_account_in_use_is_not_deleted(desk):
    recruitment = new_recruitment()
    desk.post(f"/admin/marketplaces/account/{recruitment.account_id}/delete/", {"post": "yes"})
    assert Account.objects.filter(pk=recruitment.account_id).exists()


# ---- syncing ---------------------------------------------------------------------------------------------


def new_recruitment():
    return Recruitment.objects.create(study=building.new_study(slug="asked", via="mturk"), account=new_account())


@pytest.fixture
def marketplace(monkeypatch):
    """The marketplace's answers, in order; the last one repeats."""
    answers = []

    def sync(recruitment):
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer

    monkeypatch.setattr("marketplaces.mturk.deciding.sync", sync)
    return answers


def test_sync_errors_are_shown_and_retried_less_often(marketplace):
    recruitment = new_recruitment()
    marketplace.extend([MarketplaceError("It is down."), MarketplaceError("It is down."), None])
    pauses = []
    for _time in range(2):
        syncing.sync(recruitment)
        recruitment.refresh_from_db()
        assert recruitment.problem == "It is down."
        pauses.append(recruitment.next_at - timezone.now())
    assert pauses[1] > pauses[0] * 1.5
    syncing.sync(recruitment)
    recruitment.refresh_from_db()
    assert (recruitment.problem, recruitment.failures) == ("", 0)
    assert recruitment.answered_at is not None


def test_internal_error_affects_one_study_and_reveals_nothing(marketplace, caplog):
    recruitment = new_recruitment()
    marketplace.append(ValueError("A1WORKER"))
    assert syncing.sync_due() == 1
    recruitment.refresh_from_db()
    assert "log" in recruitment.problem
    assert "A1WORKER" not in recruitment.problem + caplog.text


@pytest.mark.slow
def test_concurrent_syncs_send_one_request(marketplace):
    recruitment = new_recruitment()
    marketplace.append(None)
    same_recruitment = Recruitment.objects.get(pk=recruitment.pk)
    assert syncing.sync(recruitment)
    assert not syncing.sync(same_recruitment)


def test_closed_study_is_synced_less_often(marketplace):
    recruitment = new_recruitment()
    marketplace.append(None)
    pauses = []
    for status in ("launched", "closed"):
        Study.objects.update(status=status)
        synced = Recruitment.objects.get(pk=recruitment.pk)
        assert syncing.sync(synced)
        synced.refresh_from_db()
        pauses.append(synced.next_at - synced.asked_at)
    assert pauses == [syncing.INTERVAL, syncing.LONGEST_PAUSE]


def test_only_due_studies_are_synced(marketplace):
    recruitment = new_recruitment()
    marketplace.append(None)
    Recruitment.objects.filter(pk=recruitment.pk).update(next_at=timezone.now() + timedelta(hours=1))
    assert syncing.sync_due() == 0


def test_recruitment_form_says_where_accounts_are_added(desk):
    page = desk.get("/admin/marketplaces/recruitment/add/").content.decode()
    assert "account that you may use" in page and 'href="/admin/marketplaces/account/"' in page
    new_account()
    assert "There is no account" not in desk.get("/admin/marketplaces/recruitment/add/").content.decode()
