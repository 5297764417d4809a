"""Syncing from mTurk: tasks, submitted assignments, participants who have left, and our own qualification."""

from __future__ import annotations

import contextlib
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from exports.tests import building
from marketplaces import kinds
from marketplaces.kinds import MarketplaceError
from marketplaces.mturk import comparing
from marketplaces.mturk.errors import Unclear
from marketplaces.mturk.models import Assignment, Hit
from marketplaces.mturk.standin import Misbehaviour
from marketplaces.mturk.tests.house import ADDRESS
from marketplaces.syncing import sync as sync_generally
from participants.models import Enrolment
from participants.states import State
from payouts import books, deciding
from studies.models import Placement

pytestmark = pytest.mark.django_db


def sync(house) -> None:
    kinds.get("mturk").sync(house.recruitment)


def silent(person, **ago) -> None:
    """Set the person's arrival and their page's last signal to this long ago."""
    then = timezone.now() - timedelta(**ago)
    Enrolment.objects.filter(pk=person.pk).update(last_seen_at=then, arrived_at=then)


def state_of(person) -> str:
    person.refresh_from_db()
    return person.state


def holds_place(person) -> bool:
    return Placement.objects.filter(enrolment=person, released_at=None).exists()


class TestTasks:
    def test_task_status_is_recorded(self, house):
        hit = house.published(assignments=3)
        house.come(house.accept(hit, "AWORKERONE"))
        sync(house)
        hit.refresh_from_db()
        assert (hit.state, hit.pending, hit.available, hit.completed) == ("Assignable", 1, 2, 0)
        house.market.pass_time(2 * 86400)
        sync(house)
        hit.refresh_from_db()
        assert hit.state == Hit.State.REVIEWABLE

    @pytest.mark.parametrize("wrong", [Misbehaviour.LOST, Misbehaviour.NONSENSE, Misbehaviour.FAILS_LATE])
    def test_task_with_lost_answer_is_found(self, house, wrong):
        from marketplaces.mturk import publishing

        house.standin.misbehave("CreateHIT", wrong)
        with pytest.raises(Unclear):
            publishing.publish(house.ordered(), address=ADDRESS)
        sync(house)
        hit = Hit.objects.get()
        assert (hit.state, hit.problem) == (Hit.State.ASSIGNABLE, "")
        assert hit.hit_id in house.market.hits

    def test_missing_task_is_given_up_after_a_day(self, house):
        hit = house.ordered()
        sync(house)
        assert Hit.objects.get().state == Hit.State.ORDERED
        Hit.objects.filter(pk=hit.pk).update(created_at=timezone.now() - timedelta(days=1))
        sync(house)
        assert Hit.objects.get().state == Hit.State.REFUSED

    def test_task_deleted_by_mturk_does_not_stop_the_others(self, house):
        first, second = house.published(), house.published()
        del house.market.hits[first.hit_id]
        house.submit(house.accept(second, "AWORKERONE"))
        sync(house)
        first.refresh_from_db()
        assert first.state == Hit.State.DISPOSED
        assert Assignment.objects.get().hit == second


