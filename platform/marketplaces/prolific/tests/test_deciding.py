"""Asking for the return of a submission: once, with reasons."""

from __future__ import annotations

import pytest
from django.utils import timezone

from marketplaces import comparing, syncing
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Recruitment
from marketplaces.prolific import deciding

pytestmark = pytest.mark.django_db

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


def prolific_submission(desk, worker):
    return desk.standin.market.submissions[worker.submission.id]


def test_return_is_requested_once_with_reasons(desk, worker):
    assert not deciding.ACTS["ask_return"].hindrance(worker.row)
    deciding.ask_return(worker.row, reasons=["You did not finish.", "<b>Sorry</b>"])
    (request,) = [call for call in desk.standin.calls if call.path.endswith("/request-return/")]
    assert request.body == {"request_return_reasons": ["You did not finish.", "<b>Sorry</b>"]}
    assert (
        prolific_submission(desk, worker).return_requested
        and prolific_submission(desk, worker).status == "AWAITING REVIEW"
    )
    sync_now(desk)
    assert deciding.ACTS["ask_return"].hindrance(worker.row)
    with pytest.raises(NotPossible, match="already"):
        deciding.ask_return(worker.row, reasons=["Again."])
    (difference,) = comparing.lines_of(desk.study, desk.study.recruitment.account)
    assert "asked to return their submission" in difference.advice
    desk.standin.market.give_back(worker.submission.id)
    sync_now(desk)
    assert deciding.not_reviewable(worker.row)


@pytest.mark.parametrize("kind", ["lost", "refused-late", "garbage", "cut", "refused", "rate"])
def test_return_request_with_lost_answer_is_not_repeated(desk, worker, kind):
    desk.standin.misbehave(kind, ASKING)
    arrived = kind in ("lost", "refused-late")
    if arrived:
        deciding.ask_return(worker.row, reasons=["You did not finish."])
    else:
        with pytest.raises(MarketplaceError):
            deciding.ask_return(worker.row, reasons=["You did not finish."])
    assert bool(prolific_submission(desk, worker).return_requested) is arrived
    assert worker.row.return_asked is arrived
