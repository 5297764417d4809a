"""A person plays a game with tools in a browser; the page shows the tools' data and saves notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from games import registry
from games.interface import Role, Table, View
from games.tests.toys import Well
from matches.models import Match
from participants.models import Enrolment
from participants.services import expiry_after
from tests.accessibility import violations
from tests.photographs import DESKTOP, photograph

pytestmark = [pytest.mark.browser, pytest.mark.services, pytest.mark.django_db(transaction=True)]
STACKS = ("sqlite",)


class Terrace(Well):
    """The toy game Well, with a table of past periods on the page."""

    key = "terrace"

    def view(self, state: Any, role: Role) -> View:
        rows = tuple(enumerate(state.yields, start=1))
        table = Table("yields_table", "Yields", ("Period", "Litres"), rows, sortable=True, newest_first=True)
        return (*super().view(state, role), table)


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> Iterator[None]:
    """Allow database access from the tests' thread, in which the browser's event loop runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture
def pump_page(live_server: Any, page: Page, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """Yield the page of a participant whose turn it is to pump."""
    original_get = registry.get
    monkeypatch.setattr(registry, "get", lambda key: Terrace if key == "terrace" else original_get(key))
    step = {
        "kind": "match", "game": "terrace", "config": {"periods": 6, "highest_flow": 9}, "role": "keeper", "agents": {},
        "seats": {"keeper": "person"}, "purpose": "demo",
    }  # fmt: skip
    person = Enrolment.objects.create(steps=[step], expires_at=expiry_after(60), seed=3)
    page.goto(f"{live_server.url}/p/{person.token}/")
    yield page


def moves() -> list[dict[str, Any]]:
    (match,) = Match.objects.all()
    return [event.data["move"] for event in match.events.filter(kind="move").order_by("number")]


def test_note_is_saved_with_the_answer_and_tables_sort(pump_page: Page) -> None:
    page = pump_page
    amount = page.get_by_label("amount", exact=False).first
    for period, pumped in enumerate(("2", "1", "3"), start=2):
        amount.fill(pumped)
        page.locator("form[data-move=pump] button[type=submit]").first.click()
        expect(page.get_by_text(f"Period {period}", exact=True).first).to_be_visible()
    note = page.locator("form[data-pad] [name=note]")
    page.locator("form[data-pad] summary").click()
    note.press_sequentially("three was fine")
    amount.fill("4")
    page.locator("form[data-move=pump] button[type=submit]").first.click()
    expect(page.locator("section.talk")).to_contain_text("three was fine")
    expect(page.get_by_text("Period 5", exact=True).first).to_be_visible()
    assert moves()[-2:] == [{"note": "three was fine"}, {"amount": 4}]
    expect(note).to_have_value("")
    expect(note).to_be_visible()  # what was unfolded stays open

    cells = page.locator("table[data-sortable] tbody tr:not([hidden]) td:nth-child(1)")
    expect(cells).to_have_text(["4", "3", "2", "1"])
    page.get_by_role("button", name="Litres").click()
    litres = page.locator("table[data-sortable] tbody td:nth-child(2)")
    assert litres.all_text_contents() == sorted(litres.all_text_contents())
    page.set_viewport_size(DESKTOP)
    photograph(page, "looking")
    page.get_by_label("Show only rows with").fill("4")
    expect(cells).to_have_count(page.locator("table[data-sortable] tbody tr", has_text="4").count())
    assert not violations(page)
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 360


@pytest.mark.slow
def test_saving_a_note_keeps_other_input(pump_page: Page) -> None:
    page = pump_page
    page.get_by_label("amount", exact=False).first.fill("7")
    page.locator("form[data-pad] summary").click()
    page.locator("form[data-pad] [name=note]").fill("seven, perhaps")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("section.talk")).to_contain_text("seven, perhaps")
    expect(page.locator("form[data-move=pump] input[name=amount]")).to_have_value("7")
    assert moves() == [{"note": "seven, perhaps"}]
