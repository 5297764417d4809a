"""The draft of the sections on methods and data states the numbers of the dataset."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.command import analyse
from analysis.options import Options
from analysis.tests.building import dataset
from analysis.tests.experiments import experiment, plan

FLOW = {
    "arrived": 90, "in_dataset": 59,
    "stages": [{"stage": "arrived", "reached": 90, "left": {"screened_out": 10}},
               {"stage": "began", "reached": 80, "left": {"partner_left": 21}}],
    "matches": {"seen": 80, "in_dataset": 59, "unverified": 0, "excluded": {"partner_left": 21}},
}  # fmt: skip


def draft(tmp_path, planned, **manifest):
    tables = experiment(np.random.default_rng(2), lost={"give": 0.05, "take": 0.4}, excluded=True)
    payments = [{"participant": row["participant"], "amount": 1.0 + number % 2, "currency": "USD"}
                for number, row in enumerate(tables["participants"])]  # fmt: skip
    dataset(tmp_path / "data", {**tables, "payments": payments}, flow=FLOW, **planned, **manifest)
    analyse([tmp_path / "data"], tmp_path / "report", only=["general.confirmatory"], options=Options(draws=100))
    return (tmp_path / "report" / "methods.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_people_arms_pay_and_tests_are_stated_with_their_numbers(tmp_path):
    text = draft(tmp_path, {"analysis_plan": plan({"claim": "It is <b>lower</b>."}, per_arm=50)})
    for words in (
        "factor wording varied between participants (give and take)", "80 participants were assigned to 2 cells",
        "permuted blocks", "by wording: give: 40 → 39, take: 40 → 20", "90 people", "screened out (10)",
        "Of 80 matches, 59", "another person left (21)", "- Bob: script:b, 59 matches", "Rounds: 3.",
        "80 participants earned 1.50 USD", "(SD 0.50), from 1.00 to 2.00", "- **framing** (It is \\<b\\>lower\\</b\\>)",
        "talk.efficiency, wording: take minus give", "- framing, completed: n = 59, 59 units, CR3, ",
    ):  # fmt: skip
        assert words in text


def test_without_a_plan_the_draft_says_that_everything_is_exploratory(tmp_path):
    assert "everything reported is exploratory" in draft(tmp_path, {})
