"""Grids and lists of configurations, and the published selections for people."""

from __future__ import annotations

from collections import Counter

import pytest

from games.errors import BadConfig
from games.grids import expand, listed, table
from games.registry import get
from games.selections import changes, named_selection, select_named

FAMILIES = {"bargaining": 384, "negotiation": 576, "persuasion": 360}


def test_grid_varies_the_last_parameter_fastest():
    configs = expand(get("bargaining"), {"rounds": [1, None], "delta_bob": [0.8, 1]}, {"money": 50})
    assert [(c["rounds"], c["delta_bob"], c["money"]) for c in configs] == [
        (1, 0.8, 50), (1, 1, 50), (None, 0.8, 50), (None, 1, 50),
    ]  # fmt: skip
    assert all(c["delta_alice"] == 0.9 for c in configs)


def test_empty_grid_is_the_default_configuration():
    assert expand(get("bargaining"), {}) == [get("bargaining").Config().model_dump(mode="json")]


@pytest.mark.parametrize(
    ("grid", "error"),
    [
        ({"colour": ["red"]}, "no parameter “colour”"),
        ({"delta_bob": [0.9, 1.5]}, "“delta_bob” cannot be 1.5"),
        ({"rounds": [1, "many"]}, '“rounds” cannot be "many"'),
        *(({"rounds": values}, "at least one.*“rounds”") for values in ([], 3, "12")),
        ({"rounds": [3, 3]}, "a value of “rounds” twice"),
        ({"delta_bob": [i / 1000 for i in range(1, 1001)], "money": list(range(1, 102))}, "101000 configurations"),
    ],
)
def test_invalid_grid_is_refused_with_its_error(grid, error):
    with pytest.raises(BadConfig, match=error):
        expand(get("bargaining"), grid)


def test_incompatible_values_are_refused_as_a_combination():
    configurations = expand(get("persuasion"), {"rounds": [1, 2]}, {"qualities": ["high", "low"]})
    assert [config["rounds"] for config in configurations] == [1, 2]
    with pytest.raises(BadConfig, match=r"combination.*2 for 3 rounds"):
        expand(get("persuasion"), {"rounds": [2, 3]}, {"qualities": ["high", "low"]})


def test_listed_configurations_get_defaults():
    assert [c["money"] for c in listed(get("bargaining"), [{"money": 5}, {}])] == [5, 10_000]


def test_invalid_listed_configuration_is_named_by_number():
    with pytest.raises(BadConfig, match=r"Configuration 2: .*delta_bob"):
        listed(get("bargaining"), [{}, {"delta_bob": 0}])


@pytest.mark.parametrize(("key", "size"), FAMILIES.items())
def test_published_tables_have_the_published_sizes(key, size):
    configs = table(key, "glee")
    assert len({tuple(c.items()) for c in map(_hashable, configs)}) == len(configs) == size


def _hashable(config):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in config.items()}


def test_unknown_table_error_lists_existing_tables():
    with pytest.raises(BadConfig, match=r"“moon”.*glee"):
        table("bargaining", "moon")


@pytest.mark.parametrize(
    ("key", "cells"),
    [
        ("bargaining", {"main": (2, 50), "variant": (40, 25), "random": (36, 15)}),
        ("negotiation", {"main": (2, 50), "variant": (22, 25), "random": (36, 15)}),
        ("persuasion", {"main": (3, 30), "variant": (30, 8), "random": (24, 5)}),
    ],
)
def test_selection_for_people_has_the_published_cells(key, cells):
    chosen = select_named(key, "glee", seed=1)
    counted = Counter()
    for selected in chosen:
        counted[selected.kind, selected.quota] += len(selected.roles)
    assert counted == {(kind, quota): count for kind, (count, quota) in cells.items()}
    assert len({str(selected.config) for selected in chosen}) == len(chosen)


@pytest.mark.parametrize("key", FAMILIES)
def test_selection_depends_on_the_seed(key):
    assert select_named(key, "glee", seed=4) == select_named(key, "glee", seed=4)
    first, second = ([c.config for c in select_named(key, "glee", seed=seed) if c.kind == "random"] for seed in (4, 5))
    assert first != second


@pytest.mark.parametrize("key", FAMILIES)
def test_variants_differ_from_main_in_one_parameter(key):
    chosen, selection = select_named(key, "glee", seed=2), named_selection(key, "glee")
    main = [selected.config for selected in chosen if selected.kind == "main"]
    for selected in chosen:
        fewest = min(changes(selection, selected.config, main_config) for main_config in main)
        assert fewest == {"main": 0, "variant": 1}.get(selected.kind, fewest)
        assert selected.kind != "random" or fewest > 1


def test_people_do_not_play_one_round_negotiations():
    assert all(selected.config["rounds"] != 1 for selected in select_named("negotiation", "glee", seed=3))


def test_people_never_play_the_myopic_buyer():
    for selected in select_named("persuasion", "glee", seed=3):
        assert selected.roles == (("alice",) if selected.config["buyer_type"] == "myopic" else ("alice", "bob"))
