"""Checking a plan: every fault names its place, and the levels under which it is one."""

from __future__ import annotations

import pytest

from plans.checking import check
from plans.starting import plan_for
from plans.tests.examples import FRAMING, changed, framing

QUESTION = {"name": "age", "kind": "number", "text": "How old are you?"}


def faults_of(document):
    return [(fault.at, dict(fault.factors)) for fault in check(document).faults]


def test_a_plan_without_faults_says_how_many_matches_it_needs():
    checked = check(FRAMING)
    assert checked.faults == []
    assert checked.matches == 8 * 40 * 2
    assert checked.as_data()["cells"][0] == {
        "factors": {"wording": "give", "opponent": "model", "stakes": "small"},
        "quota": 40,
    }


@pytest.mark.parametrize(
    "path, value, at, factors",
    [
        ("factors.unused", {"levels": [1, 2]}, "factors.unused", {}),
        ("factors.wording", {"levels": []}, "factors.wording", {}),
        ("factors.wording", {"levels": ["give", "take", "lend"]}, "journey.1.text", {"wording": "lend"}),
        ("factors.quota", {"levels": [1]}, "factors.quota", {}),
        ("factors.horizon.within", "nowhere", "factors.horizon.within", {}),
        ("pay.base", {"by": "horizon", "values": {"short": 1, "long": 2}}, "pay.base", {}),
        ("pay.base", {"by": "mood", "values": {"good": 1}}, "pay.base", {}),
        ("pay.bonus.average", {"by": "stakes.colour"}, "pay.bonus.average", {"stakes": "small"}),
        ("pay.base", -1, "pay.base", {}),
        ("pay.tips", 1, "pay.tips", {}),
        ("journey.1.text.values.lend", "You lend.", "journey.1.text", {}),
        ("journey.1.name", "before", "journey.2.name", {}),
        ("journey.1.name", "wording", "journey.1.name", {}),
        ("journey.1.name", "person", "journey.1.name", {}),
        ("journey.1.name", {"by": "wording", "values": {"give": "a", "take": "b"}}, "journey.1.name", {}),
        ("journey.1.stage", "dance", "journey.1.stage", {}),
        ("journey.2.items.0.ends_if", "weight < 18", "journey.2.items.0.ends_if", {}),
        ("journey.1.show_if", "age > 18", "journey.1.show_if", {}),
        ("journey.1.show_if", "f(1)", "journey.1.show_if", {}),
        ("journey.4.show_if", "talk.agreement", "journey.4.show_if", {}),
        ("journey.4.show_if", "talk.short.nonsense", "journey.4.show_if", {}),
        (
            "journey.3.of.0.config.rounds.values.long", 0, "journey.3.of.0.config.rounds", {"horizon": "long"},
        ),
        ("journey.3.of.0.config.colour", 1, "journey.3.of.0.config.colour", {}),
        ("journey.3.of.0.seats.alice", "model", "journey.3.of.0.seats", {}),
        ("journey.3.of.0.seats.carol", "model", "journey.3.of.0.seats", {}),
        ("journey.3.of.0.game", "chess", "journey.3.of.0.game", {}),
        ("journey.3.of.0.lobby", {"otherwise": "agents"}, None, {}),
        ("journey.3.of.0.timing", {"on_timeout": "agent"}, "journey.3.of.0.timing.stand_in", {}),
        ("journey.3.of.0.instructions", "{{ nonsense }}", "journey.3.of.0.instructions", {}),
        ("journey.3.take", 3, "journey.3.take", {}),
        ("agents.model.fallback", "nobody", "agents.model.fallback", {}),
        ("agents.haggler", {"script": "nobody"}, "journey.3.of.0.seats.bob", {"opponent": "haggler"}),
        ("agents.fair", {"script": "fair"}, None, {}),
        ("agents.model.fallback", ["haggler", "haggler"], "agents.model.fallback", {}),
        ("journey.3.of.0.seats.bob", ["model", "nobody"], "journey.3.of.0.seats.bob", {}),
        ("journey.3.of.0.seats.bob", [], "journey.3.of.0.seats", {}),
        ("journey.3.groups", {"lobby": {"fill": "nobody"}}, "journey.3.groups.lobby.fill", {}),
        ("journey.1.title", "{{ nonsense }}", "journey.1.title", {}),
        ("journey.2.items.0.text", "{{ nonsense }}", "journey.2.items.0.text", {}),
        ("journey.3.of.0", {"by": "wording", "values": {}}, "journey.3.of.0", {}),
        ("factors.e", {"levels": [1, 2]}, "factors.e", {}),
        ("factors.stakes.levels.small.average", {"by": "wording"}, "factors.stakes.levels.small", {}),
        ("pay.base", {"by": "wording", "values": None}, "pay.base", {}),
        ("pay.base", {"by": "wording", "values": {"give": 1, "take": 2}, "else": 3}, "pay.base", {}),
        ("cells", {"crossed": False}, "cells", {}),
        ("cells.unit", "crowd", "cells.unit", {}),
        ("cells.strata", ["why"], "cells.strata.0", {}),
        ("agents.haggler", {"script": "haggler", "model": "x"}, "agents.haggler", {}),
        ("cells.strata", ["nothing"], "cells.strata.0", {}),
        ("cells.listed", [{"wording": "give", "opponent": "model"}], "cells.listed.0.stakes", {}),
        ("journey.3.of.0.lobby", {"wait": 0}, "journey.3.of.0.lobby.wait", {}),
        ("journey.3.of.0.lobby", {"fill": "nobody"}, "journey.3.of.0.lobby.fill", {}),
        ("journey.3.of.0.chat", {"mediator": {"agent": "model"}, "between": [["alice", "bob"]]}, None, {}),
        ("journey.3.of.0.chat", {"between": [["alice", "carol"]]}, "journey.3.of.0.chat.between.0", {}),
        ("journey.3.of.0.chat", {"mediator": {"agent": "nobody"}}, "journey.3.of.0.chat.mediator.agent", {}),
        ("journey.3.of.0.chat", {"mediator": {"agent": "haggler"}}, "journey.3.of.0.chat.mediator.agent", {}),
        ("journey.3.of.0.chat", {"mediator": {}}, "journey.3.of.0.chat.mediator.agent", {}),
        ("journey.3.of.0.chat", {"when": "both", "early": True}, None, {}),
        ("journey.3.of.0.chat", {"early": True}, "journey.3.of.0.chat.early", {}),
        ("journey.3.of.0.repeats", 0, "journey.3.of.0.repeats", {}),
        ("journey.3.of.0.instructions", "{% if %}", "journey.3.of.0.instructions", {}),
        ("agents.model", {}, "agents.model", {}),
        ("pay.waiting_rate", "-1", "pay.waiting_rate", {}),
        ("pay.currency", "usd", "pay.currency", {}),
        ("pay.endings", {"completed": "nothing"}, "pay.endings", {}),
        ("pay.endings", {"opponent_failed": "nothing"}, "pay.endings", {}),
        ("pay.endings", {"returned": "base"}, "pay.endings", {}),
        ("pay.endings", {"x": "base"}, "pay.endings", {}),
        ("pay.endings", {"withdrew": []}, "pay.endings.withdrew", {}),
        ("pay.endings", [1], "pay.endings", {}),
        ("cells.quota", 0, "cells.quota", {}),
        ("title", " ", "title", {}),
        ("journey.0", {"stage": "page", "name": "first"}, "journey", {}),
    ],
)  # fmt: skip
def test_a_fault_is_found_at_its_place(path, value, at, factors):
    found = faults_of(changed(path, value))
    assert (found == []) if at is None else (at, factors) in found


