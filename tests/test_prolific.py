"""A whole study on Prolific's stand-in: published and monitored in the browser, played, paid and exported."""

from __future__ import annotations

import csv
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from marketplaces.prolific.standin import TOKEN, StandIn
from marketplaces.prolific.standin.market import Submission, new_id
from opponents.agents import agents_from_specs
from participants.states import ENDED, State
from tests import reaching, researching, walking
from tests.photographs import PHONE

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""Requests to Prolific do not depend on the database."""
PATIENCE = 60_000
"""Milliseconds for an admin page that first sends requests to the stand-in."""
PAID_WITHIN = 300
"""Seconds within which everyone must be paid; beat checks every few seconds."""


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


def offer(stack, page: Page, standin: StandIn, *, slug: str, places: int) -> None:
    """Set up as a researcher: add and try an account, choose the study's recruitment, create a draft, publish it."""
    stack.launch_study(
        {
            "slug": slug,
            "title": f"Sharing {slug}",
            "game": "bargaining",
            "roles": ["alice"],
            "quota": places,
            "entry": "prolific",
            "agents": agents_from_specs("script:fair"),
            "turn_seconds": 3600,
        }
    )
    researching.sign_in(stack, page)
    page.set_default_timeout(PATIENCE)
    page.goto(f"{stack.url}/admin/marketplaces/account/add/")
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
    expect(page.locator("[name=places]")).to_have_value(str(places))
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_text("The draft is at Prolific")).to_be_visible()
    page.get_by_role("link", name="Publish …").click()
    expect(page.get_by_text("Workspace balance")).to_be_visible()
    assert next(iter(standin.market.studies.values()))["status"] == "UNPUBLISHED"
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_text("workers see it on Prolific now")).to_be_visible()


def play_in_browser(browser: Browser, standin: StandIn, *, phone: bool) -> None:
    """Find the study in Prolific's list as a worker, play, and return by the button."""
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
    walking.go_on(page)
    walking.answer_quiz(page, option="10%")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
    page.get_by_role("link", name="Back to Prolific").click()
    expect(page.get_by_role("heading", name="Your submission was noted.")).to_be_visible()
    context.close()


class Worker:
    """A worker without a browser, over HTTP."""

    def __init__(self, stack, standin: StandIn) -> None:
        self.stack, self.standin = stack, standin
        (study,) = standin.market.studies
        self.participant = new_id()
        link = standin.market.start(study, self.participant)
        self.submission: Submission = standin.market.of(study, self.participant)
        answer = httpx.get(link, timeout=60)
        assert answer.status_code == 302, answer.text
        self.path = urlsplit(answer.headers["location"]).path

    def walk(self, until: str) -> None:
        self.stack.call("tests.reaching.walk", self.path, until)

    def leave(self) -> None:
        httpx.post(f"{self.stack.url}{self.path}leave/", timeout=60)

    def see(self) -> str:
        """Load the worker's page, which must have a heading in every state."""
        answer = httpx.get(f"{self.stack.url}{self.path}", timeout=60)
        assert answer.status_code == 200 and "<h1" in answer.text
        return answer.text

    def go_back(self) -> None:
        """Follow the last page's button to the stand-in."""
        (address,) = re.findall(rf'href="({re.escape(self.standin.address)}/submissions/complete\?cc=\w+)"', self.see())
        httpx.get(address, cookies={"worker": self.participant}, timeout=60).raise_for_status()

    @property
    def state(self) -> str:
        return self.stack.call("tests.offering.state_of", self.path)


def ask_prolific(stack, page: Page, slug: str) -> None:
    page.goto(f"{stack.url}/admin/marketplaces/recruitment/")
    page.get_by_role("row").filter(has_text=f"Sharing {slug}").get_by_role("link").first.click()
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_text("The marketplace has answered")).to_be_visible()


def pay(stack, slug: str) -> dict:
    """Approve everything that is due and wait until nothing is in transit."""
    stack.call("tests.offering.approve_all", slug)
    until = time.monotonic() + PAID_WITHIN
    while time.monotonic() < until:
        found = stack.call("tests.offering.ledger", slug)
        if not {"approved", "sent"} & set(found["states"]):
            return found
        time.sleep(1)
    pytest.fail(f"not paid in time: {found}")


def expect_paid(stack, standin: StandIn, slug: str, ledger: dict) -> None:
    """Check that every cent of the ledger was paid at the stand-in once, and nothing else."""
    assert set(ledger["states"]) == {"confirmed"} and not ledger["wrong"]
    paid: Counter[str] = Counter()
    for _who, what, cents in standin.market.paid:
        paid[{"reward": "base"}.get(what, what)] += cents
    assert dict(paid) == ledger["cents"]
    times = Counter((who, what) for who, what, _cents in standin.market.paid)
    assert set(times.values()) == {1}


