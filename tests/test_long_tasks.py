"""Twelve people at once finish each ready-made study of a long task, over a live stack's pages and sockets."""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import pytest

from participants.models import Enrolment
from piloting import reading
from piloting.answering import answers
from tests import players

pytestmark = [pytest.mark.services, pytest.mark.slow]

PEOPLE, MINUTES = 12, 10
THINKING = 0.25
"""Mean seconds between a screen and the move, so that no socket sends more than is allowed."""
FORM = re.compile(r"<form(?![^>]*data-note)[^>]*data-move.*?</form>", re.S)
PAY = re.compile(r"<dt>(?:For taking part|Bonus)\b.*?</dt><dd>\$([\d.]+)</dd>")
TASKS = ("procurement", "scheduling", "pricing", "task-allocation", "duopoly", "patience")


@dataclass
class Visitor:
    """One person.

    Attributes:
        answer: returns right answers to a page that is not a match, from its path and content.
        moves: the number made; every third is sent twice, as a double tap does.
        replies: what came back other than screens and what keeps the connection alive.
        seconds: from each move to the screen that follows.
        path, last: of the last page, and its content.
    """

    answer: Callable[[str, str], dict[str, str]]
    rng: random.Random
    moves: int = 0
    replies: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    path: str = ""
    last: str = ""

    async def visit(self, url: str, join: str) -> None:
        """Go from the link to an ending."""
        async with httpx.AsyncClient(base_url=url, timeout=60, follow_redirects=True) as client:
            page = await client.post(join)
            while 'name="position"' in page.text or 'id="lobby"' in page.text:
                if 'id="screen"' in page.text:
                    await self.play(url, page.url.path)
                    page = await client.get(page.url)
                if 'id="lobby"' in page.text and not re.search(r'name="group" value="\d', page.text):
                    await asyncio.sleep(THINKING)
                    page = await client.get(page.url)
                else:
                    page = await client.post(page.url, data=self.answer(page.url.path, page.text))
            self.path, self.last = page.url.path, page.text

    async def play(self, url: str, path: str) -> None:
        """Play the page's match to its end."""
        async with players.opened(url, path) as page:
            sent_at, fields, answered = 0.0, dict[str, str](), None
            async for message in page.socket:
                frame = json.loads(message)
                if frame["type"] == "here":
                    await page.socket.send(json.dumps({"type": "here"}))
                elif frame["type"] == "warning":
                    await page.move(**fields, **{"!sure": "yes"})
                if frame["type"] not in ("screen", "here", "marks", "draft"):
                    self.replies.append(frame["type"])
                elif frame["type"] == "screen" and (frame["over"] or frame["answering"] not in (None, answered)):
                    if sent_at:
                        self.seconds.append(time.monotonic() - sent_at)
                    if frame["over"]:
                        return
                    await asyncio.sleep(THINKING * self.rng.uniform(0.5, 1.5))
                    answered, fields = frame["answering"], self.choose(frame["html"])
                    self.moves, sent_at = self.moves + 1, time.monotonic()
                    for _tap in range(2 if self.moves % 3 == 0 else 1):
                        await page.move(**fields)

    def choose(self, html: str) -> dict[str, str]:
        """Fill in the screen's first form: up to two numbers, and of several menus each option once."""
        form = FORM.search(html)
        assert form is not None, html
        page = reading.read(f"<main>{form[0]}</main>")
        menus = [each for each in page.fields.values() if each.kind == "select"]
        options = self.rng.sample(menus[0].options, len(menus)) if menus else []
        numbers = [each.name for each in page.fields.values() if each.kind == "number"]
        left_out = self.rng.sample(numbers, max(0, len(numbers) - 2))
        chosen = {menu.name: option for menu, option in zip(menus, options, strict=True)}
        made_up = answers(page, Enrolment(), "", self.rng)
        return {name: value for name, value in {**made_up, **chosen}.items() if name not in ("!sure", *left_out)}


@pytest.mark.parametrize("task", TASKS)
def test_twelve_people_finish_at_once(stack, tmp_path, task: str):
    agents = ["script:tit_for_tat"] if task == "duopoly" else []
    slug = stack.call("tests.actions.launch_ready_made", f"econevals-{task}-people", agents)

    def answer(path: str, page: str) -> dict[str, str]:
        return stack.call("tests.actions.answers_on", path, page)

    people = {f"/join/{slug}?code={stack.lab_code(slug)}": Visitor(answer, random.Random(i)) for i in range(PEOPLE)}

    async def visit_all() -> None:
        visits = (person.visit(stack.url, link) for link, person in people.items())
        await asyncio.wait_for(asyncio.gather(*visits), 60 * MINUTES)

    asyncio.run(visit_all())
    results = stack.call("tests.actions.results_of", slug)
    assert set(results) == {person.path for person in people.values()}
    for person in people.values():
        assert results[person.path]["state"] == "completed", person.last
        assert results[person.path]["moves"] == person.moves
        assert set(person.replies) <= {"stale", "warning"}
        shown = [amount for amount in PAY.findall(person.last) if float(amount)]
        assert shown == results[person.path]["amounts"]
    assert statistics.median(second for person in people.values() for second in person.seconds) < 1
    stack.manage("export_dataset", slug, "--to", str(tmp_path / "dataset"))
    stack.manage("verify_dataset", str(tmp_path / "dataset"))
    for service in ("web", "worker"):
        assert "Traceback" not in stack.log(service)
