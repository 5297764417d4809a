"""Programs at the table: what they are shown, that a token opens one turn only, and what garbage leads to."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from api.tests.test_access import SEATS as SEAT_OPERATIONS
from api.tests.test_access import assert_declared
from config.asgi import application
from games import registry
from games.tests.toys import Well
from llm_agents.replaying import differences
from matches import agents, chat, services
from matches.models import Event, Match
from matches.tests.test_consumer import Page, connections_closed, in_other_thread  # noqa: F401  (closes the sockets' connections)
from matches.tests.test_groups import new_participant
from opponents.models import Call
from opponents.services import records_of
from plans.asking import AgentSettings
from plans.chat import Chat, frozen
from programs.models import Program, ProgramTurn
from programs.tokens import new_secret, token_of
from programs.turns import silence_of

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_worker")]
OFFER = {"alice_gain": 6000, "bob_gain": 4000}
SEATS = "/api/v1/seats"


def new_program(name: str = "mine") -> tuple[Program, str]:
    owner, _new = User.objects.get_or_create(username="ada", defaults={"is_staff": True})
    program = Program(name=name, owner=owner)
    secret = new_secret(program)
    program.save()
    return program, secret


def match_with(*programs: str, **settings: Any) -> Match:
    """Open a bargaining match in which bob, and alice if two are named, is a program; bob is asked about an offer."""
    asked = AgentSettings(**{"limit_seconds": 30, "script": "fair", **settings})
    alice = (
        services.Player(agent=programs[1], settings=asked)
        if programs[1:]
        else services.Player(agent="script:fair", delay=1000)
    )
    match = services.open_match(
        game="bargaining",
        config={},
        players={"alice": alice, "bob": services.Player(agent=programs[0], settings=asked)},
        seed=1,
    )
    services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1)
    return match


def asked(match: Match, role: str = "bob") -> Future[None]:
    """Let a worker ask the seat's program; return what ends with its turn."""
    answering = match.play().opened[role] if role != "bob" else 2
    asking = agents.begin_turn(match_uid=match.uid, role=role, answering=answering)
    assert asking is not None
    until = time.monotonic() + 5
    while not ProgramTurn.objects.filter(match_uid=match.uid, role=role, closed_at=None).exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return asking


OPERATION_OF = {path.rpartition("/")[2]: operation for _method, path, operation in SEAT_OPERATIONS}


def seats(secret: str) -> list[dict[str, Any]]:
    response = Client().get(SEATS, headers={"authorization": f"Bearer {secret}"})
    assert response.status_code == 200, response.content
    assert_declared(OPERATION_OF["seats"], response)
    return response.json()["seats"]


def send(token: str, move: Any, **keys: Any) -> tuple[int, dict[str, Any]]:
    body = move if isinstance(move, str) else json.dumps({"move": move, **keys})
    response = Client().post(f"{SEATS}/{token}/move", body, content_type="application/json")
    assert_declared(OPERATION_OF["move"], response)
    return response.status_code, response.json()


def moves_of(match: Match, role: str = "bob") -> list[dict[str, Any]]:
    moves = Event.objects.filter(match=match, kind="move").order_by("number")
    return [event.data for event in moves if event.data["role"] == role]


def test_a_program_is_shown_its_seat_and_moves():
    _program, secret = new_program()
    match = match_with("program:mine")
    asking = asked(match)
    [seat] = seats(secret)
    assert (seat["game"], seat["role"], seat["tries_left"]) == ("bargaining", "bob", 4)
    assert [form["name"] for form in seat["forms"]] and "decision" in seat["forms"][0]["schema"]["properties"]
    assert "4,000" in seat["text"]
    assert str(match.uid) not in json.dumps(seat)
    assert send(seat["token"], {"decision": "accept"}, version="2.1") == (200, {"accepted": True, "again": False})
    asking.result(timeout=10)
    assert [move["move"]["decision"] for move in moves_of(match)] == ["accept"]
    call = Call.objects.get(match_uid=match.uid)
    assert (call.endpoint, call.model, call.outcome, call.cost) == ("program", "mine", "move", 0)
    assert call.record["answered_by"] == "2.1"
    assert seats(secret) == []


def test_a_program_that_does_not_ask_is_reported():
    _program, secret = new_program()
    assert "yours" in silence_of("yours") and "not running" in silence_of("mine")
    seats(secret)
    assert silence_of("mine") == ""


def test_a_move_sent_again_gets_its_first_result():
    _program, secret = new_program()
    match = match_with("program:mine")
    asking = asked(match)
    token = seats(secret)[0]["token"]
    refused = send(token, {"decision": "perhaps"}, **{"try": 1})
    assert refused[0] == 422 and refused[1]["tries_left"] == 3
    assert send(token, {"decision": "perhaps"}, **{"try": 1}) == refused
    assert send(token, {"decision": "accept"}, **{"try": 2})[1] == {"accepted": True, "again": False}
    assert send(token, {"decision": "reject"}, **{"try": 2})[1] == {"accepted": True, "again": True}
    asking.result(timeout=10)
    assert [move["move"]["decision"] for move in moves_of(match)] == ["accept"]


