"""Screenshots for the documentation: `python -m deploy.screenshots` retakes docs/images on a live stack.

Participants' pages are shown as on a phone (360 px), researchers' as on a desktop (1280 px), in the light theme.
Charts in docs/images (analysis-*.png) are not screenshots; `manage.py analyse` draws them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from deploy import tokens_picture
from tests import researching, walking
from tests.conftest import CHROMIUM_ARGUMENTS, LiveStack
from tests.examples import blocks
from tests.photographs import DESKTOP, PHONE

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
MAX_BYTES = 200_000
"""Maximum size of an image, in bytes."""
TUTORIAL = ROOT / "docs" / "tutorials" / "first-game.md"
SLOW_MS = 60_000
"""Maximum milliseconds for a pilot or the first page of a new process."""
MESSAGE = (
    "I would really like to find an agreement with you soon, since all of it loses value with every round that passes, "
    "and neither of us gains from that at all. So let me suggest the following, which I think is fair to both of us: "
    "you take a little less now, and I promise to remember it."
)


class Camera:
    """Photographs pages into a folder."""

    def __init__(self, browser: Browser, folder: Path):
        self.browser = browser
        self.folder = folder

    def photograph(self, page: Page, name: str, *, full_page: bool = False, at: str = "") -> None:
        """Photograph the first screen, or the whole page, with sticky elements at its edges.

        Args:
            at: id of the element with which the screen begins instead.

        Raises:
            ValueError: the image is too large for the repository.
        """
        size = page.viewport_size
        page.evaluate("id => id ? document.getElementById(id).scrollIntoView() : scrollTo(0, 0)", at)
        if full_page and size:
            page.set_viewport_size({**size, "height": page.evaluate("document.scrollingElement.scrollHeight")})
        file = self.folder / f"{name}.png"
        page.screenshot(path=file)
        if size:
            page.set_viewport_size(size)
        if file.stat().st_size > MAX_BYTES:
            raise ValueError(f"{file}: {file.stat().st_size} bytes")


@contextmanager
def stage(**environment: str) -> Iterator[tuple[LiveStack, Browser]]:
    """Run a live stack beside a browser."""
    with (
        tempfile.TemporaryDirectory(prefix="parley-pictures-") as data,
        LiveStack(Path(data), environment={"SECRET_KEY": "pictures", **environment}) as stack,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS)
        yield stack, browser
        browser.close()


def new_page(browser: Browser, size: dict[str, int]) -> Page:
    """Return a page of this size on which nothing moves and nobody is signed in."""
    context = browser.new_context(viewport=size, reduced_motion="reduce", color_scheme="light")  # type: ignore[arg-type]
    return context.new_page()


def take_all(folder: Path) -> None:
    """Take every picture into `folder`."""
    with stage(PARLEY_DEMO="1") as (stack, browser):
        camera = Camera(browser, folder)
        _tokens(camera)
        _participant(camera, stack)
        _new_game(camera, stack)
        desk = new_page(camera.browser, DESKTOP)
        researching.sign_in(stack, desk)
        _study(camera, desk, stack)
        _endpoint(camera, desk, stack)
        _tour(camera, desk, stack)
        desk.goto(f"{stack.url}{stack.call('tests.actions.pay_page_path', 'pictures')}")
        camera.photograph(desk, "pay")


def _tokens(camera: Camera) -> None:
    page = new_page(camera.browser, tokens_picture.SIZE)
    page.set_content(tokens_picture.page())
    camera.photograph(page, "design-tokens")


def copy_with_first_game(target: Path) -> None:
    """Copy Parley's folder and add the game of the tutorial "Your first game", which is not in the repository."""
    ignore = shutil.ignore_patterns(".*", "var", "__pycache__")
    shutil.copytree(ROOT, target, ignore=ignore, dirs_exist_ok=True)
    (target / ".venv").symlink_to(Path(sys.prefix))
    for block in blocks(TUTORIAL):
        if block.saved_as:
            file = target / block.saved_as
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.code, encoding="utf-8")
    (target / "games" / "public_goods" / "__init__.py").touch()


def _participant(camera: Camera, stack: LiveStack) -> None:
    """Photograph a game of bargaining on a phone, to the last page."""
    slug = stack.launch_study(
        {
            "slug": "pictures",
            "title": "Splitting money",
            "game": "bargaining",
            "roles": ["alice"],
            "via": "codes",
            "config": {"rounds": 4},
            "agents": "script:haggler",
        }
    )
    page = new_page(camera.browser, PHONE)
    page.goto(stack.url + stack.reach_first_turn(slug))
    _refused_offer(page, "8000", "2000", MESSAGE)
    camera.photograph(page, "play-offer")
    walking.answer(page, "reject")
    walking.expect_turn(page, "offer")
    camera.photograph(page, "play-history", full_page=True)
    _refused_offer(page, "7000", "3000", "Meet me here?")
    camera.photograph(page, "play-last-round")
    walking.answer(page, "accept")
    walking.expect_over(page)
    camera.photograph(page, "play-result")
    walking.press_continue(page)
    page.locator(".earnings").wait_for()
    camera.photograph(page, "play-last-page", full_page=True)


