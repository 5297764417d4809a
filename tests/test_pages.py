"""Every page that a participant may see is accessible, small, and readable on a phone, in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import slow_except
from games import registry
from games.play import configure
from participants.states import ENDINGS
from plans.starting import first_of_each_kind
from studies.tests import kit
from tests import walking
from tests.accessibility import DARK, violation_lines, violations
from tests.photographs import DESKTOP, PHONE, photograph

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""The pages' appearance does not depend on the database."""
MAX_BYTES = 100_000
"""Maximum size of a first visit in bytes."""
APPEARANCES = (("light", PHONE, ()), ("dark", DESKTOP, (*DARK, "region", "page-has-heading-one")))
"""Dark mode on a desktop repeats only the checks whose result colours or space can change."""
GAMES = registry.keys()

CONFIGURED = [configure(registry.get(game), {}) for game in GAMES]
SEATS = [(game.key, role) for game in CONFIGURED for role in first_of_each_kind(game)]
"""One role of each kind that people play, because seats of one kind see the same pages."""
QUICK = [
    ("bargaining", "alice"), ("beauty_contest", "p1"), ("item_auction", "p1"), ("social_dilemma", "p1"),
    ("pricing", "agent"),
]  # fmt: skip
"""One role of each published system for quick runs; slow runs check the others too."""


class Inspector:
    """Checks pages as displayed and collects all problems."""

    def __init__(self, browser: Browser):
        self.browser = browser
        self.problems: list[str] = []
        self.weights: dict[str, int] = {}

    def inspect(self, page: Page, name: str) -> None:
        """Check the current page, and once per address the size of its first load."""
        photograph(page, name)
        for scheme, size, rules in APPEARANCES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size(size)
            self._axe(page, f"{name}, {scheme}, {size['width']} px", rules)
        page.set_viewport_size(PHONE)
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > PHONE["width"]:
            self.problems.append(f"{name}: {width} px wide on a phone; {page.evaluate(TOO_WIDE)}")
        self.problems += [f"{name}: too small to touch: {target}" for target in page.evaluate(TOO_SMALL)]
        page.set_viewport_size(DESKTOP)
        self.problems += [f"{name}: cut off on a laptop: {table}" for table in page.evaluate(CUT_OFF)]
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > DESKTOP["width"]:
            self.problems.append(f"{name}: {width} px wide with text of twice its size")
        page.evaluate("document.documentElement.style.fontSize = ''")
        if page.url not in self.weights:
            self._check_weight(page.url, name)

    def _axe(self, page: Page, page_name: str, rules: Sequence[str]) -> None:
        self.problems += violation_lines(violations(page, rules=rules), page_name)

    def _check_weight(self, url: str, name: str) -> None:
        context = self.browser.new_context(viewport=DESKTOP)
        page = context.new_page()
        network = context.new_cdp_session(page)
        bodies: list[float] = []
        network.on("Network.loadingFinished", lambda event: bodies.append(event["encodedDataLength"]))
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.goto(url, wait_until="load")
        page.wait_for_timeout(200)
        context.close()
        self.weights[url] = round(sum(bodies))
        if not 500 < self.weights[url] < MAX_BYTES:
            self.problems.append(f"{name}: {self.weights[url]} bytes")


TOO_WIDE = """[...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > 360.5)
    .slice(0, 4).map((element) => element.outerHTML.slice(0, 90)).join(" | ")"""


CUT_OFF = """[...document.querySelectorAll(".pane-past .scroll")]
    .filter((part) => part.scrollWidth > part.clientWidth + 1)
    .map((part) => `${part.scrollWidth} of ${part.clientWidth} px: ${part.innerText.slice(0, 120)}`)"""


TOO_SMALL = """[...document.querySelectorAll(
        "main :is(button, select, textarea, summary, a.button, "
            + "input:not([type=hidden], [type=radio], [type=checkbox], [type=range]))"
    )]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([element, box]) => box.height && (box.height < 43.5 || box.width < 24))
    .slice(0, 4).map(([element, box]) => `${Math.round(box.height)} px: ${element.outerHTML.slice(0, 70)}`)"""


@pytest.fixture
def inspector(browser: Browser) -> Iterator[Inspector]:
    """Yield an inspector, and fail at the end of the test if it has found problems."""
    inspector = Inspector(browser)
    yield inspector
    assert not inspector.problems, "\n".join(inspector.problems)


@pytest.fixture(scope="session")
def study(stack) -> str:
    """Launch a study in which people play alice against a script that answers at once; return its short name."""
    return bargaining(stack, "pages")


def bargaining(stack, slug: str, **fields) -> str:
    defaults = {"title": "Splitting money", "agents": "script:fair", "quiz": True}
    return stack.launch_study({"slug": slug, "quota": 1000, **defaults, **fields})


