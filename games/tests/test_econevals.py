"""What EconEvals' environments refuse, and the results on a collection's page for matches of scripts."""

from __future__ import annotations

import pytest

from games import grids, registry
from games.errors import BadConfig
from games.play import configure
from games.tests.kit import finished


def match(key: str, config: dict, *scripts: str, seed: int = 1) -> dict:
    """Return a finished match of scripts, one per seat, as a collection's page receives it."""
    game = configure(registry.get(key), config)
    seats = dict(zip(game.roles(), scripts, strict=True))
    play = finished(game, *scripts, seed=seed)
    return {
        "config": game.config.model_dump(mode="json"),
        "agents": seats,
        "payoffs": play.payoffs(),
        "metrics": play.metrics(),
        "records": play.records(),
    }


INSTANCES = {
    "procurement": {
        "categories": [["A1"], ["B1"]],
        "effectiveness": {"A1": 1, "B1": 2},
        "offers": [{"id": "Offer_1", "contents": {"A1": 1, "B1": 1}, "price": 2}],
        "budget": 9,
    },
    "scheduling": {
        "worker_preferences": {"W1": ["T1", "T2"], "W2": ["T1", "T2"]},
        "task_preferences": {"T1": ["W1", "W2"], "T2": ["W1", "W2"]},
    },
    "pricing": {"products": [{"id": "Product_1", "quality": 2.5, "cost": 1.2, "alpha": {"start": 3}}]},
    "task_allocation": {"productivities": {"W1": 2, "W2": 6}, "tasks": [[20, 40], [70, 10]]},
}


@pytest.mark.parametrize(("key", "part"), [(key, part) for key, instance in INSTANCES.items() for part in instance])
def test_missing_part_of_an_instance_is_named(key, part):
    incomplete = {name: value for name, value in INSTANCES[key].items() if name != part}
    with pytest.raises(BadConfig, match=rf"\[{part}\] is required"):
        configure(registry.get(key), {"instance": incomplete, "periods": 2})


@pytest.mark.parametrize("key", INSTANCES)
def test_unknown_part_of_an_instance_is_named(key):
    with pytest.raises(BadConfig, match=r"\[more\] is unknown"):
        configure(registry.get(key), {"instance": {**INSTANCES[key], "more": 1}, "periods": 2})


def test_only_the_invalid_entry_is_named():
    offers = [{"id": "Offer_1", "contents": {"A1": 1}, "price": -2}]
    with pytest.raises(BadConfig) as refused:
        configure(registry.get("procurement"), {"instance": {**INSTANCES["procurement"], "offers": offers}})
    assert str(refused.value).endswith("[offers.0.price] must be more than 0")
    with pytest.raises(BadConfig, match="needs at least 1 of them"):
        configure(registry.get("procurement"), {"instance": {**INSTANCES["procurement"], "offers": []}})


def rows(key: str, matches: list[dict]) -> dict[str, list[tuple]]:
    """Return the page's tables by title."""
    analyses = grids.analyses(key)
    assert analyses is not None
    return {block.title: list(block.rows) for block in analyses.results(registry.get(key), matches)}


@pytest.mark.parametrize("key", ["procurement", "scheduling", "pricing"])
def test_benchmarks_show_mean_scores_by_agent_and_level(key):
    matches = [
        match(key, {"level": level, "periods": 2, "instance_seed": seed}, script)
        for level, seed in (("basic", 0), ("basic", 1), ("medium", 0))
        for script in ("optimum", "random")
    ]
    tables = rows(key, matches)
    assert [(title, [row[:2] for row in table]) for title, table in tables.items()] == [
        ("Level basic", [("optimum", 2), ("random", 2)]),
        ("Level medium", [("optimum", 1), ("random", 1)]),
    ]
    optimum_row, random_row = tables["Level basic"]
    assert optimum_row[2] == "1" and float(random_row[2]) < 1


def test_task_allocation_shows_litmus_score_and_reliability():
    matches = [
        match("task_allocation", {"goal": goal, "instance_seed": 1}, "optimum") for goal in ("both", "efficiency")
    ]
    ((agent, number, score, reliability, misses),) = rows("task_allocation", matches)["Efficiency vs. equality"]
    assert (agent, number, score, reliability, misses) == ("optimum", 2, "1", "1", "0")


def test_patience_shows_rates_by_horizon_and_overall():
    amounts = [100.5, 101, 102, 103, 104, 106, 108, 110]
    matches = [
        match("patience", {"horizon": horizon, "amounts": amounts}, "five_percent")
        for horizon in ("6 months", "1 year")
    ]
    tables = rows("patience", matches)
    assert list(tables) == ["All horizons", "6 months", "1 year"]
    assert tables["1 year"][0][:4] == ("five_percent", 1, "4.9", "1")
    silent = rows("patience", [match("patience", {"amounts": amounts}, "silent")])
    assert silent["1 year"] == [("silent", 1, "–", "–", "–")]


def test_duopoly_shows_collusion_and_monopoly_prices():
    two_seat_matches = [
        match("duopoly", {"periods": 4}, *pair) for pair in (("nash", "nash"), ("collusive", "collusive"))
    ]
    assert rows("duopoly", two_seat_matches)["Collusion vs. competition"] == [
        ("nash – nash", 1, "0", "–"),
        ("collusive – collusive", 1, "1", "–"),
    ]
    one_seat_matches = [match("duopoly", {"periods": 4, "rival": False}, script) for script in ("nash", "random")]
    assert rows("duopoly", one_seat_matches)["Collusion vs. competition"] == [
        ("nash", 1, "–", "1"),
        ("random", 1, "–", "0"),
    ]


def test_no_matches_give_no_tables():
    for key in ("procurement", "task_allocation", "patience", "duopoly"):
        assert rows(key, []) == {}
