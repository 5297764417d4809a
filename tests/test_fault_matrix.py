"""Services fail and people go offline, idle or leave: no page says anything false, and all work is paid.

Every second, the words on each person's screen are recorded beside what the database holds; afterwards
`fault_judge` compares them, and what everyone is paid with what they did. All 33 scenarios take about 40 minutes;
FAULT_SECONDS=5 or FAULT_SECONDS=30,90 selects durations.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import redis
from playwright.sync_api import Browser

from config.supervisor import StackError
from tests import fault_judge, fault_people
from tests.fault_people import FAULT_ROUND, Behaviour, Fault, Person
from tests.fault_record import Doing, Record, Seen, Terms

pytestmark = [pytest.mark.browser, pytest.mark.services, pytest.mark.faults, pytest.mark.slow, pytest.mark.timeout(600)]

STACKS = ("postgres",)
"""The database must be a server, so that it can be down."""
SECONDS = [int(seconds) for seconds in os.environ.get("FAULT_SECONDS", "5,30,90").split(",")]
RECORDS = os.environ.get("FAULT_RECORDS")
"""A folder in which every scenario's record is kept, to be judged again."""
TERMS = Terms(turn=20, extension=10, absence=40, grace=15, rounds=4, seats=5, people=4)
NAMES = ("Ann", "Ben", "Cem", "Dora")
PATIENCE = 120.0
"""Seconds after a fault within which everyone must have finished."""


