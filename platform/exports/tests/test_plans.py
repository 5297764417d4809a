"""Datasets of plans: factors, the draw, passes, conditions, and the plan itself."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from conftest import made_once
from exports.dataset import export
from exports.tests import building
from exports.tests.test_dataset import header, rows
from exports.tests.test_verify import reseal
from exports.verify import verify
from participants import services as people
from plans.canonical import version_hash
from plans.files import loads
from studies.tests import kit
from studies.tests.kit import agent

pytestmark = pytest.mark.django_db

AGE = {"name": "age", "kind": "number", "text": "How old are you?"}
FAIR = {"name": "fair", "kind": "single", "text": "Was it fair?", "options": ["yes", "no"], "required": False}


def bargaining(name, **parts):
    return {"stage": "game", "name": name, "game": "bargaining", "seats": {"alice": "person", "bob": "script:fair"},
            "code_word": None, **parts}  # fmt: skip


def plan(**parts):
    """Return a plan with a factor between and one within participants, after a question that precedes the draw."""
    block = {
        "stage": "block", "name": "games", "passes": "fixed",
        "of": [
            bargaining("talk", config={"rounds": {"by": "horizon"}, "money": {"by": "stakes.money"}}),
            {"stage": "questions", "name": "ask", "items": [FAIR]},
        ],
    }  # fmt: skip
    return {
        "format": "parley-study", "version": 1, "title": "Stakes",
        "factors": {
            "stakes": {"levels": {"small": {"money": 100}, "large": {"money": 1000}}},
            "horizon": {"levels": [2, 3], "within": "games"},
        },
        "cells": {"quota": 10, "strata": ["age"]},
        "agents": {"script:fair": agent("script:fair")},
        "journey": [
            {"stage": "consent"}, {"stage": "questions", "name": "before", "items": [AGE]},
            {"stage": "page", "name": "old", "text": "Hello.", "show_if": "age > 50"}, block,
        ],
        "pay": {"bonus": {"average": {"by": "stakes.money", "values": {"100": "1.00", "1000": "2.00"}}}},
        **parts,
    }  # fmt: skip


def play_one(person):
    """Read the instructions if there are any, play the match and go on."""
    _enrolment, step = people.show_step(enrolment_id=person.pk)
    if step.kind == "instructions":
        building.answer(person)
        people.show_step(enrolment_id=person.pk)
    match = person.seats.order_by("-step").first().match
    half = match.config["money"] / 2
    building.move(match, "alice", {"alice_gain": half, "bob_gain": half})
    building.let_agent_answer(match)
    building.answer(person)
    return match


def completed(study, worker, *, age):
    person = building.consent(building.arrive(study, worker=worker))
    building.answer(person, question_age=str(age))
    if age > 50:
        building.answer(person)
    for fair in ("yes", "no"):
        play_one(person)
        building.answer(person, question_fair=fair)
    person.refresh_from_db()
    assert person.state == "completed", person.steps[person.position :]
    return person


def stakes(folder: Path) -> Path:
    study = kit.launched("stakes", plan=plan())
    completed(study, "A1", age=60)
    completed(study, "A2", age=20)
    building.consent(building.arrive(study, worker="A3"))
    export(study, folder / "d")
    return folder / "d"


folder = made_once(stakes, rows=False)


def test_factors_are_columns_of_cells_people_matches_and_seats(folder):
    assert verify(folder) == []
    cells = {row["cell"]: row for row in rows(folder, "cells")}
    assert [(row["factor_stakes"], row["quota"], row["weight"]) for row in cells.values()] == [
        ("small", "10", "1"), ("large", "10", "1"),
    ]  # fmt: skip
    assert [(row["config_money"], row["announced_average"]) for row in cells.values()] == [
        ("100.0", "1.00"),
        ("1000.0", "2.00"),
    ]
    assert len({row["sha256"] for row in cells.values()}) == 2 and "factor_horizon" not in header(folder, "cells")
    drawn = {row["participant"]: row["factor_stakes"] for row in rows(folder, "participants") if row["cell"]}
    assert all(drawn[row["participant"]] == cells[row["cell"]]["factor_stakes"]
               for row in rows(folder, "participants") if row["cell"])  # fmt: skip
    matches = rows(folder, "matches")
    assert [(row["session"], row["stage"], row["pass"], row["repeat"], row["factor_horizon"]) for row in matches] == [
        ("1", "talk", "2", "1", "2"), ("2", "talk", "3", "1", "3"),
    ] * 2  # fmt: skip
    for row in matches:
        assert row["factor_stakes"] == drawn[row["participant_alice"]]
        assert row["config_rounds"] == row["factor_horizon"]
    of_match = {row["match"]: row for row in matches}
    for row in rows(folder, "seats"):
        assert row["factor_horizon"] == of_match[row["match"]]["factor_horizon"]


def test_every_draw_can_be_repeated(folder):
    first, second, undrawn = rows(folder, "participants")
    for row in (first, second):
        chances = json.loads(row["assignment_open"])
        point, reached = Random(row["assignment_seed"]).random(), 0.0
        drawn = next(cell for cell, chance in chances.items() if (reached := reached + chance) > point)
        assert (drawn, row["assignment_rule"], row["assignment_forced"]) == (row["cell"], "blocks", "FALSE")
        assert float(row["assignment_probability"]) == chances[row["cell"]]
    assert [row["assignment_number"] for row in (first, second)] == ["1", "2"]
    assert [json.loads(row["assignment_stratum"]) for row in (first, second)] == [[60], [20]]
    assert (undrawn["cell"], undrawn["factor_stakes"], undrawn["assignment_rule"]) == ("", "", "")


@pytest.mark.parametrize("rule", ["blocks", "random", "emptiest"])
def test_the_whole_assignment_can_be_run_again_from_the_dataset(tmp_path, rule):
    """From the tables alone: each draw's cells and chances follow from the draws before it, and its cell from both."""
    sexes = ["a", "a", "b", "a", "b", "a", "a", "b", "a", "a"]
    sex = {"name": "sex", "kind": "single", "text": "Which?", "options": ["a", "b"]}
    stakes = [{"stakes": "small", "weight": 2}, {"stakes": "large", "quota": 4}]
    document = plan(cells={"quota": 9, "rule": rule, "strata": ["sex"], "listed": stakes})
    document["journey"][1:3] = [{"stage": "questions", "name": "before", "items": [sex]}]
    study = kit.launched("again", plan=document)
    for number, each in enumerate(sexes):
        building.answer(building.consent(building.arrive(study, worker=f"A{number}")), question_sex=each)
    export(study, tmp_path / "d")
    cells = {row["cell"]: row for row in rows(tmp_path / "d", "cells")}
    weights, quotas = ({cell: int(row[name]) for cell, row in cells.items()} for name in ("weight", "quota"))
    held, blocks = Counter(), {}
    people = sorted(rows(tmp_path / "d", "participants"), key=lambda row: int(row["assignment_number"]))
    for row in people:
        open_cells = {cell: weights[cell] for cell in cells if held[cell] < quotas[cell]}
        if rule == "blocks":
            number, used = blocks.setdefault(row["assignment_stratum"], (0, Counter()))
            left = {cell: times - used[cell] for cell, times in open_cells.items() if times > used[cell]}
            if not left:
                number, used, left = number + 1, Counter(), open_cells
            open_cells, blocks[row["assignment_stratum"]] = left, (number, used)
            assert int(row["assignment_block"]) == number
            used[row["cell"]] += 1
        elif rule == "emptiest":
            share = {cell: held[cell] / quotas[cell] for cell in open_cells}
            open_cells = {cell: 1 for cell in open_cells if share[cell] == min(share.values())}
        chances = {cell: times / sum(open_cells.values()) for cell, times in open_cells.items()}
        assert json.loads(row["assignment_open"]) == chances
        point, reached = Random(row["assignment_seed"]).random(), 0.0
        assert row["cell"] == next(cell for cell in chances if (reached := reached + chances[cell]) > point)
        held[row["cell"]] += 1
    assert len(people) == len(sexes) and {row["assignment_rule"] for row in people} == {rule}


