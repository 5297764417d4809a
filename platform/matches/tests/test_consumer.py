"""The socket of a participant's page, through the site's own ASGI application and a real Redis."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from datetime import timedelta
from typing import Any

import pytest
import redis
from asgiref.testing import ApplicationCommunicator
from django.db import OperationalError, connection
from django.utils import timezone

import lobby.consumers
from config.asgi import application
from conftest import KIND
from lobby.models import Place
from matches import agents, announce, channels, consumers, services, sweeps
from matches.models import Event, Match
from matches.tests.kit import opened, participant
from participants import services as people
from participants.models import Enrolment
from participants.states import State

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

HALF = {"answering": "1", "alice_gain": "5000", "bob_gain": "5000"}
GREEDY = {"answering": "1", "alice_gain": "9000", "bob_gain": "1000"}
EQUAL_OFFER = {"answering": 1, "move": {"alice_gain": 5000, "bob_gain": 5000, "message": ""}}
TIMEOUT = 5
QUIET_SECONDS = 0.3
"""Seconds without a message that count as silence."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give quick opponents enough time on a slow machine, and call no worker."""
    monkeypatch.setattr(consumers, "QUICK_REPLY_SECONDS", 60)
    monkeypatch.setattr(consumers, "ASK_SECONDS", 60)
    monkeypatch.setattr(consumers, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: None)


@pytest.fixture(autouse=True)
def connections_closed() -> Iterator[None]:
    """Close the connections of the sockets' threads before the test database is removed."""
    yield
    barrier = threading.Barrier(consumers._threads.executor._max_workers)

    def close() -> None:
        barrier.wait(TIMEOUT)
        connection.close()

    for closed in [consumers._threads.executor.submit(close) for _thread in range(barrier.parties)]:
        closed.result()


def new_match() -> tuple[Enrolment, Match]:
    """Open a match of a participant as alice against a fair script, at the first turn."""
    person = participant()
    return person, opened({"alice": person, "bob": "script:fair"})


@pytest.fixture
def seated() -> tuple[Enrolment, Match]:
    return new_match()


@pytest.fixture
def person(seated) -> Enrolment:
    return seated[0]


@pytest.fixture
def match(seated) -> Match:
    return seated[1]


@contextmanager
def busy_threads() -> Iterator[None]:
    """Keep the threads that move busy."""
    free = threading.Event()
    for _thread in range(consumers._threads.executor._max_workers):
        consumers._threads.executor.submit(free.wait, TIMEOUT)
    try:
        yield
    finally:
        free.set()


def slow_down() -> None:
    """Let work wait before whatever is sent next, for a second, while other work ends."""
    for _work in range(80):
        consumers.in_thread(time.sleep, 0.05)


