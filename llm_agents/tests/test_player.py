"""The stand-in plays every game from the request alone, in both protocols and every way of asking."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Literal

import pytest
from pydantic import Field

from games import registry
from games.examples import Case, cases, cases_of
from games.interface import Form, Message, Move
from games.tests.toys import CLOCK_AUCTION_EXAMPLES, WELL_EXAMPLES, ClockAuction, Guessing, Well
from llm_agents.agent import AgentSpec
from llm_agents.endpoints import Endpoint, use_endpoints
from llm_agents.match import play_match
from llm_agents.prompting import task
from llm_agents.settings import bare
from llm_agents.standins import BothStandIn
from llm_agents.standins.player import GREETING, answer
from llm_agents.standins.questions import question_in

MODES = {
    "in text": ("openai", {}, "none"),
    "in text, fenced": ("anthropic", {"strategy": "fresh"}, "none"),
    "by schema": ("openai", {"structured": True}, "json_schema"),
    "any object": ("openai", {"structured": True}, "json_object"),
    "as a tool": ("openai", {"structured": True, "strategy": "chain_of_thought"}, "tool"),
    "as a tool of Anthropic": ("anthropic", {"structured": True, "short": True}, "tool"),
    "reasoning, short": ("anthropic", {"strategy": "chain_of_thought", "short": True}, "none"),
}
TOYS = (
    *cases_of(ClockAuction, CLOCK_AUCTION_EXAMPLES)[:2],
    Case(Guessing, {"runs": 2}),
    Case(Well, {"periods": 2}, examples=WELL_EXAMPLES),
)
ALL = [*(case for key in registry.keys() for case in cases(key)), *TOYS]
FIRST = [*(cases(key)[0] for key in registry.keys()), *TOYS]
OF_EACH_KIND = [cases("bargaining")[0], cases("item_auction")[0], cases("social_dilemma")[0], *TOYS]
PERIODS = 2
WITHIN_LENGTH = ("stop_after", "scored_periods")
"""Parameters that must not exceed the length of the match."""


def shortened(case: Case) -> Case:
    """Return the configuration with fewer rounds, if the calls would take long."""
    config = case.game.config.model_dump()
    length = "periods" if "periods" in config else "rounds"
    if (length in config and config[length] is None) or config.get(length, 0) > PERIODS:
        parameters = {key: value for key, value in case.config.items() if key not in WITHIN_LENGTH}
        return Case(type(case.game), {**parameters, length: PERIODS}, case.seed)
    return case


@pytest.mark.parametrize(
    ("mode", "cases_played"),
    [
        *[pytest.param(mode, OF_EACH_KIND, id=mode) for mode in MODES],
        pytest.param("in text", FIRST, id="every game"),
        *[pytest.param(mode, ALL, id=f"everything, {mode}", marks=pytest.mark.slow) for mode in MODES],
    ],
)
def test_it_plays_every_game_legally_to_its_end(mode, cases_played):
    protocol, spec_options, structured = MODES[mode]
    calls = []
    with BothStandIn(lambda request: answer(request, seed=3, prose="fenced" in mode), keeps_requests=False) as standin:
        address = standin.environment[f"{protocol.upper()}_BASE_URL"]
        use_endpoints(lambda name: Endpoint("stand-in", protocol, address, structured=structured))
        for case in map(shortened, cases_played):
            spec = AgentSpec("stand-in", "stand-in", bare(**spec_options))
            match = play_match(case.game, case.seed, dict.fromkeys(case.game.roles(), spec))
            assert match.failed is None, (str(case), match.failed)
            assert match.play.finished
            calls += match.calls
    problems = [call.problem for call in calls if call.problem]
    assert len(problems) <= len(calls) / 20, problems


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(set(registry.keys()) - {"scheduling"}))
def test_it_plays_sensibly_with_people(key):
    """Two stand-ins do not lose on average of 30 matches, in any of the game's own configurations with equal chances.

    Scheduling is excluded: an uninformed plan scores 0 on average, and often less.
    """
    game = shortened(cases(key)[0]).game
    spec = AgentSpec("stand-in", "stand-in")
    matches = []
    for draws in (1, 2, 3):
        with BothStandIn(partial(answer, seed=draws), keeps_requests=False) as standin:
            address = standin.environment["OPENAI_BASE_URL"]
            use_endpoints(lambda name, address=address: Endpoint("stand-in", "openai", address))
            matches += [play_match(game, seed, dict.fromkeys(game.roles(), spec)) for seed in range(10)]
    payoffs = [payoff for match in matches for payoff in match.play.payoffs().values()]
    assert sum(payoffs) >= 0


def request_with(*texts: str, **further_fields) -> dict:
    return {"messages": [{"role": "user", "content": text} for text in texts], **further_fields}


class Plan(Move):
    items: Annotated[int, Field(ge=1)]


class Everything(Move):
    name: Annotated[str, Field(max_length=20, title="A (short) name", description="Say “x), y” or nothing")]
    share: Annotated[float, Field(gt=0, lt=1)]
    pieces: Annotated[int, Field(ge=10, le=500, multiple_of=10)]
    ranking: Annotated[list[Annotated[int, Field(ge=2, le=3)]], Field(min_length=2, max_length=4)]
    plan: Plan
    prices: dict[str, Annotated[float, Field(ge=0)]]
    kind: Literal["a) or, null", "b"]
    always: Literal["so"]
    certain: bool
    bid: Annotated[int, Field(ge=3)] | None
    message: Message = None


@pytest.mark.parametrize("seed", range(12))
def test_it_fills_in_every_kind_of_field(seed):
    form = Form("everything", "Everything", Everything)
    for request in (
        request_with(task([form])),
        request_with("Go.", response_format={"json_schema": {"schema": Everything.model_json_schema()}}),
        request_with("Go.", tools=[{"name": "move", "input_schema": Everything.model_json_schema()}]),
        request_with("Go.", tools=[{"function": {"name": "move", "parameters": Everything.model_json_schema()}}]),
    ):
        Everything.model_validate_json(answer(request, seed=seed))


def test_question_text_is_read_back_as_its_schema():
    (schema,) = question_in(request_with(task([Form("everything", "Everything", Everything)]))).schemas
    assert list(schema["properties"]) == list(Everything.model_fields)
    assert set(Everything.model_fields) - set(schema["required"]) == {"message"}
    assert schema["properties"]["ranking"] == {
        "type": "array", "items": {"type": "integer", "minimum": 2, "maximum": 3}, "minItems": 2, "maxItems": 4,
    }  # fmt: skip
    assert schema["properties"]["kind"] == {"enum": ["a) or, null", "b"]}
    assert schema["properties"]["bid"] == {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}


def test_it_prefers_forms_that_end_its_turn():
    class Note(Move):
        note: str

    forms = [Form("note", "Note", Note, ends_turn=False), Form("plan", "Plan", Plan)]
    for seed in range(8):
        assert json.loads(answer(request_with(task(forms)), seed=seed)).keys() == {"items"}


def test_players_words_are_not_read_as_question_or_amount():
    imitation = 'JSON object with these keys and no others:\\n- \\"bribe\\" (number) $3 sum to $1'
    words = f'<message from="bob">"{imitation}"</message>'
    request = request_with(f"{words}\n\n{task([Form('plan', 'Plan', Plan)])}")
    assert json.loads(answer(request)).keys() == {"items"}
    assert "bribe" not in question_in(request).text and "$" not in question_in(request).text


def test_corrections_are_respected():
    class Pay(Move):
        amount: float

    question = task([Form("pay", "Pay", Pay)])
    first = json.loads(answer(request_with(f"You have $900.\n\n{question}")))["amount"]
    assert first > 500
    corrected = request_with(
        f"You have $900.\n\n{question}", "Your answer was not accepted. Pay at least $5 and at most $20."
    )
    assert 5 <= json.loads(answer(corrected))["amount"] <= 20


def test_losses_are_declined():
    class Answer(Move):
        decision: Literal["accept", "reject"]

    question = task([Form("answer", "Answer", Answer)])
    for seed in range(10):
        losing = request_with(f"The offer:\n- If you accept: you would lose $5\n\n{question}")
        small_share = request_with(f"The offer:\n- You would get: $100\n- Bob would get: $900\n\n{question}")
        for request in (losing, small_share):
            assert json.loads(answer(request, seed=seed)) == {"decision": "reject"}


def test_answers_follow_from_seed_request_and_time():
    request = request_with(task([Form("everything", "Everything", Everything)]))
    assert answer(request, seed=1) == answer(request, seed=1)
    assert len({answer(request, seed=seed) for seed in range(5)}) > 1
    assert len({answer(request, occurrence=time) for time in range(5)}) > 1


def test_requests_without_a_move_get_a_greeting():
    assert answer(request_with("Reply with the single word: ready")) == GREETING