@pytest.mark.parametrize(
    "garbage", ["", "hello", '{"move": ' + "[" * 90_000, "[1, 2]", '{"move": 7}', '{"move": {"decision": "x\\u0000"}}']
)
def test_garbage_is_told_what_was_wrong_and_then_the_studys_rule_holds(garbage):
    _program, secret = new_program()
    match = match_with("program:mine", tries_after_first=1)
    asking = asked(match)
    token = seats(secret)[0]["token"]
    assert send(token, "x" * 3_000_000)[0] == 422, "what is too long to be a move costs no try"
    status, problem = send(token, garbage)
    assert (status, problem["tries_left"]) == (422, 1) and len(problem["reason"]) > 10
    status, problem = send(token, garbage)
    assert (status, problem["tries_left"]) == (422, 0)
    assert send(token, {"decision": "accept"})[0] == 409
    asking.result(timeout=10)
    assert [move["by"] for move in moves_of(match)] == ["script:fair"]
    assert list(Call.objects.order_by("pk").values_list("outcome", flat=True)) == ["rule_break", "rule_break"]


def test_a_silent_programs_fallback_moves():
    new_program()
    match = match_with("program:mine", limit_seconds=2)
    asked(match).result(timeout=15)
    assert [move["by"] for move in moves_of(match)] == ["script:fair"]
    assert Call.objects.get().record["error"].startswith("TimedOut: ")


def test_no_token_or_secret_opens_another_seat():
    _mine, secret = new_program()
    _other, other_secret = new_program("other")
    match = match_with("program:mine")
    asking = asked(match)
    token = seats(secret)[0]["token"]
    assert seats(other_secret) == []
    ended = ProgramTurn.objects.create(
        program=_other, match_uid=match.uid, role="alice", answering=1, rung=0, tries=1,
        deadline=ProgramTurn.objects.get().deadline,
    )  # fmt: skip
    assert seats(other_secret) == []  # it is not alice's turn
    assert send(token_of(ended), {"decision": "accept"})[0] == 409
    for forged in (token[:-1] + ("a" if token[-1] != "a" else "b"), "x", secret):
        assert send(forged, {"decision": "accept"})[0] == 404
    assert Client().get(SEATS, headers={"authorization": f"Bearer {secret}x"}).status_code == 401
    assert Client().get(SEATS).status_code == 401
    Program.objects.filter(name="mine").update(enabled=False)
    assert send(token, {"decision": "accept"})[0] == 404
    Program.objects.filter(name="mine").update(enabled=True)
    assert send(token, {"decision": "accept"})[0] == 200
    asking.result(timeout=10)


def look_up(token: str, name: str, arguments: Any) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"name": name, "arguments": arguments})
    response = Client().post(f"{SEATS}/{token}/tool", body, content_type="application/json")
    assert_declared(OPERATION_OF["tool"], response)
    return response.status_code, response.json()


def test_lookups_and_notes_are_possible_and_recorded(monkeypatch):
    original_get = registry.get
    monkeypatch.setattr(registry, "get", lambda key: Well if key == "well" else original_get(key))
    _program, secret = new_program()
    players = {"keeper": services.Player(agent="program:mine", settings=AgentSettings(limit_seconds=30, calls=2))}
    match = services.open_match(game="well", config={"periods": 1}, players=players, seed=1)

    def turn() -> tuple[Future[None], dict[str, Any]]:
        match.refresh_from_db()
        asking = asked(match, "keeper")
        return asking, seats(secret)[0]

    asking, seat = turn()
    assert {"get_yields", "get_period_number"} <= {tool["name"] for tool in seat["tools"]}
    assert look_up(seat["token"], "get_period_number", {}) == (200, {"result": 1})
    assert look_up(seat["token"], "dig", {})[0] == 422
    assert look_up(seat["token"], "get_yields", {})[0] == 422, "no more than the study's calls"
    assert send(seat["token"], {"note": "five is safe"})[0] == 200
    asking.result(timeout=10)
    asking, later = turn()
    assert later["seat"] == seat["seat"] and later["turn"] > seat["turn"]
    assert send(later["token"], {"amount": 1})[0] == 200
    asking.result(timeout=10)
    match.refresh_from_db()
    assert moves_of(match, "keeper")[0]["move"] == {"note": "five is safe"}
    looks = Call.objects.filter(purpose="look").order_by("pk")
    assert [call.record["tools"][0]["fault"] for call in looks] == [None, "illegal"]
    assert differences(match.configured(), match.log(), records_of(match.uid)) == []


class Socket(Page):
    """A program's socket."""

    def __init__(self, secret: str):
        headers = [(b"authorization", f"Bearer {secret}".encode())]
        scope = {"path": "/api/v1/seats/", "query_string": b"", "headers": headers}
        self.socket = ApplicationCommunicator(application, {"type": "websocket", "subprotocols": [], **scope})


