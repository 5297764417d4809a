"""Reading a plan: its cells, and each cell's concrete plan."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans.reading import BadPlan, Reader
from plans.stages import Block, Game, Page, Stage, register
from plans.tests.examples import framing
from plans.varying import Resolver, has_varied, is_varied, level_key


def cell_plan(number: int = 1):
    reader = Reader(framing())
    return reader.plan(reader.cells[number - 1].factors)


def test_factors_between_participants_are_crossed():
    cells = Reader(framing()).cells
    assert len(cells) == 8
    assert cells[0].factors == {"wording": "give", "opponent": "model", "stakes": "small"}
    assert {cell.quota for cell in cells} == {40}


def test_listed_cells_have_their_own_quotas_and_weights():
    listed = [
        {"wording": "give", "opponent": "model", "stakes": "small", "quota": 5},
        {"wording": "take", "opponent": "haggler", "stakes": "large", "weight": 3},
    ]
    cells = Reader(framing(cells={"listed": listed, "quota": 9})).cells
    assert [(cell.quota, cell.weight) for cell in cells] == [(5, 1), (9, 3)]


def test_a_cell_is_the_plan_with_its_factors_filled_in():
    plan = cell_plan(8)
    page = plan.journey[1]
    assert isinstance(page, Page)
    assert page.text == "You take."
    assert plan.pay.bonus.average == Decimal("1.50")
    assert plan.games()[0].seats == {"alice": "person", "bob": "haggler"}
    assert plan.games()[0].config["money"] == 10000


def test_a_block_is_read_once_for_each_level_within_it():
    block = cell_plan().journey[3]
    assert isinstance(block, Block)
    rounds = [each.stages[0].config["rounds"] for each in block.each_pass if isinstance(each.stages[0], Game)]
    assert rounds == [1, 12]
    assert [each.levels for each in block.each_pass] == [{"horizon": "short"}, {"horizon": "long"}]


def test_a_level_within_participants_chooses_its_pass():
    reader = Reader(framing())
    plan = reader.plan({**reader.cells[0].factors, "horizon": "long"})
    assert [game.config["rounds"] for game in plan.games()] == [12]


def test_numbers_and_truth_values_are_levels_too():
    document = framing(factors={**framing()["factors"], "opponent": {"levels": [100.0, True]}})
    document["journey"][3]["of"][0]["seats"]["bob"] = {
        "by": "opponent",
        "values": {"100": "model", "true": "haggler"},
    }
    reader = Reader(document)
    assert [reader.plan(cell.factors).games()[0].seats["bob"] for cell in reader.cells[::2]] == [
        "model", "haggler", "model", "haggler",
    ]  # fmt: skip


def test_published_rows_are_levels_with_their_own_quotas():
    rows = {"rows": {"game": "bargaining", "selection": "glee", "seed": 1}}
    document = framing(factors={"row": rows}, cells={"rows": "row"}, agents={"haggler": {"script": "haggler"}})
    document["journey"] = [
        {"stage": "consent"},
        {
            "stage": "game",
            "name": "talk",
            "game": "bargaining",
            "config": {"by": "row.config"},
            "seats": {
                "by": "row.role",
                "values": {role: {role: "person", "*": "haggler"} for role in ("alice", "bob")},
            },
        },
    ]
    document["pay"] = {
        "bonus": {"average": {"by": "row.config.money", "values": {"100": 1, "10000": 2, "1000000": "3.00"}}}
    }
    reader = Reader(document)
    assert len(reader.cells) == 78
    for cell in reader.cells:
        plan = reader.plan(cell.factors)
        (game,) = plan.games()
        role = cell.factors["row"].rsplit("_", 1)[1]
        assert game.seats[role] == "person"
        assert plan.pay.bonus.average == {100: 1, 10000: 2, 1000000: 3}[game.config["money"]]
        assert cell.quota == reader.values["row"][cell.factors["row"]]["quota"]


def test_a_new_kind_of_stage_needs_only_its_registration():
    from typing import Literal

    from plans import stages

    class Pause(Stage):
        stage: Literal["pause"]
        minutes: int = 1

    register(Pause)
    try:
        document = framing()
        document["journey"].insert(
            2, {"stage": "pause", "minutes": {"by": "wording", "values": {"give": 1, "take": 5}}}
        )
        reader = Reader(document)
        paused = reader.plan(reader.cells[-1].factors).journey[2]
        assert isinstance(paused, Pause)
        assert paused.minutes == 5
    finally:
        stages._kinds.pop("pause")


# ---- what varies ----------------------------------------------------------------------------------------------

LEVELS = {"a": {"x": "x", "y": "y"}, "b": {"1": 1, "2": 2}, "c": {"k": {"p": "x"}, "l": {"p": "y"}}}
leaves = st.one_of(st.integers(), st.text("uvw", max_size=2), st.booleans(), st.none())


def varied(children):
    by_a = st.fixed_dictionaries({"by": st.just("a"), "values": st.fixed_dictionaries({"x": children, "y": children})})
    by_b = st.fixed_dictionaries({"by": st.just("b"), "values": st.fixed_dictionaries({"1": children, "2": children})})
    by_part = st.fixed_dictionaries(
        {"by": st.just("c.p"), "values": st.fixed_dictionaries({"x": children, "y": children})}
    )
    by_name = st.fixed_dictionaries(
        {"by": st.just("c"), "values": st.fixed_dictionaries({"k": children, "l": children})}
    )
    bare = st.sampled_from([{"by": "a"}, {"by": "b"}, {"by": "c"}, {"by": "c.p"}])
    return st.one_of(
        by_a, by_b, by_part, by_name, bare, st.lists(children, max_size=3), st.dictionaries(st.text("kmn"), children)
    )


documents = st.recursive(leaves, varied, max_leaves=25)


def naively(node, levels):
    """Resolve as the design says, without any cache."""
    if is_varied(node):
        name, *part = node["by"].split(".")
        value = LEVELS[name][levels[name]]
        for key in part:
            value = value[key]
        branch = level_key(value) if part else levels[name]
        return naively(node["values"][branch], levels) if "values" in node else value
    if isinstance(node, dict):
        return {key: naively(child, levels) for key, child in node.items()}
    return [naively(child, levels) for child in node] if isinstance(node, list) else node


@given(documents)
def test_resolving_leaves_nothing_varied_and_agrees_with_the_definition(document):
    resolver = Resolver(LEVELS)
    for a in LEVELS["a"]:
        for b in LEVELS["b"]:
            for c in LEVELS["c"]:
                levels = {"a": a, "b": b, "c": c}
                resolved = resolver.resolve(document, levels)
                assert not has_varied(resolved)
                assert resolved == naively(document, levels)


@pytest.mark.parametrize("document", [{"journey": 3}, {"journey": [1]}, {"factors": []}, {"nonsense": 1}, {"cells": 1}])
def test_what_is_no_plan_is_refused(document):
    with pytest.raises(BadPlan):
        Reader(document)
