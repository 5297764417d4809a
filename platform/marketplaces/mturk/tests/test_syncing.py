"""Syncing from mTurk: tasks, submitted assignments, participants who have left, and our own qualification."""

from __future__ import annotations

import contextlib
from datetime import timedelta

import pytest
from django.utils import timezone

from exports.tests import building
from llm_agents.standins.kit import Fault
from marketplaces import comparing, modules
from marketplaces.kinds import MarketplaceError, Unclear
from marketplaces.models import Submission
from marketplaces.mturk.models import Hit
from marketplaces.mturk.tests.staged import ADDRESS
from marketplaces.syncing import sync as sync_generally
from marketplaces.tests.doing import finish
from participants.models import Enrolment
from participants.states import State
from studies.models import Placement

pytestmark = pytest.mark.django_db


def sync(staged) -> None:
    modules.deciding("mturk").sync(staged.recruitment)


def lines_of(staged) -> dict[Enrolment, comparing.Line]:
    """Return what there is to say about each participant after a sync."""
    assert sync_generally(staged.recruitment)
    staged.recruitment.refresh_from_db()
    return {line.enrolment: line for line in comparing.lines_of(staged.study, staged.account)}


def make_silent(person, **time_ago) -> None:
    """Set the person's arrival and their page's last signal to this long ago."""
    long_ago = timezone.now() - timedelta(**time_ago)
    Enrolment.objects.filter(pk=person.pk).update(last_seen_at=long_ago, arrived_at=long_ago)


def state_of(person) -> str:
    person.refresh_from_db()
    return person.state


def holds_place(person) -> bool:
    return Placement.objects.filter(enrolment=person, released_at=None).exists()


class TestTasks:
    def test_task_status_is_recorded(self, staged):
        hit = staged.published(assignments=3)
        staged.arrive(staged.accept(hit, "AWORKERONE"))
        sync(staged)
        hit.refresh_from_db()
        assert (hit.state, hit.pending, hit.available, hit.completed) == ("Assignable", 1, 2, 0)
        staged.market.pass_time(2 * 86400)
        sync(staged)
        hit.refresh_from_db()
        assert hit.state == Hit.State.REVIEWABLE

    @pytest.mark.parametrize("failure", [Fault.LOST, Fault.GARBAGE_LATE, Fault.REFUSED_LATE])
    def test_task_with_lost_answer_is_found(self, staged, failure):
        from marketplaces.mturk import publishing

        staged.standin.misbehave(failure, "CreateHIT")
        with pytest.raises(Unclear):
            publishing.publish(staged.ordered(), address=ADDRESS)
        sync(staged)
        hit = Hit.objects.get()
        assert (hit.state, hit.problem) == (Hit.State.ASSIGNABLE, "")
        assert hit.hit_id in staged.market.hits

    def test_missing_task_is_given_up_after_a_day(self, staged):
        hit = staged.ordered()
        sync(staged)
        assert Hit.objects.get().state == Hit.State.ORDERED
        Hit.objects.filter(pk=hit.pk).update(created_at=timezone.now() - timedelta(days=1))
        sync(staged)
        assert Hit.objects.get().state == Hit.State.REFUSED

    def test_task_deleted_by_mturk_does_not_stop_the_others(self, staged):
        first, second = staged.published(), staged.published()
        del staged.market.hits[first.hit_id]
        staged.submit(staged.accept(second, "AWORKERONE"))
        sync(staged)
        first.refresh_from_db()
        assert first.state == Hit.State.DISPOSED
        assert Submission.objects.get().task == second.hit_id


