"""The report of an analysis is accessible, fits screens and paper, and cuts off nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page

from analysis.command import analyse
from analysis.options import Options
from analysis.tests.building import dataset, match, study
from analysis.tests.conftest import GAMES, people, tiny
from tests.accessibility import violations

pytestmark = pytest.mark.browser
__all__ = ["people", "tiny"]  # fixtures
GENERAL, QUICK = ["general.*"], Options(draws=20)
PAPER = {"width": 672, "height": 1000}
"""What an A4 page takes between its margins, in pixels."""
CUT_OFF = """() => [...document.querySelectorAll("figure svg")].flatMap(svg => {
  const edge = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")];
  return texts.filter(text => {
    const box = text.getBoundingClientRect();
    return box.width > 0 && (text.textContent.includes("…") || box.left < edge.left - 1 || box.top < edge.top - 1
      || box.right > edge.right + 1 || box.bottom > edge.bottom + 1);
  }).map(text => text.textContent);
})"""
TOO_WIDE = """() => [...document.querySelectorAll("table")]
  .filter(table => table.getBoundingClientRect().width > innerWidth).map(table => table.caption.textContent)"""


@pytest.fixture(scope="session", autouse=True)
def database_beside_playwright() -> Iterator[None]:
    """Let tests use the database although Playwright runs a loop in their thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, folder = Random(1), tmp_path_factory.mktemp("report")
    matches = [
        match(
            n, player_bob=f"openai:a-model-with-a-long-name-{n % 2}", config_rounds=1 + n % 3, efficiency=rng.random()
        )
        for n in range(24)
    ]
    data = dataset(folder / "data", {"matches": matches})
    analyse([data], folder / "analysis", only=["general.outcomes", "general.effects", "general.power"])
    return folder / "analysis" / "report.html"


def unfolded(browser: Browser, report: Path) -> Page:
    """Open the report with all its analyses, as on paper."""
    page = browser.new_page(viewport=PAPER)  # type: ignore[arg-type]
    page.goto(f"file://{report}")
    page.emulate_media(media="print")
    page.evaluate("document.querySelectorAll('details').forEach(analysis => { analysis.open = true })")
    return page


@pytest.mark.parametrize("width", [360, 1280])
def test_report_fits_the_screen_and_is_accessible(report: Path, browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"file://{report}")
    page.evaluate("document.querySelectorAll('details').forEach(analysis => { analysis.open = true })")
    assert page.locator("figure svg[role=img]").count() == 4
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


def check_nothing_is_cut_off(browser: Browser, report: Path) -> None:
    page = unfolded(browser, report)
    assert page.locator("figure svg text").count()
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(TOO_WIDE) == []
    page.close()


def test_nothing_is_cut_off(report: Path, browser: Browser) -> None:
    check_nothing_is_cut_off(browser, report)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("sample", ["people", *GAMES])
def test_nothing_is_cut_off_in_samples(
    sample: str, people: Path, tiny: Callable[[str], Path], tmp_path: Path, browser: Browser
) -> None:
    analyse([people if sample == "people" else tiny(sample)], tmp_path / "out", options=QUICK)
    check_nothing_is_cut_off(browser, tmp_path / "out" / "report.html")


@pytest.mark.slow
def test_a_thousand_matches_print_on_four_pages_before_the_appendix(tmp_path: Path, browser: Browser) -> None:
    analyse([study(tmp_path / "study", people=1008)], tmp_path / "out", only=GENERAL, options=QUICK)
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/out/report.html")
    page.add_style_tag(content="#appendix, footer { display: none }")
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert 1 < len(pages) <= 4
    page.close()
