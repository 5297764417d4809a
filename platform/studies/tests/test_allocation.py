"""Placement: cells fill evenly, never above the quota, and places become free again."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from matches.services import submit_move
from participants import services
from participants.models import Enrolment
from participants.states import ENDINGS, State
from participants.steps import StepRefused
from recruiters.arrivals import Arrival
from studies.enrolling import HELD, Full, enrol
from studies.models import Cell, Placement, Study
from studies.tests.kit import at_once
from tests.visitors import Visitor, arrived_participant, consented_participant, launched_study, placed_participant

MOVE = {"alice_gain": 5000, "bob_gain": 5000}


def study_with_both_roles(**fields) -> Study:
    return launched_study(**{"roles": ["alice", "bob"], **fields})


def held_by_role() -> Counter[str]:
    """Return the number of held places by role."""
    return Counter(Placement.objects.filter(released_at=None).values_list("cell__role", flat=True))


def end(person: Enrolment, state: State) -> None:
    with transaction.atomic():
        services.end(services.locked(person.pk), state)


@pytest.mark.django_db
class TestCells:
    @pytest.mark.parametrize("rule", ["blocks", "emptiest"])
    def test_roles_fill_evenly(self, rule):
        study = study_with_both_roles(quota=5, draw=rule)
        for i in range(10):
            placed_participant(study, f"w{i}")
            assert abs(held_by_role()["alice"] - held_by_role()["bob"]) <= 1
        assert held_by_role() == {"alice": 5, "bob": 5}

    def test_emptiness_is_relative_to_the_quota(self):
        study = study_with_both_roles(quota=4, draw="emptiest")
        Cell.objects.filter(role="bob").update(quota=8)
        for i in range(9):
            placed_participant(study, f"w{i}")
        assert held_by_role() == {"alice": 3, "bob": 6}

    def test_link_that_names_a_role_leads_to_a_cell_of_it(self):
        study = study_with_both_roles()
        placement = enrol(study, Arrival("otree", worker="w", proof="w", role="bob")).placement
        assert (placement.cell.role, placement.role) == ("bob", "bob")


@pytest.mark.django_db
class TestFreedPlaces:
    @pytest.mark.parametrize("state", ENDINGS)
    def test_ending_without_valid_data_frees_the_place(self, state):
        study = launched_study(quota=1, quiz=False)
        end(arrived_participant(study), State(state))
        if state == State.COMPLETED:
            with pytest.raises(Full):
                arrived_participant(study, "next")
        else:
            assert arrived_participant(study, "next").placement.cell == Cell.objects.get()

    @pytest.mark.parametrize(("mover", "held_after"), [(None, 1), ("clock", 0), ("script:fair", 0)])
    def test_match_with_substitute_moves_fills_no_place(self, mover, held_after):
        """The participant is paid, but the match does not count towards the quota."""
        study = launched_study(quota=1, quiz=False)
        visitor = Visitor(arrived_participant(study)).walk_to("match")
        match = visitor.match()
        submit_move(
            match_id=match.pk, role="alice", move=MOVE, answering=match.open_turns()["alice"].answering, by=mover
        )
        visitor.let_agent_answer()
        assert visitor.now().state == State.COMPLETED
        assert sum(held_by_role().values()) == held_after
        assert {row.reason for row in visitor.now().ledger.all()} == {"base", "bonus"}

    def test_dropping_out_frees_the_place(self):
        study = launched_study(quota=1)
        absent = arrived_participant(study)
        Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert services.end_expired() == 1
        assert services.end_expired() == 0
        arrived_participant(study, "next")
        absent.refresh_from_db()
        assert absent.state == State.DROPPED_OUT

    def test_freed_place_is_not_given_back_to_the_same_person(self):
        study = launched_study(quota=2)
        first = arrived_participant(study)
        end(first, State.WITHDREW)
        assert arrived_participant(study) == first
        assert held_by_role() == {}


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
class TestSimultaneousArrivals:
    @staticmethod
    def arrive_together(study: Study, workers: list[str]) -> list[object]:
        def arrive(worker: str) -> int:
            return consented_participant(study, worker).pk

        return at_once([partial(arrive, worker) for worker in workers], Full, StepRefused)

    def test_a_quota_is_never_exceeded(self):
        study = study_with_both_roles(quota=4)
        results = self.arrive_together(study, [f"w{i}" for i in range(12)])
        admitted = [result for result in results if isinstance(result, int)]
        assert len(admitted) == len(set(admitted)) == 8
        assert sum(isinstance(result, Full | StepRefused) for result in results) == 4
        assert Placement.objects.filter(HELD).count() == 8

    def test_twelve_tabs_are_one_participant(self):
        study = launched_study(quota=12)
        results = self.arrive_together(study, ["same"] * 12)
        assert len(set(results)) == 1
        assert Enrolment.objects.count() == Placement.objects.count() == 1
