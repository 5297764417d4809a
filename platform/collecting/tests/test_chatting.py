"""Models that chat in a collection's matches: in turns, before play and between moves, within its limits."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest

from collecting import driver, leases, services
from collecting.estimate import estimate_of
from collecting.models import Collection
from collecting.planning import planned
from collecting.tests.kit import document, drive, new_collection
from exports.dataset import export
from exports.verify import verify
from llm_agents.standins.server import OpenAIStandIn
from matches.models import Match
from opponents.models import Call
from plans.checking import check
from studies.tests import kit
from studies.tests.kit import use_standin

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
MODELS = {"one": kit.agent("openai:stand-in"), "two": kit.agent("openai:stand-in"), "rational": {"script": "rational"}}


def with_chat(chat: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return a plan with one match of models `one` and `two`."""
    agents = {label: MODELS[label] for label in parts.pop("agents", ("one", "two"))}
    plan = document("beauty_contest", configurations=[{"players": 2, "runs": 2}], agents=agents, **parts)
    lineup = dict(zip(("p1", "p2"), agents, strict=False))
    plan["journey"][0] |= {"chat": chat, "seats": {"rule": "listed", "listed": [lineup]}}
    return plan


def answer(body: dict[str, Any]) -> str:
    """Write the number of the call, or choose 20."""
    answer.calls += 1
    return f"message {answer.calls}" if is_chat(body) else '{"answer": 20}'


def is_chat(body: dict[str, Any]) -> bool:
    return "You may now write" in body["messages"][-1]["content"]


def played(monkeypatch, chat: dict[str, Any], reply: Any = answer, **parts: Any) -> tuple[Match, OpenAIStandIn]:
    answer.calls = 0
    with OpenAIStandIn(reply) as standin:
        use_standin(monkeypatch, standin)
        assert drive(new_collection("chatting", plan=with_chat(chat, **parts))).status == Collection.Status.DONE
    return Match.objects.get(), standin


def lines(match: Match) -> list[tuple[str, str, int]]:
    return list(match.chat_lines.order_by("number").values_list("sender", "to", "after"))


def test_models_write_in_turns_before_play_and_the_dataset_holds_it(monkeypatch, tmp_path: Path):
    match, standin = played(monkeypatch, {"messages": 2, "models": {"prompt": "Be brief."}})
    assert lines(match) == [("p1", "", 1), ("p2", "", 1)] * 2
    assert "Be brief." in json.dumps(standin.requests[0])
    move = next(body for body in standin.requests if not is_chat(body))
    assert "message 4" in json.dumps(move)
    assert Call.objects.filter(purpose="chat", budget_of="collection:chatting").count() == 4
    export(Collection.objects.get(), tmp_path / "data")
    assert verify(tmp_path / "data") == []
    with (tmp_path / "data" / "chat.csv").open(encoding="utf-8", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == [f"message {number}" for number in (1, 2, 3, 4)]


def test_models_write_one_message_before_each_move_and_a_mediator_after_them(monkeypatch):
    mediator = {"agent": "two", "title": "Robin", "prompt": "Be kind."}
    match, _standin = played(monkeypatch, {"when": "during", "messages": 2, "mediator": mediator})
    moves = [event.number for event in match.events.filter(kind="move").order_by("number")]
    befores = sorted({after for _sender, _to, after in lines(match)})
    assert [sender for sender, _to, _after in lines(match)] == ["p1", "p2", "mediator"] * 2
    assert befores[0] < moves[0] < moves[1] <= befores[1] < moves[2]


def test_chat_before_play_ends_when_nobody_writes(monkeypatch):
    def silent(body: dict[str, Any]) -> str:
        return "SILENT" if is_chat(body) else answer(body)

    match, _standin = played(monkeypatch, {"messages": 20}, reply=silent)
    assert lines(match) == [] and Call.objects.filter(purpose="chat").count() == 2


def test_private_messages_go_to_one_seat(monkeypatch):
    match, standin = played(monkeypatch, {"to": "private", "messages": 1})
    assert lines(match) == [("p1", "p2", 1), ("p2", "p1", 1)]
    assert "to Player 2" in json.dumps(standin.requests[0])


def test_estimate_contains_the_chat():
    def calls(**parts: Any) -> int:
        return estimate_of(planned(with_chat(**parts))).calls

    assert calls(chat={"messages": 3}) - calls(chat={"messages": 1}) == 2 * 2


@pytest.mark.slow
def test_chat_goes_on_after_an_interruption_without_losing_or_doubling(monkeypatch):
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.5)
    stops = iter([False, False, True])

    def stopping(body: dict[str, Any]) -> str:
        if next(stops, False):
            services.pause(Collection.objects.get())
            time.sleep(0.3)
        return answer(body)

    answer.calls = 0
    with OpenAIStandIn(stopping) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(new_collection("chatting", plan=with_chat({"messages": 3})))
        assert collection.status == Collection.Status.PAUSED
        before = list(Match.objects.get().chat_lines.values_list("text", flat=True))
        assert 0 < len(before) < 6
        collection = services.start(collection)
        while collection.status == Collection.Status.RUNNING:
            time.sleep(0.2)  # until the lease of the interrupted match has expired
            driver.drive(collection, slot=0)
            collection.refresh_from_db()
    match = Match.objects.get()
    assert lines(match) == [("p1", "", 1), ("p2", "", 1)] * 3
    assert list(match.chat_lines.order_by("number").values_list("text", flat=True))[: len(before)] == before


@pytest.mark.parametrize(
    ("chat", "agents", "at"),
    [
        ({"mode": "free"}, ("one", "two"), "chat.mode"),
        ({"seconds": 60}, ("one", "two"), "chat.seconds"),
        ({"models": {"typing": 3}}, ("one", "two"), "chat.models.typing"),
        ({"mediator": {"agent": "rational"}}, ("one", "two", "rational"), "chat.mediator.agent"),
        ({}, ("rational",), "chat"),
    ],
)
def test_plan_says_what_a_chat_without_people_cannot_be(chat, agents, at):
    plan = with_chat(chat, agents=agents)
    plan["journey"][0]["seats"] = {}
    assert [fault.at for fault in check(plan).faults] == [f"journey.0.{at}"]
