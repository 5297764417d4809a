"""A study runs on Mechanical Turk's stand-in, from the account to the dataset, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from llm_agents.standins.kit import Fault
from marketplaces.mturk.standin import StandIn
from marketplaces.mturk.standin.market import Assignment
from marketplaces.mturk.standin.server import KEY_ID, SECRET
from participants.states import State
from tests import walking
from tests.photographs import PHONE
from tests.reaching import GROUP_STATES, REACHABLE
from tests.researching import sign_in

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""Nothing here depends on the database; the ledger's own tests run on both."""
SLOW_MACHINE = 60_000
STATES = {
    "ACOMPLETED1": State.COMPLETED, "ACOMPLETED2": State.COMPLETED, "ACOMPLETED3": State.COMPLETED,
    "AFAILEDQUIZ": State.FAILED_QUIZ, "AFAILEDWORD": State.FAILED_CODE_WORD, "AWITHDREW": State.WITHDREW,
    "ATIMEDOUT": State.TIMED_OUT, "AOPPONENT": State.OPPONENT_FAILED, "ADROPPEDOUT": State.DROPPED_OUT,
    "APLAYING": State.PLAYING, "AQUIZ": State.QUIZ, "ACONSENTED": State.CONSENTED, "AINSTRUCTED": State.INSTRUCTED,
}  # fmt: skip
"""Workers who take part without a browser, and the state that each reaches."""
SECOND_VERSION_WORKERS = {"ASCREENEDOUT": State.SCREENED_OUT, "AWAITING": State.WAITING}
"""The same for workers who arrive after the study has been launched again."""
PAID_ENDINGS = {State.COMPLETED, State.FAILED_QUIZ, State.OPPONENT_FAILED}
"""Endings that are paid; after other endings, workers return the task."""


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


@pytest.fixture
def researcher(stack: Any, page: Page, standin: StandIn) -> Researcher:
    return Researcher(stack, page, standin)


class Researcher:
    """A researcher who works on one study in the admin."""

    def __init__(self, stack: Any, page: Page, standin: StandIn):
        self.stack, self.page, self.standin = stack, page, standin
        self.slug = ""

    def set_up(self, slug: str, people: int) -> None:
        """Launch a study and recruit for it with a new account."""
        fields = {
            "title": f"Splitting money ({slug})",
            "slug": slug,
            "game": "bargaining",
            "config": {"delta_alice": 0.9, "delta_bob": 0.8},
            "roles": ["alice"],
            "agents": "script:fair",
            "via": "mturk",
            "quiz": True,
            "quota": people,
            "turn": 3600,
        }
        self.slug = self.stack.launch_study(fields)
        sign_in(self.stack, self.page)
        self.page.set_default_timeout(SLOW_MACHINE)
        self._add_account(f"Rehearsal of {slug}")
        self._add_recruitment(f"Rehearsal of {slug}")

    def _add_account(self, title: str) -> None:
        page = self.page
        page.goto(f"{self.stack.url}/admin/marketplaces/account/add/")
        page.locator("[name=title]").fill(title)
        page.locator("select[name=kind]").select_option("mturk")
        page.locator("[name=address]").fill(self.standin.address)
        page.locator("button[name=_save], input[name=_save]").first.click()
        page.locator("[name=credential_access_key_id]").fill(KEY_ID)
        page.locator("[name=credential_secret_access_key]").fill(SECRET)
        page.locator("button[name=_save], input[name=_save]").first.click()
        page.get_by_role("link", name=title).first.click()
        page.get_by_role("button", name="Test connection").click()
        expect(page.get_by_text("The account works. Balance: $10,000.00.")).to_be_visible(timeout=SLOW_MACHINE)
        assert SECRET not in page.content()

    def _add_recruitment(self, account: str) -> None:
        page = self.page
        page.goto(f"{self.stack.url}/admin/marketplaces/recruitment/add/")
        page.locator("select[name=study]").select_option(str(self.stack.call("tests.recruiting.study_key", self.slug)))
        page.locator("select[name=account]").select_option(label=account)
        page.locator("button[name=_save], input[name=_save]").first.click()
        expect(page.get_by_text("was added successfully")).to_be_visible(timeout=SLOW_MACHINE)

    def open(self) -> None:
        """Open the study's recruiting page through the link on the study's page."""
        key = self.stack.call("tests.recruiting.study_key", self.slug)
        self.page.goto(f"{self.stack.url}/admin/studies/study/{key}/change/")
        self.page.get_by_role("link", name="Tasks and workers").click()
        workers = self.page.get_by_role("heading", name="Mechanical Turk differ")
        expect(workers).to_be_visible(timeout=SLOW_MACHINE)

    def publish(self, number: int) -> None:
        """Publish one task for this many people: fill in the form, check the cost, confirm."""
        page = self.page
        self.open()
        page.get_by_role("link", name="Offer on Mechanical Turk").click()
        page.locator("input[name=places]").fill(str(number))
        page.get_by_role("button", name="Create draft").click()
        page.get_by_role("link", name="Publish …").first.click()
        share = "40" if number >= 10 else "20"
        expect(page.get_by_text(f"Fee: {share}% of base pay").first).to_be_visible(timeout=SLOW_MACHINE)
        assert not self.standin.market.hits, "the task was published before it was confirmed"
        page.get_by_role("button", name="Publish now").click()
        expect(page.get_by_text("participants can find it now")).to_be_visible(timeout=SLOW_MACHINE)

    def refresh(self) -> None:
        """Sync with Mechanical Turk now."""
        self.open()
        self.page.get_by_role("button", name="Refresh now").click()
        expect(self.page.get_by_text("Updated from the marketplace")).to_be_visible(timeout=SLOW_MACHINE)
        self.open()

    def pay(self) -> list[dict[str, Any]]:
        """Approve everything that is due, and wait until it is paid; return the ledger's rows."""
        self.open()
        self.page.get_by_role("link", name="Pay", exact=True).click()
        self.page.get_by_role("button", name="Approve…").click()
        self.page.get_by_role("heading", name="Approve", exact=True).wait_for()
        self.page.get_by_role("button", name="Approve").click()
        expect(self.page.get_by_text(re.compile(r"Approve: \d+ payments"))).to_be_visible(timeout=SLOW_MACHINE)
        return self.stack.call("tests.recruiting.await_pay", self.slug)


