"""A whole study runs on Prolific's stand-in: it is published and monitored in a browser, played, paid and exported."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from marketplaces.prolific.standin import TOKEN, StandIn
from marketplaces.prolific.standin.market import Submission, new_id
from participants.states import ENDED
from tests import reaching, researching, walking
from tests.photographs import PHONE

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""The requests to Prolific do not depend on the database."""
PATIENCE = 60_000
"""Milliseconds for an admin page that first sends requests to the stand-in."""


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


def publish_study(stack, page: Page, standin: StandIn, *, slug: str, places: int) -> None:
    """Launch a study, add and test an account, choose it for the study, create the draft and publish it."""
    stack.launch_study(
        {
            "slug": slug,
            "title": f"Sharing {slug}",
            "quota": places,
            "via": "prolific",
            "quiz": True,
            "agents": "script:fair",
            "turn": 3600,
        }
    )
    researching.sign_in(stack, page, "/admin/marketplaces/account/add/")
    page.set_default_timeout(PATIENCE)
    page.locator("[name=title]").fill(f"Lab {slug}")
    page.locator("[name=kind]").select_option("prolific")
    page.locator("[name=place]").select_option("rehearsal")
    page.locator("[name=address]").fill(standin.address)
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("[name=credential_token]").fill(TOKEN)
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("Prolific accepts the token")).to_be_visible()
    assert TOKEN not in page.content()

    page.goto(f"{stack.url}/admin/studies/study/")
    page.get_by_role("link", name=f"Sharing {slug}").first.click()
    page.get_by_role("link", name="Choose the account").click()
    page.locator("[name=account]").select_option(label=f"Lab {slug}")
    page.get_by_role("button", name="Save", exact=True).click()

    page.goto(f"{stack.url}/admin/studies/study/")
    page.get_by_role("link", name=f"Sharing {slug}").first.click()
    page.get_by_role("link", name="Tasks and workers").click()
    page.get_by_role("link", name="Offer on Prolific").click()
    expect(page.locator("[name=places]")).to_have_value(str(places))
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_text("The study is a draft on Prolific")).to_be_visible()
    page.get_by_role("link", name="Publish …").click()
    expect(page.get_by_text("Account balance")).to_be_visible()
    assert next(iter(standin.market.studies.values()))["status"] == "UNPUBLISHED"
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_text("participants can find it now")).to_be_visible()


def play_in_browser(browser: Browser, standin: StandIn, *, phone: bool) -> None:
    """As a worker, find the study in Prolific's list, play, and return with the button."""
    context = browser.new_context(viewport=PHONE if phone else None)
    page = context.new_page()
    page.set_default_timeout(walking.TURN)
    page.goto(standin.address)
    page.get_by_role("button", name="Start").click()
    walking.consent_and_name(page)
    walking.read_instructions(page)
    walking.expect_turn(page, "offer")
    walking.offer(page, "5000", "5000", role="alice")
    walking.expect_over(page)
    walking.press_continue(page)
    walking.answer_quiz(page, option="10%")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
    page.get_by_role("link", name="Back to Prolific").click()
    expect(page.get_by_role("heading", name="Your submission has been received.")).to_be_visible()
    context.close()


class Worker:
    """A worker who takes part over HTTP, without a browser."""

    def __init__(self, stack, standin: StandIn) -> None:
        self.stack, self.standin = stack, standin
        (study,) = standin.market.studies
        self.participant = new_id()
        link = standin.market.start(study, self.participant)
        self.submission: Submission = standin.market.submission_of(study, self.participant)
        answer = httpx.get(link, timeout=60)
        assert answer.status_code == 302, answer.text
        self.path = urlsplit(answer.headers["location"]).path

    def walk(self, state: str) -> None:
        self.stack.call("tests.reaching.reach_state", self.path, state)

    def leave(self) -> None:
        httpx.post(f"{self.stack.url}{self.path}leave/", timeout=60)

    def load_page(self) -> str:
        """Load the worker's page, which must have a heading in every state; return it."""
        answer = httpx.get(f"{self.stack.url}{self.path}", timeout=60)
        assert answer.status_code == 200 and "<h1" in answer.text
        return answer.text

    def press_back_button(self) -> None:
        """Follow the last page's button to the stand-in."""
        (address,) = re.findall(
            rf'href="({re.escape(self.standin.address)}/submissions/complete\?cc=\w+)"', self.load_page()
        )
        httpx.get(address, cookies={"worker": self.participant}, timeout=60).raise_for_status()

    @property
    def state(self) -> str:
        return self.stack.call("tests.recruiting.state_of", self.path)


