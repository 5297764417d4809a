"""Pages that researchers put together: questions of every kind, own pages, the quiz about the rules."""

from __future__ import annotations

import struct
import zlib

import pytest
from playwright.sync_api import Browser, Page, expect

from plans.questions import questions_of
from tests.test_pages import Inspector, inspector  # noqa: F401  (a fixture)

pytestmark = pytest.mark.browser
STACKS = ("sqlite",)

TEXT = "How much do you agree that people in general can be trusted when a lot of money is at stake?"
ITEMS = [
    {"kind": "single", "name": "owns", "text": "Do you own a car?", "options": ["yes", "no"]},
    {"kind": "number", "name": "pays", "text": "What did it cost?", "unit": "€", "min": 0, "show_if": "owns == 'yes'"},
    {"kind": "multiple", "name": "likes", "text": "What do you like?", "options": ["tea", "milk", "juice"], "max": 2},
    {"kind": "scale", "name": "trust", "text": TEXT, "points": 11, "low": "not at all", "high": "completely"},
    {
        "kind": "matrix", "name": "often", "text": "How often do you drink these?", "help": "Think of last week.",
        "rows": [{"name": "tea", "text": "Tea, hot or cold"}, {"name": "milk", "text": "Milk"}],
        "options": ["never", "sometimes", "every single day"],
    },
    {"kind": "slider", "name": "warm", "text": "How warm do you feel?", "min": 0, "max": 100, "unit": "%"},
    {"kind": "date", "name": "born", "text": "When were you born?", "max": "2020-12-31"},
    {"kind": "text", "name": "city", "text": "Where do you live?", "required": False},
    {"kind": "long", "name": "why", "text": "Anything else?", "help": "As much as you like.", "required": False},
    {"kind": "ranking", "name": "best", "text": "Which is best?", "options": ["red", "green", "blue"]},
]  # fmt: skip
LAST = {"kind": "page", "name": "last", "title": "The last page"}
GAME = {"game": "bargaining", "config": {"money": 100, "delta_alice": 0.9}, "role": "alice", "stage": "talk"}


def asking(stack, items: list[dict], **step) -> str:
    return stack.enrol_in([{"kind": "questions", "name": "page", "items": items, "before_game": True, **step}, LAST])


