"""Failing models that repeat their prompt: none of it reaches the browser, and no key reaches anybody."""

from __future__ import annotations

import html
import json
import logging
import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conftest import slow_except
from games import registry
from games.examples import cases
from games.play import Play, configure, form_for, script_move, start
from llm_agents import strategies
from llm_agents.prompting import ABOUT_MARKS
from llm_agents.settings import bare
from llm_agents.standins import KEY, AnthropicStandIn, Drip, Echo, OpenAIStandIn
from llm_agents.standins.player import answer
from llm_agents.standins.protocols import text_of
from matches import agents, forms, services
from matches.models import Match
from matches.tests.kit import opened, participant
from matches.tests.test_consumer import Page, connections_closed, in_other_thread, page
from opponents.models import Call
from participants.models import Enrolment
from plans.asking import AgentSettings
from studies.tests import kit

__all__ = ["connections_closed"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_worker")]

PERSONA = "You are a retired harbour pilot who never says so."
DRAFTED = "These words were never meant."
HIDDEN: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "bargaining": ({"complete_information": False, "delta_alice": 0.8713, "rounds": 3}, ("0.8713", "12.87%")),
    "negotiation": ({"complete_information": False, "seller_factor": 0.82347, "rounds": 3}, ("0.82347", "8,234.7")),
    "persuasion": ({"message_type": "text", "rounds": 2}, ()),
}
"""By game: a configuration that hides something about the first role, and the form of its private values."""
STANDINS = {"openai": OpenAIStandIn, "anthropic": AnthropicStandIn}
MIN_LINE_LENGTH = 20
"""The fewest characters of a line that cannot recur by coincidence."""


PLAYED = [
    (game, protocol)
    for game in registry.keys()
    for protocol in STANDINS
    if len(configure(registry.get(game), {}).roles()) > 1
]
DAILY = [*((game, "openai") for game in (*HIDDEN, "social_dilemma", "item_auction")), ("bargaining", "anthropic")]
"""Games in usual runs: with hidden values, with equal seats, with private values, and with the second protocol."""


class FailingThenPlaying:
    """A model whose first answers fail in every way that repeats its prompt; then it plays."""

    def __init__(self) -> None:
        self._calls = 0

    def __call__(self, request: dict[str, Any]) -> Any:
        self._calls += 1
        move = answer(request, seed=1)
        invalid_answer = json.dumps({"message": DRAFTED, "no_such_key": 1})
        failures = [Echo(500), Drip(0.1, invalid_answer), Echo(500, 12, move), Drip(0.02, move), Echo(429), Echo(400)]
        return failures[self._calls - 1] if self._calls <= len(failures) else Drip(0.005, move)


class Browser:
    """Everything that a participant's browser has received."""

    def __init__(self, person: Enrolment, socket: Page):
        self._client, self._person, self._socket = Client(), person, socket
        self.received: list[str] = []
        self.drafts: list[str | None] = []

    async def fetch(self) -> None:
        """Fetch by socket, over HTTP and as a whole page."""
        for message in await self._socket.settled():
            self.received.append(json.dumps(message, ensure_ascii=False))
            if message["type"] == "draft":
                self.drafts.append(message["text"])
        path = self._person.get_absolute_url()
        for address, headers in ((path, {}), (f"{path}match", {"accept": "application/json"})):
            response = await in_other_thread(self._client.get, address, headers=headers)
            assert response.status_code == 200
            self.received += [response.content.decode(), repr(response.headers), repr(self._client.cookies)]

    async def move(self, fields: dict[str, str], *, by_socket: bool) -> None:
        if by_socket:
            await self._socket.move(**fields)
        else:
            path = f"{self._person.get_absolute_url()}match"
            response = await in_other_thread(self._client.post, path, fields, headers={"accept": "application/json"})
            self.received.append(response.content.decode())

    def text(self) -> str:
        """Return everything as readable text and as received."""
        raw = "\n".join(self.received)
        readable = html.unescape(re.sub(r"<[^>]*>", " ", raw.replace("\\n", " ").replace('\\"', '"')))
        return f"{raw}\n{' '.join(readable.split())}"


def short(game: str) -> dict[str, Any]:
    """Return a configuration for several players; the contract's examples are shorter than the default."""
    configs = (case.config for case in cases(game)[1:] if len(case.game.roles()) > 1)
    return next(configs, {})


