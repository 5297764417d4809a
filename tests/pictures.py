"""The five hardest pages as a phone shows them: `python -m tests.pictures` makes docs/images anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests import walking
from tests.conftest import CHROMIUM, LiveStack

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PHONE = {"width": 360, "height": 740}
LARGEST = 200_000
"""Bytes of an image."""
MESSAGE = (
    "I would really like to find an agreement with you soon, since all of it loses value with every round that passes, "
    "and neither of us gains from that at all. So let me suggest the following, which I think is fair to both of us: "
    "you take a little less now, and I promise to remember it."
)


def main() -> None:
    assert len(MESSAGE) == 283
    with (
        tempfile.TemporaryDirectory(prefix="parley-pictures-") as folder,
        LiveStack(Path(folder), environment={"SECRET_KEY": "pictures"}) as stack,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
        page.goto(stack.url + stack.sit_down(_study(stack, "pictures", rounds=4)))
        _refused_offer(page, "8000", "2000", MESSAGE)
        _keep(page, "play-offer")
        walking.answer(page, "reject")
        walking.expect_turn(page, "offer")
        _keep(page, "play-history", whole=True)
        _refused_offer(page, "7000", "3000", "Meet me here?")
        _keep(page, "play-last-round")
        walking.answer(page, "accept")
        walking.expect_over(page)
        _keep(page, "play-result", whole=True)
        walking.go_on(page)
        page.locator("main input[type=radio]").first.check()
        page.locator('main button[type="submit"]').click()
        page.locator(".earnings").wait_for()
        _keep(page, "play-last-page", whole=True)
        browser.close()


def _study(stack: LiveStack, slug: str, *, rounds: int) -> str:
    about = {"title": "Splitting money", "game": "bargaining", "roles": ["alice"], "entry": "codes"}
    agents = {"script:haggler": {"spec": "script:haggler"}}
    return stack.launch_study({"slug": slug, "config": {"rounds": rounds}, "agents": agents, **about})


def _refused_offer(page: Page, own: str, other: str, message: str) -> None:
    """Offer so much that the opponent rejects it and answers with an offer of its own."""
    walking.offer(page, own, other, role="alice", message=message)
    walking.expect_turn(page, "answer")


def _keep(page: Page, name: str, *, whole: bool = False) -> None:
    """Photograph the first screen, or the whole page with what sticks to its edges at its edges."""
    page.evaluate("scrollTo(0, 0)")
    if whole:
        page.set_viewport_size({**PHONE, "height": page.evaluate("document.scrollingElement.scrollHeight")})
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file)
    page.set_viewport_size(PHONE)
    assert file.stat().st_size < LARGEST, f"{file}: {file.stat().st_size} bytes"


if __name__ == "__main__":
    main()