async def in_other_thread(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Run database work in a thread and close its connection."""

    def work() -> Any:
        try:
            return function(*arguments, **keywords)
        finally:
            connection.close()

    return await asyncio.to_thread(work)


class Page:
    """An open page's socket, as its script uses it."""

    def __init__(
        self,
        token: str,
        origin: str = "http://localhost",
        *,
        kind: str = "play",
        server: Any = application,
        query: bytes = b"",
    ):
        headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
        scope = {"path": f"/ws/{kind}/{token}/", "query_string": query, "headers": headers}
        self.socket = ApplicationCommunicator(server, {"type": "websocket", "subprotocols": [], **scope})

    async def connect(self) -> bool:
        """Return whether the socket was accepted."""
        await self.socket.send_input({"type": "websocket.connect"})
        return (await self.socket.receive_output(TIMEOUT))["type"] == "websocket.accept"

    async def disconnect(self) -> None:
        await self.socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.socket.wait(TIMEOUT)

    async def next(self) -> dict[str, Any]:
        return json.loads((await self.socket.receive_output(TIMEOUT))["text"])

    async def frame(self) -> dict[str, Any]:
        message = await self.next()
        assert message["type"] == "screen", message
        return message

    async def quiet(self) -> bool:
        return await self.socket.receive_nothing(QUIET_SECONDS)

    async def send(self, message: Any) -> None:
        await self.send_raw(text=json.dumps(message))

    async def send_raw(self, **data: Any) -> None:
        await self.socket.send_input({"type": "websocket.receive", **data})

    async def move(self, **fields: Any) -> None:
        await self.send({"type": "move", "fields": fields})

    async def settled(self, last: int = 0) -> list[dict[str, Any]]:
        """Return everything received until a sync with `last` is answered."""
        await self.send({"type": "sync", "last": last})
        return await self.synced()

    async def synced(self) -> list[dict[str, Any]]:
        """Return everything received until a sync is answered."""
        messages = []
        while (message := await self.next())["type"] != "synced":
            messages.append(message)
        return messages


@asynccontextmanager
async def page(person: Enrolment) -> AsyncIterator[Page]:
    opened_page = Page(person.token)
    assert await opened_page.connect()
    yield opened_page
    await opened_page.disconnect()


def announce_nothing(change: Callable[..., Any], **arguments: Any) -> None:
    """Change a match while no announcement reaches its pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(announce, "when_committed", lambda *_arguments, **_options: None)
        change(**arguments)


def log_of(match: Match) -> list[tuple[int, str, str]]:
    return list(Event.objects.filter(match=match).order_by("number").values_list("number", "kind", "role"))


async def answered_by_agent(match: Match, answering: int) -> None:
    """Act as a worker once the participant's move has been made."""
    await until(lambda: Event.objects.filter(match=match, number=answering).exists())
    await in_other_thread(agents.answer_turn, match_uid=match.uid, role="bob", answering=answering)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not await in_other_thread(condition):
            await asyncio.sleep(0.01)


async def test_a_page_is_shown_the_match_when_it_connects(person, match):
    async with page(person) as alice:
        frame = await alice.frame()
        assert (frame["last"], frame["answering"], frame["over"]) == (1, 1, False)
        assert 0 < frame["remaining"] <= 180
        assert 'name="alice_gain"' in frame["html"]
        assert person.token not in frame["html"]
        assert await alice.quiet()
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


async def test_people_of_two_languages_each_get_theirs(person, match):
    other, german = await in_other_thread(new_match)
    await Match.objects.filter(pk=german.pk).aupdate(texts={**german.texts, "language": "de"})
    told = {}
    async with page(person) as alice, page(other) as anna:
        for opened in (alice, anna):
            frame = await opened.frame()
            await opened.move(answering="1", alice_gain="x", bob_gain="1")
            refusal = await opened.next()
            await opened.move(answering="99", **{key: HALF[key] for key in ("alice_gain", "bob_gain")})
            told[opened] = (frame["html"], str(refusal), (await opened.next())["reason"])
    assert ["Schlagen Sie" in text for text in (told[alice][0], told[anna][0])] == [False, True]
    for reader, words, moved_on in ((alice, ("“You get”", "12.5."), "The game has moved on."),
                                    (anna, ("„Sie erhalten“", "12,5."), "Das Spiel ist weitergegangen.")):  # fmt: skip
        assert all(word in told[reader][1] for word in words) and told[reader][2].startswith(moved_on)


async def test_a_scripted_reply_arrives_as_one_frame_and_the_move_records_when_its_question_was_shown(person, match):
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY)
        await answered_by_agent(match, 2)
        frame = await alice.frame()
        log = await in_other_thread(log_of, match)
        assert [kind for _number, kind, _role in log] == ["start", "move", "move", "move"]
        assert (frame["last"], frame["answering"]) == (4, 4)
        assert "accept" in frame["html"]
        assert await alice.quiet()
    move = await in_other_thread(Event.objects.get, match=match, number=2)
    assert move.asked_at <= move.shown_at <= move.at


async def test_agreement_arrives_as_one_frame_without_a_form(person, match):
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**HALF)
        await answered_by_agent(match, 2)
        frame = await alice.frame()
        assert (frame["over"], frame["answering"], frame["remaining"]) == (True, None, None)
        assert "<form" not in frame["html"]
        assert await alice.quiet()
    await in_other_thread(match.refresh_from_db)
    assert match.payoffs == {"alice": 5000, "bob": 5000}


async def test_a_slow_opponent_is_shown_as_thinking(person, match, monkeypatch):
    monkeypatch.setattr(consumers, "QUICK_REPLY_SECONDS", 0)
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY)
        frame = await alice.frame()
        assert (frame["last"], frame["answering"], frame["over"]) == (2, None, False)
        assert "thinking" in frame["html"]
        assert await alice.quiet()


async def test_player_text_arrives_as_text(person, match):
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY, message='<script>alert(1)</script><img src=x onerror="1">')
        await answered_by_agent(match, 2)
        html = (await alice.frame())["html"]
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        assert "<script" not in html
        assert "<img" not in html


