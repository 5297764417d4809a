"""The README's moving picture: `python -m deploy.moving_picture` films a match on a live stack.

It shows real pages: two phones on which two people bargain.
"""

from __future__ import annotations

import argparse
import base64
from pathlib import Path

from playwright.sync_api import Page, expect

from deploy.apng import Frame, animate
from deploy.screenshots import new_page, stage
from tests import walking

FILE = Path(__file__).resolve().parent.parent / "docs" / "images" / "match.png"
MAX_BYTES = 2_000_000
SCREEN = {"width": 360, "height": 640}
STUDY = {
    "slug": "moving-picture",
    "title": "Splitting money",
    "game": "bargaining",
    "config": {"rounds": 4},
    "seats": {"*": "person"},
    "agents": {},
    "wait": 600,
}
GLANCE, READ, STUDY_IT = 450, 2200, 4500
"""Milliseconds for a few words typed, a sentence, and an outcome."""
SETTLED = 1500
"""Milliseconds until both pages show the same move."""
SCENE = """<!doctype html><meta charset="utf-8"><style>
  body {{ margin: 0; padding: 6px 14px 14px; display: flex; justify-content: space-between; width: 772px; }}
  figure {{ margin: 0; }}
  figcaption {{ font: 600 15px/34px system-ui, sans-serif; color: #75807c; text-align: center; }}
  img {{ display: block; border: 1px solid #8a9490; border-radius: 16px; }}
</style>
<figure><figcaption>Alice</figcaption><img src="{0}"></figure>
<figure><figcaption>Bob</figcaption><img src="{1}"></figure>"""
"""Both pages on a transparent ground, so that the picture suits light and dark surroundings."""


class Film:
    """Photographs two pages side by side."""

    def __init__(self, scene: Page, alice: Page, bob: Page):
        self._scene = scene
        self.alice, self.bob = alice, bob
        self.frames: list[Frame] = []

    def shoot(self, milliseconds: int) -> None:
        """Add what both pages show now."""
        pages = (self.alice, self.bob)
        shots = [base64.b64encode(page.screenshot(animations="disabled")).decode() for page in pages]
        self._scene.set_content(SCENE.format(*(f"data:image/png;base64,{shot}" for shot in shots)))
        self.frames.append(Frame(self._scene.screenshot(omit_background=True, full_page=True), milliseconds))


def film(file: Path) -> None:
    """Film a match into `file`."""
    with stage() as (stack, browser):
        taken = Film(*(new_page(browser, size) for size in ({"width": 800, "height": 700}, SCREEN, SCREEN)))
        stack.launch_study(STUDY)
        paths = [stack.call("tests.meeting.reach_lobby", STUDY["slug"], name) for name in ("Amira", "Ben")]
        for page, path in zip((taken.alice, taken.bob), paths, strict=True):
            page.goto(stack.url + path)
        for page in (taken.alice, taken.bob):
            page.get_by_role("button", name="I'm ready").click()
        for page in (taken.alice, taken.bob):
            expect(page.locator("#screen .status").first).to_be_visible(timeout=walking.TURN)
        if stack.call("tests.meeting.role_of", paths[0]) == "bob":
            taken.alice, taken.bob = taken.bob, taken.alice
        _play(taken)
    written = animate(taken.frames)
    if len(written) > MAX_BYTES:
        raise ValueError(f"{len(written)} bytes")
    file.write_bytes(written)
    print(f"{file}: {len(taken.frames)} frames, {len(written) / 1000:.0f} kB")


def _play(taken: Film) -> None:
    """Alice offers, Bob refuses and offers, Alice agrees."""
    walking.expect_turn(taken.alice, "offer")
    _offer(taken, taken.alice, ("7000", "3000"), ["It was my idea,", "It was my idea, so I take a little more."])
    _see_offer(taken, taken.bob)
    walking.answer(taken.bob, "reject")
    walking.expect_turn(taken.bob, "offer")
    _offer(taken, taken.bob, ("5000", "5000"), ["Half each,", "Half each, before it melts away?"])
    _see_offer(taken, taken.alice)
    walking.answer(taken.alice, "accept")
    for page in (taken.alice, taken.bob):
        walking.expect_over(page)
        page.evaluate("scrollTo(0, 0)")
    taken.shoot(STUDY_IT)


def _offer(taken: Film, page: Page, gains: tuple[str, str], typed: list[str]) -> None:
    """Type an offer and send it."""
    field = page.locator('input[name="alice_gain"]')
    page.wait_for_timeout(SETTLED)
    field.evaluate("field => field.scrollIntoView({block: 'center'})")
    taken.shoot(READ)
    field.fill(gains[0])
    page.locator('input[name="bob_gain"]').fill(gains[1])
    taken.shoot(GLANCE * 2)
    for words in typed:
        page.locator('textarea[name="message"]').fill(words)
        taken.shoot(GLANCE if words != typed[-1] else 3 * GLANCE)
    page.locator("form.move button[type=submit]:visible").click()
    page.evaluate("scrollTo(0, 0)")


def _see_offer(taken: Film, page: Page) -> None:
    walking.expect_turn(page, "answer")
    page.wait_for_timeout(SETTLED)
    page.evaluate("scrollTo(0, 0)")
    taken.shoot(READ)
    page.locator("#screen .card").first.evaluate("offer => scrollTo(0, offer.getBoundingClientRect().top - 60)")
    taken.shoot(READ)


def main() -> None:
    parser = argparse.ArgumentParser(description="Film the README's moving picture.")
    parser.add_argument("--to", type=Path, default=FILE, help="the animated PNG (docs/images/match.png)")
    film(parser.parse_args().to.resolve())


if __name__ == "__main__":
    main()
