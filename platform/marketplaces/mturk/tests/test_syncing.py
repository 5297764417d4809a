"""Syncing from mTurk: tasks, submitted assignments, participants who have left, and our own qualification."""

from __future__ import annotations

import contextlib
from datetime import timedelta

import pytest
from django.utils import timezone

from exports.tests import building
from llm_agents.standins.kit import Fault
from marketplaces.kinds import MarketplaceError
from marketplaces.models import Offer, Submission
from marketplaces.mturk.deciding import sync as sync_once
from marketplaces.mturk.models import Qualification
from marketplaces.mturk.terms import Status
from participants.models import Enrolment
from participants.states import State
from studies.models import Placement

pytestmark = pytest.mark.django_db


def sync(staged) -> None:
    sync_once(staged.recruitment)


def make_silent(person, **time_ago) -> None:
    """Set the person's arrival and their page's last signal to this long ago."""
    long_ago = timezone.now() - timedelta(**time_ago)
    Enrolment.objects.filter(pk=person.pk).update(last_seen_at=long_ago, arrived_at=long_ago)


class TestTasks:
    def test_task_status_is_recorded(self, staged):
        hit = staged.publish(places=3)
        staged.accept(hit, "AWORKERONE").arrive()
        sync(staged)
        hit.refresh_from_db()
        assert (hit.status, hit.terms.pending, hit.terms.available, hit.terms.completed) == ("Assignable", 1, 2, 0)
        staged.market.pass_time(2 * 86400)
        sync(staged)
        hit.refresh_from_db()
        assert hit.status == Status.REVIEWABLE

    def test_missing_task_is_given_up_after_a_day(self, staged):
        hit = staged.ordered()
        sync(staged)
        assert Offer.objects.get().status == Status.ORDERED
        Offer.objects.filter(pk=hit.pk).update(ordered_at=timezone.now() - timedelta(days=1))
        sync(staged)
        assert Offer.objects.get().status == Status.REFUSED

    def test_task_deleted_by_mturk_does_not_stop_the_others(self, staged):
        first, second = staged.publish(), staged.publish()
        del staged.market.hits[first.remote_id]
        staged.accept(second, "AWORKERONE").submit()
        sync(staged)
        first.refresh_from_db()
        assert first.status == Status.DISPOSED
        assert Submission.objects.get().task == second.remote_id

    def test_data_synced_before_an_error_is_kept(self, staged):
        hits = staged.publish(), staged.publish()
        for hit in hits:
            staged.accept(hit, "AWORKERONE").submit()
        staged.standin.misbehave(Fault.CUT, "ListAssignmentsForHIT", times=2)
        for expected in (0, 0, 2):
            with contextlib.suppress(MarketplaceError):
                sync(staged)
            assert Submission.objects.count() == expected
        assert set(Submission.objects.values_list("task", flat=True)) == {hit.remote_id for hit in hits}


class TestAdvice:
    def test_finished_but_unsubmitted_gets_our_own_advice(self, staged):
        person = staged.worker().finish()
        invented = {"assignmentId": "3A", "hitId": "3INVENTED"}
        stranger = building.complete(staged.study, worker="AMADEUP", proof="3A/AMADEUP", details=invented)
        staged.sync()
        lines = staged.lines()
        assert "They can still do so" in lines[person.pseudonym].advice
        assert "import it on this page" in lines[stranger.pseudonym].advice

    def test_automatic_approval_is_announced(self, staged):
        worker = staged.worker()
        person = worker.fail()
        worker.submit()
        staged.sync()
        assert "automatically (20" in staged.lines()[person.pseudonym].advice
        assert worker.row.auto_approval_at - worker.row.submitted_at == timedelta(days=3)


class TestAbsentWorkers:
    def test_absent_worker_is_ended_when_nobody_works_on_the_task(self, staged):
        worker = staged.worker()
        person = worker.arrive()
        sync(staged)
        assert worker.person.state == State.ARRIVED
        worker.leave()
        sync(staged)
        assert worker.person.state == State.ARRIVED, "their page sent a signal a moment ago"
        make_silent(person, minutes=3)
        sync(staged)
        assert worker.person.state == State.RETURNED and not person.ledger.exists()
        assert not Placement.objects.filter(enrolment=person, released_at=None).exists()

    def test_nobody_is_ended_while_someone_works_on_the_task(self, staged):
        absent, active = staged.worker(), staged.worker()
        for worker in (absent, active):
            make_silent(worker.arrive(), minutes=30)
        absent.leave()
        sync(staged)
        assert {worker.person.state for worker in (absent, active)} == {State.ARRIVED}

    def test_worker_is_ended_when_the_time_is_over(self, staged):
        hit = staged.publish(minutes=60)
        late, other = staged.accept(hit, "AWORKERONE"), staged.accept(hit, "AOTHER")
        make_silent(late.arrive(), minutes=70)
        other.arrive()
        sync(staged)
        assert (late.person.state, other.person.state) == (State.RETURNED, State.ARRIVED)

    def test_worker_is_ended_when_another_submits_the_assignment(self, staged):
        hit = staged.publish()
        absent = staged.accept(hit, "AFIRST")
        make_silent(absent.arrive(), minutes=5)
        absent.leave()
        second = staged.accept(hit, "ASECOND", reuse=absent.key).work()
        staged.sync()
        assert (absent.person.state, second.person.state) == (State.RETURNED, State.COMPLETED)
        lines = staged.lines()
        assert lines[absent.person.pseudonym].finding == "somebody else" and second.person.pseudonym not in lines

    def test_ended_enrolment_is_not_changed(self, staged):
        worker = staged.worker()
        person = worker.finish()
        worker.leave()
        make_silent(person, hours=5)
        sync(staged)
        assert worker.person.state == State.COMPLETED
        assert Placement.objects.filter(enrolment=person, released_at=None).exists()


class TestRestQualification:
    @pytest.fixture
    def resting(self, staged):
        return staged.beside(rest_hours=12, participations=None)

    def test_task_is_hidden_during_the_rest_period(self, resting):
        name, market = resting.market.worker("AWORKERONE"), resting.market
        hit, other_hit = (resting.publish(rest_hours=12) for _time in range(2))
        person = resting.accept(hit, "AWORKERONE").arrive()
        assert market.offered(name)
        sync(resting)
        assert market.offered(name) == [] and len(market.offered(market.worker("AFRESH"))) == 2
        (holders,) = market.holders.values()
        make_silent(person, hours=12, minutes=1)
        holders["AWORKERONE"]["IntegerValue"] -= 721
        sync(resting)
        assert [offered.id for offered in market.offered(name)] == [other_hit.remote_id]

    def test_qualification_is_created_once_and_reused(self, resting):
        for _time in range(2):
            resting.publish(rest_hours=12)
        Qualification.objects.all().delete()
        resting.publish(rest_hours=12)
        assert list(resting.market.qualifications) == [Qualification.objects.get().qualification_id]

    def test_unknown_worker_stops_nothing(self, resting):
        hit = resting.publish(rest_hours=12)
        assert resting.accept(hit, "AWORKERONE").open(workerId="notaworker").status_code == 302
        resting.accept(hit, "AWORKERTWO").arrive()
        sync(resting)
        (holders,) = resting.market.holders.values()
        assert list(holders) == ["AWORKERTWO"]
        calls_before = resting.standin.calls.count("AssociateQualificationWithWorker")
        sync(resting)
        assert resting.standin.calls.count("AssociateQualificationWithWorker") == calls_before