async def test_the_extra_time_is_shown(person, match):
    def time_is_up() -> None:
        from dataclasses import replace

        from matches.turns import dump

        past = timezone.now() - timedelta(seconds=1)
        turns = {role: replace(turn, deadline=past) for role, turn in match.open_turns().items()}
        Match.objects.filter(pk=match.pk).update(turns=dump(turns), deadline=past)
        sweeps.sweep()

    async with page(person) as alice:
        assert not (await alice.frame())["extended"]
        await in_other_thread(match.refresh_from_db)
        await in_other_thread(time_is_up)
        frame = await alice.frame()
        assert (frame["extended"], frame["answering"], frame["last"]) == (True, 1, 1)
        assert 0 < frame["remaining"] <= 60


async def test_leaving_on_another_page_ends_the_game_on_this_one(person, match):
    async with page(person) as alice:
        await alice.frame()
        await in_other_thread(people.withdraw, enrolment_id=person.pk)
        assert (await alice.frame())["over"]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({**GREEDY, "bob_gain": "2000"}, id="does not sum"),
        pytest.param({**GREEDY, "alice_gain": "lots"}, id="no number"),
        pytest.param({"answering": "1"}, id="nothing filled in"),
        pytest.param({**GREEDY, "role": "bob"}, id="unknown field"),
        pytest.param({**GREEDY, "message": "x" * 2001}, id="too long a message"),
        pytest.param({**GREEDY, "message": "a\x00b"}, id="null character"),
        pytest.param({**GREEDY, "message": "a\ud800b"}, id="half a character"),
        pytest.param({**GREEDY, "alice_gain": "9" * 5000}, id="a number too long to read"),
        pytest.param({**GREEDY, "alice_gain": "1e400"}, id="a number too large"),
        pytest.param({**GREEDY, "alice_gain": ["9000"]}, id="a list"),
        pytest.param({**GREEDY, "alice_gain": None}, id="null"),
    ],
)
async def test_a_refused_move_gives_the_reason_and_changes_nothing(person, match, fields):
    before = await in_other_thread(Match.objects.filter(pk=match.pk).values("snapshot", "status", "deadline").get)
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**fields)
        refused = await alice.next()
        assert refused["type"] == "refused"
        assert refused["errors"]
        assert all(reason and isinstance(reason, str) for reason in refused["errors"].values())
        assert set(refused["errors"]) == {"alice_gain"} or fields.get("alice_gain") != "lots"
        assert await alice.settled(last=1) == []
    assert (
        await in_other_thread(Match.objects.filter(pk=match.pk).values("snapshot", "status", "deadline").get) == before
    )
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


@pytest.mark.parametrize("answering", ["0", "2", "", "-1", "x", "1.0", "²", "9" * 5000])
async def test_a_stale_move_is_refused_and_the_page_catches_up(person, match, answering):
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**{**GREEDY, "answering": answering})
        stale = await alice.next()
        assert stale["type"] == "stale"
        assert stale["reason"]
        assert (await alice.frame())["last"] == 1
        assert await alice.settled(last=1) == []
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


async def test_the_same_move_twice_is_one_move(person, match):
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY)
        await alice.move(**GREEDY)
        assert (await alice.frame())["last"] == 2
        assert await alice.settled(last=2) == []
    assert await in_other_thread(log_of, match) == [(1, "start", ""), (2, "move", "alice")]


async def test_an_open_page_is_heard_and_sent_nothing(person, match):
    async with page(person) as alice:
        await alice.frame()
        await in_other_thread(Enrolment.objects.update, last_seen_at=timezone.now() - timedelta(minutes=5))
        await alice.send({"type": "here", "last": 1})
        assert await alice.quiet()
    assert (await in_other_thread(Enrolment.objects.get)).recently_seen()


async def test_a_page_that_missed_an_announcement_catches_up_when_it_is_heard(person, match):
    async with page(person) as alice:
        await alice.frame()
        await in_other_thread(announce_nothing, services.submit_move, match_id=match.pk, role="alice", **EQUAL_OFFER)
        await alice.send({"type": "here", "last": 1})
        assert (await alice.frame())["last"] == 2
        await alice.send({"type": "here", "last": 1})
        assert (await alice.frame())["last"] == 2


async def test_a_page_is_asked_whether_it_is_here(person, match, monkeypatch):
    monkeypatch.setattr(consumers, "ASK_SECONDS", 0.1)
    async with page(person) as alice:
        await alice.frame()
        assert [await alice.next() for _time in range(2)] == [{"type": "here"}] * 2


