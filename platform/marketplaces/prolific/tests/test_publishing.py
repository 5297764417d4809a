"""A study is created on Prolific once, even if responses are lost, and shows the same details there as here."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from exports.tests import building
from marketplaces import modules
from marketplaces.kinds import MarketplaceError, NotPossible, NotSent, Refused, Unclear
from marketplaces.models import Offer, Recruitment
from marketplaces.prolific import publishing
from marketplaces.prolific.standin import TOKEN
from studies.costs import costs_of
from studies.models import Study

pytestmark = pytest.mark.django_db

CHANGING_STATUS = "transition"


def test_draft_has_the_details_of_the_study(desk):
    publication = desk.draft()
    (study,) = desk.market.studies.values()
    assert study["id"] == publication.remote_id and study["status"] == publication.status == "UNPUBLISHED"
    assert study["reward"] == 100 and study["total_available_places"] == 20
    assert study["is_external_study_url_secure"] is True and study["prolific_id_option"] == "url_parameters"
    assert urlsplit(study["external_study_url"]).query == (
        "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    actions = {code["code_type"]: code["actions"][0]["action"] for code in study["completion_codes"]}
    assert actions == {
        "COMPLETED": "MANUALLY_REVIEW",
        "OTHER": "REQUEST_RETURN",
        "FAILED_ATTENTION_CHECK": "REQUEST_RETURN",
    }
    assert {code["code"] for code in study["completion_codes"]} == set(publication.terms.codes.values())
    assert study["maximum_allowed_time"] >= desk.study.latest_version().plan.minutes


def test_draft_being_created_is_not_forgotten(desk):
    desk.draft()
    Offer.objects.update(status="MAKING", remote_id=None)
    desk.market.studies.clear()
    assert desk.sync().problem == "" and Offer.objects.exists()
    Offer.objects.update(ordered_at=timezone.now() - timedelta(minutes=5))
    assert desk.sync().problem == "" and not Offer.objects.exists()


@pytest.mark.parametrize(
    ("hinder", "error", "expected_text"),
    [
        (lambda desk: building.launch_with(desk.study, base="0.05"), Refused, "reward is too low"),
        (lambda desk: desk.standin.close(), NotSent, "cannot be reached"),
        (lambda desk: desk.standin.misbehave("rate", desk.create_call), NotSent, "too many requests"),
    ],
)
def test_refusal_is_explained_and_leaves_nothing_behind(desk, hinder, error, expected_text):
    hinder(desk)
    with pytest.raises(error, match=expected_text):
        desk.draft()
    assert not Offer.objects.exists() and not desk.market.studies


def test_launched_version_determines_the_offer(desk):
    trial = building.new_study(via="prolific", slug="trial", purpose="demo")
    Recruitment.objects.create(study=trial, account=desk.account)
    Study.objects.filter(pk=trial.pk).update(draft={**trial.draft, "purpose": "study"})
    with pytest.raises(NotPossible, match="trial"):
        publishing.ready(Study.objects.get(pk=trial.pk))


def test_different_currency_is_refused(desk):
    desk.market.currency = "GBP"
    with pytest.raises(NotPossible, match=r"USD.*GBP"):
        desk.draft()


def test_price_includes_fees_and_shows_the_balance(desk):
    desk.draft(places=10)
    price = publishing.price_of(desk.offered)
    assert price.total == Decimal("14.00") and price.balance == Decimal("10000.00") and not price.missing
    assert (price.costs.hourly(), price.costs.expected) == (Decimal("6.00"), Decimal("28.00"))
    assert (price.costs.terms.base_share, price.costs.terms.known) == (Decimal("0.4"), True)
    assert costs_of(desk.study).hourly() == Decimal("6.00"), "with the minutes announced on Prolific"
    (warning,) = price.costs.warnings
    assert "at least $8.00 per hour" in warning and "pays $6.00" in warning


@pytest.mark.parametrize("fault", ["lost", "refused"])
def test_publishing_with_lost_answer_happens_once(desk, fault):
    desk.draft()
    desk.standin.misbehave(fault, CHANGING_STATUS)
    if fault == "refused":
        with pytest.raises(Unclear):
            publishing.publish(desk.offered)
        assert desk.offered.status == "UNPUBLISHED"
    publishing.publish(desk.offered)
    assert desk.offered.status == "ACTIVE" and desk.market.balance == 1_000_000 - 20 * 140
    assert sum(call.path.endswith("/transition/") for call in desk.standin.calls) == 1


def test_insufficient_balance_prevents_publishing(desk):
    desk.market.balance = 100
    desk.draft()
    with pytest.raises(Refused, match="Insufficient funds"):
        publishing.publish(desk.offered)
    assert desk.offered.status == "UNPUBLISHED"


def test_repeated_request_adds_places_once(desk):
    desk.publish(places=5)
    desk.standin.misbehave("lost", "PATCH")
    with pytest.raises(Unclear):
        publishing.set_places(desk.offered, 8)
    publishing.set_places(desk.offered, 8)
    (study,) = desk.market.studies.values()
    assert study["total_available_places"] == 8
    assert desk.market.balance == 1_000_000 - 8 * 140


def test_connection_test_shows_the_balance_and_no_token(desk):
    account = desk.account
    assert "“Stand-in workspace” has 10000.00 USD" in modules.client("prolific").check(account)
    account.keep_credentials({"token": "wrong-token"})
    with pytest.raises(MarketplaceError, match="does not accept") as error:
        modules.client("prolific").check(account)
    assert "wrong-token" not in str(error.value) and TOKEN not in str(error.value)


@pytest.mark.parametrize(
    ("malformed", "ignored"),
    [
        ({"total_cost": 10**11}, False),
        ({"id": "f" * 24}, False),
        ({"id": "f" * 100}, False),
        ({"status": 7}, False),
        ({"total_cost": "free"}, True),
        ({"total_available_places": 10**30}, True),
    ],
)
def test_malformed_study_data_changes_nothing(desk, malformed, ignored):
    publication = desk.publish()
    values_before = Offer.objects.values().get()
    study = desk.market.study(publication.remote_id)
    desk.market.shown = lambda _study: {**study, "total_cost": 2800, **malformed}
    with nullcontext() if ignored else pytest.raises(Unclear):
        publishing.refresh(desk.offered)
    assert {**Offer.objects.values().get(), "heard_at": None} == {**values_before, "heard_at": None}


def test_error_messages_contain_no_identifiers(desk):
    publication = desk.draft()
    desk.market.studies[publication.remote_id]["status"] = f"ODD {'a1' * 12}"
    with pytest.raises(MarketplaceError) as error:
        publishing.publish(desk.offered)
    assert "a1" * 12 not in str(error.value)
