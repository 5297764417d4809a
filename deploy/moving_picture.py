"""The README's moving picture: `python -m deploy.moving_picture` films a match on a live stack.

It shows real pages: left what a participant sees on a phone, right what the researcher sees of the same match.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from deploy.apng import Frame, animate
from tests import researching, walking
from tests.conftest import CHROMIUM_ARGUMENTS, LiveStack

FILE = Path(__file__).resolve().parent.parent / "docs" / "images" / "match.png"
MAX_BYTES = 2_000_000
SCREEN = {"width": 360, "height": 600}
STUDY = {
    "slug": "moving-picture",
    "title": "Splitting money",
    "game": "bargaining",
    "roles": ["alice"],
    "entry": "codes",
    "config": {"rounds": 4},
    "agents": {"script:haggler": {"spec": "script:haggler", "delay": 2.5}},
}
GLANCE, READ, STUDY_IT = 450, 2200, 4500
"""Milliseconds for a letter typed, a sentence, and an outcome."""
SCENE = """<!doctype html><meta charset="utf-8"><style>
  body {{ margin: 0; padding: 6px 14px 14px; display: flex; justify-content: space-between; width: 772px; }}
  figure {{ margin: 0; }}
  figcaption {{ font: 600 15px/34px system-ui, sans-serif; color: #6e7975; text-align: center; }}
  img {{ display: block; border: 1px solid #8a9490; border-radius: 16px; }}
</style>
<figure><figcaption>A participant plays</figcaption><img src="{0}"></figure>
<figure><figcaption>The researcher watches</figcaption><img src="{1}"></figure>"""
"""Both pages on a transparent ground, so that the picture suits light and dark surroundings."""


class Film:
    """Photographs two pages side by side, as often as they change."""

    def __init__(self, scene: Page, player: Page, researcher: Page):
        self._scene = scene
        self._pages = (player, researcher)
        self.frames: list[Frame] = []

    def shoot(self, milliseconds: int) -> None:
        """Add what both pages show now."""
        shots = [base64.b64encode(page.screenshot(animations="disabled")).decode() for page in self._pages]
        self._scene.set_content(SCENE.format(*(f"data:image/png;base64,{shot}" for shot in shots)))
        self.frames.append(Frame(self._scene.screenshot(omit_background=True, full_page=True), milliseconds))


def film(file: Path) -> None:
    """Film a match into `file`."""
    with (
        tempfile.TemporaryDirectory(prefix="parley-film-") as data,
        LiveStack(Path(data), environment={"SECRET_KEY": "film"}) as stack,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS)
        scene, player, researcher = (
            browser.new_context(viewport=size, reduced_motion="reduce", color_scheme="light").new_page()  # type: ignore[arg-type]
            for size in ({"width": 800, "height": 660}, SCREEN, SCREEN)
        )
        first_turn = stack.reach_first_turn(stack.launch_study(STUDY))
        player.goto(stack.url + first_turn)
        walking.expect_turn(player, "offer")
        researching.sign_in(stack, researcher)
        researcher.goto(f"{stack.url}{stack.call('tests.actions.watch_path', STUDY['slug'])}")
        researcher.locator("#watched").wait_for()
        taken = Film(scene, player, researcher)
        _play(taken, player, researcher)
        browser.close()
    written = animate(taken.frames)
    if len(written) > MAX_BYTES:
        raise ValueError(f"{len(written)} bytes")
    file.write_bytes(written)
    print(f"{file}: {len(taken.frames)} frames, {len(written) / 1000:.0f} kB")


def _play(taken: Film, player: Page, researcher: Page) -> None:
    """Offer, wait, refuse an answer, offer again, and agree."""
    _offer(taken, player, "6500", "3500", ["Most of it was", "Most of it was my idea."])
    _await_answer(taken, player)
    walking.answer(player, "reject")
    walking.expect_turn(player, "offer")
    _show(player, 'input[name="alice_gain"]')
    taken.shoot(READ)
    _offer(taken, player, "6000", "4000", ["Let us", "Let us meet here."])
    _await_answer(taken, player)
    walking.answer(player, "accept")
    walking.expect_over(player)
    player.evaluate("scrollTo(0, 0)")
    researcher.wait_for_timeout(1500)
    taken.shoot(STUDY_IT)


def _offer(taken: Film, page: Page, own: str, other: str, typed: list[str]) -> None:
    """Type an offer and send it."""
    _show(page, 'input[name="alice_gain"]')
    taken.shoot(READ)
    page.locator('input[name="alice_gain"]').fill(own)
    page.locator('input[name="bob_gain"]').fill(other)
    taken.shoot(GLANCE * 2)
    for words in typed:
        page.locator('textarea[name="message"]').fill(words)
        taken.shoot(GLANCE)
    page.locator("form.move button[type=submit]:visible").click()
    page.wait_for_timeout(900)
    page.evaluate("scrollTo(0, 0)")
    taken.shoot(READ)


def _await_answer(taken: Film, page: Page) -> None:
    walking.expect_turn(page, "answer")
    page.wait_for_timeout(1200)
    page.evaluate("scrollTo(0, 0)")
    taken.shoot(READ + GLANCE)


def _show(page: Page, selector: str) -> None:
    page.locator(selector).first.evaluate("field => field.scrollIntoView({block: 'center'})")
    expect(page.locator(selector).first).to_be_in_viewport()


def main() -> None:
    parser = argparse.ArgumentParser(description="Film the README's moving picture.")
    parser.add_argument("--to", type=Path, default=FILE, help="the animated PNG (docs/images/match.png)")
    film(parser.parse_args().to.resolve())


if __name__ == "__main__":
    main()