class Worker:
    """A worker who uses the stand-in's pages in a browser."""

    def __init__(self, browser: Browser, standin: StandIn, name: str, **window: Any):
        self.standin, self.name = standin, name
        self.page = browser.new_context(**window).new_page()
        self.page.set_default_timeout(SLOW_MACHINE)

    def find(self) -> Frame:
        """Identify as this worker, find the task and open its preview; return the frame."""
        self.page.goto(self.standin.address)
        self.page.get_by_label("Worker ID").fill(self.name)
        self.page.get_by_role("button", name="See the tasks").click()
        self.page.get_by_role("link", name="Preview").first.click()
        return self._frame("You are invited")

    def accept(self) -> Frame:
        """Accept the task; return the frame with the study."""
        self.page.get_by_role("button", name="Accept").click()
        return self._frame("I agree to take part")

    def _frame(self, text: str) -> Frame:
        expect(self.page.frame_locator("iframe").get_by_text(re.compile(text, re.I)).first).to_be_visible(
            timeout=SLOW_MACHINE
        )
        frame = self.page.frame(name="task")
        assert frame is not None
        return frame

    def play(self, frame: Any) -> None:
        """Play from consent to the last page."""
        walking.consent_and_name(frame)
        frame.locator('input[name="code_word"]').wait_for(timeout=SLOW_MACHINE)
        walking.read_instructions(frame)
        expect(frame.locator('input[name="alice_gain"]').first).to_be_visible(timeout=SLOW_MACHINE)
        walking.offer(frame, "5000", "5000", role="alice")
        expect(frame.get_by_role("button", name="Continue")).to_be_visible(timeout=SLOW_MACHINE)
        walking.press_continue(frame)
        frame.locator('main input[type="radio"]').first.wait_for(timeout=SLOW_MACHINE)

    def finish(self, frame: Any) -> None:
        """Answer the quiz and submit on the stand-in's page."""
        walking.answer_quiz(frame, option="10%")
        frame.get_by_role("button", name="Submit the task").click(timeout=SLOW_MACHINE)
        expect(
            self.page.frame_locator("iframe").get_by_role("heading", name="The task has been submitted")
        ).to_be_visible(timeout=SLOW_MACHINE)

    def fits(self, frame: Any) -> bool:
        """Return whether everything in the frame fits its width."""
        return bool(frame.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def accept_without_browser(standin: StandIn, worker: str) -> tuple[Assignment, str]:
    """Let a worker accept and open the task without a browser; return the assignment and the path of their page."""
    (task,) = standin.market.hits.values()
    assignment = standin.market.accept(standin.market.worker(worker), task)
    return assignment, open_link(assignment, standin).headers["location"]


def open_link(assignment: Assignment, standin: StandIn, **changes: str) -> httpx.Response:
    """Open the link of an assignment; return Parley's response."""
    link = {
        "assignmentId": assignment.id,
        "hitId": assignment.hit.id,
        "workerId": assignment.worker,
        "turkSubmitTo": standin.address,
    }
    return httpx.get(f"{assignment.hit.address}?{urlencode({**link, **changes})}", timeout=60)


def submit_last_page(stack: Any, path: str) -> httpx.Response:
    """Post the form of a worker's last page as their browser would."""
    last_page = httpx.get(f"{stack.url}{path}", timeout=60).text
    form = re.search(r'<form method="post" action="([^"]+/mturk/externalSubmit)">(.*?)</form>', last_page, re.S)
    assert form, last_page
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[2]))
    return httpx.post(form[1], data=fields, timeout=60)