def picture(width: int = 900, height: int = 500) -> bytes:
    """Return a PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def answer_everything(page: Page) -> None:
    page.get_by_label("yes").check()
    page.get_by_label("What did it cost?").fill("8000")
    page.get_by_label("milk", exact=True).check()
    page.get_by_label("11: completely").check()
    page.get_by_role("group", name="Tea, hot or cold").get_by_label("never").check()
    page.get_by_role("group", name="Milk").get_by_label("every single day").check()
    page.get_by_label("How warm").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("When were you born?").fill("2000-02-29")
    for colour, place in (("red", "1"), ("green", "2"), ("blue", "3")):
        page.get_by_label(colour).select_option(label=place)


ANSWERS = {
    "owns": "yes", "pays": 8000, "likes": ["milk"], "trust": 11, "often": {"tea": "never", "milk": "every single day"},
    "warm": 51, "born": "2000-02-29", "city": None, "why": None, "best": ["red", "green", "blue"],
}  # fmt: skip


def test_every_kind_of_question(stack, page: Page, inspector: Inspector):  # noqa: F811
    path = asking(stack, ITEMS)
    page.goto(stack.url + path)
    expect(page.get_by_label("What did it cost?")).to_be_hidden()
    inspector.inspect(page, "every kind of question")
    page.get_by_role("button", name="Continue").click()
    alert = page.get_by_role("alert")
    expect(alert.get_by_role("link")).to_have_count(7)
    expect(alert).not_to_contain_text("cost")
    page.get_by_label("yes").check()
    inspector.inspect(page, "every kind of question, refused")
    answer_everything(page)
    page.get_by_label("green").select_option(label="1")
    expect(page.get_by_label("red")).to_have_value("2")
    page.get_by_label("red").select_option(label="1")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The last page")
    assert stack.call("tests.actions.answers_in", path) == ANSWERS


@pytest.mark.slow
def test_without_scripts_hidden_questions_are_shown_and_ignored(stack, browser: Browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    path = asking(stack, ITEMS)
    page.goto(stack.url + path)
    expect(page.get_by_text("Leave this empty if it does not apply")).to_be_visible()
    answer_everything(page)
    page.get_by_label("no", exact=True).check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The last page")
    assert "pays" not in stack.call("tests.actions.answers_in", path)
    context.close()


CONDITIONS = [
    "age > 17 and owns == 'yes'", "not (age > 17)", "age != 18", "missing != 1", "not missing", "'tea' in likes",
    "'milk' not in likes", "likes == ['tea']", "age in [17, 18]", "age // 5 == 3 and age % 5 == 3", "age ** 2 > 300",
    "often.tea == 'never'", "often.milk", "10 < age < 20 < 30", "age / 0 > 1", "owns + '!' == 'yes!'", "owns < 3",
    "owns or age", "-age < 0", "skipped == 1 or owns", "owns in 'yes, please'", "age == true", "best == ['b', 'a']",
]  # fmt: skip


@pytest.mark.parametrize(("age", "owns"), [("18", "yes"), ("17", "no"), ("", "no")])
def test_the_page_judges_conditions_as_the_server_does(stack, page: Page, age: str, owns: str):
    asked = [
        {"kind": "number", "name": "age", "text": "Age"},
        {"kind": "single", "name": "owns", "text": "Owns", "options": ["yes", "no"]},
        {"kind": "multiple", "name": "likes", "text": "Likes", "options": ["tea", "milk"]},
        {"kind": "matrix", "name": "often", "text": "Often", "options": ["never", "daily"],
         "rows": [{"name": "tea", "text": "Of tea"}, {"name": "milk", "text": "Of milk"}]},
        {"kind": "ranking", "name": "best", "text": "Best", "options": ["a", "b"]},
        {"kind": "number", "name": "skipped", "text": "Skipped"},
    ]  # fmt: skip
    items = [*asked, *({"kind": "text", "name": f"c{i}", "text": c, "show_if": c} for i, c in enumerate(CONDITIONS))]
    page.goto(stack.url + asking(stack, items))
    page.get_by_label("Age", exact=True).fill(age)
    page.get_by_role("group", name="Owns").get_by_label(owns).check()
    page.get_by_label("tea", exact=True).check()
    page.get_by_role("group", name="Of tea").get_by_label("never").check()
    page.get_by_label("b", exact=True).select_option(label="1")
    page.get_by_label("a", exact=True).select_option(label="2")
    values = {"owns": owns, "likes": ["tea"], "often": {"tea": "never"}, "best": ["b", "a"], "skipped": None}
    values["age"] = int(age) if age else None
    questions = questions_of(items)[len(asked) :]
    shown = [page.locator(f"[data-question={question.name}]").is_visible() for question in questions]
    assert dict(zip(CONDITIONS, shown, strict=True)) == {q.show_if: q.is_shown(values) for q in questions}


def test_a_page_of_ones_own(stack, page: Page, inspector: Inspector):  # noqa: F811
    image = stack.call("tests.actions.store_media", "map.png", picture().hex(), "A map of the town")
    step = {"kind": "page", "name": "opening", "title": "Before you start", "text": "Please **look** at it.\n\n- one"}
    path = stack.enrol_in([{**step, "image": image, "seconds": 4}, {**step, "image": image}, LAST])
    page.goto(stack.url + path)
    button = page.get_by_role("button", name="Continue")
    expect(button).to_be_disabled()
    expect(page.get_by_role("img", name="A map of the town")).to_have_js_property("naturalWidth", 900)
    expect(button).to_be_enabled(timeout=8000)
    inspector.inspect(page, "own page")
    button.click()
    expect(page.get_by_text("Step 2 of 3")).to_be_visible()


@pytest.mark.slow
def test_a_quiz_about_the_rules(stack, page: Page, inspector: Inspector):  # noqa: F811
    own = [
        {
            "text": "Who moves first?",
            "options": ["Alice", "Bob"],
            "answer": "Alice",
            "explanation": "Alice **begins**.",
        },
        {"text": "What is divided?", "options": ["money", "land"], "answer": "money"},
    ]
    quiz = {**GAME, "kind": "comprehension", "tries": 3, "failed": "end"}
    page.goto(stack.url + stack.enrol_in([{**quiz, "questions": own}, {**quiz, "questions": None}, LAST]))
    inspector.inspect(page, "quiz about the rules")
    page.get_by_label("Bob").check()
    page.get_by_label("land").check()
    page.get_by_role("button", name="Send the answers").click()
    expect(page.get_by_text("Alice begins.")).to_be_visible()
    inspector.inspect(page, "quiz about the rules, explained")
    page.get_by_label("Alice").check()
    page.get_by_label("money").check()
    page.get_by_role("button", name="Send the answers").click()
    page.get_by_label("0%", exact=True).check()
    page.get_by_label("The other player makes the next offer").check()
    page.get_by_role("button", name="Send the answers").click()
    expect(page.locator(".why")).to_contain_text("10%")


def test_instructions_with_examples(stack, page: Page, inspector: Inspector):  # noqa: F811
    step = {**GAME, "kind": "instructions", "code_word": {"tries": 3}, "examples": "## Examples\n\nOf {{ 100|money }}."}
    page.goto(stack.url + stack.enrol_in([step, LAST]))
    expect(page.get_by_role("heading", name="Examples")).to_be_visible()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    inspector.inspect(page, "instructions with examples")
