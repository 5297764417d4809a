"""Rejecting a submission, or asking for its return: one request to Prolific, and the ledger is updated."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from marketplaces import syncing
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Recruitment
from marketplaces.prolific import deciding
from marketplaces.prolific.differences import differences
from marketplaces.prolific.tests.test_ledger import paid, pay_all
from payouts import books
from payouts import deciding as ledger
from payouts.deciding import COMMITTED
from tests.visitors import text_of

pytestmark = pytest.mark.django_db

MESSAGE = "Every answer was typed within a second, and none of them had to do with the question. " * 2
REASON = {"category": "LOW_EFFORT", "message": MESSAGE}
DECIDING = r"POST /api/v1/submissions/\w+/transition/"
ASKING = "request-return"


def sync_now(desk) -> None:
    """Sync the study, as the sweep does."""
    Recruitment.objects.update(next_at=timezone.now())
    syncing.sync(Recruitment.objects.select_related("account", "study").get())


@pytest.fixture
def worker(desk):
    """A participant who finished here and submitted there, and whose submission has been synced."""
    desk.publish()
    worker = desk.worker()
    worker.finish()
    worker.submit("NOCODE")
    sync_now(desk)
    return worker


def states(worker) -> set[str]:
    return set(worker.person.ledger.values_list("state", flat=True))


def prolific_submission(desk, worker):
    return desk.standin.market.submissions[worker.submission.id]


def test_someone_who_finished_properly_can_be_rejected_from_the_pay_page(desk, worker):
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    study = desk.publication.study
    page = client.get(reverse("paydesk:reject", args=[study.pk, worker.person.pk]))
    text = text_of(page)
    assert "return their submission first" in text and "at least 100 characters" in text
    address = reverse("admin:prolific_publication_reject", args=[desk.publication.pk, worker.person.pk])
    assert address in page.content.decode() and client.get(address).status_code == 200
    deciding.reject(desk.publication, worker.person, **REASON)
    assert "no submission of this participant that awaits review" in text_of(client.get(page.request["PATH_INFO"]))


def test_rejection_writes_off_pay_and_records_the_reason(desk, worker):
    assert set(deciding.reviewable(desk.publication)) == {worker.person.pk}
    deciding.reject(desk.publication, worker.person, **REASON)
    assert prolific_submission(desk, worker).status == "REJECTED" and states(worker) == {"written_off"}
    for row in worker.person.ledger.all():
        assert row.postings.order_by("-number").first().why.startswith("Rejected on Prolific. Every answer was typed")
    page = Client().get(worker.person.get_absolute_url())
    assert "decided not to pay this" in text_of(page)
    assert not books.check(desk.study.slug)
    with pytest.raises(NotPossible, match="is not awaiting review"):
        deciding.reject(desk.publication, worker.person, **REASON)


@pytest.mark.parametrize("state", COMMITTED)
def test_participant_with_approved_pay_is_not_rejected(desk, worker, state):
    worker.person.ledger.filter(reason="base").update(state=state)
    desk.standin.calls.clear()
    with pytest.raises(NotPossible, match="being paid"):
        deciding.reject(desk.publication, worker.person, **REASON)
    with pytest.raises(NotPossible, match="being paid"):
        deciding.ask_return(desk.publication, worker.person, reasons=["You did not finish."])
    assert not desk.standin.calls


@pytest.mark.parametrize("kind", ["lost", "refused-late"])
def test_rejection_with_lost_answer_is_found_on_prolific(desk, worker, kind):
    desk.standin.misbehave(kind, DECIDING)
    deciding.reject(desk.publication, worker.person, **REASON)
    assert prolific_submission(desk, worker).status == "REJECTED" and states(worker) == {"written_off"}


@pytest.mark.parametrize("kind", ["cut", "refused", "rate", "garbage"])
def test_refused_rejection_writes_nothing_off(desk, worker, kind):
    desk.standin.misbehave(kind, DECIDING)
    with pytest.raises(MarketplaceError):
        deciding.reject(desk.publication, worker.person, **REASON)
    assert prolific_submission(desk, worker).status == "AWAITING REVIEW" and states(worker) == {"due"}


def test_rejection_on_prolific_itself_updates_the_ledger(desk, worker):
    prolific_submission(desk, worker).status = "REJECTED"
    sync_now(desk)
    assert states(worker) == {"written_off"}
    row = worker.person.ledger.get(reason="bonus")
    ledger.put_back(study=desk.study.slug, rows=[row.pk], user=None, reason="Paid otherwise.")
    sync_now(desk)
    assert states(worker) == {"due", "written_off"}, "unchanged submissions are not stored again"


def test_rejection_undone_on_prolific_is_paid_once(desk, worker):
    deciding.reject(desk.publication, worker.person, **REASON)
    desk.standin.market._approve(prolific_submission(desk, worker))
    sync_now(desk)
    assert states(worker) == {"due"}
    assert {row.state for row in pay_all(desk).values()} == {"confirmed"}
    assert paid(desk) == {"reward": 1, "bonus": 1} and not books.check(desk.study.slug)


def test_other_write_offs_are_not_changed(desk, worker):
    rows = list(worker.person.ledger.values_list("pk", flat=True))
    ledger.write_off(study=desk.study.slug, rows=rows, user=None, reason="They asked for it.")
    deciding.reject(desk.publication, worker.person, **REASON)
    desk.standin.market._approve(prolific_submission(desk, worker))
    sync_now(desk)
    assert states(worker) == {"written_off"}


def test_return_is_requested_once_with_reasons(desk, worker):
    assert deciding.without_return_request(desk.publication) == {worker.person.pk}
    deciding.ask_return(desk.publication, worker.person, reasons=["You did not finish.", "<b>Sorry</b>"])
    (request,) = [call for call in desk.standin.calls if call.path.endswith("/request-return/")]
    assert request.body == {"request_return_reasons": ["You did not finish.", "<b>Sorry</b>"]}
    assert (
        prolific_submission(desk, worker).return_requested
        and prolific_submission(desk, worker).status == "AWAITING REVIEW"
    )
    sync_now(desk)
    assert not deciding.without_return_request(desk.publication)
    with pytest.raises(NotPossible, match="already"):
        deciding.ask_return(desk.publication, worker.person, reasons=["Again."])
    (difference,) = differences(desk.publication)
    assert "asked to return their submission" in difference.advice
    desk.standin.market.give_back(worker.submission.id)
    sync_now(desk)
    assert not deciding.reviewable(desk.publication)


@pytest.mark.parametrize("kind", ["lost", "refused-late", "garbage", "cut", "refused", "rate"])
def test_return_request_with_lost_answer_is_not_repeated(desk, worker, kind):
    desk.standin.misbehave(kind, ASKING)
    arrived = kind in ("lost", "refused-late")
    if arrived:
        deciding.ask_return(desk.publication, worker.person, reasons=["You did not finish."])
    else:
        with pytest.raises(MarketplaceError):
            deciding.ask_return(desk.publication, worker.person, reasons=["You did not finish."])
    assert bool(prolific_submission(desk, worker).return_requested) is arrived
    assert desk.publication.submissions.get().return_asked is arrived
