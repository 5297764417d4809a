"""The report's first page: the planned questions answered in sentences, and what deviates from the plan."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.command import analyse
from analysis.options import Options
from analysis.tests.building import dataset
from analysis.tests.experiments import experiment, plan

CHANGES = (
    {"at": "2026-11-10T10:00:00Z", "hypothesis": "trust", "what": "added", "fields": {},
     "ended": {"participants": 12, "matches": 10}},
    {"at": "2026-11-11T10:00:00Z", "hypothesis": "framing", "what": "changed",
     "fields": {"outcome": ["talk.fairness", "talk.efficiency"]}, "ended": {"participants": 20, "matches": 18}},
)  # fmt: skip


@pytest.fixture
def report_of(tmp_path):
    """Return a function from a plan, and what is known of the experiment, to the report's text."""

    def page_of(planned, **world):
        tables = experiment(np.random.default_rng(2), **world)
        manifest = {"analysis_plan": planned} if planned else {}
        folder = dataset(tmp_path / "data", tables, **manifest)
        analyse([folder], tmp_path / "report", only=["general.confirmatory"], options=Options(draws=200))
        return (tmp_path / "report" / "report.html").read_text(encoding="utf-8")

    return page_of


def test_without_a_plan_everything_is_exploratory(report_of):
    assert "everything below is exploratory" in report_of(None)


@pytest.mark.slow
def test_a_hypothesis_is_answered_in_one_sentence_with_everything_that_qualifies_it(report_of):
    text = report_of(plan({}), lost={"give": 0.05, "take": 0.4}, excluded=True)
    for words in (
        "1 hypothesis (1 primary), frozen on 2026-11-02, 09:00", "(wording) lowered efficiency by 0.",
        "p &lt; .001 by CR3, p &lt; .001 by randomisation; after Holm p &lt; .001 and p &lt; .001",
        "take: 40 → 40, give: 40 → 40", "take: 40 → 20, give: 40 → 39): −0.", "lost people differently (p",
        "; Lee bounds −0.", "None is recorded.", "<figcaption>Planned comparisons",
    ):  # fmt: skip
        assert words in text


@pytest.mark.slow
def test_an_effect_that_is_not_detected_is_not_called_an_effect(report_of):
    text = report_of(plan({}), effect=0.0)
    assert "No effect of take" in text and "lowered efficiency" not in text


def test_what_changed_after_the_launch_and_the_size_of_the_sample_are_deviations(report_of):
    text = report_of(plan({}, {"name": "trust", "outcome": "after.trust"}, {"name": "gone", "outcome": "talk.gone"},
                     changes=CHANGES, per_arm=50))  # fmt: skip
    for words in ("trust was added after", "2026-11-10, 10:00 UTC, when 12 participants and 10 matches",
                  "2 of them added or changed", "Added after the launch", "from “talk.fairness” to “talk.efficiency”",
                  "take: 40 complete matches, 10 fewer", "gone was planned", "no outcome talk.gone"):  # fmt: skip
        assert words in text


def test_a_plan_without_hypotheses_left_is_no_confirmation(report_of):
    removed = {
        "at": "2026-11-11T10:00:00Z", "hypothesis": "framing", "what": "removed",
        "fields": {"outcome": ["talk.efficiency", None]}, "ended": {"participants": 20},
    }  # fmt: skip
    text = report_of({**plan(changes=[removed]), "hypotheses": []})
    for words in ("Every planned hypothesis", "everything below is exploratory", "framing was removed after",
                  "2026-11-11, 10:00 UTC, when 20 participants"):  # fmt: skip
        assert words in text


@pytest.mark.slow
def test_the_researchers_words_are_text(report_of):
    claim = "<script>alert(1)</script>"
    text = report_of(plan({"claim": claim}))
    assert claim not in text and "&lt;script&gt;" in text