async def test_a_page_whose_move_waits_is_told_so_and_not_asked(person, match, monkeypatch):
    """It would send its move over HTTP too, and everyone would wait longer."""
    async with page(person) as alice:
        await alice.frame()
        monkeypatch.setattr(consumers, "BUSY_SECONDS", 0.2)
        monkeypatch.setattr(consumers, "ASK_SECONDS", 0.1)
        with busy_threads():
            await alice.move(**GREEDY)
            assert [await alice.next() for _time in range(2)] == [{"type": "busy"}] * 2


async def test_a_page_whose_move_waits_is_told_so_as_long_as_the_server_makes_progress(person, match, monkeypatch):
    async with page(person) as alice:
        await alice.frame()
        monkeypatch.setattr(consumers, "BUSY_SECONDS", 0.1)
        monkeypatch.setattr(consumers, "BUSY_TIMES", 1)
        with busy_threads():
            await alice.send({"type": "sync", "last": 1})
            assert await alice.next() == {"type": "busy"}
            assert await alice.quiet()
        await alice.synced()
        slow_down()
        assert {"type": "busy"} in (told := await alice.settled(last=1))
        assert len(told) > 2


async def test_who_waits_is_known_to_be_there_before_their_turn_comes(person, match, monkeypatch):
    async with page(person) as alice:
        await alice.frame()
        monkeypatch.setattr(consumers, "BUSY_SECONDS", 0.1)
        before = timezone.now() - timedelta(seconds=3)
        await in_other_thread(Enrolment.objects.update, last_seen_at=before)
        slow_down()
        await alice.move(**GREEDY)
        await until(lambda: Enrolment.objects.get().last_seen_at > before)
        assert await in_other_thread(log_of, match) == [(1, "start", "")]
        await alice.settled()
    assert (2, "move", "alice") in await in_other_thread(log_of, match)


async def test_pages_that_are_there_are_recorded_together(person, match):
    other, _match = await in_other_thread(new_match)
    async with page(person) as alice, page(other) as anna:
        for opened in (alice, anna):
            await opened.frame()
        await in_other_thread(Enrolment.objects.update, last_seen_at=timezone.now() - timedelta(minutes=5))
        for opened in (alice, anna):
            await opened.send({"type": "here", "last": 1})
        await until(lambda: all(each.recently_seen() for each in Enrolment.objects.all()))
        assert await alice.quiet() and await anna.quiet()


@pytest.mark.parametrize(
    "message", [{"type": "here", "last": 1}, {"type": "sync", "last": 1}, {"type": "move", "fields": GREEDY}]
)
async def test_a_page_learns_that_its_seat_has_gone_with_its_next_message(person, match, message):
    async with page(person) as alice:
        await alice.frame()
        await in_other_thread(Enrolment.objects.update, ended_at=timezone.now(), state=State.REPLACED)
        await alice.send(message)
        assert await alice.next() == {"type": "gone"}
        assert (await alice.socket.receive_output(TIMEOUT))["code"] == consumers.GONE
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


async def test_only_the_page_of_the_addressed_role_learns_of_a_message_of_the_researchers(person, match):
    async with page(person) as alice:
        await alice.frame()
        for role in ("bob", "alice"):
            channels.send_to_pages(match.pk, {"type": "match.message", "role": role})
        assert await alice.next() == {"type": "message"}
        assert await alice.quiet()


@pytest.mark.parametrize(("ended", "query"), [(True, b""), (False, b"step=1")])
async def test_a_page_that_reconnects_learns_that_its_seat_has_gone(person, match, ended, query):
    if ended:
        await in_other_thread(Enrolment.objects.update, ended_at=timezone.now(), state=State.REPLACED)
    alice = Page(person.token, query=query)
    assert await alice.connect()
    assert await alice.next() == {"type": "gone"}
    await alice.disconnect()