def refresh(stack, page: Page, slug: str) -> None:
    page.goto(f"{stack.url}/admin/marketplaces/recruitment/")
    page.get_by_role("row").filter(has_text=f"Sharing {slug}").get_by_role("link").first.click()
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_text("Updated from the marketplace")).to_be_visible()


def check_paid(standin: StandIn, rows: list[dict[str, Any]]) -> None:
    """Check that the stand-in paid every cent of the ledger once, and nothing else."""
    assert {row["state"] for row in rows} == {"confirmed"}
    paid = [({"reward": "base"}.get(kind, kind), cents) for _submission, kind, cents in standin.market.paid]
    assert Counter(paid) == Counter((row["reason"], round(float(row["amount"]) * 100)) for row in rows)
    assert len({(submission, kind) for submission, kind, _cents in standin.market.paid}) == len(rows)


def check_dataset(stack, standin: StandIn, slug: str, folder: Path, *, completed: int) -> None:
    """Check that the dataset contains the completed games and no identifiers."""
    stack.manage("export_dataset", slug, "--to", str(folder))
    stack.manage("verify_dataset", str(folder))
    contents = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file()).decode(errors="replace")
    for submission in standin.market.submissions.values():
        assert submission.id not in contents and submission.participant not in contents
    assert TOKEN not in contents
    with (folder / "matches.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == completed
    with (folder / "payments.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(round(float(row["amount"]) * 100) for row in rows) == sum(
        cents for _submission, _kind, cents in standin.market.paid
    )


def check_logs(stack, standin: StandIn) -> None:
    """Check that no log of the stack names a worker, a submission or the token."""
    logs = "".join(stack.log(name) for name in stack.services)
    assert TOKEN not in logs
    assert not any(
        submission.id in logs or submission.participant in logs for submission in standin.market.submissions.values()
    )


@pytest.mark.slow
def test_twenty_workers_reach_every_state(stack, page: Page, browser: Browser, standin: StandIn, tmp_path: Path):
    slug = "prolific-twenty"
    publish_study(stack, page, standin, slug=slug, places=20)
    play_in_browser(browser, standin, phone=True)
    play_in_browser(browser, standin, phone=False)
    second_version_states = [str(state) for state in reaching.SECOND_VERSION]
    first_version_states = [str(state) for state in reaching.REACHABLE if state not in second_version_states]
    first_version_states += ["completed"] * (18 - len(first_version_states) - len(second_version_states))
    workers = {}
    for number, ending in enumerate([*first_version_states, *second_version_states]):
        if ending == second_version_states[0]:
            stack.call("tests.reaching.launch_second_version", slug)
        worker = workers[f"{ending} {number}"] = Worker(stack, standin)
        worker.walk(ending)
        if ending == "withdrew":
            worker.leave()
        if ending == "returned":
            standin.market.give_back(worker.submission.id)
    standin.misbehave("refused", "submissions/$")
    page.goto(f"{stack.url}/admin/marketplaces/recruitment/")
    refresh_until_answered(stack, page, slug)
    reached = {name: worker.state for name, worker in workers.items()}
    assert {name: name.split()[0] for name in reached} == reached
    assert set(reached.values()) == {str(state) for state in reaching.REACHABLE}
    assert len(standin.market.submissions) == 2 + len(workers)
    for worker in workers.values():
        worker.load_page()
        if worker.state in ENDED and worker.state != "returned":
            worker.press_back_button()
    late_worker = next(worker for name, worker in workers.items() if name.startswith("quiz"))
    standin.market.complete(late_worker.submission.id, "NOCODE")
    refresh(stack, page, slug)
    page.get_by_role("link", name="Tasks and workers").click()
    expect(page.get_by_text("Submitted on Prolific, but has not finished here.")).to_be_visible()
    assert not any(
        submission.participant in page.content() or submission.id in page.content()
        for submission in standin.market.submissions.values()
    )

    stack.call("tests.recruiting.approve_all", slug)
    check_paid(standin, stack.call("tests.recruiting.await_pay", slug))
    finished = 2 + list(reached.values()).count("completed")
    # Completed, opponent failed, partner left and our outage: base and bonus; failed quiz and no partner: base.
    assert len(standin.market.paid) == 2 * (finished + 3) + 2
    check_dataset(stack, standin, slug, tmp_path / "dataset", completed=finished)
    check_logs(stack, standin)


def refresh_until_answered(stack, page: Page, slug: str) -> None:
    """Refresh while the API fails, which the page must report, and then again with success."""
    page.goto(f"{stack.url}/admin/marketplaces/recruitment/")
    page.get_by_role("row").filter(has_text=f"Sharing {slug}").get_by_role("link").first.click()
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_text("Prolific reports an internal error (500).").first).to_be_visible()
    expect(page.get_by_text("nothing is lost").first).to_be_visible()
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_text("Updated from the marketplace")).to_be_visible()