def test_a_value_is_missing_only_where_somebody_reaches_it():
    take = {"by": "wording", "values": {"give": 1}}
    assert faults_of(changed("pay.base", {"by": "wording", "values": {"give": take, "take": 2}})) == []
    short = {"by": "opponent", "values": {"model": 1}}
    document = changed("pay.base", {"by": "wording", "values": {"give": short, "take": 2}})
    assert faults_of(document) == [("pay.base", {"wording": "give", "opponent": "haggler"})]


def test_blind_study_does_not_begin_early_because_programs_are_ready():
    document = changed("journey.3.of.0.chat", {"when": "before", "early": True}) | {"told": {"others": "none"}}
    assert "journey.3.of.0.chat.early" in [at for at, _levels in faults_of(document)]


def test_one_fault_does_not_hide_the_others():
    document = changed("journey.1.stage", "dance")
    document |= {"version": 2, "factors": {**document["factors"], "unused": {"levels": [1]}}}
    document["pay"]["base"] = -1
    document["journey"][3]["of"][0]["seats"]["bob"] = ["nobody", {"by": "opponent"}]
    document["journey"].insert(5, {"stage": "game", "name": "mate", "game": "chess"})
    assert {at for at, _levels in faults_of(document)} == {
        *("journey.1.stage", "version", "factors.unused", "pay.base", "journey.3.of.0.seats.bob", "journey.5.game"),
    }


