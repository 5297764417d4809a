"""Everything happens exactly once under concurrency, on SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from games.errors import Refused
from matches import agents, announce, asking, leases, services, sweeps
from matches.errors import Stale
from matches.models import Event, Lease, Match
from matches.tests.kit import opened
from matches.turns import OpenTurn
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from studies.tests import kit

pytestmark = [pytest.mark.services, pytest.mark.both, pytest.mark.django_db(transaction=True)]

OFFER = {"alice_gain": 6000, "bob_gain": 4000}


def new_match(agent: str = "script:fair", delay: float = 0) -> Match:
    return opened({"alice": "person", "bob": services.Player(agent=agent, delay=delay)})


def at_once(count: int, function) -> list:
    """Run `function(i)` in `count` threads that start together; return results and exceptions."""
    return kit.at_once([partial(function, i) for i in range(count)], Exception)


@pytest.fixture(autouse=True)
def queued(monkeypatch) -> list[OpenTurn]:
    """Collect the turns that would be queued; the tests run the workers themselves."""
    turns: list[OpenTurn] = []
    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: turns.append(turn))
    return turns


def test_twenty_identical_submissions_at_once_are_one_move(queued):
    match = new_match()
    results = at_once(20, lambda i: services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1))
    accepted = [result for result in results if isinstance(result, services.MoveResult)]
    assert len(accepted) == 1
    assert all(isinstance(result, (Stale, services.MoveResult)) for result in results)
    assert list(Event.objects.filter(match=match).order_by("number").values_list("number", "kind")) == [
        (1, "start"),
        (2, "move"),
    ]
    assert [turn.role for turn in queued] == ["bob"]


def test_twenty_workers_given_the_same_turn_make_one_reply():
    match = new_match()
    services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1)
    results = at_once(20, lambda i: agents.answer_turn(match_uid=match.uid, role="bob", answering=2))
    assert [result for result in results if result is not None] == []
    assert Event.objects.filter(match=match, kind="move", role="bob", number=3).count() == 1


def test_only_one_of_many_workers_answers_a_slow_agents_turn(monkeypatch):
    match = new_match(delay=1)
    services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1)
    answered_turns = []
    original_decide = asking.decide

    def decide(spec, turn, **options):
        answered_turns.append(turn.play.opened[turn.role])
        return original_decide(spec, turn, **options)

    monkeypatch.setattr(asking, "decide", decide)
    at_once(8, lambda i: agents.answer_turn(match_uid=match.uid, role="bob", answering=2))
    assert answered_turns == [2]
    assert Event.objects.filter(match=match, kind="move", role="bob", number=3).count() == 1


def test_concurrent_matches_keep_their_own_event_numbers():
    matches = [new_match() for _ in range(12)]

    def play(i: int) -> None:
        services.submit_move(match_id=matches[i].pk, role="alice", move=OFFER, answering=1)
        agents.answer_turn(match_uid=matches[i].uid, role="bob", answering=2)

    assert at_once(12, play) == [None] * 12
    for match in matches:
        numbers = list(Event.objects.filter(match=match).order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= 3


def test_a_refused_move_among_good_ones_changes_nothing():
    match = new_match()
    illegal_move = {"alice_gain": 1, "bob_gain": 1}
    results = at_once(
        10,
        lambda i: services.submit_move(
            match_id=match.pk, role="alice", move=illegal_move if i % 2 else OFFER, answering=1
        ),
    )
    assert sum(isinstance(result, services.MoveResult) for result in results) == 1
    assert {type(result) for result in results} <= {services.MoveResult, Stale, Refused}
    assert Event.objects.filter(match=match).count() == 2


class TestLeases:
    @pytest.fixture
    def turn(self) -> Iterator[dict]:
        match = new_match(delay=1)
        services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1)
        yield {"match_id": match.pk, "role": "bob", "answering": 2}
        leases.give_back_all()

    @pytest.fixture
    def queued_long_ago(self, turn, queued) -> list[OpenTurn]:
        queued.clear()
        Match.objects.filter(pk=turn["match_id"]).update(requeue_at=timezone.now() - timedelta(minutes=1))
        return queued

    def test_a_leased_turn_is_not_queued_again(self, turn, queued_long_ago):
        assert leases.take(**turn)
        sweeps.requeue_waiting()
        assert queued_long_ago == []

    def test_a_turn_of_a_crashed_worker_is_queued_again_once(self, turn, queued_long_ago):
        Lease.objects.create(**turn, holder="dead", until=timezone.now() - timedelta(seconds=1))
        at_once(4, lambda i: sweeps.requeue_waiting())
        assert [(queued_turn.role, queued_turn.answering) for queued_turn in queued_long_ago] == [("bob", 2)]

    def test_an_expired_lease_is_taken_over_and_counts_as_an_attempt(self, turn):
        Lease.objects.create(**turn, holder="dead", until=timezone.now() - timedelta(seconds=1))
        assert leases.take(**turn).attempts == 2

    def test_a_lease_is_renewed_while_its_holder_lives(self, turn):
        lease = leases.take(**turn)
        first_until = lease.until
        threading.Event().wait(leases.RENEW_SECONDS * 1.6)
        lease.refresh_from_db()
        assert lease.until > first_until

    def test_a_held_lease_cannot_be_taken(self, turn):
        lease = leases.take(**turn)
        assert lease is not None
        assert leases.take(**turn) is None
        leases.give_back(lease)
        assert leases.take(**turn).attempts == 2

    def test_a_process_that_ends_releases_its_turns(self, turn, queued_long_ago):
        assert leases.take(**turn)
        leases.give_back_all()
        sweeps.requeue_waiting()
        assert [(queued_turn.role, queued_turn.answering) for queued_turn in queued_long_ago] == [("bob", 2)]


def test_last_move_and_leaving_at_once_agree_on_the_ending():
    matches = [new_match() for _ in range(4)]
    for match in matches:
        services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1)
    enrolments = [Enrolment.objects.get(seats__match=match) for match in matches]

    def act(i: int) -> None:
        way, number = divmod(i, len(matches))
        match, enrolment = matches[number], enrolments[number]
        if way == 0:
            services.submit_move(match_id=match.pk, role="bob", move={"decision": "accept"}, answering=2)
        elif way == 1:
            people.withdraw(enrolment_id=enrolment.pk)
        else:
            people.show_step(token=enrolment.token)

    unexpected = [result for result in at_once(3 * len(matches), act) if result is not None]
    assert all(isinstance(error, Stale) for error in unexpected), unexpected
    for match, enrolment in zip(matches, enrolments, strict=True):
        match.refresh_from_db()
        enrolment.refresh_from_db()
        ending = {State.COMPLETED: Match.Status.FINISHED, State.WITHDREW: Match.Status.ABANDONED}
        assert match.status == ending[State(enrolment.state)]