class TestAssignments:
    def test_finished_but_unsubmitted_gets_our_own_advice(self, staged):
        person = finish(staged.arrive(staged.accept(staged.published(), "AWORKERONE")))
        invented = {"assignmentId": "3A", "hitId": "3INVENTED"}
        stranger = building.complete(staged.study, worker="AMADEUP", proof="3A/AMADEUP", details=invented)
        lines = lines_of(staged)
        assert "They can still do so" in lines[person].advice
        assert "import it on this page" in lines[stranger].advice

    def test_automatic_approval_is_announced(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        person = staged.arrive(assignment)
        building.consent(person)
        building.read_instructions(person, word="wrong")
        staged.submit(assignment)
        assert "automatically (20" in lines_of(staged)[person].advice
        row = Submission.objects.get()
        assert row.auto_approval_at - row.submitted_at == timedelta(days=3)

    def test_task_tells_its_own_assignments_apart(self, staged):
        first, second = staged.published(), staged.published()
        staged.work_through(first, "AONE")
        staged.work_through(second, "ATWO")
        sync(staged)
        assert set(Submission.objects.values_list("task", flat=True)) == {first.hit_id, second.hit_id}


class TestAbsentWorkers:
    def test_absent_worker_is_ended_when_nobody_works_on_the_task(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        person = staged.arrive(assignment)
        sync(staged)
        assert state_of(person) == State.ARRIVED
        staged.market.leave(assignment)
        sync(staged)
        assert state_of(person) == State.ARRIVED, "their page sent a signal a moment ago"
        make_silent(person, minutes=3)
        sync(staged)
        assert state_of(person) == State.RETURNED
        assert not holds_place(person)
        assert not person.ledger.exists()

    def test_nobody_is_ended_while_someone_works_on_the_task(self, staged):
        hit = staged.published()
        absent, active = staged.accept(hit, "AGONE"), staged.accept(hit, "ASTAYS")
        people = [staged.arrive(absent), staged.arrive(active)]
        staged.market.leave(absent)
        for person in people:
            make_silent(person, minutes=30)
        sync(staged)
        assert [state_of(person) for person in people] == [State.ARRIVED, State.ARRIVED]

    def test_worker_is_ended_when_the_time_is_over(self, staged):
        hit = staged.published(duration=3600)
        person, other_person = (
            staged.arrive(staged.accept(hit, "AWORKERONE")),
            staged.arrive(staged.accept(hit, "AOTHER")),
        )
        make_silent(person, minutes=70)
        sync(staged)
        assert state_of(person) == State.RETURNED
        assert state_of(other_person) == State.ARRIVED

    def test_worker_is_ended_when_another_submits_the_assignment(self, staged):
        hit = staged.published()
        first = staged.accept(hit, "AFIRST")
        absent = staged.arrive(first)
        staged.market.leave(first)
        make_silent(absent, minutes=5)
        second = staged.accept(hit, "ASECOND", reuse=first.id)
        person = finish(staged.arrive(second))
        staged.submit(second)
        sync(staged)
        assert state_of(absent) == State.RETURNED
        assert state_of(person) == State.COMPLETED
        lines = lines_of(staged)
        assert lines[absent].finding == "somebody else" and person not in lines

    def test_ended_enrolment_is_not_changed(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        person = finish(staged.arrive(assignment))
        staged.market.leave(assignment)
        make_silent(person, hours=5)
        sync(staged)
        assert state_of(person) == State.COMPLETED
        assert holds_place(person)


class TestRestQualification:
    @pytest.fixture
    def hit(self, standin, db):
        from marketplaces.mturk.tests.staged import staged_at

        self.staged = staged_at(standin, slug="resting", rest_hours=12, participations=None)
        return self.staged.published(demands={"rest_hours": 12})

    def test_task_is_hidden_during_the_rest_period(self, hit):
        staged, worker = self.staged, self.staged.market.worker("AWORKERONE")
        other_hit = staged.published(demands={"rest_hours": 12})
        person = staged.arrive(staged.accept(hit, "AWORKERONE"))
        assert staged.market.offered(worker)
        sync(staged)
        assert staged.market.offered(worker) == []
        assert len(staged.market.offered(staged.market.worker("AFRESH"))) == 2
        (holders,) = staged.market.holders.values()
        value, since = holders["AWORKERONE"]
        make_silent(person, hours=12, minutes=1)
        holders["AWORKERONE"] = (value - 721, since)
        sync(staged)
        assert [offered.id for offered in staged.market.offered(worker)] == [other_hit.hit_id]

    def test_qualification_is_created_once_per_account(self, hit):
        self.staged.published(demands={"rest_hours": 12})
        assert len(self.staged.market.qualifications) == 1

    def test_existing_qualification_is_reused(self, hit):
        from marketplaces.mturk.models import Qualification

        Qualification.objects.all().delete()
        self.staged.published(demands={"rest_hours": 12})
        assert Qualification.objects.get().qualification_id in self.staged.market.qualifications

    def test_unknown_worker_stops_nothing(self, hit):
        staged = self.staged
        invented_link = staged.link(staged.accept(hit, "AWORKERONE"), workerId="notaworker")
        assert staged.follow(invented_link).status_code == 302
        staged.arrive(staged.accept(hit, "AWORKERTWO"))
        sync(staged)
        (holders,) = staged.market.holders.values()
        assert list(holders) == ["AWORKERTWO"]
        calls_before = staged.standin.calls.count("AssociateQualificationWithWorker")
        sync(staged)
        assert staged.standin.calls.count("AssociateQualificationWithWorker") == calls_before


class TestErrors:
    def test_data_synced_before_an_error_is_kept(self, staged):
        first, second = staged.published(), staged.published()
        staged.submit(staged.accept(first, "AWORKERONE"))
        staged.submit(staged.accept(second, "AWORKERONE"))
        staged.standin.misbehave(Fault.CUT, "ListAssignmentsForHIT", times=2)
        for expected in (0, 0, 2):
            with contextlib.suppress(MarketplaceError):
                sync(staged)
            assert Submission.objects.count() == expected