@pytest.mark.parametrize("path", ["/p/forged/", "/join/nowhere", "/nothing/"])
def test_error_pages(stack, page: Page, inspector: Inspector, path: str):
    answer = page.goto(stack.url + path)
    assert answer is not None
    assert answer.status == 404
    inspector.inspect(page, path)


@pytest.mark.slow
def test_inspector_finds_every_fault(stack, page: Page, browser: Browser):
    """The page has no title or language, is too wide, is grey on grey in dark mode, and has too small a button."""
    page.route(
        "**/wrong",
        lambda route: route.fulfill(
            content_type="text/html",
            body="""<meta name="color-scheme" content="light dark">
                <style>@media (prefers-color-scheme: dark) { p { color: #444; background: #555 } }</style>
                <main><h1>Wrong</h1><p>Can you read this?</p><div style="width: 500px">wide</div>
                <div style="width: 50rem">wider</div><button style="height: 30px">small</button></main>""",
        ),
    )
    page.goto(f"{stack.url}/wrong")
    inspector = Inspector(browser)
    inspector.inspect(page, "wrong")
    problems = "\n".join(inspector.problems)
    assert "wrong, dark, 1280 px: color-contrast" in problems
    assert "wrong, light, 360 px: color-contrast" not in problems
    assert "html-has-lang" in problems
    assert "px wide on a phone" in problems
    assert "text of twice its size" in problems
    assert 'too small to touch: 30 px: <button style="height: 30px">' in problems


def test_pages_before_admission(stack, page: Page, inspector: Inspector, study: str):
    page.goto(f"{stack.url}/")
    inspector.inspect(page, "home")
    page.goto(f"{stack.url}/join/{study}")
    inspector.inspect(page, "enter code")
    page.goto(f"{stack.url}/join/{study}?code=WRONG")
    inspector.inspect(page, "not admitted")
    page.goto(f"{stack.url}/join/{bargaining(stack, 'pages-open', via='open')}")
    inspector.inspect(page, "welcome")
    page.goto(f"{stack.url}/join/{bargaining(stack, 'pages-demo', via='open', purpose='demo', roles=['alice', 'bob'])}")
    inspector.inspect(page, "welcome to a demonstration")
    mturk = bargaining(stack, "pages-mturk", via="mturk")
    page.goto(f"{stack.url}/join/{mturk}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H")
    inspector.inspect(page, "preview")


def test_pages_before_the_game(stack, page: Page, inspector: Inspector, study: str):
    page.goto(stack.url + stack.arrive(study))
    inspector.inspect(page, "consent")
    page.locator('main button[type="submit"]').click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect(page, "consent refused")
    page.locator('input[name="agree"]').check()
    page.locator('main button[type="submit"]').click()
    inspector.inspect(page, "name")
    page.locator('input[name="name"]').fill("A")
    page.locator('main button[type="submit"]').click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect(page, "name refused")
    page.locator('input[name="name"]').fill("Robin")
    page.locator('main button[type="submit"]').click()
    inspector.inspect(page, "instructions")
    page.locator('main button[type="submit"]').click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect(page, "instructions refused")


def test_survey_and_debriefing_pages(stack, page: Page, inspector: Inspector):
    questions = [
        {"kind": "number", "name": "age", "text": "How old are you?"},
        {"kind": "single", "name": "done", "text": "Have you bargained?", "options": ["yes", "no", "I forgot"]},
        {"kind": "scale", "name": "trust", "text": "Do you trust?", "points": 11, "low": "never", "high": "fully"},
        {"kind": "long", "name": "more", "text": "Anything else?", "required": False},
    ]
    debriefing = "## What it was about\n\nPrices."
    slug = bargaining(stack, "pages-asking", before=questions, debriefing=debriefing, code_word=None)
    path = stack.arrive(slug)
    page.goto(stack.url + path)
    walking.consent_and_name(page)
    inspector.inspect(page, "survey")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect(page, "survey refused")
    page.get_by_label("How old are you?").fill("44")
    page.get_by_label("no", exact=True).check()
    page.get_by_label("11: fully").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start the game").click()
    walking.expect_turn(page, "offer")
    stack.end_enrolment(path, "timed_out")
    page.goto(stack.url + path)
    expect(page.get_by_role("heading", name="What it was about")).to_be_visible()
    inspector.inspect(page, "debriefing")


