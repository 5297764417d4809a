"""Strategies of games: remarks beside a move, and extra calls before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from games.errors import Refused
from games.interface import Turn
from games.play import configure, start, submit
from games.strategies import Question, Remark, Strategy, of
from games.tests.toys import Well
from llm_agents.agent import AgentSpec
from llm_agents.deciding import decide
from llm_agents.match import play_match
from llm_agents.providers import provider_called
from llm_agents.settings import bare
from llm_agents.standins import AnthropicStandIn, OpenAIStandIn
from llm_agents.turn import AgentTurn


class Planned(Well):
    """The toy game with its note as a plan on request, made before the first move and again after the second."""

    def turn(self, state):
        turn = super().turn(state)
        if turn is None:
            return None
        forms = tuple(form if form.ends_turn else replace(form, on_request=True) for form in turn.forms["keeper"])
        return Turn({"keeper": forms})


STRATEGIES = {
    "published": Strategy(
        "With remarks.",
        remarks=lambda game, state, role: (
            Remark("understanding", "the game in your own words", first=True),
            Remark("guess", "what flows in", kind="number"),
        ),
    ),
    "planner": Strategy(
        "Plans first.",
        layout="fresh",
        reasons=True,
        modules=(
            Question("plan", "note", when=lambda game, state, role: not state.yields and not state.notes,
                     words=lambda game, state, role: "What is your plan?"),
            Question("replan", "note", when=lambda game, state, role: len(state.yields) == 2 and len(state.notes) == 1,
                     words=lambda game, state, role: "And now?", recalls=("plan", "replan")),
        ),
        move=Question(recalls=("plan", "replan"),
                      keeps=lambda game, earlier, now, role: len(earlier.yields) // 2 == len(now.yields) // 2),
    ),
}  # fmt: skip


def use_standin(monkeypatch, standin) -> None:
    for name, value in standin.environment.items():
        monkeypatch.setenv(name, value)


def user_texts_in(request) -> list[str]:
    return [message["content"] for message in request["messages"] if message["role"] == "user"]


def test_a_game_has_the_usual_strategies_and_its_own():
    assert {"plain", "chain_of_thought", "tools", "published", "planner"} <= set(of(Planned))
    assert "published" not in of(Well)


@pytest.mark.parametrize(("standin", "kind"), [(OpenAIStandIn, "openai"), (AnthropicStandIn, "anthropic")])
@pytest.mark.parametrize("structured", [True, False])
async def test_remarks_are_asked_for_and_kept_apart_from_the_move(monkeypatch, standin, kind, structured):
    raw = '{"understanding": "Pump.", "amount": 3, "guess": "about 7"}'
    play, events = start(configure(Planned, {}), 1)
    spec = AgentSpec(kind, "m", bare(strategy="published", structured=structured))
    with standin([raw]) as service:
        use_standin(monkeypatch, service)
        decision = await decide(spec, AgentTurn(play, "keeper", events=events))
        await provider_called(kind).close()
        (request,) = service.requests
    assert decision.move == {"amount": 3} and decision.tries == 1
    assert decision.calls[0].remarks == {"understanding": "Pump.", "guess": "about 7"}
    assert decision.calls[0].purpose == "move"
    assert '"understanding" (text): the game in your own words' in str(request["messages"])
    assert str(request).index("understanding") < str(request).index('"amount"')
    with pytest.raises(Refused, match="is unknown"):
        submit(play, "keeper", {"amount": 3, "guess": 7})


async def test_missing_remark_does_not_make_a_move_illegal(monkeypatch):
    play, events = start(configure(Planned, {}), 1)
    with OpenAIStandIn(['{"amount": 3}']) as service:
        use_standin(monkeypatch, service)
        decision = await decide(
            AgentSpec("openai", "m", bare(strategy="published")), AgentTurn(play, "keeper", events=events)
        )
        await provider_called("openai").close()
    assert decision.move == {"amount": 3} and decision.calls[0].remarks == {}


def test_plans_precede_moves(monkeypatch):
    answers = [
        'Slowly. {"note": "one, then two"}', '{"amount": 1}', '{"amount": 2}',
        '{"note": "three"}', '{"amount": 3}', '{"amount": 4}',
    ]  # fmt: skip
    with OpenAIStandIn(answers) as service:
        use_standin(monkeypatch, service)
        spec = AgentSpec("openai", "m", bare(strategy="planner"))
        record = play_match(configure(Planned, {"periods": 4}), 1, {"keeper": spec})
        requests = service.requests
    assert [call.purpose for call in record.calls] == ["plan", "move", "move", "replan", "move", "move"]
    moves = [event.data["move"] for event in record.events if event.kind == "move"]
    assert [move for move in moves if "note" in move] == [{"note": "one, then two"}, {"note": "three"}]
    assert "What is your plan?" in user_texts_in(requests[0])[-1] and "Keep a note" in user_texts_in(requests[0])[-1]
    assert "Keep a note" not in user_texts_in(requests[1])[-1]
    assert requests[1]["messages"][2] == {"role": "assistant", "content": answers[0]}
    assert [message["content"] for message in requests[2]["messages"] if message["role"] == "assistant"] == answers[:2]
    assert [message["content"] for message in requests[4]["messages"] if message["role"] == "assistant"] == [answers[3]]


def test_unreadable_plan_is_skipped(monkeypatch):
    with OpenAIStandIn(["No plan.", "None.", '{"amount": 1}']) as service:
        use_standin(monkeypatch, service)
        spec = AgentSpec("openai", "m", bare(strategy="planner", tries_after_first=1))
        record = play_match(configure(Planned, {"periods": 1}), 1, {"keeper": spec})
    assert record.failed is None
    assert [(call.purpose, call.fault) for call in record.calls] == [
        ("plan", "unreadable"), ("plan", "unreadable"), ("move", None),
    ]  # fmt: skip


def test_plain_strategy_does_not_show_forms_on_request(monkeypatch):
    with OpenAIStandIn(['{"amount": 1}']) as service:
        use_standin(monkeypatch, service)
        record = play_match(configure(Planned, {"periods": 1}), 1, {"keeper": AgentSpec("openai", "m")})
        assert "note" not in str(service.requests[0]["messages"]).lower().replace("notes", "")
    assert record.failed is None
