"""How often one person may take part, and what they are told when they come too soon."""

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

from opponents.agents import named
from participants import services
from participants.models import Enrolment
from participants.states import State
from recruiters.arrivals import Arrival
from recruiters.errors import DifferentParticipant, EntryRefused, TooSoon
from recruiters.models import Identity, LabCode
from studies.enrolling import enrol
from studies.models import Placement, Study
from studies.participations import in_words
from tests.visitors import arriving, consenting, heading_of, launched, text_of

GLEE = {"most_participations": None, "rest_hours": 12}


def comes(study: Study, worker: str = "W", assignment: str = "A1") -> HttpResponse:
    """A worker of Mechanical Turk follows the link of an assignment."""
    link = {"workerId": worker, "assignmentId": assignment, "hitId": "H"}
    return Client().get(f"/join/{study.slug}?{urlencode(link)}")


def ended(*, hours_ago: float = 0.0) -> None:
    """Everybody's enrolment is over, and was begun so long ago."""
    for person in Enrolment.objects.filter(ended_at=None):
        with transaction.atomic():
            services.end(services.locked(person.pk), State.COMPLETED)
    Enrolment.objects.update(arrived_at=timezone.now() - timedelta(hours=hours_ago))


def family(slug: str, **fields) -> Study:
    return launched(**{"slug": slug, "entry": Study.Entry.MTURK, **GLEE, **fields})


@pytest.mark.django_db
class TestHowOften:
    def test_one_study_is_played_once_by_default(self):
        study = launched(entry=Study.Entry.MTURK)
        comes(study)
        ended(hours_ago=1000)
        answer = comes(study, assignment="A2")
        assert answer.status_code == 403
        assert "You have already taken part" in text_of(answer)
        assert "Please return this task" in text_of(answer)
        assert Enrolment.objects.count() == 1

    def test_a_study_may_let_people_come_a_number_of_times(self):
        study = launched(entry=Study.Entry.MTURK, most_participations=2)
        for assignment in ("A1", "A2"):
            assert comes(study, assignment=assignment).status_code == 302
            ended()
        answer = comes(study, assignment="A3")
        assert answer.status_code == 403
        assert "at most 2 times" in text_of(answer)
        assert Enrolment.objects.count() == Placement.objects.count() == 2

    def test_never_two_games_side_by_side(self):
        study = launched(entry=Study.Entry.MTURK, most_participations=None)
        first = comes(study)["Location"]
        answer = comes(study, assignment="A2")
        assert answer.status_code == 403
        assert "finish that one first" in text_of(answer)
        assert first not in answer.content.decode()
        assert comes(study)["Location"] == first

    def test_an_assignment_that_is_done_leads_to_its_last_page_and_begins_nothing(self):
        study = launched(entry=Study.Entry.MTURK, most_participations=None)
        first = comes(study)["Location"]
        ended()
        assert comes(study)["Location"] == first
        assert Enrolment.objects.count() == 1

    def test_an_enrolment_that_returned_its_place_counts_too(self):
        study = launched(entry=Study.Entry.MTURK)
        comes(study)
        with transaction.atomic():
            services.end(services.locked(Enrolment.objects.get().pk), State.FAILED_CODE_WORD)
        assert comes(study, assignment="A2").status_code == 403

    @pytest.mark.parametrize("purpose", ["pilot", "demo"])
    def test_trials_count_nobody_and_are_not_counted(self, purpose):
        study = family("trial", purpose=purpose, most_participations=1)
        for assignment in ("A1", "A2"):
            assert comes(study, assignment=assignment).status_code == 302
        assert comes(family("serious")).status_code == 302

    def test_a_preview_counts_nobody(self):
        study = family("serious")
        preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "workerId": "W", "hitId": "H"}
        assert Client().get(f"/join/{study.slug}", preview).status_code == 200
        assert comes(study).status_code == 302

    def test_what_a_version_froze_is_what_holds(self):
        study = launched(entry=Study.Entry.MTURK, most_participations=2)
        Study.objects.update(most_participations=1)
        comes(study)
        ended()
        assert comes(study, assignment="A2").status_code == 302


@pytest.mark.django_db
class TestOneCodeForSeveralGames:
    """A personal code is a person's and not an assignment's: it leads to the next game too."""

    @pytest.fixture
    def code(self) -> str:
        return LabCode.objects.create(study="splitting").code

    def test_after_the_first_game_the_door_offers_another_and_the_last_page(self, code):
        launched(most_participations=2)
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

    def test_pressing_twice_begins_one_game(self, code):
        launched(most_participations=5)
        Client().get("/join/splitting", {"code": code})
        ended()
        pressed = [Client().post(f"/join/splitting?code={code}", {"again": "yes"})["Location"] for _time in range(2)]
        assert pressed[0] == pressed[1]
        assert Enrolment.objects.count() == 2

    def test_when_there_is_no_other_game_the_code_leads_to_the_last_page(self, code):
        launched(most_participations=1)
        first = Client().get("/join/splitting", {"code": code})["Location"]
        ended()
        assert Client().get("/join/splitting", {"code": code})["Location"] == first
        assert Client().post(f"/join/splitting?code={code}", {"again": "yes"}).status_code == 403
        assert Enrolment.objects.count() == 1

    def test_too_soon_the_page_says_when_and_still_leads_to_the_last_page(self, code):
        launched(**GLEE)
        first = Client().get("/join/splitting", {"code": code})["Location"]
        ended(hours_ago=11)
        door = Client().get("/join/splitting", {"code": code})
        assert "come back in 1 hour" in text_of(door)
        assert first in door.content.decode()
        assert b"<form" not in door.content
        assert Client().post(f"/join/splitting?code={code}", {"again": "yes"}).status_code == 403


