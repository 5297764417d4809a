"""What researchers can do with a study on Prolific in the admin, and what each role may not do."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Record
from exports.tests import building
from marketplaces import syncing
from marketplaces.models import Recruitment
from marketplaces.prolific.models import Publication
from marketplaces.prolific.standin import TOKEN
from rights.roles import Role
from tests.visitors import breadcrumb_urls, text_of

pytestmark = pytest.mark.django_db

OFFER = {
    "name": "Splitting money",
    "description": "You share money.",
    "places": "20",
    "minutes": "10",
    "devices": ["desktop", "mobile"],
    "requires_signature": "on",
}


def page_url(name: str, *key: object) -> str:
    return reverse(f"admin:prolific_publication_{name}", args=key)


@pytest.fixture
def owner(sign_in) -> Client:
    return sign_in(study=Role.OWNER, account_role=Role.EDITOR)


def page_text(response) -> str:
    """Return the text of the page after a redirect."""
    return text_of(response)


def test_study_is_offered_published_and_stopped(desk, owner):
    form = owner.get(page_url("of", desk.study.pk))
    assert "Create draft" in page_text(form) and "1.00 USD" in page_text(form) and not desk.standin.market.studies
    created_page = owner.post(
        page_url("of", desk.study.pk), {**OFFER, "project": desk.standin.market.project}, follow=True
    )
    assert "The draft is on Prolific" in page_text(created_page)
    key = desk.publication.pk
    price = owner.get(page_url("publish", key))
    assert (
        "28.00 USD" in page_text(price) and "10000.00 USD" in page_text(price) and "nobody is paid" in page_text(price)
    )
    assert desk.publication.status == "UNPUBLISHED"
    assert "can now see the study" in page_text(owner.post(page_url("publish", key), follow=True))
    assert "More places" in page_text(owner.post(page_url("pause", key), follow=True))
    assert "new participants can start again" in page_text(owner.post(page_url("resume", key), follow=True))
    assert "The study now has 25 places" in page_text(
        owner.post(page_url("places", key), {"places": "25"}, follow=True)
    )
    assert "can only add places" in page_text(owner.post(page_url("places", key), {"places": "3"}, follow=True))
    assert "Stopped: no new participants" in page_text(owner.post(page_url("stop", key), follow=True))
    actions = Record.objects.filter(of_kind="studies.study").order_by("pk").values_list("action", flat=True)
    expected = ["made", "launched", "paused", "resumed", "changed", "stopped"]
    assert [action for action in actions if action in expected] == expected


def test_reward_that_differs_from_base_pay_is_reported(desk, owner):
    page = page_url("change", desk.publish().pk)
    assert "launched again" not in page_text(owner.get(page))
    building.launch_with(desk.study, base="2.00")
    assert "base pay of 2.00 USD, but Prolific pays" in page_text(owner.get(page))


def test_invalid_form_is_reported_and_creates_nothing(desk, owner):
    page = owner.post(page_url("of", desk.study.pk), {**OFFER, "places": "0", "devices": []})
    assert "greater than or equal to 1" in page_text(page) and "This field is required" in page_text(page)
    assert not desk.standin.market.studies and not Publication.objects.exists()


def test_spending_requires_a_role_in_the_account(desk, sign_in):
    outsider = sign_in(study=Role.OWNER, account_role=None)
    viewer = sign_in(study=Role.OWNER, account_role=Role.VIEWER)
    for client in (outsider, viewer):
        assert client.get(page_url("of", desk.study.pk)).status_code == 403
        assert client.post(page_url("of", desk.study.pk), OFFER).status_code == 403
    key = desk.draft().pk
    for client in (outsider, viewer):
        for action in ("publish", "resume", "places"):
            assert client.post(page_url(action, key), {"places": 30}).status_code == 403
    assert desk.publication.status == "UNPUBLISHED"
    assert "Publish …" not in page_text(outsider.get(page_url("change", key)))


def test_editors_can_neither_stop_nor_reject(desk, sign_in):
    editor = sign_in(study=Role.EDITOR, account_role=Role.EDITOR)
    key = desk.publish().pk
    assert editor.post(page_url("stop", key)).status_code == 403
    assert editor.post(page_url("forget", key)).status_code == 403


def test_page_offers_what_this_user_can_do_now(desk, owner, sign_in):
    key = desk.publish().pk
    editor = sign_in(study=Role.EDITOR, account_role=Role.VIEWER)

    def offered(client: Client) -> list[str]:
        return [button.text for button in client.get(page_url("change", key)).context["buttons"]]

    assert offered(owner) == ["Pause", "Stop", "Refresh", "Receive notifications from Prolific"]
    assert offered(editor) == ["Pause", "Refresh"], "stopping is the owner's, notifications are the account's"
    owner.post(page_url("pause", key))
    assert offered(owner)[:2] == ["Resume", "Stop"] and "Resume" not in offered(editor)


def test_viewing_changes_nothing(desk, owner):
    key = desk.draft().pk
    desk.standin.calls.clear()
    for name in ("change", "publish", "of"):
        owner.get(page_url(name, desk.study.pk if name == "of" else key))
    assert {call.method for call in desk.standin.calls} <= {"GET"}
    for name in ("pause", "resume", "stop", "places", "find", "refresh", "forget"):
        assert owner.get(page_url(name, key)).status_code == 405
    assert owner.post(page_url("change", key), {"places": 5}).status_code == 403


@pytest.mark.parametrize("kind", ["cut", "refused", "garbage", "rate"])
def test_error_of_an_action_is_shown_and_can_be_retried(desk, owner, kind):
    key = desk.draft().pk
    steps = [("publish", {}), ("pause", {}), ("resume", {}), ("places", {"places": "30"}), ("refresh", {})]
    for name, typed in steps:
        desk.standin.misbehave(kind, ".", times=3)
        page = owner.post(page_url(name, key), typed, follow=True)
        assert page.status_code == 200 and "Prolific" in page_text(page), name
        desk.standin.behave()
        owner.post(page_url(name, key), typed)
    assert desk.publication.status == "ACTIVE" and desk.publication.places == 30
    desk.standin.misbehave(kind, ".", times=1)
    assert owner.get(page_url("publish", key)).status_code in (200, 302)


def test_lost_answer_leads_to_a_page_that_finds_the_draft(desk, owner):
    desk.standin.misbehave("lost", "POST /api/v1/studies/$")
    page = owner.post(page_url("of", desk.study.pk), {**OFFER, "project": desk.standin.market.project}, follow=True)
    assert "closed the connection" in page_text(page) and "Find on Prolific" in page_text(page)
    assert "Found: the draft is on" in page_text(owner.post(page_url("find", desk.publication.pk), follow=True))
    assert len(desk.standin.market.studies) == 1


def test_draft_deleted_on_prolific_can_be_created_again(desk, owner):
    key = desk.draft().pk
    assert "still on Prolific" in page_text(owner.post(page_url("forget", key), follow=True))
    desk.standin.market.studies.clear()
    assert "can create a new one" in page_text(owner.post(page_url("forget", key), follow=True))
    assert not Publication.objects.exists()


def test_missing_requirements_are_reported(desk, owner):
    Recruitment.objects.all().delete()
    page = owner.get(page_url("of", desk.study.pk))
    assert "choose the Prolific account" in page_text(page) and "Create draft" not in page_text(page)


def decision(worker, name: str) -> str:
    return reverse(f"admin:marketplaces_submission_{name}", args=[worker.row.pk])


def test_rejection_requires_a_long_reason_and_confirmation(desk, owner):
    desk.publish()
    worker = desk.worker()
    person = worker.arrive()
    building.consent(person)
    building.read_instructions(person, word="wrong")
    worker.submit("NOCODE")
    syncing.sync(Recruitment.objects.get())
    page = owner.get(page_url("change", desk.publication.pk))
    assert "Submitted without the study" in page_text(page) and "Reject …" in page_text(page)
    form = {"category": "NO_CODE", "reason": "Too short.", "sure": "on"}
    assert "at least 100" in page_text(owner.post(decision(worker, "reject"), form))
    owner.post(decision(worker, "reject"), {**form, "reason": "The code word was not the one typed. " * 4, "sure": ""})
    assert desk.standin.market.submissions[worker.submission.id].status == "AWAITING REVIEW"


def test_return_request_requires_a_reason(desk, owner):
    desk.publish()
    worker = desk.worker()
    person = worker.finish()
    worker.submit("NOCODE")
    syncing.sync(Recruitment.objects.get())
    key = desk.publication.pk
    assert "Ask to return …" in page_text(owner.get(page_url("change", key)))
    page = decision(worker, "ask_return")
    assert "does not count against them" in page_text(owner.get(page))
    assert breadcrumb_urls(owner.get(page))[-1] == page_url("of", desk.study.pk)
    assert "Choose a reason" in page_text(owner.post(page, {}))
    submission = desk.standin.market.submissions[worker.submission.id]
    assert not submission.return_requested and not Record.objects.filter(action="return_asked").exists()
    form_data = {"reasons": ["You did not finish the study."], "other": "<i>Thank you all the same.</i>"}
    assert "to return their submission" in page_text(owner.post(page, form_data, follow=True))
    assert submission.return_reasons == ["You did not finish the study.", "<i>Thank you all the same.</i>"]
    assert Record.objects.get(action="return_asked").details["person"] == person.pseudonym
    text = page_text(owner.get(page_url("change", key)))
    assert "Ask to return …" not in text and "asked to return their submission" in text


def test_pages_show_no_identifier_or_token(desk, owner):
    desk.publish()
    workers = [desk.worker() for _i in range(3)]
    workers[0].finish()
    workers[0].submit()
    workers[1].arrive()
    workers[2].submit()
    syncing.sync(Recruitment.objects.get())
    pages = [owner.get(page_url("change", desk.publication.pk)), owner.get(page_url("changelist"))]
    pages += [owner.get(f"/admin/marketplaces/recruitment/{Recruitment.objects.get().pk}/change/")]
    for page in pages:
        for worker in workers:
            assert worker.participant not in page.content.decode() and worker.submission.id not in page.content.decode()
        assert TOKEN not in page.content.decode()
