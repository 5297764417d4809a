"""In a blind match, nothing that reaches a participant depends on what kind of player sits in the other seats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import pytest
from django.test import Client

from conftest import slow_except
from games import registry
from games.examples import cases
from games.play import Play, configure, script_move
from llm_agents.standins import KEY, OpenAIStandIn
from matches import agents, announce, channels, screens, services
from matches.pacing import LONGEST, SHORTEST
from matches.tests.kit import participant
from opponents.agents import Agent
from participants.models import Enrolment
from participants.states import State
from plans.asking import AgentSettings

pytestmark = pytest.mark.django_db(transaction=True)

MODEL, FAILING = "openai:m", "openai:failing"
STEPS = 24
"""The most moves that are compared."""
KINDS = ("person", "model", "script", "failing model", "stand-in", "late stand-in", "filling in")
LATE = 3
"""The number of moves after which the late stand-in takes over."""
_CLOCK = re.compile(r'data-remaining="\d+"|<strong>\d+ seconds</strong>')
TOLD = {"others": "none", "longest_answer": 500}


@dataclass
class Seen:
    """What one participant's browser received, and when the others answered.

    Attributes:
        received: frames, messages and pages, in order.
        delays: the seconds until each answer of the other seat, by the event it answers; empty for a person.
    """

    received: list[str] = field(default_factory=list)
    delays: dict[int, float] = field(default_factory=dict)


class Table:
    """A match of `watcher`, with a player of some kind in one `other` seat and people in all others."""

    def __init__(self, game: str, config: dict[str, Any], watcher: str, other: str, kind: str):
        self.game, self.config, self.watcher, self.other, self.kind = game, config, watcher, other, kind
        self.seen = Seen()
        self.script = registry.get(game).default_script
        self.move: dict[str, Any] = {}

    def play(self) -> Seen:
        """Play with the script's moves in every seat."""
        self._open()
        self._look(page=True)
        for step in range(STEPS):
            if (self.kind, step) in (("stand-in", 0), ("late stand-in", LATE)):
                services.leave(match_id=self.match.pk, role=self.other, reason=State.WITHDREW)
            play = self._current()
            if play.over:
                break
            for role in play.waiting_for():
                self._answer(self._current(), role)
                self._look()
        self._look(page=True)
        return self.seen

    def _open(self) -> None:
        roles = configure(registry.get(self.game), self.config).roles()
        players = {role: services.Player(enrolment=_person(role), step=0) for role in roles}
        self.token = players[self.watcher].enrolment.token
        if agent := self._agent():
            players[self.other] = agent
        standin = Agent(spec=f"script:{self.script}").frozen()
        timers = {"told": TOLD, "turn_seconds": 300, "on_timeout": "agent", "standin": standin}
        self.match = services.open_match(game=self.game, config=self.config, players=players, seed=5, timers=timers)

    def _agent(self) -> services.Player | None:
        settings = AgentSettings(script=self.script, tries_after_first=0, retries=0, appears="typed")
        return {
            "model": services.Player(agent=MODEL, settings=settings),
            "failing model": services.Player(agent=FAILING, settings=settings, delay=40),
            "script": services.Player(agent=f"script:{self.script}"),
            "filling in": services.Player(agent=f"script:{self.script}", delay=3, fills_in=True),
        }.get(self.kind)

    def _current(self) -> Play:
        self.match.refresh_from_db()
        return self.match.play()

    def _answer(self, play: Play, role: str) -> None:
        if role not in play.waiting_for():
            return
        self.move = script_move(play, role, self.script)
        if role in self.match.agents():
            agents.answer_turn(match_uid=self.match.uid, role=role, answering=play.opened[role])
        else:
            services.submit_move(match_id=self.match.pk, role=role, answering=play.opened[role], move=self.move)

    def _look(self, *, page: bool = False) -> None:
        """Look at the frame, and at the whole page."""
        self._current()
        self.keep("frame", screens.frame(self.match, self.watcher))
        if page:
            html = Client().get(f"/p/{self.token}/").content.decode()
            self.seen.received.append(_CLOCK.sub("", html.replace(self.token, "TOKEN")))

    def take(self, message: dict[str, Any]) -> None:
        """Take a message to all pages of the match, as the consumer of the watcher's page does."""
        if message["type"] == "match.moved":
            if self.watcher in message["frames"]:
                self.keep("moved", message["frames"][self.watcher] | {"clock": message["clock"]})
        elif message["type"] != "match.replaced" or self.watcher in message["roles"]:
            self.keep("message", message)

    def keep(self, kind: str, data: dict[str, Any]) -> None:
        without_times = {name: value for name, value in data.items() if name != "remaining"}
        self.seen.received.append(f"{kind} {json.dumps(without_times, sort_keys=True)}")


def _person(role: str) -> Enrolment:
    return participant(display_name=f"Kim {role}")


@pytest.fixture
def play_with(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Seen]]:
    """Return a function that plays a match and returns what the watcher saw; nobody waits for the delays."""
    tables: list[Table] = []
    delay_of = agents._delay

    def note_delay(question: agents.Question, outcome: Any) -> float:
        tables[-1].seen.delays[question.answering] = delay_of(question, outcome)
        return 0.0

    async def keep_draft(*_arguments: Any, people: list[str], **draft: Any) -> None:
        tables[-1].keep("draft", draft)

    def answer(request: dict[str, Any]) -> str:
        return json.dumps(tables[-1].move) if request["model"] == "m" else "I would rather not."

    monkeypatch.setattr(agents, "_delay", note_delay)
    monkeypatch.setattr(channels, "send_draft", keep_draft)
    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: None)
    monkeypatch.setattr(announce, "_send", lambda match, message: tables[-1].take(message) if tables else None)

    def play(*arguments: Any) -> Seen:
        tables.append(Table(*arguments))
        return tables[-1].play()

    with OpenAIStandIn(answer, key=KEY) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        yield play


def _seats() -> list[tuple[str, str, str]]:
    """Return (game, watcher, other seat) so that in every game each seat watches and is watched."""
    seats = []
    for game in registry.keys():
        roles = configure(registry.get(game), _config(game)).roles()
        if len(roles) > 1:
            seats += [(game, role, other) for role, other in zip(roles, [*roles[1:], roles[0]], strict=True)]
    return seats


def _config(game: str) -> dict[str, Any]:
    """Return a short configuration for several players."""
    return next((case.config for case in cases(game)[1:] if len(case.game.roles()) > 1), {})


@pytest.mark.every_case
@pytest.mark.parametrize(("game", "watcher", "other"), slow_except(_seats(), [("bargaining", "alice", "bob")]))
def test_every_kind_of_player_looks_alike(play_with, game: str, watcher: str, other: str):
    seen = {kind: play_with(game, _config(game), watcher, other, kind) for kind in KINDS}
    for kind in KINDS[1:]:
        for message, persons_message in zip_longest(seen[kind].received, seen["person"].received):
            assert message == persons_message, kind
    assert not seen["person"].delays
    schedule = seen["script"].delays
    assert all(SHORTEST <= delay <= LONGEST for delay in schedule.values())
    for kind in ("model", "failing model", "stand-in", "filling in"):
        assert seen[kind].delays == schedule, kind
    assert seen["late stand-in"].delays.items() <= schedule.items()