def seated(game: str, protocol: str) -> tuple[Enrolment, Match, str, str]:
    """Return (participant, match, their role, the model's role); the model moves first, with visible typing."""
    config = HIDDEN[game][0] if game in HIDDEN else short(game)
    model_role, person_role, *other_roles = configure(registry.get(game), config).roles()
    settings = AgentSettings(
        appears="typed", persona=PERSONA, strategy="chain_of_thought", script=registry.get(game).default_script,
        tries_after_first=2, retries=3, call_seconds=60, limit_seconds=300,
    )  # fmt: skip
    person, model = participant(), services.Player(agent=f"{protocol}:m", settings=settings)
    players = {model_role: model, person_role: person, **dict.fromkeys(other_roles, "script:random")}
    return person, opened(players, game=game, config=config, seed=3), person_role, model_role


def visible_to(play: Play, match: Match, role: str) -> str:
    """Return what a model in the participant's role would be sent: the rules, the view and the question."""
    askings = [strategies.asking(play, role, bare(strategy=name)) for name in ("plain", "fresh")]
    conversations = [strategies.messages(asking, match.log()) for asking in askings]
    return "\n".join(message["content"] for conversation in conversations for message in conversation)


def lines_hidden_from_participant(requests: list[dict[str, Any]], readable: str) -> set[str]:
    """Return the lines sent to a model that the participant may not read, without players' and the model's own text."""
    texts = [text_of(request.get("system")) for request in requests]
    texts += [text_of(m["content"]) for request in requests for m in request["messages"] if m["role"] != "assistant"]
    lines = {" ".join(line.split()) for text in texts for line in text.splitlines() if "<message" not in line}
    return {line for line in lines if len(line) >= MIN_LINE_LENGTH and line not in " ".join(readable.split())}


@pytest.mark.parametrize(("game", "protocol"), slow_except(PLAYED, DAILY))
async def test_no_prompt_key_or_private_value_reaches_the_browser(monkeypatch, caplog, game: str, protocol: str):
    caplog.set_level(logging.DEBUG)
    person, match, role, model_role = await in_other_thread(seated, game, protocol)
    readable, turns = list[str](), 0
    with STANDINS[protocol](FailingThenPlaying(), key=KEY) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        async with page(person) as socket:
            browser = Browser(person, socket)
            while True:
                await browser.fetch()
                await in_other_thread(match.refresh_from_db)
                play = await in_other_thread(match.play)
                readable.append(await in_other_thread(visible_to, play, match, role))
                if play.over:
                    break
                waiting = play.waiting_for()
                if role in waiting:
                    turns += 1
                    move = script_move(play, role, "random")
                    fields = forms.as_posted(form_for(play.forms(role), move).model, move)
                    confirmed = {"answering": str(play.opened[role]), forms.CONFIRMED: "yes", **fields}
                    await browser.move(confirmed, by_socket=turns % 2 == 1)
                    await browser.fetch()
                for awaited_role in waiting:
                    if awaited_role != role:
                        await in_other_thread(
                            agents.answer_turn,
                            match_uid=match.uid,
                            role=awaited_role,
                            answering=play.opened[awaited_role],
                        )
        requests = standin.requests
    received = browser.text()
    only_for_models = lines_hidden_from_participant(requests, "\n".join(readable))
    private = HIDDEN.get(game, ({}, ()))[1]
    assert PERSONA in only_for_models
    assert not private or any(value in line for value in private for line in only_for_models)
    assert [line for line in only_for_models if line in received] == []
    assert [value for value in (KEY, KEY[:12], ABOUT_MARKS[-60:], *private) if value in received] == []
    assert "Authorization" not in received and "Could not answer" not in received
    if "message" in forms.text_fields(start(match.configured(), match.seed)[0].forms(model_role)):
        assert any(DRAFTED.startswith(text) for text in browser.drafts if text), "drafts were checked too"
    assert KEY not in caplog.text and PERSONA not in caplog.text
    await in_other_thread(check_staff, match, requests)


def check_staff(match: Match, requests: list[dict[str, Any]]) -> None:
    """Users who may read prompts still see no key on any page or in any record."""
    calls = list(Call.objects.filter(match_uid=match.uid))
    assert len(calls) == len(requests)
    errors = [call.record["error"] for call in calls if call.record["error"]]
    assert len(errors) >= 2 and all("[key]" in error for error in errors)
    assert KEY[:12] not in json.dumps([call.record for call in calls])
    client = Client()
    kit.administrator(client)
    pages = [reverse("admin:matches_match_change", args=[match.pk]), reverse("admin:opponents_call_changelist")]
    pages += [reverse("admin:opponents_call_change", args=[call.pk]) for call in calls]
    for address in pages:
        response = client.get(address)
        assert response.status_code == 200
        assert KEY[:12].encode() not in response.content
