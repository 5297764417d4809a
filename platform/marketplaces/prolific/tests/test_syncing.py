"""What Prolific reports about its participants is stored here; researchers are told about discrepancies."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from erasing import services as erasing
from exports.tests import building
from marketplaces import syncing
from marketplaces.models import Recruitment
from marketplaces.prolific import client
from marketplaces.prolific.differences import differences, status_counts
from marketplaces.prolific.models import Submission
from marketplaces.prolific.standin.market import new_id
from participants.models import Enrolment
from participants.states import ENDINGS, State
from tests.visitors import text_of

pytestmark = pytest.mark.django_db


def sync_now(desk) -> Recruitment:
    """Sync the study, as the sweep does."""
    Recruitment.objects.update(next_at=timezone.now())
    recruitment = Recruitment.objects.select_related("account", "study").get()
    assert syncing.sync(recruitment)
    recruitment.refresh_from_db()
    return recruitment


def descriptions(desk) -> dict[str, str]:
    """Return the discrepancies by the participant they concern."""
    return {difference.label: difference.discrepancy for difference in differences(desk.publication)}


def test_returned_place_is_free_and_the_page_says_so(desk):
    desk.publish()
    worker = desk.worker()
    person = worker.arrive()
    desk.standin.market.give_back(worker.submission.id)
    assert sync_now(desk).problem == ""
    person.refresh_from_db()
    assert person.state == State.RETURNED and person.placement.released_at is not None
    response = worker.open()
    assert response["location"] == person.get_absolute_url()
    from django.test import Client

    page = Client().get(response["location"])
    assert "You returned this assignment" in text_of(page) and "do not need to do anything else" in text_of(page)


def test_timed_out_participants_end_unless_they_are_playing(desk):
    desk.publish()
    timed_out, playing = desk.worker(), desk.worker()
    for worker in (timed_out, playing):
        worker.arrive()
        desk.standin.market.time_out(worker.submission.id)
    Enrolment.objects.filter(pk=timed_out.person.pk).update(last_seen_at=timezone.now() - timedelta(minutes=5))
    sync_now(desk)
    assert timed_out.person.state == State.TIMED_OUT and not playing.person.ended
    assert descriptions(desk) == {playing.person.pseudonym: "Timed out on Prolific, but is still playing here."}


def test_repeated_sync_changes_nothing(desk):
    desk.publish()
    worker = desk.worker()
    worker.finish()
    worker.submit()
    for _i in range(2):
        sync_now(desk)
    assert worker.person.state == State.COMPLETED
    assert Submission.objects.count() == 1 and worker.person.ledger.count() == 2
    assert status_counts(desk.publication) == [("awaiting review", 1)] and not differences(desk.publication)


def test_unchanged_submissions_need_no_more_queries(desk):
    desk.publish()
    queries = []
    for number in range(4):
        worker = desk.worker()
        worker.arrive()
        worker.submit()
        if number in (1, 3):
            sync_now(desk)
            with CaptureQueriesContext(connection) as captured:
                sync_now(desk)
            queries.append([query["sql"] for query in captured.captured_queries])
    assert len(queries[0]) == len(queries[1])
    assert not [sql for sql in queries[1] if "prolific_submission" in sql and not sql.startswith("SELECT")]


def test_timed_out_player_is_checked_at_every_sync(desk):
    desk.publish()
    worker = desk.worker()
    worker.arrive()
    desk.standin.market.time_out(worker.submission.id)
    sync_now(desk)
    assert not worker.person.ended, "they are playing"
    Enrolment.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    sync_now(desk)
    assert worker.person.state == State.TIMED_OUT


def test_all_pages_of_the_list_are_read(desk, monkeypatch):
    monkeypatch.setattr(client, "PAGE_SIZE", 3)
    desk.publish()
    for _i in range(8):
        desk.worker()
    sync_now(desk)
    assert status_counts(desk.publication) == [("in progress", 8)]


def test_differences_are_listed_without_identifiers(desk):
    desk.publish(requires_signature=False)
    early, shared, slow, nocode, late = (desk.worker() for _i in range(5))
    early.arrive()
    early.submit()
    failed = shared.arrive()
    building.consent(failed)
    building.read_instructions(failed, word="wrong")
    shared.submit("completed")
    slow.finish()
    nocode.finish()
    nocode.submit("NOCODE")
    late.finish()
    desk.standin.market.give_back(late.submission.id)
    absentee = desk.worker()
    absentee.submit()
    foreign, real = desk.worker(), desk.worker()
    foreign.submission, unused_submission = real.submission, foreign.submission
    impostor = building.enrol(
        desk.study,
        building.Arrival("prolific", worker=foreign.participant, proof=f"{new_id()}/{foreign.participant}"),
    )
    sync_now(desk)
    discrepancies = descriptions(desk)
    assert discrepancies.pop(early.person.pseudonym) == "Submitted on Prolific, but has not finished here."
    assert discrepancies.pop(failed.pseudonym) == "Submitted with the completion code, but did not finish here."
    assert discrepancies.pop(slow.person.pseudonym) == "Finished here, but has not submitted on Prolific."
    assert discrepancies.pop(nocode.person.pseudonym) == "Submitted without the study's code."
    assert discrepancies.pop(late.person.pseudonym) == "Finished here. Status on Prolific: returned."
    assert discrepancies.pop(impostor.pseudonym).startswith(
        "Arrived here with a submission that Prolific does not have"
    )
    ((label, discrepancy),) = discrepancies.items()
    assert (
        label.startswith("started on Prolific at 20")
        and discrepancy == "Submitted on Prolific, but never arrived here."
    )
    text = " ".join(
        f"{difference.label} {difference.discrepancy} {difference.advice}"
        for difference in differences(desk.publication)
    )
    for submission in desk.standin.market.submissions.values():
        assert submission.id not in text and submission.participant not in text
    assert unused_submission.id not in text


def test_sync_error_is_shown_and_retried(desk):
    desk.publish()
    worker = desk.worker()
    worker.arrive()
    desk.standin.market.give_back(worker.submission.id)
    for kind in ("cut", "refused", "garbage", "rate"):
        desk.standin.misbehave(kind, "submissions")
        recruitment = sync_now(desk)
        assert recruitment.problem.startswith("Prolific") and recruitment.failures
        assert not worker.person.ended
    assert sync_now(desk).problem == "" and worker.person.state == State.RETURNED


def test_erased_participant_is_unlinked_from_the_submission(desk):
    desk.publish()
    worker = desk.worker()
    person = worker.finish()
    worker.submit()
    sync_now(desk)
    erasing.erase(enrolment=person, by=None, reason="asked for it")
    assert not Submission.objects.exclude(enrolment=None).exists()
    sync_now(desk)
    assert not Submission.objects.exclude(enrolment=None).exists()
    assert status_counts(desk.publication) == [("awaiting review", 1)] and not differences(desk.publication)


def test_unpublished_study_is_not_synced(desk):
    desk.draft()
    desk.standin.calls.clear()
    sync_now(desk)
    assert [call.path.split("/")[3] for call in desk.standin.calls] == ["studies"]


@pytest.mark.parametrize("state", list(ENDINGS))
def test_last_page_of_each_ending_returns_with_its_code(desk, state):
    from django.test import Client

    from participants import services as people

    desk.publish()
    person = desk.worker().arrive()
    people.end(person, State(state))
    page = Client().get(person.get_absolute_url()).content.decode()
    codes = desk.publication.codes
    expected_kind = {"completed": "completed", "failed_quiz": "completed", "opponent_failed": "completed",
             "our_outage": "completed", "partner_left": "completed", "no_partner": "completed",
             "screened_out": "screened_out", "returned": ""}.get(state, "returned")  # fmt: skip
    for kind, code in codes.items():
        address = f"{desk.standin.address}/submissions/complete?cc={code}"
        assert (code in page) == (kind == expected_kind) and (address in page) == (kind == expected_kind)
    assert person.completion_code not in page