class Table:
    """Four people of one study, the faults that strike them, and the record of it."""

    def __init__(self, stack, browser: Browser, slug: str, terms: Terms, **fields: object):
        self.stack, self.browser, self.slug = stack, browser, slug
        self.record, self.fault = Record(terms), Fault()
        self.people: list[Person] = []
        self.views: list[dict] = []
        self._down: str | None = None
        self._truth: dict[str, dict] = {}
        stack.call(
            "tests.meeting.launch_contest", slug, human_seats=terms.people,
            config={"players": terms.seats, "runs": terms.rounds, "history_depth": terms.rounds}, turn=terms.turn,
            extension=terms.extension, on_timeout=terms.on_timeout, base=str(terms.base), average=str(terms.average),
            rule="linear", rate=str(terms.rate), waiting_rate=str(terms.waiting_rate), absence=terms.absence,
            grace=terms.grace, **fields,
        )  # fmt: skip

    def seat(self, *behaviours: Behaviour, **options: object) -> list[Person]:
        """Let people arrive who read the instructions; none has opened the page yet."""
        paths = self.stack.call("tests.meeting.reach_instructions", self.slug, len(behaviours))
        for path, presses in zip(paths, behaviours, strict=True):
            number = len(self.people)
            place = {"path": path, "url": self.stack.url, "browser": self.browser}
            self.people.append(Person(NAMES[number], 10 * (number + 1), presses, **place, **options))
            self.record.doing[NAMES[number]] = Doing()
        return self.people[-len(behaviours) :]

    def tick(self) -> None:
        """Let a second pass: everyone looks, the truth is noted, everyone acts."""
        started_at = time.monotonic()
        views = [(person, time.time(), person.look()) for person in self.people]
        try:
            self._truth = self.stack.call("tests.meeting.truth", [person.path for person in self.people])
        except StackError:
            assert self._down == "database", "the database did not answer"
        self.views = [view for _person, _at, view in views]
        for person, at, view in views:
            self.record.seen.append(Seen(at, person.name, view, person.offline, self._truth[person.path]))
        for person, _at, view in views:
            person.act(view, self.fault)
        time.sleep(max(0.0, 1 - (time.monotonic() - started_at)))

    def until(self, condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < deadline, f"{self.slug}: not within {patience:.0f} s: {what}"
            self.tick()

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tick()

    def in_fault_round(self) -> bool:
        """Return whether everyone plays the fault's round and the prompt ones have answered."""
        truths = [self._truth.get(person.path) for person in self.people]
        if not all(truth and truth["match"] for truth in truths):
            return False
        match = truths[0]["match"]
        prompt = sum(person.presses is fault_people.promptly for person in self.people)
        return len(match["rounds"]) == FAULT_ROUND - 1 and len(match["waiting"]) == len(self.people) - prompt

    @contextmanager
    def fault_for(self, seconds: float) -> Iterator[None]:
        """Let a fault last this long."""
        self.fault.started = time.time()
        yield
        self.wait(seconds - (time.time() - self.fault.started))

    def stop_service(self, service: str, seconds: float) -> None:
        """Let a service be down for this long, and until it answers again."""
        with self.fault_for(seconds):
            self._down = service
            if service == "database":
                self.stack.postgres.halt()
            else:
                self.stack.kill(service)
                self.stack.halt(service)
        if service == "database":
            self.stack.postgres.resume()
        else:
            self.stack.restart(service)
        answers = ThreadPoolExecutor(1).submit(self._wait_until_served)
        self.until(answers.done, f"{service} answers again")
        self.fault.ended = answers.result()
        self._down = None
        self.record.outages.append((service, self.fault.started, self.fault.ended))

    def _wait_until_served(self) -> float:
        """Return when the web server, its database and Redis answered again."""
        with closing(redis.Redis.from_url(self.stack.redis_url, socket_timeout=1)) as client:
            while True:
                try:
                    if self.stack.is_healthy() and client.ping():
                        return time.time()
                except redis.RedisError:
                    pass
                time.sleep(0.1)

    def finish(self) -> None:
        """Play on until everyone has finished, and judge."""
        deadline = time.monotonic() + PATIENCE
        while not all(person.finished for person in self.people) and time.monotonic() < deadline:
            self.tick()
        self.wait(5)
        for person in self.people:
            away = [(start, end or time.time()) for start, end in person.away]
            self.record.doing[person.name] = Doing(person.pressed, away, person.left)
            person.context.close()
        if RECORDS:
            folder = Path(RECORDS)
            folder.mkdir(parents=True, exist_ok=True)
            kept = {name: value for name, value in dataclasses.asdict(self.record).items() if name[0] != "_"}
            text = json.dumps(kept, default=str)
            (folder / f"{self.slug}.json").write_text(text)
        findings = [*fault_judge.false_sentences(self.record), *fault_judge.unpaid_work(self.record)]
        assert not findings, "\n" + fault_judge.protocol(self.record, findings)


@pytest.fixture
def table(stack, browser: Browser, request: pytest.FixtureRequest) -> Callable[..., Table]:
    """Return a function that launches a study and returns its table."""

    def launch(terms: Terms = TERMS, **fields: object) -> Table:
        name = request.node.name.removeprefix("test_").replace("_", "-").replace("[", "-").rstrip("]")
        return Table(stack, browser, name[-50:].strip("-"), terms, **fields)

    return launch


IN_THE_ROUND = (
    fault_people.promptly,
    fault_people.when_it_is_over,
    fault_people.while_it_lasts,
    fault_people.just_before_the_limit,
)
"""One has answered, one has typed, one presses Send and gets no answer, one takes all the time there is."""


def play_to_fault(table: Table) -> None:
    for person in table.people:
        person.open()
    table.until(table.in_fault_round, "the round of the fault")
    table.wait(2)


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("service", ["web", "database", "redis", "worker"])
def test_outage_in_a_round(table, service: str, seconds: int):
    play = table()
    play.seat(*IN_THE_ROUND)
    play.people[0].finishes = False
    play_to_fault(play)
    play.stop_service(service, seconds)
    play.finish()


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("service", ["web", "database", "redis", "worker"])
def test_outage_before_the_game(table, service: str, seconds: int):
    """Two wait in the lobby, one reads the instructions, and one arrives during the fault."""
    play = table()
    *early, reader, latecomer = play.seat(*[fault_people.promptly] * 4)
    reader.may_start = False
    for person in (*early, reader):
        person.open()
    play.wait(6)
    reader.may_start = True
    latecomer.open_at = 2.0
    play.stop_service(service, seconds)
    play.finish()


@pytest.mark.parametrize("seconds", SECONDS)
def test_two_offline(table, seconds: int):
    play = table()
    _prompt, *cut_off, _slow = play.seat(*IN_THE_ROUND)
    play_to_fault(play)
    for person in cut_off:
        person.lose_connection()
    with play.fault_for(seconds):
        pass
    for person in cut_off:
        person.regain_connection()
    play.fault.ended = time.time()
    play.finish()


def test_offline_while_a_group_forms(table):
    """Three seats are for people: the place of the one who is offline may be given away, but never in secret."""
    play = table(dataclasses.replace(TERMS, people=3), wait=60)
    first, second, *others = play.seat(*[fault_people.promptly] * 4)
    first.open()
    second.open()
    play.wait(5)
    first.lose_connection()
    play.wait(10)
    for person in others:
        person.open()
    play.wait(20)
    first.regain_connection()
    play.finish()


@pytest.mark.parametrize("on_timeout", ["end", "agent"])
def test_two_idle(table, on_timeout: str):
    play = table(dataclasses.replace(TERMS, on_timeout=on_timeout), stand_in="script:rational")
    play.seat(fault_people.promptly, fault_people.promptly)
    play.seat(fault_people.never, fault_people.never, from_then_on=True)
    play_to_fault(play)
    play.finish()


@pytest.mark.parametrize("on_timeout", ["end", "agent"])
def test_one_leaves_and_one_closes_the_tab(table, on_timeout: str):
    play = table(dataclasses.replace(TERMS, on_timeout=on_timeout), stand_in="script:rational")
    _prompt, leaver, closer, _slow = play.seat(*IN_THE_ROUND)
    play_to_fault(play)
    play.fault.started = time.time()
    closer.walk_away()
    play.wait(8)
    closer.come_back()
    play.wait(2)
    leaver.leave()
    play.fault.ended = time.time()
    play.finish()


def test_back_after_a_program_has_played(table):
    play = table(dataclasses.replace(TERMS, on_timeout="agent", rounds=12), stand_in="script:rational")
    _prompt, _other, closer, _third = play.seat(*[fault_people.promptly] * 4)
    for person in play.people:
        person.open()
    play.until(lambda: all(view.get("round") == FAULT_ROUND for view in play.views), "the second round")
    closer.walk_away()
    play.wait(TERMS.absence + 8)
    closer.come_back()
    play.finish()
