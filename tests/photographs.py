"""Save screenshots of the pages that tests visit: `PHOTOGRAPHS=FOLDER pytest -m browser tests/test_pages.py`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 800}


def photograph(
    page: Page, name: str, *, sizes: Sequence[dict[str, int]] = (PHONE, DESKTOP), height: float = float("inf")
) -> None:
    """Save the page to this height in each size, in light and dark colours, if PHOTOGRAPHS names a folder."""
    if not (folder := os.environ.get("PHOTOGRAPHS")):
        return
    original_size = page.viewport_size
    file = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    for size in sizes:
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            if "/admin/" in page.url:  # the admin reads the colour scheme only when it loads
                page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", scheme == "dark")
            shown = min(height, page.evaluate("document.documentElement.scrollHeight"))
            clip = {"x": 0, "y": 0, "width": size["width"], "height": shown}
            page.screenshot(path=Path(folder) / f"{file}-{size['width']}-{scheme}.png", full_page=True, clip=clip)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
    page.evaluate("document.documentElement.classList.remove('dark')")
    if original_size:
        page.set_viewport_size(original_size)
