"""The report answers first and folds the rest."""

from __future__ import annotations

import re

import pytest

from analysis.command import analyse
from analysis.options import Options
from analysis.tests.building import dataset, match, study

ANALYSES = ["general.attrition", "general.outcomes", "general.effects", "general.flow", "general.pay"]


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> str:
    """Return the report of a small study."""
    folder = tmp_path_factory.mktemp("report")
    analyse([study(folder / "study")], folder / "out", only=ANALYSES, options=Options(draws=50), processes=1)
    return (folder / "out" / "report.html").read_text(encoding="utf-8")


def section(report: str, name: str) -> str:
    return report.split(f'<section id="{name}">')[1].split("</section>")[0]


def test_the_sections_are_in_the_order_of_the_questions(report):
    assert re.findall(r'<section id="(\w+)">', report) == ["design", "robustness", "exploratory", "appendix"]
    first = report[: report.index('<section id="design">')]
    assert "everything below is exploratory" in first
    assert "Author 2026" in first and "CC BY 4.0" in first and "24</strong> <span>matches" in first


def test_the_design_shows_each_arm_from_randomised_to_analysed(report):
    design = section(report, "design")
    assert design.index("People by arm") < design.index('id="general.attrition"')
    assert "<dt>frame</dt><dd>give, take</dd>" in design


def test_robustness_stands_side_by_side(report):
    headings = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', section(report, "robustness"))
    assert headings == [
        "Outcome", "Factor", "Level", "As above", "Lee bounds", "Logit, average marginal effect",
    ]  # fmt: skip


def test_exploratory_analyses_are_folded_with_their_estimates_in_a_line(report):
    exploratory = section(report, "exploratory")
    assert re.findall(r"<details([^>]*)>", exploratory) == [' id="general.outcomes"', ' id="general.effects"']
    line = re.search(r'<span class="short">([^<]+)</span>', exploratory)
    assert line and re.search(r"Payoffs alice: [\d.]+ \[[\d.]+, [\d.]+\]", line[1])
    assert "<script" not in report and "general.pay" in section(report, "appendix")


def test_readers_see_the_names_of_agents_and_arms(report):
    shown = re.sub(r"<style>.*?</style>|Files: [^<]*", "", report, flags=re.DOTALL)
    assert not re.search(r"endpoint:|cell \d|player_|factor_|config_|payoffs_", shown)
    assert "careful" in shown and "frame: take · partner: daring" in shown


def test_a_dataset_without_people_has_a_report(tmp_path):
    """A collection's table of participants has its columns, but no rows."""
    nobody = {"participant": "text", "cell": "integer", "version": "integer", "factor_wording": "text"}
    tables = {"matches": [match(n, efficiency=n / 10) for n in range(6)], "participants": nobody}
    dataset(tmp_path / "data", tables)
    analyse([tmp_path / "data"], tmp_path / "out", only=ANALYSES, options=Options(draws=50), processes=1)
    assert "6 matches" in " ".join((tmp_path / "out" / "methods.md").read_text().split())
