"""Planned hypotheses: what may be written, what is refused with which words, and how they are kept."""

from __future__ import annotations

from typing import Any

import pytest

from plans.canonical import canonical, version_hash
from plans.checking import check
from plans.comparing import compare
from plans.files import dumps, loads

STUDY = loads(
    """
format: parley-study
title: Framing
factors:
  wording: {levels: [take, give]}
  rounds: {levels: [1, 12], within: games}
  opponent: {levels: [nobody, haggler]}
cells: {quota: 10}
agents: {haggler: {script: haggler}}
journey:
  - {stage: consent}
  - stage: questions
    name: before
    items:
      - {name: age, kind: number, text: How old are you?}
      - {name: why, kind: long, text: Why are you here?}
  - {stage: page, name: opening, text: {by: wording, values: {take: You take., give: You give.}}}
  - stage: block
    name: games
    of:
      - stage: game
        name: talk
        game: bargaining
        config: {rounds: {by: rounds}}
        seats: {alice: person, bob: {by: opponent, values: {nobody: person, haggler: haggler}}}
  - stage: questions
    name: after
    items:
      - {name: fair, kind: scale, text: How fair was it?}
      - {name: again, kind: single, text: Again?, options: [yes, no]}
      - {name: mood, kind: single, text: And now?, options: [bad, fine, good]}
      - {name: word, kind: text, text: One word?}
analysis:
  hypotheses:
    - name: framing
      claim: Taking lowers efficiency.
      outcome: talk.efficiency
      contrast: {factor: wording, levels: [take, give]}
      adjust: [before.age]
      exclude: ["before.age < 18"]
  sample: {per_arm: 100, why: A pilot., stop: At the quota.}
"""
)
FRAMING = STUDY["analysis"]["hypotheses"][0]
WORDING = {"factor": "wording", "levels": ["take", "give"]}


