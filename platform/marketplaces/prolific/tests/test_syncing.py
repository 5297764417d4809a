"""What Prolific reports about its participants is stored here; researchers are told about discrepancies."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces.prolific.standin.market import new_id
from participants.models import Enrolment
from participants.states import State
from tests.visitors import text_of

pytestmark = pytest.mark.django_db


def test_returned_place_is_free_and_the_page_says_so(desk):
    worker = desk.worker()
    worker.arrive()
    worker.leave()
    assert desk.sync().problem == ""
    person = worker.person
    assert person.state == State.RETURNED and person.placement.released_at is not None
    response = worker.open()
    assert response["location"] == person.get_absolute_url()
    page = text_of(Client().get(response["location"]))
    assert "You returned this assignment" in page and "need to do anything else" in page


def test_timed_out_participants_end_unless_they_are_playing(desk):
    timed_out, playing = desk.worker(), desk.worker()
    for worker in (timed_out, playing):
        worker.arrive()
        desk.market.time_out(worker.key)
    Enrolment.objects.filter(pk=timed_out.person.pk).update(last_seen_at=timezone.now() - timedelta(minutes=5))
    desk.sync()
    assert timed_out.person.state == State.TIMED_OUT and not playing.person.ended
    ((label, line),) = desk.lines().items()
    assert (label, line.finding) == (playing.person.pseudonym, "timed out")
    Enrolment.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    desk.sync()
    assert playing.person.state == State.TIMED_OUT, "they are checked at every sync"


def test_differences_of_codes_and_of_invented_links_are_listed(desk):
    nocode, late, real = desk.worker(), desk.worker(), desk.worker()
    nocode.finish()
    nocode.submit("NOCODE")
    late.finish()
    late.leave()
    proof = f"{new_id()}/{real.participant}"
    impostor = building.enrol(desk.study, building.Arrival("prolific", worker=real.participant, proof=proof))
    desk.sync()
    found = {label: line.finding for label, line in desk.lines().items()}
    assert found == {
        nocode.person.pseudonym: "no code, paid",
        late.person.pseudonym: "unpayable",
        impostor.pseudonym: "unknown",
    }
    assert "Status on Prolific: returned." in desk.lines()[late.person.pseudonym].discrepancy


def test_unpublished_study_is_not_synced(desk):
    desk.draft()
    desk.standin.calls.clear()
    desk.sync()
    assert [call.path.split("/")[3] for call in desk.standin.calls] == ["studies"]