async def test_nobody_moves_out_of_turn(person, match):
    """The participant's page cannot answer a question to the agent."""
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY)
        await alice.move(answering="2", decision="accept")
        assert (await alice.next())["type"] == "stale"
    assert await in_other_thread(log_of, match) == [(1, "start", ""), (2, "move", "alice")]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("", id="nothing"),
        pytest.param("hello", id="no JSON"),
        pytest.param("[]", id="a list"),
        pytest.param("null", id="null"),
        pytest.param("{}", id="empty"),
        pytest.param('{"type": "drop table"}', id="unknown type"),
        pytest.param('{"type": ["move"]}', id="a list as type"),
        pytest.param('{"type": "move"}', id="a move without fields"),
        pytest.param('{"type": "move", "fields": ["a"]}', id="a move with a list of fields"),
        pytest.param('{"type": "match.moved", "frames": {}}', id="an announcement"),
        pytest.param("[" * 20_000, id="deep"),
        pytest.param("9" * 20_000, id="a number too long"),
        pytest.param(json.dumps({"type": "move", "fields": {**GREEDY, "message": "x" * 40_000}}), id="oversized"),
        pytest.param(b"\xff\x00" * 50_000, id="binary"),
    ],
)
async def test_unreadable_message_is_refused_but_harmless(person, match, message):
    async with page(person) as alice:
        await alice.frame()
        await alice.send_raw(**{"text" if isinstance(message, str) else "bytes": message})
        assert (await alice.next())["type"] == "refused"
        assert await alice.settled(last=1) == []
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost.evil.example", "null", ""])
async def test_a_page_of_another_site_is_not_connected(person, origin):
    assert not await Page(person.token, origin=origin).connect()


@pytest.mark.parametrize("token", ["forged", "x" * 300, "a%00b"])
async def test_a_forged_token_gets_gone(db, token):
    stranger = Page(token)
    assert await stranger.connect()
    assert await stranger.next() == {"type": "gone"}
    assert (await stranger.socket.receive_output(TIMEOUT))["type"] == "websocket.close"


async def test_a_participant_without_a_match_gets_gone(db):
    person = await in_other_thread(participant)
    stranger = Page(person.token)
    assert await stranger.connect()
    assert await stranger.next() == {"type": "gone"}


async def test_a_token_gives_access_only_to_its_own_match(person, match):
    other_person, other_match = await in_other_thread(new_match)
    async with page(person) as alice, page(other_person) as stranger:
        await alice.frame(), await stranger.frame()
        await stranger.move(**GREEDY, match=str(match.pk), token=person.token)
        assert (await stranger.next())["type"] == "refused"
        await stranger.move(**GREEDY)
        await answered_by_agent(other_match, 2)
        assert (await stranger.frame())["last"] == 4
        assert await alice.quiet()
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


async def test_two_pages_of_one_participant_stay_in_sync_and_move_once(person, match):
    async with page(person) as first, page(person) as second:
        await first.frame(), await second.frame()
        await first.move(**GREEDY)
        await until(lambda: Event.objects.filter(match=match, number=2).exists())
        await second.move(**HALF)
        assert "already answered" in (await second.next())["reason"]
        assert (await second.frame())["last"] == 2
        await answered_by_agent(match, 2)
        assert (await first.frame())["last"] == (await second.frame())["last"] == 4
    offer = await in_other_thread(Event.objects.get, match=match, number=2)
    assert offer.data["move"]["alice_gain"] == 9000


async def test_a_page_gets_missed_frames_on_sync(person, match):
    async with page(person) as alice:
        await alice.frame()
        assert await alice.settled(last=1) == []
        (frame,) = await alice.settled(last=0)
        assert frame["last"] == 1


async def test_a_reconnected_page_gets_the_current_frame(person, match):
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY)
        await until(lambda: Event.objects.filter(match=match, number=2).exists())
    await answered_by_agent(match, 2)
    async with page(person) as alice:
        assert (await alice.frame())["last"] == 4


async def test_a_sync_counts_as_presence(person, match):
    await in_other_thread(Enrolment.objects.update, last_seen_at=timezone.now() - timedelta(hours=1))
    async with page(person) as alice:
        await alice.frame()
        await alice.settled(last=1)
    await in_other_thread(person.refresh_from_db)
    assert person.recently_seen()


async def test_the_number_of_sockets_per_link_is_limited(person, match):
    async with AsyncExitStack() as pages:
        for _page in range(consumers.MAX_SOCKETS):
            await pages.enter_async_context(page(person))
        extra = Page(person.token)
        assert await extra.connect()
        assert await extra.socket.receive_output(TIMEOUT) == {
            "type": "websocket.close",
            "code": consumers.TOO_MANY_REQUESTS,
        }
        await extra.disconnect()
    async with page(person) as alice:
        assert (await alice.frame())["answering"] == 1


