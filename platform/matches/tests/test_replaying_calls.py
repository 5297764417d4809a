"""Replaying the stored answers of models gives the same matches."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collecting import driver, services
from collecting.models import Collection
from collecting.tests.kit import new_collection
from exports.dataset import export
from exports.verify import verify
from llm_agents.standins import OpenAIStandIn
from matches.models import Match
from opponents.models import Call

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
RNG = Random(7)


def sometimes_wrong(request: dict[str, Any]) -> str:
    """Return legal moves in prose, and occasionally something else.

    Wrong answers name no field, since the correction quotes them and names the fields itself.
    """
    prompt = request["messages"][-1]["content"]
    if RNG.random() < 0.3:
        return RNG.choice(["Let me think.", '{"decision": "maybe"}', '{"gain": "much"}', "{"])
    if "alice_gain" in prompt:
        alice_gain = RNG.randint(0, 10_000)
        answer = json.dumps(
            {"alice_gain": alice_gain, "bob_gain": 10_000 - alice_gain, "message": 'So "be" it, 5,000?'}
        )
        return f"Here it is:\n```json\n{answer}\n```"
    return f'I say {{"decision": "{RNG.choice(["accept", "reject"])}"}} to that.'


@pytest.fixture
def played(monkeypatch) -> None:
    """Play a collection of a model against itself."""
    with OpenAIStandIn(sometimes_wrong) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        plan = {"configurations": [{"rounds": 4}], "agents": ["openai:m"], "repetitions": 6}
        collection = new_collection("models", asking={"tries_after_first": 9}, seed=1, **plan)
        driver.drive(services.start(collection), slot=0)


def test_the_stored_answers_give_the_same_matches(played, capsys):
    call_command("replay_calls", "collection:models")
    out = capsys.readouterr().out
    assert f"{Call.objects.count()} answers in 6 matches checked: everything agrees." in out
    assert any(call.record["problem"] for call in Call.objects.all())
    assert Match.objects.filter(status="finished").count() == 6


def test_a_changed_answer_is_detected(played):
    call = Call.objects.filter(record__problem=None).first()
    call.record["answer"] = '{"alice_gain": 1, "bob_gain": 9999, "decision": "accept"}'
    call.save()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("replay_calls")


@pytest.mark.slow
def test_two_calls_marked_as_played_in_one_turn_are_detected(played, tmp_path, capsys):
    copied_call = Call.objects.filter(outcome=Call.Outcome.MOVE).first()
    copied_call.pk = None
    copied_call.save()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("replay_calls")
    assert "2 calls claim to be the move" in capsys.readouterr().out
    collection = Collection.objects.get()
    export(collection, tmp_path / "wrong")
    assert any("2 calls are the move of" in difference for difference in verify(tmp_path / "wrong"))
    copied_call.outcome = Call.Outcome.UNPLAYED
    copied_call.save()
    call_command("replay_calls")
    export(collection, tmp_path / "right")
    assert verify(tmp_path / "right") == []
