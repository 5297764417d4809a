"""What reports display, on simulated datasets without effects: how often p < .05, and what intervals cover.

Each world has 200 datasets, kept in memory. Nothing has an effect in any of them, so every difference, contrast, slope
and interaction is 0, and every mean is the one that the world names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from analysis.charts import Figure
from analysis.data import Data
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.running import run_analysis
from analysis.tests.building import InMemory, match

DATASETS = 200
SMALLEST, LARGEST, COVERED = 0.02, 0.085, 0.92
UNIT_RANGE = {"efficiency": "from 0; to 1"}
World = tuple[dict[str, Any], dict[str, float], tuple[str, ...]]
"""Tables, the true means by outcome, and the analyses that are run."""
USUAL = ("general.effects", "general.outcomes")


def meetings(rng: Generator, *, sessions: int = 10, people: int = 6, rounds: int = 4, by: str = "session") -> World:
    """Return matches of people who meet again in their session, with moods; arms by session or by match."""
    rows: list[dict[str, Any]] = []
    arms = rng.permutation([0, 1] * (sessions // 2))
    for session in range(sessions):
        skill, mood = rng.normal(size=people), 0.7 * rng.normal()
        for position in range(rounds):
            order = rng.permutation(people)
            for first, second in zip(order[::2], order[1::2], strict=True):
                arm = arms[session] if by == "session" else rng.integers(2)
                rows.append(match(
                    len(rows), player_alice="human", player_bob="human", seed=int(rng.integers(2**40)),
                    participant_alice=f"p{session}.{first}", participant_bob=f"p{session}.{second}",
                    factor_frame="ab"[arm], session=position + 1, cluster=f"s{session}",
                    efficiency=float(skill[first] + skill[second] + mood + rng.normal()),
                ))  # fmt: skip
    return {"matches": rows}, {"efficiency": 0.0}, USUAL


def groups(rng: Generator, *, number: int = 16, people: int = 6) -> World:
    """Return matches of people against an agent in groups with a common shock; arms by group."""
    rows: list[dict[str, Any]] = []
    for group, arm in enumerate(rng.permutation([0, 1] * (number // 2))):
        shock = rng.normal()
        for _person in range(people):
            rows.append(alone(len(rows), rng, factor_frame="ab"[arm], cluster=f"g{group}",
                              efficiency=float(shock + rng.normal())))  # fmt: skip
    return {"matches": rows}, {"efficiency": 0.0}, USUAL


def alone(number: int, rng: Generator, **columns: Any) -> dict[str, Any]:
    """Return a match of a person who plays once, against an agent."""
    return match(number, player_alice="human", participant_alice=f"p{number}", seed=int(rng.integers(2**40)), **columns)


def crossed(rng: Generator) -> World:
    """Return a 2 × 2 design of pairs who play three matches, each in another cell."""
    rows: list[dict[str, Any]] = []
    for pair in range(30):
        kind = rng.normal()
        for cell in rng.permutation(4)[:3].tolist():
            rows.append(match(
                len(rows), player_alice="human", player_bob="human", participant_alice=f"a{pair}",
                participant_bob=f"b{pair}", factor_frame="ab"[cell % 2], factor_talk="xy"[cell // 2],
                seed=int(rng.integers(2**40)), efficiency=float(kind + rng.normal()),
            ))  # fmt: skip
    return {"matches": rows}, {"efficiency": 0.0}, USUAL


def attrition(rng: Generator) -> World:
    """Return people of two arms of whom a fifth leaves, whatever the arm."""
    rows, people = [], []
    for number, arm in enumerate(rng.permutation([0, 1] * 70).tolist()):
        skill, kept = rng.normal(), bool(rng.random() < 0.8)
        people.append({"participant": f"p{number}", "person": f"p{number}", "role": "alice", "cell": arm + 1,
                       "version": 1, "stage": "in_dataset" if kept else "began", "in_dataset": kept,
                       "reasons": None if kept else "dropped_out", "factor_frame": "ab"[arm]})  # fmt: skip
        if kept:
            rows.append(alone(number, rng, factor_frame="ab"[arm], cell=arm + 1, efficiency=float(skill)))
    return {"matches": rows, "participants": people}, {"efficiency": 0.0}, (*USUAL, "general.attrition")


def ties(rng: Generator) -> World:
    """Return outcomes with a range, of which most are at its ends, of pairs who meet three times."""
    rows: list[dict[str, Any]] = []
    for pair in range(40):
        inclined = rng.beta(2, 2)
        for _meeting in range(3):
            agreed = bool(rng.random() < inclined)
            rows.append(match(
                len(rows), player_alice="human", player_bob="human", participant_alice=f"a{pair}",
                participant_bob=f"b{pair}", factor_frame="ab"[pair % 2], seed=int(rng.integers(2**40)),
                agreement=agreed, efficiency=float(rng.choice([0.5, 1.0])) if agreed else 0.0,
            ))  # fmt: skip
    return {"matches": rows}, {"agreement": 0.5, "efficiency": 0.375}, USUAL


def outliers(rng: Generator) -> World:
    """Return outcomes with heavy tails, of people who play once."""
    rows = [alone(number, rng, factor_frame="ab"[number % 2], efficiency=float(rng.standard_t(2)))
            for number in range(80)]  # fmt: skip
    return {"matches": rows}, {"efficiency": 0.0}, USUAL


def replays(rng: Generator) -> World:
    """Return matches of agents: half of all records occur twice; of the others, seeds are played twice."""
    rows: list[dict[str, Any]] = []
    for number in range(60):
        value, same = rng.normal(), rng.random() < 0.5
        for _repeat in range(2):
            rows.append(match(len(rows), config_rounds=1 + number % 2, seed=1000 + len(rows) if same else number,
                              efficiency=float(value + (0 if same else 0.1 * rng.normal()))))  # fmt: skip
    moves = [{"match": row["match"], "move_number": 1, "role": "alice", "move_offer": row["efficiency"]}
             for row in rows]  # fmt: skip
    return {"matches": rows, "decisions": moves}, {"efficiency": 0.0}, USUAL


def people_and_models(rng: Generator) -> World:
    """Return people who play three matches and agents in the same seat, with rounds and times; nobody differs."""
    rows, rounds, moves = [], [], []
    for player in range(50):
        kind, human = rng.normal(), player < 30
        for _match in range(3 if human else 1):
            mood, name = rng.normal(), f"m{len(rows):06}"
            who = {"player_alice": "human", "participant_alice": f"p{player}"} if human else {}
            value = float(kind + mood if human else np.sqrt(2) * rng.normal())
            rows.append({**match(len(rows), seed=int(rng.integers(2**40)), efficiency=value, **who), "match": name})
            for number in (1, 2, 3):
                rounds.append({"match": name, "row": number, "round": number, "answer": float(mood + rng.normal())})
                if human:
                    moves.append({"match": name, "move_number": number, "number": number, "role": "alice",
                                  "player": "human", "round": number, "shown_at": "2026-01-01T00:00:00Z",
                                  "seconds": float(np.exp(2 + 0.5 * kind + 0.5 * rng.normal()))})  # fmt: skip
    analyses = ("general.human_vs_model", "general.rounds", "general.response_times")
    return {"matches": rows, "rounds": rounds, "decisions": moves}, {"answer": 0.0}, analyses


WORLDS: Mapping[str, Callable[[Generator], World]] = {
    "sessions": meetings,
    "rematching, arms by match": lambda rng: meetings(rng, sessions=12, by="match"),
    "pairs who meet five times": lambda rng: meetings(rng, sessions=30, people=2, rounds=5),
    "groups": groups,
    "few clusters": lambda rng: groups(rng, number=6, people=10),
    "crossed factors": crossed,
    "attrition": attrition,
    "ties": ties,
    "outliers": outliers,
    "replays of agents": replays,
    "people and models": people_and_models,
}  # fmt: skip


def displayed(world: World, draws: int = 199) -> Iterator[tuple[str, str, dict[str, Any], float]]:
    """Yield what the analyses display: its kind ("effect", "mean", "check", "test"), name, numbers, and the truth."""
    tables, means, analyses = world
    data = Data([InMemory(tables, UNIT_RANGE if "agreement" in means else None)])
    for name in analyses:
        outcome = run_analysis(get_analysis(name), data, Options(draws=draws))
        assert outcome.status == "done", outcome.reason
        if name == "general.attrition":
            yield "test", name, dict(outcome.numbers["frame"]), 0.0
            continue
        for key, number in outcome.numbers.items():
            if not ("Intercept" in key or "median" in key or key in means):
                yield "check" if key.count(": ") > 1 and name == "general.effects" else "effect", key, dict(number), 0.0
        for table in ("factors", "means"):
            for row in outcome.tables[table].records if table in outcome.tables else ():
                if row["key"] in means:
                    yield "mean", row["key"], row, means[row["key"]]


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_what_reports_display_is_right_as_often_as_it_says(world, monkeypatch, record_property):
    monkeypatch.setattr("analysis.charts.drawn", lambda table, chart: Figure("none", "", {}, ""))
    rng = np.random.default_rng([*world.encode()])
    small: dict[str, list[bool]] = {}
    covered: dict[str, list[bool]] = {}
    for _dataset in range(DATASETS):
        for kind, _name, number, truth in displayed(WORLDS[world](rng)):
            if number.get("p") is not None:
                small.setdefault(kind, []).append(number["p"] < 0.05)
            if number.get("low") is not None and number.get("high") is not None:
                covered.setdefault(kind, []).append(number["low"] <= truth <= number["high"])
    for kind, found in small.items():
        record_property(f"{kind}: p < .05", f"{np.mean(found):.3f} of {len(found)}")
        if kind in ("effect", "test"):
            assert SMALLEST <= np.mean(found) <= LARGEST, (kind, np.mean(found))
    for kind, found in covered.items():
        record_property(f"{kind}: covered", f"{np.mean(found):.3f} of {len(found)}")
        # The wild bootstrap of six groups, and what is left of heavy tails, are checks and no headline.
        assert np.mean(found) >= COVERED or kind == "check", (kind, np.mean(found))
    assert len(covered["effect"]) >= DATASETS, "an interval is shown"