def _refused_offer(page: Page, own_amount: str, other_amount: str, message: str) -> None:
    """Make an offer that the opponent rejects and answers with an offer of its own."""
    walking.offer(page, own_amount, other_amount, role="alice", message=message)
    walking.expect_turn(page, "answer")


def _new_game(camera: Camera, stack: LiveStack) -> None:
    """Photograph the tutorial's game in its second round."""
    study: dict[str, Any] = {"slug": "pictures-goods", "title": "Public goods", "game": "public_goods", "roles": ["p1"]}
    page = new_page(camera.browser, PHONE)
    page.goto(
        stack.url + stack.reach_first_turn(stack.launch_study({**study, "via": "codes", "agents": "script:full"}))
    )
    page.locator('input[name="amount"]').fill("12")
    page.locator("form.move button[type=submit]:visible").click()
    page.get_by_role("tab", name="So far").click(timeout=SLOW_MS)
    expect(page.get_by_role("heading", name="Paid into the pot")).to_be_visible(timeout=SLOW_MS)
    camera.photograph(page, "first-game", full_page=True)


def _study(camera: Camera, desk: Page, stack: LiveStack) -> None:
    """Photograph the tutorial's first study: the editor, a walk through, the pilot's report, the monitor."""
    desk.goto(f"{stack.url}/admin/studies/study/add/")
    researching.begin(desk)
    researching.part(desk, "Title and time")
    desk.get_by_label("Title", exact=True).fill("My first study")
    researching.part(desk, "game Bargaining")
    researching.vary(desk, "Rounds", "1, 12")
    expect(desk.locator("[data-cells] tbody tr")).to_have_count(4, timeout=SLOW_MS)
    camera.photograph(desk, "study-editor", at="plan")
    researching.part(desk, "Entry")
    desk.get_by_label("Who may enter").select_option("open")
    researching.save(desk)
    desk.get_by_role("button", name="Start a pilot").wait_for()
    study = desk.url
    desk.get_by_role("button", name="Start a pilot").click()
    expect(desk.get_by_text("Pilot 1: 12 participants finished")).to_be_visible(timeout=SLOW_MS)
    expect(desk.get_by_role("heading", name="Bonuses")).to_be_visible(timeout=SLOW_MS)
    camera.photograph(desk, "pilot-report")
    desk.goto(study)
    desk.on("dialog", lambda dialog: dialog.accept())
    desk.get_by_role("button", name="Launch").click()
    expect(desk.get_by_text("Version 1 is launched")).to_be_visible(timeout=SLOW_MS)
    camera.photograph(desk, "study-launched")
    desk.goto(f"{stack.url}{stack.call('tests.actions.monitor_path', 'pictures')}")
    desk.locator("#m-counts").wait_for()
    camera.photograph(desk, "monitor")


def _tour(camera: Camera, desk: Page, stack: LiveStack) -> None:
    """Photograph one stop of each step of the tour, and the sample's report at the end."""
    stack.manage("samples")
    for name, stop, at in (
        ("ask", "question", "places"),
        ("set-up", "form", "plan"),
        ("launch", "preview", ""),
        ("watch", "monitor", ""),
    ):
        desk.goto(f"{stack.url}/admin/tour/{stop}/")
        desk.get_by_role("complementary", name="Tour").wait_for()
        if stop == "form":
            desk.locator("[data-cells] tbody tr").first.wait_for()
        camera.photograph(desk, f"tour-{name}", at=at)
    desk.goto(f"{stack.url}/admin/tour/report/")
    with desk.expect_popup() as report:
        desk.get_by_role("link", name="Open the report").click()
    camera.photograph(report.value, "tour-read")
    report.value.close()
    desk.context.clear_cookies(name="tour")


def _endpoint(camera: Camera, desk: Page, stack: LiveStack) -> None:
    """Photograph a new endpoint from the preset for Ollama."""
    desk.goto(f"{stack.url}/admin/opponents/endpoint/add/")
    desk.get_by_role("link", name="Ollama").click()
    expect(desk.locator("input[name=name]")).to_have_value("ollama")
    camera.photograph(desk, "endpoint")


def main() -> int:
    parser = argparse.ArgumentParser(description="Retake the documentation's screenshots.")
    parser.add_argument("--to", type=Path, default=IMAGES, help="folder for the screenshots (docs/images)")
    parser.add_argument("--in-copy", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.to.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.in_copy:
        take_all(folder)
        return 0
    with tempfile.TemporaryDirectory(prefix="parley-with-a-game-") as copy:
        copy_with_first_game(Path(copy))
        command = [sys.executable, "-m", "deploy.screenshots", "--in-copy", "--to", str(folder)]
        return subprocess.run(command, cwd=copy, env={**os.environ, "PYTHONPATH": "platform:."}).returncode


if __name__ == "__main__":
    sys.exit(main())