def check_paid(standin: StandIn, rows: list[dict[str, Any]]) -> None:
    """Check that the stand-in paid each confirmed row of the ledger once."""
    submitted = {
        assignment.worker: assignment
        for assignment in standin.market.assignments.values()
        if assignment.status != "Returned"
    }
    bonuses = [row for row in rows if row["reason"] == "bonus" and row["state"] == "confirmed"]
    assert sorted((row["worker"], Decimal(row["amount"])) for row in bonuses) == sorted(
        (bonus["WorkerId"], Decimal(bonus["BonusAmount"])) for bonus in standin.market.bonuses
    )
    for row in rows:
        if row["reason"] == "base" and row["state"] == "confirmed":
            assert submitted[row["worker"]].status == "Approved"


def check_export(stack: Any, slug: str, folder: Path, workers: list[str]) -> None:
    """Check that the dataset verifies and contains no worker's identifier."""
    stack.manage("export_dataset", slug, "--to", str(folder / "data"))
    stack.manage("verify_dataset", str(folder / "data"))
    for file in (folder / "data").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not [worker for worker in workers if worker.encode() in content], file.name


@pytest.mark.slow
def test_twenty_workers_complete_a_whole_study(browser, stack, researcher, standin, tmp_path):
    researcher.set_up("turk-whole", people=20)
    researcher.publish(20)
    in_browsers = ["ABROWSER1", "ABROWSER2"]
    for name, window in zip(in_browsers, ({"viewport": PHONE, "has_touch": True}, {}), strict=True):
        worker = Worker(browser, standin, name, **window)
        assert worker.fits(worker.find())
        frame = worker.accept()
        worker.play(frame)
        assert worker.fits(frame)
        worker.finish(frame)

    paths: dict[str, str] = {}

    def take_part(name: str, state: State) -> None:
        assignment, paths[name] = accept_without_browser(standin, name)
        actual = stack.call("tests.reaching.reach_state", paths[name], str(state))
        if state == State.WITHDREW:
            httpx.post(f"{stack.url}{paths[name]}leave/", timeout=60)
        else:
            assert actual == state
        if state in PAID_ENDINGS:
            assert submit_last_page(stack, paths[name]).status_code == 200
            assert assignment.status == "Submitted"

    for name, state in STATES.items():
        take_part(name, state)

    # One worker only arrives. Another accepts and returns the assignment, which a third takes. Others forge links.
    arrived, paths["AARRIVED"] = accept_without_browser(standin, "AARRIVED")
    returned, paths["AGONE"] = accept_without_browser(standin, "AGONE")
    standin.market.leave(returned)
    stack.call("tests.recruiting.backdate_activity", "AGONE", 30)
    (task,) = standin.market.hits.values()
    reassigned = standin.market.accept(standin.market.worker("AAGAIN"), task, reuse=returned.id)
    paths["AAGAIN"] = open_link(reassigned, standin).headers["location"]
    assert stack.call("tests.reaching.reach_state", paths["AAGAIN"], "completed") == "completed"
    assert submit_last_page(stack, paths["AAGAIN"]).status_code == 200
    assert open_link(arrived, standin, workerId="no worker").status_code == 400
    assert open_link(arrived, standin, workerId="AFORGER").status_code == 403
    assert open_link(arrived, standin, hitId="3ANOTHERTASK", workerId="AFORGER").status_code == 403
    stack.call("tests.reaching.launch_second_version", researcher.slug)
    for name, state in SECOND_VERSION_WORKERS.items():
        take_part(name, state)

    standin.misbehave(Fault.CUT, "GetHIT", times=10)
    researcher.open()
    researcher.page.get_by_role("button", name="Refresh now").click()
    expect(researcher.page.get_by_text("is not responding properly").first).to_be_visible(timeout=SLOW_MACHINE)
    standin.behave()
    researcher.refresh()
    states = stack.call("tests.recruiting.await_drop_out", researcher.slug)
    single_player_states = [str(state) for state in REACHABLE if state not in GROUP_STATES]
    assert states == {**dict.fromkeys(single_player_states, 1), "completed": 6}
    assert sum(states.values()) == 20
    screens = {name: httpx.get(f"{stack.url}{path}", timeout=60) for name, path in paths.items()}
    assert not [name for name, page in screens.items() if page.status_code != 200 or "<h1" not in page.text]
    assert "You returned this assignment" in screens["AGONE"].text
    researcher.open()
    expect(researcher.page.get_by_text("Another participant submitted")).to_be_visible()

    rows = researcher.pay()
    check_paid(standin, rows)
    confirmed = [row for row in rows if row["state"] == "confirmed"]
    assert {row["worker"] for row in confirmed if row["reason"] == "base"} == {
        *in_browsers, "AAGAIN", "AFAILEDQUIZ", "AOPPONENT", *(f"ACOMPLETED{number}" for number in range(1, 4)),
    }  # fmt: skip
    check_export(stack, researcher.slug, tmp_path, [*paths, *in_browsers])