@pytest.mark.django_db
class TestResting:
    def test_a_second_game_of_the_family_waits_twelve_hours_in_whichever_study(self):
        comes(family("small"))
        ended(hours_ago=11.5)
        answer = comes(family("large"), assignment="A2")
        assert answer.status_code == 403
        assert heading_of(answer) == "Please come back later"
        assert "come back in 30 minutes" in text_of(answer)
        assert Enrolment.objects.count() == 1
        Enrolment.objects.update(arrived_at=timezone.now() - timedelta(hours=12, seconds=1))
        assert comes(Study.objects.get(slug="large"), assignment="A2").status_code == 302

    def test_the_moment_that_the_page_names_is_one_at_which_the_person_is_let_in(self):
        study = family("small")
        comes(study)
        ended(hours_ago=5)
        said = re.search(r"from (\d+ \w+ \d{4}, \d\d:\d\d) UTC", text_of(comes(study, assignment="A2")))[1]
        until = datetime.strptime(said, "%d %B %Y, %H:%M").replace(tzinfo=UTC)
        allowed = Enrolment.objects.get().arrived_at + timedelta(hours=12)
        assert timedelta(0) <= until - allowed < timedelta(minutes=1)

    def test_a_game_that_is_still_going_on_elsewhere_counts(self):
        comes(family("small"))
        assert comes(family("large"), assignment="A2").status_code == 403

    def test_another_family_is_another_matter(self):
        comes(family("small"))
        other = family("prices", game="negotiation", roles=["alice"], agents=named("script:random"))
        assert comes(other, assignment="A2").status_code == 302

    def test_so_is_another_person_and_the_same_name_at_another_recruiter(self):
        study = family("small")
        comes(study)
        assert comes(study, worker="W2", assignment="A2").status_code == 302
        assert enrol(study, Arrival("prolific", worker="W", proof="S1"))

    def test_a_study_without_a_rest_asks_none(self):
        comes(family("small"))
        assert comes(family("large", rest_hours=0), assignment="A2").status_code == 302

    def test_who_is_inside_comes_back_in_at_any_time(self):
        study = family("small")
        assert comes(study)["Location"] == comes(study)["Location"]

    def test_nothing_that_names_the_worker_is_on_the_page(self):
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
    def test_waits_in_words_are_never_too_short(self, wait, says):
        assert in_words(wait) == says


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
class TestAtOnce:
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

    def test_one_worker_at_the_doors_of_six_studies_of_a_family_plays_one_game(self):
        studies = [family(f"family-{i}") for i in range(6)]
        results = self.at_once([(study, Arrival("mturk", "W", f"A{i}/W")) for i, study in enumerate(studies)])
        assert sorted(results, key=str) == [Enrolment.objects.get().pk, *[TooSoon] * 5]
        assert Placement.objects.count() == 1

    def test_one_worker_with_six_assignments_of_a_study_plays_one_game(self):
        study = launched(entry=Study.Entry.MTURK)
        results = self.at_once([(study, Arrival("mturk", "W", f"A{i}/W")) for i in range(6)])
        assert sorted(results, key=str) == [Enrolment.objects.get().pk, *[DifferentParticipant] * 5]

    def test_workers_that_have_nothing_to_do_with_each_other_all_get_in(self):
        studies = [family(f"family-{i}") for i in range(3)]
        results = self.at_once([(studies[i % 3], Arrival("mturk", f"W{i}", f"A{i}")) for i in range(9)])
        assert len({result for result in results if isinstance(result, int)}) == 9


@pytest.mark.django_db
def test_the_glee_preset_lets_people_come_any_number_of_times_with_twelve_hours_between():
    from collecting.presets import load
    from studies.freezing import launch

    studies = load("glee-human", agents=["script:random"])
    assert {(study.most_participations, study.rest_hours) for study in studies} == {(None, 12)}
    assert {str(launch(study).content["participations"]) for study in studies} == {
        str({"most": None, "rest_hours": 12})
    }


@pytest.mark.django_db
def test_the_place_of_somebody_who_is_gone_is_given_to_the_next_who_would_find_none():
    study = launched(quota=1)
    consenting(study)
    Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    arriving(study, "next")
    assert list(Enrolment.objects.order_by("pk").values_list("state", flat=True)) == ["dropped_out", "arrived"]