def test_game_and_quiz_pages(stack, page: Page, inspector: Inspector, study: str):
    page.goto(stack.url + stack.reach_first_turn(study))
    walking.expect_turn(page, "offer")
    inspector.inspect(page, "proposing")
    page.locator('input[name="alice_gain"]').fill("everything")
    page.locator("form.move button[type=submit]:visible").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    inspector.inspect(page, "proposal refused")
    long = "An offer that you cannot refuse, with a verylongword" + "g" * 80 + " and <b>no</b> markup."
    walking.offer(page, "9000", "1000", role="alice", message=long)
    walking.expect_turn(page, "answer")
    inspector.inspect(page, "answering")
    walking.answer(page, "accept")
    walking.expect_over(page)
    inspector.inspect(page, "over")
    walking.press_continue(page)
    expect(page.locator("fieldset")).to_be_visible()
    inspector.inspect(page, "quiz")
    page.locator('main button[type="submit"]').click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect(page, "quiz refused")


def test_waiting_page(stack, page: Page, inspector: Inspector):
    path = stack.reach_first_turn(
        bargaining(stack, "pages-slow", agents={"script:fair": kit.agent("script:fair", delay=120)})
    )
    page.goto(stack.url + path)
    walking.offer(page, "9000", "1000", role="alice")
    expect(page.locator(".thinking")).to_be_visible()
    inspector.inspect(page, "waiting")


@pytest.mark.parametrize(("game", "role"), slow_except(SEATS, QUICK))
def test_screens_of_every_game(stack, page: Page, inspector: Inspector, game: str, role: str):
    inspect_screens(stack, page, inspector, game, role)


def inspect_screens(stack, page: Page, inspector: Inspector, game: str, role: str, *, language: str = "en") -> None:
    """Inspect a role's screens at the beginning, later and at the end of a game, and the page after it."""
    slug = f"pages-{game.replace('_', '-')}-{role}-{language}"
    config = {"periods": 6} if "periods" in registry.get(game).Config.model_fields else {}
    has_quiz = bool(configure(registry.get(game), config).quiz(role))
    fields = {"game": game, "config": config, "roles": [role], "agents": "script:random", "quiz": has_quiz,
              "language": language}  # fmt: skip
    stack.launch_study({"slug": slug, "title": game, **fields})
    path = stack.reach_first_turn(slug)
    page.goto(stack.url + path)
    inspector.inspect(page, f"{game}, {role}, beginning, {language}")
    stack.move(path, "random")
    continues = stack.move(path, "random")
    page.goto(stack.url + path)
    inspector.inspect(page, f"{game}, {role}, later, {language}")
    while continues:
        continues = stack.move(path, "random")
    page.goto(stack.url + path)
    walking.expect_over(page)
    inspector.inspect(page, f"{game}, {role}, over, {language}")
    walking.press_continue(page)
    inspector.inspect(page, f"{game}, {role}, {'quiz' if has_quiz else 'last page'}, {language}")


@pytest.mark.parametrize("state", ENDINGS)
def test_every_last_page(stack, page: Page, inspector: Inspector, study: str, state: str):
    path = stack.reach_first_turn(study)
    stack.end_enrolment(path, state)
    page.goto(stack.url + path)
    expect(page.get_by_role("heading", level=1)).to_have_text(str(ENDINGS[state].title))
    inspector.inspect(page, f"ending {state}")


@pytest.mark.slow
def test_leave_and_problem_pages(stack, page: Page, inspector: Inspector, study: str):
    path = stack.arrive(study)
    page.goto(f"{stack.url}{path}leave/")
    inspector.inspect(page, "leave")
    page.goto(f"{stack.url}{path}problem/")
    inspector.inspect(page, "problem")
    page.locator("textarea").fill("Nothing works.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_be_visible()
    inspector.inspect(page, "problem sent")
    stack.end_enrolment(path, "withdrew")
    page.goto(f"{stack.url}{path}leave/")
    inspector.inspect(page, "leave after the end")


@pytest.mark.slow
def test_refused_move_can_be_corrected_without_javascript(stack, browser: Browser, study: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(stack.url + stack.reach_first_turn(study))
    walking.offer(page, "6000", "6000", role="alice", message="Take it")
    expect(page.locator("form.move .error").first).to_be_visible()
    expect(page.locator('textarea[name="message"]')).to_have_value("Take it")
    walking.offer(page, "5000", "5000", role="alice")
    walking.expect_over(page)
    walking.press_continue(page)
    expect(page.locator("fieldset")).to_be_visible()
    context.close()


@pytest.mark.slow
def test_pages_can_be_zoomed_to_four_times_their_size(stack, page: Page, study: str):
    """A width of 1280 px, zoomed to 400 %, leaves 320 px."""
    page.set_viewport_size({"width": 320, "height": 256})
    for path in (stack.arrive(study), stack.reach_first_turn(study)):
        page.goto(stack.url + path)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 320, page.evaluate(TOO_WIDE)