def planned(*hypotheses: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return the study with these hypotheses, each the first one with changes."""
    return {**STUDY, **parts, "analysis": {"hypotheses": [{**FRAMING, **each} for each in hypotheses]}}


def test_a_plan_without_faults_keeps_its_hypotheses_with_every_default() -> None:
    assert check(STUDY).faults == []
    assert canonical(STUDY)["analysis"]["hypotheses"] == [
        {
            "name": "framing", "claim": "Taking lowers efficiency.", "outcome": "talk.efficiency", "contrast": WORDING,
            "estimand": "both", "model": "auto", "adjust": ["before.age"], "exclude": ["before.age < 18"],
            "role": "primary", "family": "main",
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "talk.payoff"},
        {"outcome": "talk.agreement", "model": "logit"},
        {"outcome": "after.fair", "model": "ordered"},
        {"outcome": "after.again", "model": "logit"},
        {"outcome": "after.mood", "model": "ordered"},
        {"contrast": {"factor": "rounds", "levels": [1, 12]}},
        {"contrast": {"factors": ["wording", "rounds"], "levels": [["take", "give"], [12, 1]]}},
        {"contrast": {"players": ["human", "agent"], "role": "bob"}},
        {"contrast": {"players": ["agent", "human"]}},
    ],
)
def test_outcomes_and_comparisons_that_can_be_planned(changes: dict[str, Any]) -> None:
    assert check(planned(changes)).faults == []


@pytest.mark.parametrize(
    ("changes", "at", "says"),
    [
        ({"outcome": "game.efficiency"}, "outcome", "no stage “game”"),
        ({"outcome": "efficiency"}, "outcome", "STAGE.NAME"),
        ({"outcome": ""}, "outcome", "Choose an outcome, such as"),
        ({"outcome": "talk.efficency"}, "outcome", "rounds_played"),
        ({"outcome": "after.word"}, "outcome", "neither a number nor"),
        ({"outcome": "after.mood"}, "model", "Choose one of: ordered"),
        ({"model": "logit"}, "model", "one of: auto, linear, log"),
        ({"outcome": "talk.agreement", "model": "log"}, "model", "auto, linear, logit"),
        ({"contrast": {"factor": "frame", "levels": ["take", "give"]}}, "contrast.factor", "wording, rounds, opponent"),
        ({"contrast": {"factor": "wording", "levels": ["take", "gve"]}}, "contrast.levels.1", "it has take, give"),
        ({"contrast": {"factor": "wording", "levels": ["take", "take"]}}, "contrast", "must differ"),
        ({"contrast": {"factor": "wording"}}, "contrast", "two levels"),
        ({"contrast": {"factor": "wording", "levels": [["take", "give"], ["a", "b"]]}}, "contrast", "two levels"),
        ({"contrast": {"levels": ["take", "give"]}}, "contrast", "Compare one of these"),
        ({"contrast": {**WORDING, "players": ["human", "agent"]}}, "contrast", "Compare one of these"),
        ({"contrast": {**WORDING, "role": "bob"}}, "contrast", "has a seat"),
        ({"contrast": {"players": ["human", "human"]}}, "contrast", "must differ"),
        (
            {"contrast": {"factors": ["wording", "wording"], "levels": [["take", "give"]] * 2}},
            "contrast.factors",
            "two different factors",
        ),
        (
            {"contrast": {"factors": ["wording", "rounds"], "levels": [["take", "give"], [1, 2]]}},
            "contrast.levels.1.1",
            "it has 1, 12",
        ),
        (
            {"outcome": "after.fair", "contrast": {"factor": "rounds", "levels": [1, 12]}},
            "contrast.factor",
            "within “games”",
        ),
        ({"contrast": {"players": ["human", "agent"], "role": "carol"}}, "contrast.role", "alice, bob"),
        ({"contrast": {"players": ["human", "agent"], "role": "alice"}}, "contrast.players", "Only people sit there"),
        ({"outcome": "after.fair", "contrast": {"players": ["human", "agent"]}}, "contrast.players", "in a game only"),
        ({"adjust": ["after.fair"]}, "adjust.0", "those are before.age"),
        ({"adjust": ["before.why"]}, "adjust.0", "no single value"),
        ({"exclude": ["talk.agreement"]}, "exclude.0", "before the assignment"),
        ({"exclude": ["age < 18"]}, "exclude.0", "before.age"),
        ({"exclude": ["before.age <"]}, "exclude.0", "cannot be read"),
        ({"contrasts": {}}, "contrasts", "no such setting"),
    ],
)
def test_each_fault_is_named_at_its_field(changes: dict[str, Any], at: str, says: str) -> None:
    faults = [fault for fault in check(planned(changes)).faults if fault.at == f"analysis.hypotheses.0.{at}"]
    assert faults, check(planned(changes)).faults
    assert says in faults[0].what


def test_two_hypotheses_have_two_names() -> None:
    faults = check(planned({}, {"role": "secondary"})).faults
    assert [fault.at for fault in faults] == ["analysis.hypotheses.1.name"]


def test_levels_whose_combinations_no_cell_has_cannot_be_compared() -> None:
    cells = {"listed": [{"wording": "take", "opponent": "haggler"}, {"wording": "give", "opponent": "nobody"}]}
    contrast = {"factors": ["wording", "opponent"], "levels": [["take", "give"], ["haggler", "nobody"]]}
    (fault,) = check(planned({"contrast": contrast}, cells=cells)).faults
    assert (fault.at, "wording take, opponent nobody" in fault.what) == ("analysis.hypotheses.0.contrast.levels", True)


def test_the_analysis_is_outside_the_hash_and_survives_the_file() -> None:
    without = {name: part for name, part in STUDY.items() if name != "analysis"}
    assert version_hash(STUDY) == version_hash(without)
    assert canonical(loads(dumps(canonical(STUDY)))) == canonical(STUDY)


def test_a_changed_hypothesis_is_one_line_in_words() -> None:
    changed = {**STUDY["analysis"], "hypotheses": [{**FRAMING, "model": "log"}]}
    (change,) = compare(STUDY, {**STUDY, "analysis": changed})
    assert str(change) == "analysis, hypotheses, framing, model: auto → log"
    assert not change.in_hash