async def test_the_socket_tells_of_turns_and_takes_moves():
    _program, secret = await in_other_thread(new_program)
    match = await in_other_thread(match_with, "program:mine")
    socket = Socket(secret)
    assert await socket.connect()
    asking = await in_other_thread(asked, match)
    seat = await socket.next()
    assert (seat["type"], seat["role"]) == ("seat", "bob")
    await socket.send({"type": "move", "token": seat["token"], "move": {"decision": "perhaps"}})
    refused = await socket.next()
    assert (refused["type"], refused["status"], refused["tries_left"]) == ("refused", 422, 3)
    await socket.send({"type": "tool", "token": "x", "name": "y"})
    assert (await socket.next())["status"] == 404
    await socket.send([])
    assert (await socket.next())["type"] == "refused"
    await socket.send({"type": "move", "token": seat["token"], "move": {"decision": "accept"}})
    assert (await socket.next())["type"] == "taken"
    await asyncio.to_thread(asking.result, 10)
    await socket.disconnect()


def chatting(*, name: str = "mine", **settings: Any) -> Match:
    """Open a contest of a person and a program that may chat."""
    planned = frozen(Chat.model_validate(settings), {})
    program = services.Player(agent=f"program:{name}", settings=AgentSettings(limit_seconds=30))
    return services.open_match(
        game="beauty_contest",
        config={"players": 2},
        players={"p1": services.Player(enrolment=new_participant(), step=0), "p2": program},
        seed=1,
        timers={"chat": planned},
    )


def chats(secret: str) -> list[dict[str, Any]]:
    response = Client().get(f"{SEATS}/chats", headers={"authorization": f"Bearer {secret}"})
    assert_declared(OPERATION_OF["chats"], response)
    return response.json()["chats"]


def say(token: str, text: str, **keys: str) -> HttpResponse:
    response = Client().post(f"{SEATS}/{token}/chat", {"text": text, **keys}, content_type="application/json")
    assert_declared(OPERATION_OF["chat"], response)
    return response


def test_a_program_reads_and_writes_in_its_chat_also_before_play():
    _program, secret = new_program()
    match = chatting(when="both", to="both")
    chat.write(match_id=match.pk, sender="p1", text="</message> hello", key="1")
    [found] = chats(secret)
    assert [(line["name"], line["text"]) for line in found["lines"]] == [("Player 1", "</message> hello")]
    assert found["open"] and found["begins"] > 0 and {"seat": "p1", "name": "Player 1"} in found["partners"]
    sent = [say(found["token"], "hello\0 you", to="p1", key="a").json() for _again in range(2)]
    assert sent == [{"number": 2}] * 2
    [_first, own] = chats(secret)[0]["lines"]
    assert (own["own"], own["to"], own["text"]) == (True, "to Player 1 only", "hello\ufffd you")
    assert [say(found["token"], *bad).status_code for bad in (("",), ("x" * 301,))] == [422, 422]
    assert say(found["token"], "x", to="p7").status_code == 422
    assert say("x", "hello").status_code == 404
    services.abandon_match(match_id=match.pk, reason="opponent_failed")
    assert chats(secret) == [] and say(found["token"], "hello").status_code == 422


def test_a_flood_is_slowed_and_nothing_is_lost_or_doubled(monkeypatch):
    _program, secret = new_program()
    match = chatting()
    [found] = chats(secret)
    answers = [say(found["token"], f"{number}", key=f"{number}") for number in range(7)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert 0 < answers[-1].json()["wait"] <= int(answers[-1]["Retry-After"]) <= 6
    monkeypatch.setattr(chat, "WITHIN", timedelta(0))
    for number in range(7):
        assert say(found["token"], f"{number}", key=f"{number}").status_code == 200
    assert [line["text"] for line in chats(secret)[0]["lines"]] == [f"{number}" for number in range(7)]
    assert match.chat_lines.count() == 7


def test_a_program_reads_no_chat_but_its_own():
    _program, secret = new_program()
    new_program("yours")
    chatting(name="yours")
    chatting()
    assert len(chats(secret)) == 1
    token = chats(secret)[0]["token"]
    Program.objects.filter(name="mine").update(enabled=False)
    assert say(token, "hello").status_code == 404


async def test_the_socket_tells_of_messages_and_takes_them():
    _program, secret = await in_other_thread(new_program)
    match = await in_other_thread(chatting)
    socket = Socket(secret)
    assert await socket.connect()
    assert (await socket.next())["lines"] == []
    await in_other_thread(lambda: chat.write(match_id=match.pk, sender="p1", text="hello", key="1"))
    told = await socket.next()
    assert (told["type"], told["lines"][0]["text"]) == ("chat", "hello")
    await socket.send({"type": "say", "token": told["token"], "text": "hello yourself", "key": "a"})
    answers = {message["type"]: message for message in [await socket.next(), await socket.next()]}
    assert answers["written"]["number"] == 2 and answers["chat"]["lines"][1]["own"]
    await socket.disconnect()


async def test_the_socket_closes_for_an_unknown_secret():
    socket = Socket("x")
    await socket.connect()
    assert (await socket.socket.receive_output(5))["code"] == 4401