async def test_a_flooding_socket_is_closed(person, match):
    async with page(person) as alice:
        await alice.frame()
        for _message in range(consumers.BURST + 10):
            await alice.send({"type": "nonsense"})
        messages = []
        while not messages or messages[-1]["type"] != "websocket.close":
            messages.append(await alice.socket.receive_output(TIMEOUT))
        assert messages[-1]["code"] == consumers.TOO_MANY_REQUESTS
        assert len(messages) <= consumers.BURST + 10
    assert await in_other_thread(log_of, match) == [(1, "start", "")]


async def test_a_page_that_has_gone_gives_its_socket_back(person, match):
    """The server refuses to send to a page whose connection is lost, before the socket hears of it."""

    async def server(scope: Any, receive: Any, send: Any) -> None:
        async def send_to_nobody(message: Any) -> None:
            if message["type"] != "websocket.accept":
                raise ConnectionResetError
            await send(message)

        await application(scope, receive, send_to_nobody)

    for _page in range(consumers.MAX_SOCKETS):
        lost = Page(person.token, server=server)
        assert await lost.connect()
        await lost.send({"type": "sync", "last": 0})
        await lost.disconnect()
    async with page(person) as alice:
        assert (await alice.frame())["answering"] == 1


async def test_a_page_falls_back_to_http_while_redis_hangs(person, match, redis_hangs):
    with redis_hangs():
        alice = Page(person.token)
        assert await alice.connect()
        assert (await alice.socket.receive_output(TIMEOUT))["code"] == consumers.TRY_AGAIN_LATER
        await alice.disconnect()
    async with page(person) as alice:
        assert (await alice.frame())["answering"] == 1


async def test_a_page_connects_after_redis_has_dropped_the_others_connection(person, match, redis_url):
    other_person, _match = await in_other_thread(new_match)
    async with page(person) as alice:
        await alice.frame()
        with closing(redis.Redis.from_url(redis_url)) as client:
            assert client.client_kill_filter(_type="pubsub")
        async with page(other_person) as other:
            assert (await other.frame())["answering"] == 1


async def test_an_unavailable_database_closes_a_lobby(db, monkeypatch):
    def fail(token: str) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    monkeypatch.setattr(lobby.consumers, "answer_request", fail)
    monkeypatch.setattr(lobby.consumers, "place_of", lambda token: Place(pk=1, hall_id=1, pool="1"))
    monkeypatch.setattr(lobby.services, "mark_absent", fail)
    waiting = Page("some-token", kind="lobby")
    assert await waiting.connect()
    assert (await waiting.socket.receive_output(TIMEOUT))["code"] == consumers.TRY_AGAIN_LATER
    await waiting.disconnect()


async def test_an_unknown_socket_is_refused():
    assert not await Page("some-token", kind="other").connect()


async def test_an_unavailable_database_leaves_no_exception_behind(person, match, monkeypatch):
    exceptions = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: exceptions.append(context))
    monkeypatch.setattr(consumers, "QUICK_REPLY_SECONDS", 0)
    async with page(person) as alice:
        await alice.frame()

        def fail(seat: Any) -> None:
            raise OperationalError("the server closed the connection unexpectedly")

        monkeypatch.setattr(consumers, "current_frame", fail)
        await alice.move(**GREEDY)
        await until(lambda: Event.objects.filter(match=match, number=2).exists())
        assert await alice.quiet()
        await alice.send({"type": "sync", "last": 0})
        assert (await alice.socket.receive_output(TIMEOUT))["code"] == consumers.TRY_AGAIN_LATER
    gc.collect()
    await asyncio.sleep(0)
    assert exceptions == []


@pytest.fixture
def dropped() -> Iterator[None]:
    """Reconnect, since the test's own connection is dropped too."""
    yield
    connection.close()


@pytest.mark.skipif(KIND != "postgres", reason="SQLite has no server to drop connections")
async def test_connections_that_the_server_dropped_are_replaced(person, match, dropped):
    def drop() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    async with page(person) as alice:
        await alice.frame()
        await in_other_thread(drop)
        await alice.move(**GREEDY)
        await answered_by_agent(match, 2)
        assert (await alice.frame())["answering"] == 4


@pytest.mark.parametrize("origin", ["http://localhost:8001", "http://localhost:80", "http://[", ""])
async def test_another_program_on_this_machine_cannot_open_a_socket(person, match, origin):
    assert not await Page(person.token, origin=origin).connect()
