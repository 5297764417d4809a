"""Rejecting a submission, or asking for its return: Prolific is told once, and the ledger follows."""

from __future__ import annotations

import pytest
from django.test import Client
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


def ask(desk) -> None:
    """Sync the study, as the sweep does."""
    Recruitment.objects.update(next_at=timezone.now())
    syncing.sync(Recruitment.objects.select_related("account", "study").get())


@pytest.fixture
def done(desk):
    """A participant who finished here and submitted there, and whose submission has been synced."""
    desk.publish()
    worker = desk.worker()
    worker.finish()
    worker.submit("NOCODE")
    ask(desk)
    return worker


def states(worker) -> set[str]:
    return set(worker.person.ledger.values_list("state", flat=True))


def there(desk, worker):
    return desk.standin.market.submissions[worker.submission.id]


def test_whoever_is_rejected_is_owed_nothing_and_the_journal_says_why(desk, done):
    assert set(deciding.reviewable(desk.publication)) == {done.person.pk}
    deciding.reject(desk.publication, done.person, **REASON)
    assert there(desk, done).status == "REJECTED" and states(done) == {"written_off"}
    for row in done.person.ledger.all():
        assert row.postings.order_by("-number").first().why.startswith("Rejected at Prolific. Every answer was typed")
    page = Client().get(done.person.get_absolute_url())
    assert "decided not to pay this" in text_of(page)
    assert not books.check(desk.study.slug)
    with pytest.raises(NotPossible, match="does not await review"):
        deciding.reject(desk.publication, done.person, **REASON)


@pytest.mark.parametrize("state", COMMITTED)
def test_nobody_is_rejected_or_asked_while_money_is_committed(desk, done, state):
    done.person.ledger.filter(reason="base").update(state=state)
    desk.standin.calls.clear()
    with pytest.raises(NotPossible, match="being paid"):
        deciding.reject(desk.publication, done.person, **REASON)
    with pytest.raises(NotPossible, match="being paid"):
        deciding.ask_return(desk.publication, done.person, reasons=["You did not finish."])
    assert not desk.standin.calls


@pytest.mark.parametrize("kind", ["drop_after", "error_after"])
def test_a_rejection_whose_answer_was_lost_is_seen_at_prolific(desk, done, kind):
    desk.standin.misbehave(kind, DECIDING)
    deciding.reject(desk.publication, done.person, **REASON)
    assert there(desk, done).status == "REJECTED" and states(done) == {"written_off"}


@pytest.mark.parametrize("kind", ["drop", "error", "throttle", "nonsense"])
def test_a_rejection_that_was_not_taken_writes_nothing_off(desk, done, kind):
    desk.standin.misbehave(kind, DECIDING)
    with pytest.raises(MarketplaceError):
        deciding.reject(desk.publication, done.person, **REASON)
    assert there(desk, done).status == "AWAITING REVIEW" and states(done) == {"due"}


def test_what_is_owed_follows_a_rejection_made_at_prolific_itself(desk, done):
    there(desk, done).status = "REJECTED"
    ask(desk)
    assert states(done) == {"written_off"}
    row = done.person.ledger.get(reason="bonus")
    ledger.put_back(study=desk.study.slug, rows=[row.pk], who=None, reason="Paid otherwise.")
    ask(desk)
    assert states(done) == {"due", "written_off"}, "only news count"


def test_a_rejection_that_prolific_takes_back_is_paid_once(desk, done):
    deciding.reject(desk.publication, done.person, **REASON)
    desk.standin.market._approve(there(desk, done))
    ask(desk)
    assert states(done) == {"due"}
    assert {row.state for row in pay_all(desk).values()} == {"confirmed"}
    assert paid(desk) == {"reward": 1, "bonus": 1} and not books.check(desk.study.slug)


def test_what_was_written_off_for_another_reason_stays_so(desk, done):
    rows = list(done.person.ledger.values_list("pk", flat=True))
    ledger.write_off(study=desk.study.slug, rows=rows, who=None, reason="They asked for it.")
    deciding.reject(desk.publication, done.person, **REASON)
    desk.standin.market._approve(there(desk, done))
    ask(desk)
    assert states(done) == {"written_off"}


def test_somebody_is_asked_once_reads_why_and_may_return_their_place(desk, done):
    assert deciding.may_be_asked(desk.publication) == {done.person.pk}
    deciding.ask_return(desk.publication, done.person, reasons=["You did not finish.", "<b>Sorry</b>"])
    (told,) = [call for call in desk.standin.calls if call.path.endswith("/request-return/")]
    assert told.body == {"request_return_reasons": ["You did not finish.", "<b>Sorry</b>"]}
    assert there(desk, done).return_requested and there(desk, done).status == "AWAITING REVIEW"
    ask(desk)
    assert not deciding.may_be_asked(desk.publication)
    with pytest.raises(NotPossible, match="already"):
        deciding.ask_return(desk.publication, done.person, reasons=["Again."])
    (found,) = differences(desk.publication)
    assert "asked to return their place" in found.advice
    desk.standin.market.give_back(done.submission.id)
    ask(desk)
    assert not deciding.reviewable(desk.publication)


@pytest.mark.parametrize("kind", ["drop_after", "error_after", "nonsense", "drop", "error", "throttle"])
def test_an_asking_whose_answer_was_lost_is_looked_up_and_never_repeated(desk, done, kind):
    desk.standin.misbehave(kind, ASKING)
    arrived = kind in ("drop_after", "error_after")
    if arrived:
        deciding.ask_return(desk.publication, done.person, reasons=["You did not finish."])
    else:
        with pytest.raises(MarketplaceError):
            deciding.ask_return(desk.publication, done.person, reasons=["You did not finish."])
    assert bool(there(desk, done).return_requested) is arrived
    assert desk.publication.submissions.get().return_asked is arrived
