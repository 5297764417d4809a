"""The report of an analysis is accessible in a browser and fits its screen."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser

from analysis.command import analyse
from analysis.tests.building import dataset, match
from tests.accessibility import violations

pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize("width", [360, 1280])
def test_report_fits_the_screen_and_is_accessible(report: Path, browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"file://{report}")
    assert page.locator("figure svg[role=img]").count() == 4
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()
