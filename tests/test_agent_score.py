"""The agent score of known programs and of simulated people who play bargaining in a browser.

docs/data-quality.md reports the results. Simulated people read 1,400 words a minute, far faster than real ones
and just below the limit, so that the test does not take as long as a study.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import openai
import pytest
from playwright.sync_api import Browser, Locator, Page

from llm_agents.standins.__main__ import StandInModel, serve
from quality.score import THRESHOLD
from tests import walking
from tests.test_counting import await_page_views

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STACKS = ("sqlite",)
MESSAGE = "I think that an equal split is fair for both of us, so let us take it and be done."
SET_VALUE = "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }"
WORDS_PER_MINUTE = 1400
SEEDS = (1, 2)


class Participant:
    """A participant who goes through the study; each subclass fills in, clicks and reads differently."""

    options: dict[str, Any] = {}

    def __init__(self, page: Page, seed: int):
        self.page, self.rng = page, Random(seed)

    def fill(self, field: Locator, text: str) -> None:
        raise NotImplementedError

    def press(self, target: Locator) -> None:
        raise NotImplementedError

    def write(self, field: Locator, text: str) -> None:
        """Write a long text; by default, fill it in like any other field."""
        self.fill(field, text)

    def read(self) -> None:
        """Take the time to read the page; programs take none."""

    def message(self) -> str:
        return MESSAGE

    def walk(self, join_url: str) -> None:
        page = self.page
        page.goto(join_url)
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("checkbox").wait_for()
        self.press(page.get_by_role("checkbox"))
        self.press(page.get_by_role("button", name="Begin"))
        self.fill(page.locator("input[name=name]"), "Robin")
        self.press(page.locator("main button[type=submit]"))
        page.locator("input[name=code_word]").wait_for()
        self.read()
        self.fill(page.locator("input[name=code_word]"), walking.hidden_code_word(page))
        self.press(page.locator("main button[type=submit]"))
        walking.expect_turn(page, "offer")
        page.wait_for_load_state()
        self.fill(page.locator("input[name=alice_gain]"), "5000")
        self.fill(page.locator("input[name=bob_gain]"), "5000")
        self.write(page.locator("textarea[name=message]"), self.message())
        self.press(page.locator("form.move button[type=submit]:visible").first)
        walking.expect_over(page)
        self.press(page.get_by_role("button", name="Continue"))
        page.get_by_role("radio").first.wait_for()


class FormFillingAgent(Participant):
    """An agent that sets fields and clicks centres, like most browser agents; the stand-in model writes the message."""

    def fill(self, field: Locator, text: str) -> None:
        field.fill(text)

    def press(self, target: Locator) -> None:
        target.click()

    def message(self) -> str:
        """Return the message that the stand-in model writes when it is shown the page and its fields."""
        with serve(StandInModel(seed=self.rng.randrange(100), delay=0, prose=False, misbehaves=()), 0) as standin:
            client = openai.OpenAI(base_url=standin.environment["OPENAI_BASE_URL"], api_key="none")
            prompt = [{"role": "user", "content": self.page.locator("body").inner_text()}]
            schema = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
            form = {"type": "json_schema", "json_schema": {"name": "fields", "schema": schema}}
            completion = client.chat.completions.create(model="gpt-4o-mini", messages=prompt, response_format=form)
        match = re.search(r'"message":\s*"([^"]+)"', completion.choices[0].message.content or "")
        return match[1] if match else MESSAGE


class EvenTypingAgent(FormFillingAgent):
    """An agent that sends keystrokes at equal intervals."""

    def fill(self, field: Locator, text: str) -> None:
        field.click()
        field.fill("")
        field.press_sequentially(text, delay=30)

    def message(self) -> str:
        return MESSAGE


class ScriptingAgent(FormFillingAgent):
    """An agent that changes the document by scripts instead of using the screen."""

    def fill(self, field: Locator, text: str) -> None:
        field.evaluate(SET_VALUE, text)

    def press(self, target: Locator) -> None:
        target.evaluate("(target) => target.click()")

    def message(self) -> str:
        return MESSAGE


class TrapFillingAgent(ScriptingAgent):
    """An agent that fills in every field of the document, including the trap."""

    def read(self) -> None:
        for trap in self.page.locator("#helper").all():
            trap.evaluate(SET_VALUE, "assistant")


class HumanImitator(Participant):
    """A program that moves, types and reads like a person, so that it is not detected."""

    def fill(self, field: Locator, text: str) -> None:
        self.press(field)
        field.press("ControlOrMeta+a")
        for letter in text:
            self.page.keyboard.type(letter)
            self.page.wait_for_timeout(self.rng.uniform(20, 90))

    def press(self, target: Locator) -> None:
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        assert box is not None
        x = box["x"] + box["width"] * self.rng.uniform(0.2, 0.8)
        y = box["y"] + box["height"] * self.rng.uniform(0.25, 0.75)
        self.page.mouse.move(x + self.rng.uniform(-90, 90), y + self.rng.uniform(-40, 40), steps=4)
        self.page.mouse.move(x, y, steps=6)
        self.page.mouse.click(x, y)

    def read(self) -> None:
        word_count = len(self.page.locator("main").inner_text().split())
        self.page.wait_for_timeout(word_count / WORDS_PER_MINUTE * 60_000)


class TypingPerson(HumanImitator):
    """A person with a mouse who types."""


class PastingPerson(HumanImitator):
    """A person who writes elsewhere and pastes."""

    options = {"permissions": ["clipboard-read", "clipboard-write"]}

    def write(self, field: Locator, text: str) -> None:
        self.press(field)
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("ControlOrMeta+v")


class SkimmingPerson(HumanImitator):
    """A person who skims at twice the speed that counts as fast reading: one reason, but no flag."""

    def read(self) -> None:
        word_count = len(self.page.locator("main").inner_text().split())
        self.page.wait_for_timeout(word_count / (2 * 1500) * 60_000)


class DictatingPerson(HumanImitator):
    """A person who dictates: words appear without keystrokes."""

    def write(self, field: Locator, text: str) -> None:
        self.press(field)
        for word in text.split():
            self.page.keyboard.insert_text(f"{word} ")
            self.page.wait_for_timeout(20)


class ScreenReaderUser(TypingPerson):
    """A person who uses only the keyboard, in focus order, and never reaches hidden fields."""

    def press(self, target: Locator) -> None:
        self.tab_to(target)
        self.page.keyboard.press("Enter" if target.evaluate("(t) => t.matches('button, a')") else "Space")

    def fill(self, field: Locator, text: str) -> None:
        self.tab_to(field)
        self.page.keyboard.press("ControlOrMeta+a")
        for letter in text:
            self.page.keyboard.type(letter)
            self.page.wait_for_timeout(self.rng.uniform(20, 90))

    def tab_to(self, target: Locator) -> None:
        handle = target.element_handle()
        for _step in range(60):
            if self.page.evaluate("(target) => document.activeElement === target", handle):
                return
            self.page.keyboard.press("Tab")
            assert not self.page.evaluate("() => !!document.activeElement?.closest('[aria-hidden=true]')")
        raise AssertionError("the keyboard does not reach the target")


class DictatingScreenReaderUser(ScreenReaderUser):
    """A person who uses a screen reader and dictation."""

    def write(self, field: Locator, text: str) -> None:
        self.tab_to(field)
        self.page.keyboard.insert_text(text)


class PhoneUser(Participant):
    """A person on a phone, whose keyboard completes words."""

    options = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 740}}

    def press(self, target: Locator) -> None:
        target.tap()

    def fill(self, field: Locator, text: str) -> None:
        field.tap()
        field.press("ControlOrMeta+a")
        for n, word in enumerate(text.split()):
            self.page.keyboard.type(f"{' ' * bool(n)}{word[:2]}", delay=self.rng.uniform(30, 90))
            self.page.keyboard.insert_text(word[2:])
            self.page.wait_for_timeout(self.rng.uniform(20, 90))

    read = HumanImitator.read


PROGRAMS = (FormFillingAgent, EvenTypingAgent, ScriptingAgent, TrapFillingAgent)
PEOPLE = (
    TypingPerson, PastingPerson, SkimmingPerson, DictatingPerson, ScreenReaderUser, DictatingScreenReaderUser,
    PhoneUser,
)  # fmt: skip


@pytest.fixture(scope="module")
def join_url(stack) -> str:
    values = {"title": "Who", "slug": "who", "game": "bargaining", "roles": ["alice"], "via": "open"}
    return f"{stack.url}/join/{stack.launch_study({**values, 'agents': 'script:fair', 'quota': 1000, 'quiz': True})}"


@pytest.fixture
def score_of(
    stack, browser: Browser, join_url: str
) -> Callable[[type[Participant], int], tuple[float, tuple[str, ...]]]:
    """Return a function that sends a participant to the quiz and returns their score with its reasons."""

    def walk(kind: type[Participant], seed: int) -> tuple[float, tuple[str, ...]]:
        context = browser.new_context(**kind.options)
        page = context.new_page()
        kind(page, seed).walk(join_url)
        path = page.url.removeprefix(stack.url)
        await_page_views(stack, path, lambda _views: "match" in stack.call("tests.actions.reported_pages", path))
        value, reasons, figures = stack.call("tests.actions.agent_score", path)
        context.close()
        print(f"\n{kind.__name__} {seed}: {value} {', '.join(reasons)} {figures}")
        return value, tuple(reasons)

    return walk


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", PROGRAMS)
def test_known_program_is_flagged(score_of, kind, seed):
    assert score_of(kind, seed)[0] >= THRESHOLD


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", PEOPLE)
def test_no_known_person_is_flagged(score_of, kind, seed):
    assert score_of(kind, seed)[0] < THRESHOLD


def test_human_imitator_is_not_flagged(score_of):
    """This is a documented limit: behaviour on pages does not reveal a careful imitator."""
    assert score_of(HumanImitator, 4)[0] < THRESHOLD
