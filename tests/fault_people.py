"""Four people with a browser each, for the fault test: what they see, and what each of them does about it.

Nobody waits for anything: once a second everyone looks at the page and does at most one thing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Error, Page

FAULT_ROUND = 2
"""The round in which the fault strikes and people differ; in all others everyone answers promptly."""
RETRY_SECONDS = 5.0
"""Seconds after which a person reloads a page that the browser could not load."""

LOOK = """() => {
    const tidy = (words) => words.replace(/\\s+/g, " ").replaceAll("’", "'").trim();
    const main = document.querySelector("main");
    const visible = (part) => Boolean(part) && part.offsetParent !== null;
    if (!main) return { broken: true, title: document.title, lines: [] };
    const apart = [...main.querySelectorAll("{static}")].flatMap((part) => part.innerText.split("\\n").map(tidy));
    const seats = [...main.querySelectorAll("#screen .seats > li, #seats > li")];
    const clock = document.getElementById("clock");
    const field = main.querySelector("form.move input[name=answer]");
    return {
        title: document.title,
        lines: [
            ...main.innerText.split("\\n").map(tidy).filter((line) => line && !apart.includes(line)),
            ...seats.map((seat) => tidy([...seat.children].map((part) => part.textContent).join(" "))),
        ],
        clock: visible(clock) ? [clock.firstElementChild.textContent, clock.lastElementChild.textContent] : null,
        round: parseInt(main.querySelector(".fact-run strong")?.textContent ?? "0"),
        typed: visible(field) ? field.value : null,
        may_send: visible(field) && !field.form.querySelector("button.primary").disabled,
        lobby: Boolean(document.getElementById("lobby")),
        over: visible(document.getElementById("continue")),
        ended: Boolean(main.querySelector(".earnings")),
        form: Boolean(main.querySelector("form input[name=position]")),
    };
}""".replace("{static}", ".prose, .rules, table, .number-line, .seats, .unseen, .clock, .called, .pay")
"""What a page shows now. The texts that stand still while people play, and what only names or counts, are left out."""
TYPE = """(number) => {
    const field = document.querySelector("form.move input[name=answer]");
    field.value = number;
    field.dispatchEvent(new Event("input", { bubbles: true }));
}"""
PRESS = """(number) => {
    const form = document.querySelector("form.move");
    if (form?.elements.answer?.value !== number) return false;  // a new round has just begun
    form.querySelector("button.primary").click();
    return true;
}"""
CONTINUE = """() => {
    const form = document.querySelector("form input[name=position]").form;
    for (const tick of form.querySelectorAll("input[type=checkbox]")) tick.checked = true;
    form.querySelector("button").click();
}"""
READY = """() => {
    const button = [...document.querySelectorAll("#lobby button.primary, [data-ready] button")]
        .find((one) => one.offsetParent && !one.disabled);
    button?.click();
}"""
CONFIRM_LEAVING = "() => document.querySelector('main form button.danger').click()"
Behaviour = Callable[["Person", dict[str, Any], "Fault"], bool]


class Fault:
    """What has struck so far; times are seconds since the epoch."""

    def __init__(self) -> None:
        self.started: float | None = None
        self.ended: float | None = None

    def since_start(self) -> float:
        return -1.0 if self.started is None else time.time() - self.started

    def since_end(self) -> float:
        return -1.0 if self.ended is None else time.time() - self.ended


def promptly(person: Person, view: dict[str, Any], fault: Fault) -> bool:
    return True


def when_it_is_over(person: Person, view: dict[str, Any], fault: Fault) -> bool:
    """Press Send once everything works again."""
    return fault.since_end() > 3


def while_it_lasts(person: Person, view: dict[str, Any], fault: Fault) -> bool:
    """Press Send just after the fault has begun."""
    return fault.since_start() > 1


def just_before_the_limit(person: Person, view: dict[str, Any], fault: Fault) -> bool:
    label, left = view["clock"] or ("", "9:99")
    return seconds_of(left) <= 2 or label.startswith("Extra")


def never(person: Person, view: dict[str, Any], fault: Fault) -> bool:
    return False


def seconds_of(clock: str) -> int:
    """Return the seconds of a time such as 1:05."""
    minutes, seconds = clock.split(":")
    return 60 * int(minutes) + int(seconds)


class Person:
    """One participant at one browser.

    Args:
        presses: whether to press Send now, in the round of the fault.
        from_then_on: whether that holds for all later rounds too.
        finishes: whether the person presses the last Continue; otherwise the tab is closed after the last move.

    Attributes:
        pressed: when Send was pressed, as (time, round, number).
        away: the intervals without a connection or without a page; the last one may be open (None).
        left: when the person left by the link.
        may_start: whether the person has finished reading the instructions.
        open_at: how many seconds after the start of the fault the person arrives.
    """

    def __init__(
        self,
        name: str,
        number: int,
        presses: Behaviour,
        *,
        path: str,
        url: str,
        browser: Browser,
        from_then_on: bool = False,
        finishes: bool = True,
    ) -> None:
        self.name, self.number, self.presses, self.path = name, number, presses, path
        self.from_then_on, self.finishes = from_then_on, finishes
        self.url = url + path
        self.context = browser.new_context(viewport={"width": 360, "height": 740})
        self.context.set_default_timeout(3000)
        self.page: Page | None = None
        self.may_start = True
        self.open_at: float | None = None
        self.pressed: list[tuple[float, int, int]] = []
        self.away: list[list[float | None]] = []
        self.left: float | None = None
        self.finished = False
        self.offline = False
        self._tried_at = 0.0

    def open(self) -> None:
        """Open the page, which may fail as it does for anybody."""
        self._tried_at = time.time()
        if self.page is None:
            self.page = self.context.new_page()
        try:
            self.page.goto(self.url, wait_until="commit")
        except Error:
            return

    def close_tab(self) -> None:
        assert self.page is not None
        self.page.close()
        self.page = None

    def lose_connection(self) -> None:
        self.offline = True
        self.context.set_offline(True)
        self.away.append([time.time(), None])

    def regain_connection(self) -> None:
        self.offline = False
        self.context.set_offline(False)
        self.away[-1][1] = time.time()

    def walk_away(self) -> None:
        """Close the tab in the middle of the study."""
        self.close_tab()
        self.away.append([time.time(), None])

    def come_back(self) -> None:
        """Follow the same link again."""
        self.open()
        self.away[-1][1] = time.time()

    def leave(self) -> None:
        """Leave the study by its link, and confirm it."""
        assert self.page is not None
        self.page.goto(f"{self.url}leave/", wait_until="load")
        self.left = time.time()
        self.page.evaluate(CONFIRM_LEAVING)

    def look(self) -> dict[str, Any]:
        """Return what the page shows now; nothing if there is none."""
        if self.page is None:
            return {"closed": True, "lines": [], "title": ""}
        try:
            return self.page.evaluate(LOOK)
        except Error:  # between two pages
            return {"loading": True, "lines": [], "title": ""}

    def act(self, view: dict[str, Any], fault: Fault) -> None:
        """Do at most one thing about what the page shows."""
        if self.page is None and self.open_at is not None and fault.since_start() > self.open_at:
            self.open_at = None
            self.open()
        if self.page is None or view.get("loading") or view.get("closed"):
            return
        try:
            self._act(self.page, view, fault)
        except Error:
            return  # the page went away under the finger

    def _act(self, page: Page, view: dict[str, Any], fault: Fault) -> None:
        if view.get("broken"):
            if time.time() - self._tried_at > RETRY_SECONDS:
                self.open()
        elif view["ended"]:
            self.finished = True
        elif view["over"] and not self.finishes:
            self.close_tab()
            self.finished = True
        elif view["lobby"]:
            page.evaluate(READY)
        elif view["typed"] is not None:
            self._answer(page, view, fault)
        elif view["form"] and self.may_start and (view["over"] or not view["round"]):
            page.evaluate(CONTINUE)

    def _answer(self, page: Page, view: dict[str, Any], fault: Fault) -> None:
        if view["typed"] != str(self.number):
            page.evaluate(TYPE, str(self.number))
            return
        is_special = view["round"] == FAULT_ROUND or (self.from_then_on and view["round"] > FAULT_ROUND)
        if view["may_send"] and (not is_special or self.presses(self, view, fault)):
            pressed_at = time.time()
            if page.evaluate(PRESS, str(self.number)):
                self.pressed.append((pressed_at, view["round"], self.number))
