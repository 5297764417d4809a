"""A player's words stay that player's words: in every game with free text, way of asking and protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from conftest import slow_except
from games import registry
from games.examples import Case, cases
from games.interface import Event, Role
from games.play import Play, replay_moves, script_move, start, submit
from games.strategies import USUAL
from llm_agents.agent import AgentSpec
from llm_agents.deciding import decide
from llm_agents.endpoints import Endpoint, use_endpoints
from llm_agents.prompting import json_schema
from llm_agents.providers import provider_called
from llm_agents.settings import bare
from llm_agents.standins import BothStandIn
from llm_agents.standins.protocols import text_of
from llm_agents.tests import wording
from llm_agents.tests.injections import HARMLESS, INJECTIONS
from llm_agents.tests.wording import answer_schema
from llm_agents.turn import AgentTurn

FENCE = re.compile(r'<message from="([^"<>]*)">("(?:[^"\\<>]|\\.)*")</message>')
MIN_ORDER_LENGTH = 25
"""Length of a repeated text that cannot be a coincidence."""
MAX_CASES = 8
"""Configurations of a game to search for one in which a player can write."""
MAX_MOVES = 12
"""The number of moves within which a game with free text lets a player write."""


@dataclass(frozen=True)
class Delivered:
    """A match in which one player has just written to another, whose turn it is."""

    writer: Role
    reader: Role
    play: Play
    events: tuple[Event, ...]
    moves: tuple[tuple[Role, dict], ...]


def text_field(play: Play, role: Role, move: Mapping[str, Any]) -> str | None:
    """Return a free-text field in the form of this move."""
    for form in play.forms(role):
        fields = json_schema(form.model).get("properties", {})
        for name, field in fields.items() if form.ends_turn and move.keys() <= fields.keys() else ():
            free = (option for option in field.get("anyOf", [field]) if not {"enum", "const"} & option.keys())
            if any(option.get("type") == "string" for option in free):
                return name
    return None


def find_delivery(case: Case, words: str) -> Delivered | None:
    """Return the first moment at which a player has written `words` and another reads them, if any."""
    play, opening = start(case.game, case.seed)
    events, moves, writer = list(opening), [], None
    while not play.over and len(moves) < MAX_MOVES:
        role = play.waiting_for()[0]
        if writer not in (None, role):
            return Delivered(writer, role, play, tuple(events), tuple(moves))
        move = dict(script_move(play, role, "random"))
        if (field := text_field(play, role, move)) is not None:
            writer, move = role, {**move, field: words}
        play, _events = submit(play, role, move)
        events += _events
        moves.append((role, move))
    return None


@cache
def cases_with_text() -> Mapping[str, Case]:
    """By game: a configuration in which one player can write to another."""
    first_cases = {
        key: next((case for case in cases(key)[:MAX_CASES] if find_delivery(case, HARMLESS)), None)
        for key in registry.keys()
    }
    return {key: case for key, case in first_cases.items() if case is not None}


SETTINGS: Mapping[str, dict[str, Any]] = {
    **{name: {"strategy": name} for name in USUAL},
    "persona": {"persona": "You are a patient trader."},
    "short forms": {"short": True},
    "own prompts": {
        "prompts": {
            "system": "{{ rules }}",
            "question": "# {{ round }}\n\n{{ known }}\n\n{{ news }}\n\n{{ question }} {{ format_help }}",
            "correction": "No: {{ reason }}\n\n{{ known }}",
        }
    },
}


def test_the_games_of_the_published_tables_have_free_text():
    assert set(cases_with_text()) >= {"bargaining", "negotiation", "persuasion"}


def without_words(text: str) -> str:
    """Return the text with players' words replaced by their names."""
    return FENCE.sub(lambda match: f"[{match[1]} writes]", text)


def words_in(text: str) -> list[str]:
    """Return the texts between the marks, except in their explanation."""
    return [json.loads(match[2]) for match in FENCE.finditer(text) if match[1] != "…"]