class TestAssignments:
    def test_assignment_is_matched_to_its_participant(self, house):
        person, _assignment = house.through(house.published(), "AWORKERONE")
        sync(house)
        noted = Assignment.objects.get()
        assert (noted.status, noted.whose, noted.identity) == ("Submitted", "ours", person.identity)
        assert noted.auto_approval_at - noted.submitted_at == timedelta(days=3)
        (line,) = comparing.lines_of(house.study)
        assert (line.mturk_status, line.parley_status, line.advice) == ("submitted", "completed", "")

    def test_rejection_on_mturk_itself_updates_the_ledger(self, house):
        person, assignment = house.through(house.published(), "AWORKERONE")
        sync(house)
        house.market.reject(assignment, "Not done.")
        sync(house)
        assert set(person.ledger.values_list("state", flat=True)) == {"written_off"}
        rows = list(person.ledger.values_list("pk", flat=True))
        deciding.put_back(study=house.study.slug, rows=rows[:1], who=None, reason="Paid otherwise.")
        sync(house)
        assert set(person.ledger.values_list("state", flat=True)) == {"due", "written_off"}, "only news count"
        house.market.approve(assignment, "Sorry.", override=True)
        sync(house)
        assert set(person.ledger.values_list("state", flat=True)) == {"due"}
        assert not books.check(house.study.slug)

    def test_submission_without_a_participant_needs_attention(self, house):
        house.submit(house.accept(house.published(), "ASTRANGER"))
        sync(house)
        (line,) = comparing.lines_of(house.study)
        assert line.enrolment is None and line.may_reject
        assert "nobody finished this assignment here" in line.advice
        assert "ASTRANGER" not in str(vars(Assignment.objects.get()))

    def test_finished_but_unsubmitted_needs_attention(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.finish(house.come(assignment))
        sync(house)
        (line,) = comparing.lines_of(house.study)
        assert (line.enrolment, line.mturk_status) == (person, "not submitted")
        assert "They can still do so" in line.advice

    def test_submitted_but_unfinished_needs_attention(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.come(assignment)
        house.submit(assignment)
        silent(person, hours=3)
        sync(house)
        assert state_of(person) == State.ARRIVED
        (line,) = comparing.lines_of(house.study)
        assert "still in progress here" in line.advice

    def test_submitted_after_an_unpaid_ending_needs_attention(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.come(assignment)
        building.consent(person)
        building.read_instructions(person, word="wrong")
        house.submit(assignment)
        sync(house)
        assert state_of(person) == State.FAILED_CODE_WORD
        (line,) = comparing.lines_of(house.study)
        assert "pays no reward" in line.advice
        house.market.pass_time(4 * 86400)
        sync(house)
        (line,) = comparing.lines_of(house.study)
        assert (line.mturk_status, line.may_reject) == ("approved", False)
        assert "not in the ledger" in line.advice

    def test_erased_participant_is_still_recognised(self, house):
        person, _assignment = house.through(house.published(), "AWORKERONE")
        sync(house)
        person.identity.delete()
        sync(house)
        (line,) = comparing.lines_of(house.study)
        assert (line.parley_status, line.advice) == ("erased", "")

    def test_unchanged_assignments_need_no_more_queries(self, house):
        hit, queries = house.published(), []
        for number in range(2, 6):
            assignment = house.accept(hit, f"AWORKER{number}")
            house.come(assignment)
            house.submit(assignment)
            if number in (3, 5):
                sync(house)
                with CaptureQueriesContext(connection) as asked:
                    sync(house)
                queries.append([one["sql"] for one in asked.captured_queries])
        assert len(queries[0]) == len(queries[1])
        assert not [sql for sql in queries[1] if "mturk_assignment" in sql and not sql.startswith("SELECT")]

    def test_late_arrival_is_matched_at_the_next_sync(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        house.submit(assignment)
        sync(house)
        assert Assignment.objects.get().whose == "nobody"
        arrival = {"assignmentId": assignment.id, "hitId": assignment.hit.id}
        person = building.arrive(house.study, worker="AWORKERONE", proof=f"{assignment.id}/AWORKERONE", details=arrival)
        sync(house)
        assert (Assignment.objects.get().whose, Assignment.objects.get().identity) == ("ours", person.identity)


class TestWhoIsGone:
    def test_absent_worker_is_ended_when_nobody_works_on_the_task(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.come(assignment)
        sync(house)
        assert state_of(person) == State.ARRIVED
        house.market.leave(assignment)
        sync(house)
        assert state_of(person) == State.ARRIVED, "their page was heard from a moment ago"
        silent(person, minutes=3)
        sync(house)
        assert state_of(person) == State.RETURNED
        assert not holds_place(person)
        assert not person.ledger.exists()

    def test_nobody_is_ended_while_someone_works_on_the_task(self, house):
        hit = house.published()
        gone, stays = house.accept(hit, "AGONE"), house.accept(hit, "ASTAYS")
        people = [house.come(gone), house.come(stays)]
        house.market.leave(gone)
        for person in people:
            silent(person, minutes=30)
        sync(house)
        assert [state_of(person) for person in people] == [State.ARRIVED, State.ARRIVED]

    def test_worker_is_ended_when_the_time_is_over(self, house):
        hit = house.published(duration=3600)
        person, other = house.come(house.accept(hit, "AWORKERONE")), house.come(house.accept(hit, "AOTHER"))
        silent(person, minutes=70)
        sync(house)
        assert state_of(person) == State.RETURNED
        assert state_of(other) == State.ARRIVED

    def test_worker_is_ended_when_another_submits_the_assignment(self, house):
        hit = house.published()
        first = house.accept(hit, "AFIRST")
        gone = house.come(first)
        house.market.leave(first)
        silent(gone, minutes=5)
        second = house.accept(hit, "ASECOND", reuse=first.id)
        person = house.finish(house.come(second))
        house.submit(second)
        sync(house)
        assert state_of(gone) == State.RETURNED
        assert state_of(person) == State.COMPLETED
        lines = {line.enrolment: line for line in comparing.lines_of(house.study)}
        assert "Another worker submitted" in lines[gone].advice
        assert lines[person].advice == ""

    def test_ended_enrolment_is_not_changed(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.finish(house.come(assignment))
        house.market.leave(assignment)
        silent(person, hours=5)
        sync(house)
        assert state_of(person) == State.COMPLETED
        assert holds_place(person)


class TestResting:
    @pytest.fixture
    def hit(self, standin, db):
        from marketplaces.mturk.tests.house import house_at

        self.house = house_at(standin, slug="resting", rest_hours=12, most_participations=None)
        return self.house.published(demands={"rest_hours": 12})

    def test_task_is_hidden_during_the_rest_period(self, hit):
        house, worker = self.house, self.house.market.worker("AWORKERONE")
        other = house.published(demands={"rest_hours": 12})
        person = house.come(house.accept(hit, "AWORKERONE"))
        assert house.market.offered(worker)
        sync(house)
        assert house.market.offered(worker) == []
        assert len(house.market.offered(house.market.worker("AFRESH"))) == 2
        (ours,) = house.market.qualifications.values()
        value, since = ours.holders["AWORKERONE"]
        silent(person, hours=12, minutes=1)
        ours.holders["AWORKERONE"] = (value - 721, since)
        sync(house)
        assert [one.id for one in house.market.offered(worker)] == [other.hit_id]

    def test_qualification_is_created_once_per_account(self, hit):
        self.house.published(demands={"rest_hours": 12})
        assert len(self.house.market.qualifications) == 1

    def test_existing_qualification_is_reused(self, hit):
        from marketplaces.mturk.models import Qualification

        Qualification.objects.all().delete()
        self.house.published(demands={"rest_hours": 12})
        assert Qualification.objects.get().qualification_id in self.house.market.qualifications

    def test_unknown_worker_stops_nothing(self, hit):
        house = self.house
        made_up = house.link(house.accept(hit, "AWORKERONE"), workerId="notaworker")
        assert house.follow(made_up).status_code == 302
        house.come(house.accept(hit, "AWORKERTWO"))
        sync(house)
        (ours,) = house.market.qualifications.values()
        assert list(ours.holders) == ["AWORKERTWO"]
        asked = house.standin.calls.count("AssociateQualificationWithWorker")
        sync(house)
        assert house.standin.calls.count("AssociateQualificationWithWorker") == asked


class TestErrors:
    @pytest.mark.parametrize("wrong", [one for one in Misbehaviour if one is not Misbehaviour.SLOW])
    def test_error_is_shown_until_the_next_success(self, house, wrong):
        house.published()
        house.standin.misbehave("GetHIT", wrong)
        sync_generally(house.recruitment)
        house.recruitment.refresh_from_db()
        assert house.recruitment.problem and house.recruitment.failures == 1
        sync_generally(house.recruitment)
        house.recruitment.refresh_from_db()
        assert (house.recruitment.problem, house.recruitment.failures) == ("", 0)

    def test_data_synced_before_an_error_is_kept(self, house):
        first, second = house.published(), house.published()
        house.submit(house.accept(first, "AWORKERONE"))
        house.submit(house.accept(second, "AWORKERONE"))
        house.standin.misbehave("ListAssignmentsForHIT", Misbehaviour.DOWN, Misbehaviour.DOWN)
        for expected in (0, 0, 2):
            with contextlib.suppress(MarketplaceError):
                sync(house)
            assert Assignment.objects.count() == expected