def test_conditions_and_answers_in_each_pass_are_columns(folder):
    old, young, undrawn = rows(folder, "participants")
    assert [row["shown_old"] for row in (old, young, undrawn)] == ["TRUE", "FALSE", ""]
    assert [name for name in old if name.startswith("shown_")] == ["shown_old"]
    assert (old["survey_before_age"], old["survey_after_fair_2"], old["survey_after_fair_3"]) == ("60", "yes", "no")
    assert float(old["seconds_page_old"]) >= 0 and young["seconds_page_old"] == ""


def test_the_plan_is_in_the_dataset_and_verified(folder, tmp_path):
    folder = Path(shutil.copytree(folder, tmp_path / "d"))
    (version,) = json.loads((folder / "versions.json").read_text())
    assert version_hash(version["content"]) == version["sha256"] and version["games"]["bargaining"] > 0
    text = (folder / "plan-v1.yaml").read_text()
    assert loads(text) == version["content"]
    (folder / "plan-v1.yaml").write_text(text.replace("Hello.", "Good-bye."))
    reseal(folder)
    assert any("plan-v1.yaml: " in difference for difference in verify(folder))


def test_what_changed_without_a_new_version_is_listed_with_its_time(tmp_path):
    study = building.new_study(title="First")
    building.launch_with(study, title="Second, ask me@example.org", quota=7)
    export(study, tmp_path / "d")
    changes = json.loads((tmp_path / "d" / "changes.json").read_text())
    assert [(change["path"], change["after"]) for change in changes] == [
        ("title", "Second, ask [e-mail]"), ("cells.1.quota", 7),
    ]  # fmt: skip
    assert all(change["at"].endswith("Z") for change in changes) and verify(tmp_path / "d") == []
