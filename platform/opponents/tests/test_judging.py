"""Models as judges: one question with a schema, recorded with the purpose "judge", priced and capped."""

from __future__ import annotations

import json
import uuid
from decimal import Decimal
from typing import Literal

import pytest

from games.interface import Form, Move, Said
from llm_agents.endpoints import Price
from llm_agents.judging import Inquiry
from llm_agents.pricing import PriceList
from llm_agents.prompting import fenced
from llm_agents.standins import Failure, OpenAIStandIn
from opponents import judging
from opponents.agents import Agent
from opponents.judging import Case, judge
from opponents.models import Call

pytestmark = pytest.mark.django_db(transaction=True)
MATCH = uuid.UUID(int=7)


class Labels(Move):
    labels: list[Literal["reciprocity", "risk aversion"]]


FORM = Form("labels", "Labels", Labels)
VALID = json.dumps({"labels": ["reciprocity"]})


def case(text: str = "I gave because she gave.") -> Case:
    inquiry = Inquiry("You judge reasons.", f"The reason: {fenced(Said('p1', text))}", FORM)
    return Case(inquiry, MATCH, "p1", answering=3)


def run_judge(monkeypatch, replies, cases, on_verdict=None, **settings):
    settings = {"retries": 0, "tries_after_first": 1, **settings}
    with OpenAIStandIn(replies, tokens=(0, 1)) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(
            judging, "current_prices", lambda: PriceList({"openai:m": Price(input=0, output=1_000_000)})
        )
        agent = Agent(spec="openai:m", settings=settings)
        return judge(agent, cases, budget_of="judges:1", on_verdict=on_verdict, at_once=1), standin.requests


def test_valid_answer_is_a_verdict_with_a_recorded_call(monkeypatch):
    (verdict,), (request,) = run_judge(monkeypatch, [VALID], [case()])
    assert verdict.answer == Labels(labels=["reciprocity"])
    schema = json.dumps(request["response_format"])
    assert '"enum": ["reciprocity", "risk aversion"]' in schema
    call = Call.objects.get()
    assert (call.match_uid, call.role, call.answering) == (MATCH, "p1", 3)
    assert (call.purpose, call.budget_of, call.cost, call.answer) == ("judge", "judges:1", Decimal(1), VALID)
    assert call.record["prompt_sha256"] == case().inquiry.sha256


def test_unknown_label_is_asked_again(monkeypatch):
    (verdict,), requests = run_judge(monkeypatch, ['{"labels": ["greed"]}', VALID], [case()])
    assert verdict.answer is not None
    assert "not accepted" in requests[1]["messages"][-1]["content"]
    assert list(Call.objects.order_by("pk").values_list("outcome", flat=True)) == ["rule_break", "move"]


def test_missing_answer_is_explained(monkeypatch):
    verdicts, _requests = run_judge(monkeypatch, ["no", "no", Failure(400, "No such model", None)], [case(), case("b")])
    assert [verdict.answer for verdict in verdicts] == [None, None]
    assert all(verdict.problem for verdict in verdicts)
    assert Call.objects.count() == 3


def test_cap_stops_judging(monkeypatch):
    cases = [case(str(number)) for number in range(4)]
    verdicts, requests = run_judge(monkeypatch, [VALID] * 4, cases, cap_study=17.5, max_tokens=16)
    assert [verdict.answer is not None for verdict in verdicts] == [True, True, False, False]
    assert len(requests) == 2
    assert "$15.5000 is left, " in verdicts[2].problem and "up to $16.0000" in verdicts[2].problem


def test_verdict_and_call_are_saved_together(monkeypatch):
    def fail(_verdict):
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        run_judge(monkeypatch, [VALID], [case()], on_verdict=fail)
    assert not Call.objects.exists()
