"""Scheduling against the specification's worked cases, and properties of every instance."""

from __future__ import annotations

import json
import time
from itertools import permutations
from random import Random
from statistics import fmean

import pytest

from games.contract import seen
from games.errors import BadConfig, Refused
from games.play import configure, script_move, start, submit
from games.scheduling.instances import KINDS, Instance, draw, numbered
from games.scheduling.rules import Scheduling

INSTANCE = {
    "worker_preferences": {"W1": ["T1", "T2", "T3"], "W2": ["T2", "T3", "T1"], "W3": ["T1", "T3", "T2"]},
    "task_preferences": {"T1": ["W2", "W1", "W3"], "T2": ["W3", "W1", "W2"], "T3": ["W1", "W2", "W3"]},
}


def play_schedules(*schedules: tuple[str, str, str], **config):
    """Return the play after these schedules, each given as the tasks of W1, W2 and W3."""
    game = configure(Scheduling, {"instance": INSTANCE, "periods": len(schedules), **config})
    play, _events = start(game, 1)
    for tasks in schedules:
        play, _events = submit(play, "agent", {"assignment": dict(zip(("W1", "W2", "W3"), tasks, strict=True))})
    return play


@pytest.mark.parametrize(
    ("tasks", "blocking", "score"),
    [(("T1", "T2", "T3"), 0, 1), (("T2", "T1", "T3"), 1, -0.5), (("T3", "T2", "T1"), 2, -2)],
)
def test_score_compares_with_a_random_matching(tasks, blocking, score):
    metrics = play_schedules(tasks).metrics()
    assert metrics["expected_blocking_pairs"] == pytest.approx(2 / 3)
    assert metrics["blocking_pairs"] == blocking
    assert metrics["score"] == pytest.approx(score)


def test_blocking_pair_is_reported():
    assert play_schedules(("T2", "T1", "T3"), feedback=5).state.attempts[0].told == (("W2", "T3"),)


def test_stable_matching_ends_the_match():
    play, _events = start(configure(Scheduling, {"instance": INSTANCE}), 1)
    play, _events = submit(play, "agent", {"assignment": {"W1": "T1", "W2": "T2", "W3": "T3"}})
    assert play.over
    assert play.metrics()["solved"] is True


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ({"W1": "T1", "W2": "T2"}, "W3"), ({"W1": "T1", "W2": "T2", "W3": "T2"}, "T2"),
        ({"W1": "T1", "W2": "T2", "W3": "T9"}, "W3"), ({"W1": "T1", "W2": "T2", "W3": "T3", "W4": "T4"}, "W4"),
        ({"W1": 1, "W2": "T2", "W3": "T3"}, "W1"),
    ],
)  # fmt: skip
def test_malformed_schedule_is_refused_by_name(assignment, message):
    play, _events = start(configure(Scheduling, {"instance": INSTANCE}), 1)
    with pytest.raises(Refused, match=message):
        submit(play, "agent", {"assignment": assignment})


def test_incomplete_ranking_is_refused_by_name():
    incomplete = {**INSTANCE, "worker_preferences": {**INSTANCE["worker_preferences"], "W2": ["T2", "T3"]}}
    with pytest.raises(BadConfig, match="W2"):
        configure(Scheduling, {"instance": incomplete})


def instance(n: int, kind: str, seed: int) -> Instance:
    return Instance.model_validate_json(json.dumps(draw(*numbered(n), kind, Random(seed))))


@pytest.mark.parametrize("kind", KINDS)
def test_deferred_acceptance_is_stable(kind):
    drawn = instance(20, kind, 4)
    assert drawn.blocking_pairs(drawn.stable_matching()) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_exactly_the_stable_matchings_end_the_match(kind, seed):
    """Check all pairs of all 24 matchings, by the definition alone."""
    drawn = instance(4, kind, seed)
    preferences = json.loads(drawn.model_dump_json())

    def prefers(side, name, candidate, current):
        return preferences[side][name].index(candidate) < preferences[side][name].index(current)

    for tasks in permutations(drawn.tasks):
        matching = dict(zip(drawn.workers, tasks, strict=True))
        unstable = any(
            prefers("worker_preferences", worker, task, matching[worker])
            and prefers("task_preferences", task, worker, next(other for other in matching if matching[other] == task))
            for worker in drawn.workers
            for task in drawn.tasks
        )
        play, _events = start(configure(Scheduling, {"instance": preferences}), 1)
        play, _events = submit(play, "agent", {"assignment": matching})
        assert play.over != unstable


@pytest.mark.parametrize("kind", KINDS)
def test_expected_blocking_pairs_are_the_mean_over_all_matchings(kind):
    drawn = instance(5, kind, 2)
    counts = [
        len(drawn.blocking_pairs(dict(zip(drawn.workers, tasks, strict=True)))) for tasks in permutations(drawn.tasks)
    ]
    assert drawn.expected_blocking_pairs == pytest.approx(fmean(counts))


def test_expected_blocking_pairs_of_fifty_workers_take_a_millisecond():
    drawn = instance(50, "uniform", 1)
    assert drawn.worker_ranks and drawn.task_ranks
    durations = []
    for _trial in range(20):
        copy = drawn.model_copy()
        copy.__dict__.pop("expected_blocking_pairs", None)
        started_at = time.thread_time()
        assert copy.expected_blocking_pairs > 0
        durations.append(time.thread_time() - started_at)
    assert min(durations) < 0.001


def test_same_matching_gives_the_same_feedback():
    play, _events = start(configure(Scheduling, {"level": "basic", "periods": 20}), 7)
    first = script_move(play, "agent", "repair")
    play, _events = submit(play, "agent", first)
    play, _events = submit(play, "agent", script_move(play, "agent", "repair"))
    if not play.over:
        play, _events = submit(play, "agent", first)
        assert play.state.attempts[-1].told == play.state.attempts[0].told


def test_practice_period_is_not_announced_as_the_last_one():
    play, _events = start(configure(Scheduling, {"level": "small", "periods": 3, "practice": True}), 1)
    assert "last one" not in str(seen(play, "agent"))
    play, _events = submit(play, "agent", script_move(play, "agent", "random"))
    assert "last one" not in str(seen(play, "agent"))


@pytest.mark.parametrize("seed", range(3))
def test_known_blocking_pairs_are_those_that_the_reports_prove(seed):
    play, _events = start(configure(Scheduling, {"level": "basic", "periods": 12}), seed)
    while not play.over:
        play, _events = submit(play, "agent", script_move(play, "agent", "random"))
    attempts = play.game.attempts(play.view("agent"))
    known = [int(dict(attempt.facts)["Known blocking pairs"]) for attempt in attempts]
    for count, made in zip(known, play.state.attempts, strict=True):
        assert len(made.told) <= count <= made.blocking
    pinned = [at for at, attempt in enumerate(attempts) if attempt.best]
    assert pinned == [max(at for at, count in enumerate(known) if count == min(known))]