def expect_dataset(stack, standin: StandIn, slug: str, folder: Path, *, completed: int) -> None:
    """Check that the export has the completed games and nobody's identifiers."""
    stack.manage("export_dataset", slug, "--to", str(folder))
    stack.manage("verify_dataset", str(folder))
    everything = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file()).decode(errors="replace")
    for one in standin.market.submissions.values():
        assert one.id not in everything and one.participant not in everything
    assert TOKEN not in everything
    with (folder / "matches.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == completed
    with (folder / "payments.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(round(float(row["amount"]) * 100) for row in rows) == sum(
        stack.call("tests.offering.ledger", slug)["cents"].values()
    )


def expect_silence(stack, standin: StandIn) -> None:
    """Check that no log of the stack names a worker, a submission or the token."""
    logs = "".join(stack.log(name) for name in stack.services)
    assert TOKEN not in logs
    assert not any(one.id in logs or one.participant in logs for one in standin.market.submissions.values())


def test_two_workers_from_prolifics_list_to_payment(
    stack, page: Page, browser: Browser, standin: StandIn, tmp_path: Path
):
    slug = "prolific-two"
    offer(stack, page, standin, slug=slug, places=2)
    play_in_browser(browser, standin, phone=True)
    stuck = Worker(stack, standin)
    stuck.walk("failed_code_word")
    stuck.go_back()
    ask_prolific(stack, page, slug)
    page.get_by_role("link", name="Tasks and workers").click()
    expect(page.get_by_text("No differences")).to_be_visible()
    expect_paid(stack, standin, slug, pay(stack, slug))
    assert len(standin.market.paid) == 2
    expect_dataset(stack, standin, slug, tmp_path / "dataset", completed=1)
    expect_silence(stack, standin)


@pytest.mark.slow
def test_twenty_workers_in_every_state(stack, page: Page, browser: Browser, standin: StandIn, tmp_path: Path):
    slug = "prolific-twenty"
    offer(stack, page, standin, slug=slug, places=20)
    play_in_browser(browser, standin, phone=True)
    play_in_browser(browser, standin, phone=False)
    in_second = [str(state) for state in reaching.SECOND_VERSION]
    in_first = [str(state) for state in State if state not in in_second]
    in_first += ["completed"] * (18 - len(in_first) - len(in_second))
    workers = {}
    for number, ending in enumerate([*in_first, *in_second]):
        if ending == in_second[0]:
            stack.call("tests.reaching.launch_second_version", slug)
        worker = workers[f"{ending} {number}"] = Worker(stack, standin)
        worker.walk(ending)
        if ending == "withdrew":
            worker.leave()
        if ending == "returned":
            standin.market.give_back(worker.submission.id)
    standin.misbehave("error", "submissions/$")
    page.goto(f"{stack.url}/admin/marketplaces/recruitment/")
    ask_until_answered(stack, page, slug)
    reached = {name: worker.state for name, worker in workers.items()}
    assert {name: name.split()[0] for name in reached} == reached
    assert set(reached.values()) == set(State.values)
    assert len(standin.market.submissions) == 20
    for worker in workers.values():
        worker.see()
        if worker.state in ENDED and worker.state != "returned":
            worker.go_back()
    late = next(worker for name, worker in workers.items() if name.startswith("quiz"))
    standin.market.complete(late.submission.id, "NOCODE")
    ask_prolific(stack, page, slug)
    page.get_by_role("link", name="Tasks and workers").click()
    expect(page.get_by_text("Submitted on Prolific, and has not finished here.")).to_be_visible()
    assert not any(
        one.participant in page.content() or one.id in page.content() for one in standin.market.submissions.values()
    )

    ledger = pay(stack, slug)
    expect_paid(stack, standin, slug, ledger)
    finished = 2 + list(reached.values()).count("completed")
    # Completed, opponent failed and partner left: base and bonus; failed quiz and no partner: base.
    assert len(standin.market.paid) == 2 * (finished + 2) + 2
    expect_dataset(stack, standin, slug, tmp_path / "dataset", completed=finished)
    expect_silence(stack, standin)


def ask_until_answered(stack, page: Page, slug: str) -> None:
    """Request the data while the API fails, which the page reports, and then again with success."""
    page.goto(f"{stack.url}/admin/marketplaces/recruitment/")
    page.get_by_role("row").filter(has_text=f"Sharing {slug}").get_by_role("link").first.click()
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_text("Prolific has a problem of its own (500).").first).to_be_visible()
    expect(page.get_by_text("nothing is lost").first).to_be_visible()
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_text("The marketplace has answered")).to_be_visible()