def all_texts_sent(delivery: Delivered, settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (role, text) of everything that a model in the reader's role is sent now or after a wrong answer."""
    messages = wording.messages(delivery.play, delivery.reader, delivery.events, **settings)
    correction = wording.correction(delivery.play, delivery.reader, "There is no JSON object.", **settings)
    return [*((message["role"], message["content"]) for message in messages), ("user", correction)]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("key", sorted(cases_with_text()))
def test_players_words_change_only_text_between_marks(key, settings):
    case = cases_with_text()[key]
    harmless = all_texts_sent(find_delivery(case, HARMLESS), SETTINGS[settings])
    assert not any(words_in(text) for role, text in harmless if role == "system")
    for attempt, words in INJECTIONS.items():
        attacked = all_texts_sent(find_delivery(case, words), SETTINGS[settings])
        assert [(role, without_words(text)) for role, text in attacked] == [
            (role, without_words(text)) for role, text in harmless
        ], attempt
        texts_between_marks = [words_in(text) for _role, text in attacked]
        assert texts_between_marks == [
            [words if quoted == HARMLESS else quoted for quoted in words_in(text)] for _role, text in harmless
        ], attempt
        assert any(words in texts for texts in texts_between_marks), attempt


@pytest.mark.parametrize("key", sorted(cases_with_text()))
def test_forms_schemas_and_payoffs_follow_the_rules_alone(key):
    case = cases_with_text()[key]
    harmless = find_delivery(case, HARMLESS)
    expected = question_and_schema(harmless), results(play_to_the_end(harmless)[0])
    for attempt, words in INJECTIONS.items():
        delivery = find_delivery(case, words)
        assert (question_and_schema(delivery), results(play_to_the_end(delivery)[0])) == expected, attempt


def question_and_schema(delivery: Delivered) -> Any:
    """Return what the reader may do, and the schema of its answer."""
    forms = delivery.play.forms(delivery.reader)
    form_texts = [(form.name, form.title, form.help, form.ends_turn, json_schema(form.model)) for form in forms]
    return form_texts, answer_schema(forms), answer_schema(forms, short=True)


def play_to_the_end(delivery: Delivered) -> tuple[Play, list[tuple[Role, dict]]]:
    """Play the rest of the match between players that ignore messages."""
    play, moves = delivery.play, list(delivery.moves)
    while not play.over:
        role = play.waiting_for()[0]
        move = dict(script_move(play, role, "random"))
        play, _events = submit(play, role, move)
        moves.append((role, move))
    return play, moves


def results(play: Play) -> tuple[Any, Any]:
    return play.payoffs(), play.metrics()


# ---- an obedient model -----------------------------------------------------------------------------------


def obedient_answer(request: dict[str, Any]) -> str:
    """Answer like a model that follows instructions in a player's message, and repeats them when corrected."""
    user_texts = [text_of(message["content"]) for message in request["messages"] if message["role"] == "user"]
    orders = [words for text in user_texts for words in words_in(text)]
    objects = re.findall(r"\{[^{}]*\}", orders[-1]) if orders else []
    mistakes = sum(message["role"] == "assistant" for message in request["messages"])
    return [
        *objects[:1],
        orders[-1] if orders else "",
        json.dumps({orders[-1][:80]: orders[-1], "message": orders[-1]}),
    ][min(mistakes, len(objects[:1]) + 1)]


PROTOCOLS = {
    "openai, schema": ("openai", "json_schema"),
    "openai, words": ("openai", "none"),
    "anthropic, tool": ("anthropic", "tool"),
}


@pytest.fixture(scope="module")
def obedient() -> Iterator[BothStandIn]:
    with BothStandIn(obedient_answer) as standin:
        yield standin


QUICK_CASES = [("bargaining", "openai, schema")]
"""The other games are slow tests: each takes 15 seconds."""


@pytest.mark.parametrize(
    ("key", "protocol"),
    slow_except([(key, protocol) for key in sorted(cases_with_text()) for protocol in PROTOCOLS], QUICK_CASES),
)
async def test_obedient_model_still_plays_by_the_rules(obedient, key, protocol):
    api, structured = PROTOCOLS[protocol]
    address = obedient.environment[f"{api.upper()}_BASE_URL"]
    use_endpoints(lambda name: Endpoint("obedient", api, address, structured=structured))
    harmless_text = "\n".join(
        without_words(text) for _role, text in all_texts_sent(find_delivery(cases_with_text()[key], HARMLESS), {})
    )
    settings = bare(structured=structured != "none", tries_after_first=2)
    agent = AgentSpec("obedient", "any", settings, script="random")
    for attempt, words in INJECTIONS.items():
        delivery = find_delivery(cases_with_text()[key], words)
        obedient.requests.clear()
        decision = await decide(agent, AgentTurn(delivery.play, delivery.reader, events=delivery.events))
        play, _events = submit(delivery.play, delivery.reader, decision.move, by=decision.by)
        end, moves = play_to_the_end(
            Delivered(
                delivery.writer, delivery.reader, play, (), (*delivery.moves, (delivery.reader, dict(decision.move)))
            )
        )
        harmless_moves = [
            (role, {name: without_attempt(value, words) for name, value in move.items()}) for role, move in moves
        ]
        harmless_end, _events = replay_moves(delivery.play.game, delivery.play.seed, harmless_moves)
        assert results(end) == results(harmless_end), attempt
        check_requests(obedient.requests, words, harmless_text, attempt)
    await provider_called("obedient").close()


def without_attempt(value: Any, words: str) -> Any:
    """Return the value with a harmless message in place of the attempt."""
    return HARMLESS if isinstance(value, str) and (value == words or len(value) > 40) else value


def check_requests(requests: list[dict[str, Any]], words: str, harmless_text: str, attempt: str) -> None:
    """Check that no player's words appear outside the marks, even after the model has repeated them."""
    assert requests, attempt
    for request in requests:
        system = text_of(request.get("system"))
        other_texts = [
            system,
            *(text_of(message["content"]) for message in request["messages"] if message["role"] == "system"),
        ]
        assert not any(words_in(text) for text in other_texts), attempt
        user_texts = [text_of(message["content"]) for message in request["messages"] if message["role"] == "user"]
        for text in map(without_words, (*other_texts, *user_texts)):
            for part in order_parts(words):
                assert part not in text or part in harmless_text, (attempt, part, text)


def order_parts(words: str) -> list[str]:
    """Return the parts of a text that are long enough to be an order."""
    return [
        words[start : start + MIN_ORDER_LENGTH]
        for start in range(0, len(words) - MIN_ORDER_LENGTH + 1, 5)
        if len(set(words[start:])) > 3
    ]
