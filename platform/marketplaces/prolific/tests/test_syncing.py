"""What Prolific reports about its participants is stored here; researchers are told about discrepancies."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from exports.tests import building
from marketplaces import comparing, syncing
from marketplaces.models import Recruitment
from marketplaces.prolific import client
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
    return {line.label: line.discrepancy for line in comparing.lines_of(desk.study, desk.study.recruitment.account)}


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
    assert "You returned this assignment" in text_of(page) and "need to do anything else" in text_of(page)


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
    assert comparing.status_counts(desk.study) == [("in progress", 8)]


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
        desk.study, building.Arrival("prolific", worker=foreign.participant, proof=f"{new_id()}/{foreign.participant}")
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
    text = str(comparing.lines_of(desk.study, desk.study.recruitment.account))
    for submission in desk.standin.market.submissions.values():
        assert submission.id not in text and submission.participant not in text
    assert unused_submission.id not in text


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
