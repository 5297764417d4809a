"""How often one person may take part, and what early returners are told."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from opponents.agents import agents_from_specs
from participants import services
from participants.models import Enrolment
from participants.states import State
from recruiters.arrivals import Arrival
from recruiters.errors import DifferentParticipant, EntryRefused, TooSoon
from recruiters.models import Identity, LabCode
from studies.enrolling import enrol
from studies.models import Placement, Study
from studies.participations import describe_wait
from tests.visitors import arrived_participant, consented_participant, heading_of, launched_study, text_of

GLEE = {"most_participations": None, "rest_hours": 12}


def comes(study: Study, worker: str = "W", assignment: str = "A1") -> HttpResponse:
    """Follow the link of an assignment as a Mechanical Turk worker."""
    link = {"workerId": worker, "assignmentId": assignment, "hitId": "H"}
    return Client().get(f"/join/{study.slug}?{urlencode(link)}")


def ended(*, hours_ago: float = 0.0) -> None:
    """End every enrolment, with its start this long ago."""
    for person in Enrolment.objects.filter(ended_at=None):
        with transaction.atomic():
            services.end(services.locked(person.pk), State.COMPLETED)
    Enrolment.objects.update(arrived_at=timezone.now() - timedelta(hours=hours_ago))


def family(slug: str, **fields) -> Study:
    return launched_study(**{"slug": slug, "entry": Study.Entry.MTURK, **GLEE, **fields})


@pytest.mark.django_db
class TestHowOften:
    def test_study_is_played_once_by_default(self):
        study = launched_study(entry=Study.Entry.MTURK)
        comes(study)
        ended(hours_ago=1000)
        answer = comes(study, assignment="A2")
        assert answer.status_code == 403
        assert "You have already taken part" in text_of(answer)
        assert "Please return this task" in text_of(answer)
        assert Enrolment.objects.count() == 1

    def test_study_may_allow_several_sessions(self):
        study = launched_study(entry=Study.Entry.MTURK, most_participations=2)
        for assignment in ("A1", "A2"):
            assert comes(study, assignment=assignment).status_code == 302
            ended()
        answer = comes(study, assignment="A3")
        assert answer.status_code == 403
        assert "at most 2 times" in text_of(answer)
        assert Enrolment.objects.count() == Placement.objects.count() == 2

    def test_concurrent_sessions_are_refused(self):
        study = launched_study(entry=Study.Entry.MTURK, most_participations=None)
        first = comes(study)["Location"]
        answer = comes(study, assignment="A2")
        assert answer.status_code == 403
        assert "finish that one first" in text_of(answer)
        assert first not in answer.content.decode()
        assert comes(study)["Location"] == first

    def test_finished_assignment_leads_to_its_last_page(self):
        study = launched_study(entry=Study.Entry.MTURK, most_participations=None)
        first = comes(study)["Location"]
        ended()
        assert comes(study)["Location"] == first
        assert Enrolment.objects.count() == 1

    def test_an_enrolment_that_returned_its_place_counts_too(self):
        study = launched_study(entry=Study.Entry.MTURK)
        comes(study)
        with transaction.atomic():
            services.end(services.locked(Enrolment.objects.get().pk), State.FAILED_CODE_WORD)
        assert comes(study, assignment="A2").status_code == 403

    @pytest.mark.parametrize("purpose", ["pilot", "demo"])
    def test_pilots_and_demos_do_not_count(self, purpose):
        study = family("trial", purpose=purpose, most_participations=1)
        for assignment in ("A1", "A2"):
            assert comes(study, assignment=assignment).status_code == 302
        assert comes(family("serious")).status_code == 302

    def test_preview_does_not_count(self):
        study = family("serious")
        preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "workerId": "W", "hitId": "H"}
        assert Client().get(f"/join/{study.slug}", preview).status_code == 200
        assert comes(study).status_code == 302

    def test_frozen_limits_apply(self):
        study = launched_study(entry=Study.Entry.MTURK, most_participations=2)
        Study.objects.update(most_participations=1)
        comes(study)
        ended()
        assert comes(study, assignment="A2").status_code == 302


@pytest.mark.django_db
class TestCodesForSeveralGames:
    """A personal code belongs to a person, so it leads to the next game too."""

    @pytest.fixture
    def code(self) -> str:
        return LabCode.objects.create(study="splitting").code

    def test_entry_page_offers_another_game_and_the_last_page(self, code):
        launched_study(most_participations=2)
        first = Client().get("/join/splitting", {"code": code})["Location"]
        ended()
        door = Client().get("/join/splitting", {"code": code})
        assert "Welcome back" in heading_of(door)
        assert f'href="{first}"' in door.content.decode()
        assert Enrolment.objects.count() == 1, "looking begins nothing"
        second = Client().post(f"/join/splitting?code={code}", {"again": "yes"})["Location"]
        assert second != first
        assert Client().get("/join/splitting", {"code": code})["Location"] == second
        assert list(Identity.objects.order_by("occasion").values_list("occasion", flat=True)) == [1, 2]

    def test_double_click_begins_one_game(self, code):
        launched_study(most_participations=5)
        Client().get("/join/splitting", {"code": code})
        ended()
        pressed = [Client().post(f"/join/splitting?code={code}", {"again": "yes"})["Location"] for _time in range(2)]
        assert pressed[0] == pressed[1]
        assert Enrolment.objects.count() == 2

    def test_code_leads_to_the_last_page_if_no_game_is_left(self, code):
        launched_study(most_participations=1)
        first = Client().get("/join/splitting", {"code": code})["Location"]
        ended()
        assert Client().get("/join/splitting", {"code": code})["Location"] == first
        assert Client().post(f"/join/splitting?code={code}", {"again": "yes"}).status_code == 403
        assert Enrolment.objects.count() == 1

    def test_early_return_shows_when_and_the_last_page(self, code):
        launched_study(**GLEE)
        first = Client().get("/join/splitting", {"code": code})["Location"]
        ended(hours_ago=11)
        door = Client().get("/join/splitting", {"code": code})
        assert "come back in 1 hour" in text_of(door)
        assert first in door.content.decode()
        assert b"<form" not in door.content
        assert Client().post(f"/join/splitting?code={code}", {"again": "yes"}).status_code == 403


@pytest.mark.django_db
class TestRestBetweenGames:
    def test_second_game_of_a_family_waits_twelve_hours(self):
        comes(family("small"))
        ended(hours_ago=11.5)
        answer = comes(family("large"), assignment="A2")
        assert answer.status_code == 403
        assert heading_of(answer) == "Please come back later"
        assert "come back in 30 minutes" in text_of(answer)
        assert Enrolment.objects.count() == 1
        Enrolment.objects.update(arrived_at=timezone.now() - timedelta(hours=12, seconds=1))
        assert comes(Study.objects.get(slug="large"), assignment="A2").status_code == 302

    def test_announced_moment_is_late_enough(self):
        study = family("small")
        comes(study)
        ended(hours_ago=5)
        said = re.search(r"from (\d+ \w+ \d{4}, \d\d:\d\d) UTC", text_of(comes(study, assignment="A2")))[1]
        until = datetime.strptime(said, "%d %B %Y, %H:%M").replace(tzinfo=UTC)
        allowed = Enrolment.objects.get().arrived_at + timedelta(hours=12)
        assert timedelta(0) <= until - allowed < timedelta(minutes=1)

    def test_unfinished_game_elsewhere_counts(self):
        comes(family("small"))
        assert comes(family("large"), assignment="A2").status_code == 403

    def test_other_families_do_not_count(self):
        comes(family("small"))
        other = family("prices", game="negotiation", roles=["alice"], agents=agents_from_specs("script:random"))
        assert comes(other, assignment="A2").status_code == 302

    def test_other_people_and_recruiters_do_not_count(self):
        study = family("small")
        comes(study)
        assert comes(study, worker="W2", assignment="A2").status_code == 302
        assert enrol(study, Arrival("prolific", worker="W", proof="S1"))

    def test_study_without_a_rest_asks_none(self):
        comes(family("small"))
        assert comes(family("large", rest_hours=0), assignment="A2").status_code == 302

    def test_enrolled_participants_may_return_at_any_time(self):
        study = family("small")
        assert comes(study)["Location"] == comes(study)["Location"]

    def test_refusal_page_does_not_identify_the_worker(self):
        study = family("small")
        comes(study, worker="A1WORKERID")
        answer = comes(study, worker="A1WORKERID", assignment="A2")
        assert "A1WORKERID" not in answer.content.decode()

    @pytest.mark.parametrize(
        ("wait", "says"),
        [
            (timedelta(seconds=1), "1 minute"),
            (timedelta(minutes=5, seconds=1), "6 minutes"),
            (timedelta(minutes=59, seconds=30), "1 hour"),
            (timedelta(hours=1, minutes=1), "1 hour and 1 minute"),
            (timedelta(hours=12), "12 hours"),
        ],
    )
    def test_waits_are_rounded_up(self, wait, says):
        assert describe_wait(wait) == says


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
class TestSimultaneousArrivals:
    @staticmethod
    def at_once(arrivals: list[tuple[Study, Arrival]]) -> list[object]:
        barrier = threading.Barrier(len(arrivals))
        results: list[object] = [None] * len(arrivals)

        def arrive(i: int) -> None:
            barrier.wait()
            try:
                results[i] = enrol(*arrivals[i]).pk
            except EntryRefused as refusal:
                results[i] = type(refusal)
            finally:
                connection.close()

        threads = [threading.Thread(target=arrive, args=(i,)) for i in range(len(arrivals))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def test_simultaneous_arrivals_at_six_studies_play_one_game(self):
        studies = [family(f"family-{i}") for i in range(6)]
        results = self.at_once([(study, Arrival("mturk", "W", f"A{i}/W")) for i, study in enumerate(studies)])
        assert sorted(results, key=str) == [Enrolment.objects.get().pk, *[TooSoon] * 5]
        assert Placement.objects.count() == 1

    def test_simultaneous_assignments_play_one_game(self):
        study = launched_study(entry=Study.Entry.MTURK)
        results = self.at_once([(study, Arrival("mturk", "W", f"A{i}/W")) for i in range(6)])
        assert sorted(results, key=str) == [Enrolment.objects.get().pk, *[DifferentParticipant] * 5]

    def test_unrelated_workers_are_all_admitted(self):
        studies = [family(f"family-{i}") for i in range(3)]
        results = self.at_once([(studies[i % 3], Arrival("mturk", f"W{i}", f"A{i}")) for i in range(9)])
        assert len({result for result in results if isinstance(result, int)}) == 9


@pytest.mark.django_db
def test_glee_preset_allows_repeats_after_twelve_hours():
    from collecting.presets import load
    from studies.freezing import launch

    studies = load("glee-human", agents=["script:random"])
    assert {(study.most_participations, study.rest_hours) for study in studies} == {(None, 12)}
    assert {str(launch(study).content["participations"]) for study in studies} == {
        str({"most": None, "rest_hours": 12})
    }


@pytest.mark.django_db
def test_dropped_out_participants_place_is_given_to_the_next():
    study = launched_study(quota=1)
    consented_participant(study)
    Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    arrived_participant(study, "next")
    assert list(Enrolment.objects.order_by("pk").values_list("state", flat=True)) == ["dropped_out", "arrived"]
