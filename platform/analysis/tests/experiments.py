"""An experiment with a plan of analysis: two framings, drawn for people who play once against an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from analysis.tests.building import match

FRAMING: Mapping[str, Any] = {
    "name": "framing", "claim": "Taking lowers efficiency.", "outcome": "talk.efficiency",
    "contrast": {"factor": "wording", "levels": ["take", "give"]}, "estimand": "both", "model": "auto", "adjust": [],
    "exclude": [], "role": "primary", "family": "main",
}  # fmt: skip


def plan(*hypotheses: Mapping[str, Any], changes: Sequence[Mapping[str, Any]] = (), per_arm: int | None = None) -> Any:
    """Return the manifest's key with these hypotheses, each a change of `FRAMING`."""
    return {
        "frozen_at": "2026-11-02T09:00:00Z", "version": "a" * 64, "version_number": 1,
        "hypotheses": [{**FRAMING, **hypothesis} for hypothesis in hypotheses or ({},)],
        "sample": {"per_arm": per_arm, "why": "", "stop": ""}, "changes": [*changes],
    }  # fmt: skip


def experiment(
    rng: Generator,
    *,
    people: int = 80,
    effect: float = -0.2,
    lost: Mapping[str, float] | None = None,
    excluded: bool = False,
    rule: str = "blocks",
) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of an experiment in which taking changes efficiency by `effect`.

    Args:
        lost: the share of people who leave, by framing; the less efficient half of them are those who do.
        excluded: whether their matches are in the dataset, flagged.
        rule: how people were assigned.
    """
    rows, participants = [], []
    order = [str(rng.choice(["give", "take"])) for _ in range(people)] if rule == "random" else [
        level for _block in range(-(-people // 4)) for level in rng.permutation(["give", "give", "take", "take"])
    ][:people]  # fmt: skip
    for number, level in enumerate(order):
        skill, age = rng.normal(), int(rng.integers(16, 60))
        value = float(np.clip(0.6 + 0.1 * skill + 0.003 * (age - 40) + effect * (level == "take"), 0, 1))
        gone = bool(rng.random() < (lost or {}).get(level, 0) * (1.5 if skill < 0 else 0.5))
        cell, name = 1 + (level == "take"), f"p{number:03}"
        participants.append({
            "participant": name, "person": name, "role": "alice", "version": 1, "cell": cell,
            "stage": "began" if gone else "in_dataset", "in_dataset": not gone,
            "reasons": "partner_left" if gone else None, "match": None if gone else f"m{number:06}",
            "factor_wording": level, "assignment_rule": rule, "assignment_number": number + 1,
            "assignment_stratum": "[]", "assignment_block": number // 4 if rule == "blocks" else None,
            "assignment_open": json.dumps({"1": 0.5, "2": 0.5}), "assignment_probability": 0.5,
            "assignment_forced": False, "assignment_completes": False,
            "survey_before_age": None if gone and not excluded else age,
            "survey_after_trust": None if gone and not excluded else int(np.clip(round(3 + skill), 1, 5)),
        })  # fmt: skip
        if not gone or excluded:
            row = match(number, player_alice="human", participant_alice=name, seed=number, stage="talk", cell=cell,
                        factor_wording=level, config_rounds=3, session=1, efficiency=value)  # fmt: skip
            row |= {"pass": None, "repeat": 1, "in_dataset": not gone}
            rows.append(row | ({"reason": "partner_left", "reasons": "partner_left"} if gone else {}))
    cells = [{"version": 1, "cell": 1 + (level == "take"), "factor_wording": level, "quota": people // 2,
              "seats": '{"alice": "person"}', "config_rounds": 3} for level in ("give", "take")]  # fmt: skip
    return {"matches": rows, "participants": participants, "cells": cells}


VALUES = {"efficiency": "from 0; to 1", "survey_after_trust": "1 not at all to 5 completely"}
