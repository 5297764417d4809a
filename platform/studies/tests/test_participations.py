"""How often one person may take part, and what people read who come back too early."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from participants import services
from participants.models import Enrolment
from participants.states import State
from recruiters.arrivals import Arrival
from recruiters.errors import DifferentParticipant, EntryRefused, TooSoon
from recruiters.models import Identity, LabCode
from studies.enrolling import enrol
from studies.models import Placement, Study
from studies.participations import describe_wait
from studies.tests import kit
from studies.tests.kit import at_once
from tests.visitors import heading_of, launched_study, text_of

GLEE_LIMITS = {"participations": None, "rest_hours": 12}


def follow_assignment_link(study: Study, worker: str = "W", assignment: str = "A1") -> HttpResponse:
    """Follow the link of an assignment as a Mechanical Turk worker."""
    link = {"workerId": worker, "assignmentId": assignment, "hitId": "H"}
    return Client().get(f"/join/{study.slug}?{urlencode(link)}")


def end_all(*, hours_ago: float = 0.0) -> None:
    """End every enrolment, with its start this long ago."""
    for person in Enrolment.objects.filter(ended_at=None):
        with transaction.atomic():
            services.end(services.locked(person.pk), State.COMPLETED)
    Enrolment.objects.update(arrived_at=timezone.now() - timedelta(hours=hours_ago))


def study_of_family(slug: str, **fields) -> Study:
    return launched_study(**{"slug": slug, "via": Study.Entry.MTURK, **GLEE_LIMITS, **fields})


@pytest.mark.django_db
class TestHowOften:
    def test_study_is_played_once_by_default(self):
        study = launched_study(via="mturk")
        follow_assignment_link(study, worker="A1WORKERID")
        end_all(hours_ago=1000)
        response = follow_assignment_link(study, worker="A1WORKERID", assignment="A2")
        assert response.status_code == 403
        assert "You have already taken part" in text_of(response)
        assert "Please return this task" in text_of(response)
        assert Enrolment.objects.count() == 1
        assert "A1WORKERID" not in response.content.decode()

    def test_study_may_allow_several_sessions(self):
        study = launched_study(via="mturk", participations=2)
        for assignment in ("A1", "A2"):
            assert follow_assignment_link(study, assignment=assignment).status_code == 302
            end_all()
        response = follow_assignment_link(study, assignment="A3")
        assert response.status_code == 403
        assert "at most 2 times" in text_of(response)
        assert Enrolment.objects.count() == Placement.objects.count() == 2

    def test_concurrent_sessions_are_refused_and_an_assignment_leads_to_its_own_page(self):
        study = launched_study(via="mturk", participations=None)
        first_url = follow_assignment_link(study)["Location"]
        response = follow_assignment_link(study, assignment="A2")
        assert response.status_code == 403
        assert "finish that one first" in text_of(response)
        assert first_url not in response.content.decode()
        assert follow_assignment_link(study)["Location"] == first_url
        end_all()
        assert follow_assignment_link(study)["Location"] == first_url and Enrolment.objects.count() == 1

    def test_enrolment_with_released_place_counts_too(self):
        study = launched_study(via="mturk")
        follow_assignment_link(study)
        with transaction.atomic():
            services.end(services.locked(Enrolment.objects.get().pk), State.FAILED_CODE_WORD)
        assert follow_assignment_link(study, assignment="A2").status_code == 403

    def test_demos_do_not_count(self):
        study = study_of_family("trial", purpose="demo", participations=1)
        for assignment in ("A1", "A2"):
            assert follow_assignment_link(study, assignment=assignment).status_code == 302
        assert follow_assignment_link(study_of_family("serious")).status_code == 302

    def test_preview_does_not_count(self):
        study = study_of_family("serious")
        preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "workerId": "W", "hitId": "H"}
        assert Client().get(f"/join/{study.slug}", preview).status_code == 200
        assert follow_assignment_link(study).status_code == 302

    def test_limits_apply_as_launched(self):
        study = launched_study(via="mturk", participations=2)
        study.draft = kit.changed(study.draft, participations=1)
        study.save()
        follow_assignment_link(study)
        end_all()
        assert follow_assignment_link(study, assignment="A2").status_code == 302


@pytest.mark.django_db
class TestCodesForSeveralGames:
    """A personal code belongs to a person, so it leads to the next game too."""

    @pytest.fixture
    def code(self) -> str:
        return LabCode.objects.create(study="splitting").code

    def test_entry_page_offers_another_game_and_the_last_page(self, code):
        launched_study(participations=2)
        first_url = Client().get("/join/splitting", {"code": code})["Location"]
        end_all()
        entry_page = Client().get("/join/splitting", {"code": code})
        assert "Welcome back" in heading_of(entry_page)
        assert f'href="{first_url}"' in entry_page.content.decode()
        assert Enrolment.objects.count() == 1, "opening the entry page begins no game"
        second_url = Client().post(f"/join/splitting?code={code}", {"again": "yes"})["Location"]
        assert second_url != first_url
        assert Client().get("/join/splitting", {"code": code})["Location"] == second_url
        assert list(Identity.objects.order_by("occasion").values_list("occasion", flat=True)) == [1, 2]

    def test_double_click_begins_one_game(self, code):
        launched_study(participations=5)
        Client().get("/join/splitting", {"code": code})
        end_all()
        locations = [Client().post(f"/join/splitting?code={code}", {"again": "yes"})["Location"] for _time in range(2)]
        assert locations[0] == locations[1]
        assert Enrolment.objects.count() == 2

    def test_code_leads_to_the_last_page_if_no_game_is_left(self, code):
        launched_study(participations=1)
        first_url = Client().get("/join/splitting", {"code": code})["Location"]
        end_all()
        assert Client().get("/join/splitting", {"code": code})["Location"] == first_url
        assert Client().post(f"/join/splitting?code={code}", {"again": "yes"}).status_code == 403
        assert Enrolment.objects.count() == 1

    def test_early_return_shows_wait_and_last_page(self, code):
        launched_study(**GLEE_LIMITS)
        first_url = Client().get("/join/splitting", {"code": code})["Location"]
        end_all(hours_ago=11)
        entry_page = Client().get("/join/splitting", {"code": code})
        assert "come back in 1 hour" in text_of(entry_page)
        assert first_url in entry_page.content.decode()
        assert b"<form" not in entry_page.content
        assert Client().post(f"/join/splitting?code={code}", {"again": "yes"}).status_code == 403


@pytest.mark.django_db
class TestRestBetweenGames:
    def test_second_game_of_a_kind_waits_twelve_hours(self):
        follow_assignment_link(study_of_family("small"))
        end_all(hours_ago=11.5)
        response = follow_assignment_link(study_of_family("large"), assignment="A2")
        assert response.status_code == 403
        assert heading_of(response) == "Please come back later"
        assert "come back in 30 minutes" in text_of(response)
        assert Enrolment.objects.count() == 1
        Enrolment.objects.update(arrived_at=timezone.now() - timedelta(hours=12, seconds=1))
        assert follow_assignment_link(Study.objects.get(slug="large"), assignment="A2").status_code == 302

    def test_announced_time_is_not_too_early(self):
        study = study_of_family("small")
        follow_assignment_link(study)
        end_all(hours_ago=5)
        stated = re.search(
            r"from (\d+ \w+ \d{4}, \d\d:\d\d) UTC", text_of(follow_assignment_link(study, assignment="A2"))
        )[1]
        stated_time = datetime.strptime(stated, "%d %B %Y, %H:%M").replace(tzinfo=UTC)
        allowed = Enrolment.objects.get().arrived_at + timedelta(hours=12)
        assert timedelta(0) <= stated_time - allowed < timedelta(minutes=1)

    @pytest.mark.parametrize(
        ("other", "status"),
        [({}, 403), ({"rest_hours": 0}, 302),
         ({"game": "negotiation", "roles": ["alice"], "agents": "script:random"}, 302)],
    )  # fmt: skip
    def test_unfinished_game_of_the_kind_counts_where_there_is_a_rest_period(self, other, status):
        follow_assignment_link(study_of_family("small"))
        assert follow_assignment_link(study_of_family("large", **other), assignment="A2").status_code == status

    def test_other_people_and_recruiters_do_not_count(self):
        study = study_of_family("small")
        follow_assignment_link(study)
        assert follow_assignment_link(study, worker="W2", assignment="A2").status_code == 302
        assert enrol(study, Arrival("prolific", worker="W", proof="S1"))

    @pytest.mark.parametrize(
        ("wait", "message"),
        [
            (timedelta(seconds=1), "1 minute"),
            (timedelta(minutes=5, seconds=1), "6 minutes"),
            (timedelta(minutes=59, seconds=30), "1 hour"),
            (timedelta(hours=1, minutes=1), "1 hour and 1 minute"),
            (timedelta(hours=12), "12 hours"),
        ],
    )
    def test_waits_are_rounded_up(self, wait, message):
        assert describe_wait(wait) == message


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
class TestSimultaneousArrivals:
    @staticmethod
    def arrive_together(arrivals: list[tuple[Study, Arrival]]) -> list[object]:
        found = at_once([partial(enrol, *arrival) for arrival in arrivals], EntryRefused)
        return [each.pk if isinstance(each, Enrolment) else type(each) for each in found]

    def test_simultaneous_arrivals_at_six_studies_play_one_game(self):
        studies = [study_of_family(f"family-{i}") for i in range(6)]
        results = self.arrive_together([(study, Arrival("mturk", "W", f"A{i}/W")) for i, study in enumerate(studies)])
        assert sorted(results, key=str) == [Enrolment.objects.get().pk, *[TooSoon] * 5]
        assert Placement.objects.count() == 1

    def test_simultaneous_assignments_play_one_game(self):
        study = launched_study(via="mturk")
        results = self.arrive_together([(study, Arrival("mturk", "W", f"A{i}/W")) for i in range(6)])
        assert sorted(results, key=str) == [Enrolment.objects.get().pk, *[DifferentParticipant] * 5]

    def test_unrelated_workers_are_all_admitted(self):
        studies = [study_of_family(f"family-{i}") for i in range(3)]
        results = self.arrive_together([(studies[i % 3], Arrival("mturk", f"W{i}", f"A{i}")) for i in range(9)])
        assert len({result for result in results if isinstance(result, int)}) == 9