def test_passes_through_blocks_are_limited():
    document = changed("factors.other", {"levels": list(range(300)), "within": "games"})
    document["factors"]["horizon"]["levels"] = list(range(300))
    document["journey"][3]["of"][0]["config"]["rounds"] = {"by": "horizon"}
    (fault,) = (fault for fault in check(document).faults if fault.at == "factors")
    assert "100000" in fault.what


def test_a_cell_listed_twice_or_with_an_unknown_level_is_refused():
    cell = {"wording": "give", "opponent": "model", "stakes": "small"}
    assert faults_of(framing(cells={"listed": [cell, cell]})) == [("cells.listed.1", {})]
    assert faults_of(framing(cells={"listed": [{**cell, "stakes": "none"}]})) == [("cells.listed.0.stakes", {})]


@pytest.mark.parametrize(
    "document",
    [
        framing(factors={"a": {"levels": list(range(72))}, "b": {"levels": list(range(72))}}),
        framing(journey=[{"stage": "page", "name": f"page_{number}"} for number in range(201)]),
    ],
)
def test_too_large_a_plan_is_refused_with_the_limit(document):
    faults = check(document).faults
    assert any("5000" in fault.what or "200" in fault.what for fault in faults)


def test_a_text_may_use_factors_alone():
    assert faults_of(changed("journey.1.text.values.take", "{{ age }}")) == [("journey.1.text", {"wording": "take"})]


def test_a_question_knows_only_what_was_asked_before_it():
    document = framing()
    document["journey"][2]["items"] = [{**QUESTION, "show_if": "height > 1"}, {**QUESTION, "name": "height"}]
    assert set(at for at, _levels in faults_of(document)) == {"journey.2.items.0.show_if"}


def test_the_plan_of_a_new_study_has_no_fault():
    for roles in (None, ["alice"]):
        assert faults_of(plan_for("bargaining", roles=roles)) == []


def test_a_page_s_script_never_learns_a_factor():
    document = framing()
    later = {**QUESTION, "name": "height"}
    document["journey"][2]["items"] = [QUESTION, {**later, "show_if": "wording == 'take' and age > 30"}]
    assert faults_of(document) == []
    document["journey"][2]["items"] = [{**QUESTION, "kind": "text"}, {**later, "show_if": "age == wording"}]
    assert faults_of(document) == [("journey.2.items.1.show_if", {})]


@pytest.mark.parametrize(
    ("game", "config", "at"),
    [
        ("bargaining", {"rounds": 0}, "rounds"),
        ("bargaining", {"colour": 1}, "colour"),
        ("procurement", {"instance": {"categories": [["a"]], "effectiveness": {"a": 0}, "offers": [], "budget": 1}},
         "instance.effectiveness.a"),
        ("social_dilemma", {"custom_game": {"actions": [2, 2], "payoffs": {"0,0": [1, 1]}}}, "custom_game"),
        ("social_dilemma", {"base_game": "custom"}, "custom_game"),
    ],
)  # fmt: skip
def test_a_fault_of_a_parameter_stands_at_its_place(game, config, at):
    document = {**plan_for(game), "journey": [{"stage": "consent"}, plan_for(game)["journey"][1] | {"config": config}]}
    assert f"journey.1.config.{at}" in [fault.at for fault in check(document).faults]


def test_own_comprehension_questions_are_not_forgotten():
    document = plan_for("bargaining")
    document["journey"][1]["comprehension"] = {"questions": []}
    (fault,) = check(document).faults
    assert fault.at == "journey.1.comprehension.questions"
