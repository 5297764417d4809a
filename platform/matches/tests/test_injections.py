"""Whatever a player or a model writes is shown as text on every page."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from llm_agents.tests.injections import HARMLESS, INJECTIONS
from llm_agents.tests.test_injections import cases_with_text, find_delivery
from matches.screens import render_screen


class Parts(HTMLParser):
    """Return a page's tags with attributes, and its text without white space."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(json.dumps([tag, attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += "".join(data.split())


@pytest.mark.parametrize("key", sorted(cases_with_text()))
def test_screens_show_injections_literally(key):
    harmless = find_delivery(cases_with_text()[key], HARMLESS)
    assert "".join(HARMLESS.split()) in Parts(render_screen(harmless.play, harmless.reader)).text
    for attempt, injection in INJECTIONS.items():
        delivery = find_delivery(cases_with_text()[key], injection)
        for role in delivery.play.game.roles():
            plain, screen = Parts(render_screen(harmless.play, role)), Parts(render_screen(delivery.play, role))
            without_spaces = ["".join(text.split()) for text in (HARMLESS, injection)]
            assert screen.tags == plain.tags, (attempt, role)
            assert screen.text == plain.text.replace(*without_spaces), (attempt, role)
