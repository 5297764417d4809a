"""The power of planned hypotheses follows from the plan, and from how outcomes varied before."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis.tests.building import dataset, match
from exports.tests import building
from plans.analysis import Hypothesis
from plans.reading import reader_of
from plans.tests.test_hypotheses import FRAMING, STUDY
from reports.power import Meetings, meetings_of
from studies.models import Study

ALONE = {"alice": "person", "bob": {"by": "opponent", "values": {"nobody": "haggler", "haggler": "haggler"}}}


def meetings(per_arm: int | None = 100, *, game: dict[str, Any] | None = None, **changes: Any) -> Meetings:
    """Return who meets whom in the study of plans/tests/test_hypotheses.py."""
    document = deepcopy(STUDY)
    block = document["journey"][3]
    block["of"][0] |= game or {}
    block |= changes.pop("block", {})
    hypothesis = Hypothesis.model_validate_json(json.dumps({**FRAMING, "adjust": [], "exclude": [], **changes}))
    return meetings_of(hypothesis, reader_of(document), per_arm)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Meetings(100, (False,), 2, 2, True, None)),
        ({"per_arm": None}, Meetings(40, (False,), 2, 2, True, None)),
        ({"game": {"partners": "same"}}, Meetings(100, (False,), 2, 2, False, None)),
        ({"block": {"groups": {"form": "once"}}}, Meetings(100, (False,), 2, 2, False, None)),
        ({"block": {"groups": {"cohort": 8}}}, Meetings(100, (False,), 2, 2, True, 8)),
        ({"game": {"seats": ALONE}}, Meetings(100, (False,), 2, 1, False, None)),
        ({"game": {"partners": "same"}, "outcome": "talk.payoff"}, Meetings(200, (False,), 4, 1, False, None)),
        ({"outcome": "after.fair"}, Meetings(100, (False,), 1, 1, False, None)),
        (
            {"contrast": {"factor": "rounds", "levels": [1, 12]}, "game": {"repeats": 3}},
            Meetings(100, (True,), 3, 2, True, None),
        ),
        (
            {"contrast": {"factors": ["wording", "rounds"], "levels": [["take", "give"], [12, 1]]}},
            Meetings(100, (False, True), 1, 2, False, None),
        ),
        ({"contrast": {"players": ["human", "agent"]}}, Meetings(100, (False,), 2, 2, True, None)),
    ],
)
def test_who_meets_whom_follows_from_the_plan(given: dict[str, Any], expected: Meetings) -> None:
    assert meetings(**given) == expected


@pytest.fixture
def study(db: None) -> Study:
    horizon = {
        "name": "horizon",
        "outcome": "game.alice_self_gain",
        "contrast": {"factor": "rounds", "levels": [3, 2]},
    }
    analysis = {"hypotheses": [horizon, {**horizon, "name": "second", "role": "secondary"}], "sample": {"per_arm": 50}}
    return building.new_study(grid={"rounds": [2, 3]}, analysis=analysis)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("power", "splitting", "--draws", "200", *arguments)
    return capsys.readouterr().out


def test_without_data_effects_are_in_standard_deviations(study: Study, capsys) -> None:
    text = said(capsys, "--effect", "0.5")
    assert "horizon (game.alice_self_gain), 50 matches" in text
    assert "0.5 standard deviations has p < .05" in text and "80 % power from 0." in text
    assert "second" not in text


def earlier(folder: Path, level: float = 0.5) -> Path:
    """Write a dataset of 20 people with two matches each, which differ by .2 between people and .1 within."""
    rows = [
        match(2 * person + session, player_alice="human", participant_alice=f"p{person}",
              alice_self_gain=level + 0.1 * (-1) ** person + 0.05 * (-1) ** session)
        for person in range(20) for session in range(2)
    ]  # fmt: skip
    return dataset(folder, {"matches": rows})


def test_a_dataset_gives_the_spread_and_the_likeness_of_peoples_matches(study: Study, tmp_path, capsys) -> None:
    folder = str(earlier(tmp_path / "data"))
    (found,) = json.loads(said(capsys, "--data", folder, "--effect", "0.1", "--json"))
    between, within = 20 * 2 * 0.1**2 / 19, 40 * 0.05**2 / 20
    assert found["spread"]["sd"] == pytest.approx((40 * (0.1**2 + 0.05**2) / 39) ** 0.5)
    assert found["spread"]["icc"] == pytest.approx((between - within) / (between + within))
    assert (found["spread"]["n"], found["spread"]["units"]) == (40, 20)
    assert found["smallest"] < 0.1 and found["power"] > 0.8
    assert "rows 0.62 (40 rows, 20 independent" in said(capsys, "--data", folder)


@pytest.mark.django_db
def test_what_cannot_be_simulated_is_said(study: Study, tmp_path, capsys) -> None:
    with pytest.raises(CommandError, match="no study “other”"):
        call_command("power", "other")
    other = dataset(tmp_path / "data", {"matches": [match(number, efficiency=number / 9) for number in range(9)]})
    with pytest.raises(CommandError, match="no outcome “alice_self_gain”"):
        said(capsys, "--data", str(other))
    with pytest.raises(CommandError, match="manifest"):
        said(capsys, "--data", str(tmp_path))
    building.launch_with(study, analysis={"hypotheses": []})
    with pytest.raises(CommandError, match="no hypothesis"):
        said(capsys)
