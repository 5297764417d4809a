"""The socket of a participant's page.

The page sends messages of these types:

    move    make a move with these "fields"
    here    the page is open; it has seen the events up to "last"
    sync    send what was missed since the event "last"
    back    the participant, who was away, has returned
    chat    store a message in the chat, or ask for those "after" a number (`chat.answer`)

It receives frames (see `screens.frame`) and messages of these types:

    refused, stale, warning    the move was not made
    here       is the page still open? Asked every few seconds, because browsers slow down the timers of hidden pages
    busy       what the page sent waits for others: it need not send its move again
    synced     a sync is complete; if the page had missed a frame, the frame came first
    marks      someone has answered a sealed turn, and nothing else has changed (`screens.marks_message`)
    draft      the agent "role" is writing its answer to "answering"; "text" is null if the draft was retracted
    message    the researchers have written to this participant: the page fetches it
    chat       there are new messages: the page asks for them; or the answer to its own "chat"
    gone       the seat is no longer the participant's: the page must reload
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from django.conf import settings
from django.utils import timezone
from django.utils.translation import override
from pydantic_core import to_json
from redis import RedisError

from matches import chat, intake, presence, services
from matches.channels import group_of
from matches.models import Seat
from matches.sending import NotHeard, Sender
from matches.step import current_frame, live_seat
from matches.threads import Threads
from matches.writers import OUTAGE_ERRORS

T = TypeVar("T")
log = logging.getLogger(__name__)
MAX_SOCKETS = 6
"""The maximum number of open sockets per participant's link and process; further pages fetch their frames."""
BURST, PER_SECOND = 30, 5
"""How many messages a socket may send at once, and how many per second afterwards; no page sends half as many."""
TOO_MANY_REQUESTS = 4429
TRY_AGAIN_LATER = 1013
"""Close code while the database or Redis is unavailable; the page fetches its frames over HTTP meanwhile."""
MAX_MESSAGE_LENGTH = 32_768
"""The longest message in characters; a move with the longest allowed text is far shorter."""
QUICK_REPLY_SECONDS = 0.3
"""Seconds to wait for a quick opponent's reply before the page shows that it is thinking."""
ASK_SECONDS = 4
"""When a page that sends nothing is asked whether it is still open; browsers slow down the timers of hidden pages."""
BUSY_SECONDS, BUSY_TIMES = 2, 4
"""After how many seconds a page is told that its message waits, and how often while no other work ends either: after 3
seconds of silence, it sends its move over HTTP too, and everyone waits longer; during an outage it must."""
BEAT_SECONDS = 0.25
"""How often it is looked which pages are to be asked or told."""
ROLL_SECONDS = 0.1
"""For how long pages that say that they are there are gathered, to be recorded together."""
GONE = 4404
_open: Counter[str] = Counter()
_pages: defaultdict[int, set[PlayConsumer]] = defaultdict(set)
"""The open pages of each seat in this process."""
_threads = Threads(settings.PLAY_THREADS)
"""Enough threads for several commits to wait for the disk; more would only compete for the interpreter's lock."""


def in_thread(function: Callable[..., T], *args: Any, **options: Any) -> Awaitable[T]:
    """Run database work outside the event loop, in a few threads with persistent connections."""
    return _threads.run(partial(function, *args, **options))


class PageConsumer(AsyncWebsocketConsumer):
    """The socket of a participant's page, whose messages may come too often, too late, or during an outage.

    Attributes:
        question: asks the page whether it is still open, when it has sent nothing for a few seconds; None: it is not
            asked, nor told that the server is busy.
        busy: whether a message of the page, or its connecting, waits or is worked on.
        told_at: when the page was last asked or told, on the clock of `filled_at`.
    """

    burst, per_second = BURST, PER_SECOND
    question: dict[str, Any] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.closed = self.busy = False
        self.told_at, self.times_left, self.ended = 0.0, 0, -1
        self.turn = asyncio.Lock()
        self.bucket, self.filled_at = float(self.burst), time.monotonic()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_while_open(message: dict[str, Any]) -> None:
            """Send nothing to a page that has gone, or after closing, which the server would report as errors."""
            if self.closed:
                return
            self.closed = message["type"] == "websocket.close"
            try:
                await send(message)
            except OSError:
                self.closed = True

        self.scope, self.base_send, self.channel_layer = scope, send_while_open, get_channel_layer()
        self.channel_name = await self.channel_layer.new_channel()
        if self.question is not None:
            _heart.add(self)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._follow(partial(self.channel_layer.receive, self.channel_name)))
                await self._follow(receive)
        except* StopConsumer:
            pass
        finally:
            _heart.discard(self)

    async def _follow(self, receive: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """Dispatch the page's messages, or those of its groups: one at a time.

        The library's own way to do so takes a new task and a wait for each message.
        """
        while True:
            await self.dispatch_in_turn(await receive())

    async def dispatch_in_turn(self, message: dict[str, Any]) -> None:
        async with self.turn:
            await self.dispatch(message)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Dispatch without the library's thread switch per message, which would close old database connections.

        Database work runs in our own threads, which manage their connections.
        """
        is_leaving = message["type"] == "websocket.disconnect"
        if self.closed and not is_leaving:
            return
        if message["type"] == "websocket.receive" and not self._within_rate_limit():
            await self.close(TOO_MANY_REQUESTS)
            return
        self.busy = message["type"] in ("websocket.receive", "websocket.connect")
        try:
            await getattr(self, get_handler_name(message))(message)
        except (*OUTAGE_ERRORS, RedisError, TimeoutError) as error:
            _log_outage(error)
            if is_leaving:
                raise StopConsumer from error
            await self.close(TRY_AGAIN_LATER)
        finally:
            self.busy = False

    def beat(self, now: float) -> None:
        """Ask the page whether it is still there, if it is time to, or tell it that the server is busy.

        A page whose message waits is not asked: its answer would wait behind it, and cost what others wait for.
        """
        quiet = now - max(self.told_at, self.filled_at)
        if self.closed or quiet < (BUSY_SECONDS if self.busy else ASK_SECONDS):
            return
        self.told_at = now
        if not self.busy:
            self.sending = asyncio.create_task(self._send(self.question or {}))
            return
        self.times_left = self.times_left - 1 if self.ended == _threads.ended else BUSY_TIMES
        self.ended = _threads.ended
        if self.times_left > 0:
            self._say_busy()

    def _say_busy(self) -> None:
        """Tell the page that its message waits, if it understands that."""

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message))

    def _within_rate_limit(self) -> bool:
        now = time.monotonic()
        self.bucket = min(self.burst, self.bucket + (now - self.filled_at) * self.per_second) - 1
        self.filled_at = now
        return self.bucket >= 0


def _log_outage(error: Exception) -> None:
    service = "the database" if isinstance(error, OUTAGE_ERRORS) else "Redis"
    log.error("%s is unavailable: %s", service, type(error).__name__)


class PlayConsumer(PageConsumer):
    """The socket of one page that watches one seat, which it has once it is connected."""

    question = {"type": "here"}
    seat: Seat

    async def connect(self) -> None:
        self.token = self.scope["url_route"]["kwargs"]["token"]
        _open[self.token] += 1
        await self.accept()
        if _open[self.token] > MAX_SOCKETS:
            await self.close(TOO_MANY_REQUESTS)
            return
        seat = await in_thread(_heard_seat, self.token, _step_in(self.scope["query_string"]), timezone.now())
        if seat is None:
            await self._say_gone()
            return
        self.seat = seat
        self.last = 0
        self.shown: dict[int, Any] = {}
        self.delayed_frame: asyncio.Task[None] | None = None
        self.awaits: dict[str, int] = {}
        self.draft: dict[str, Any] | None = None
        _pages[seat.pk].add(self)
        await self.channel_layer.group_add(group_of(self.seat.match_id), self.channel_name)
        await self._show()

    async def disconnect(self, code: int) -> None:
        _open[self.token] -= 1
        if not _open[self.token]:
            del _open[self.token]
        if not hasattr(self, "seat"):
            return
        _pages[self.seat.pk].discard(self)
        if not _pages[self.seat.pk]:
            del _pages[self.seat.pk]
        if self.delayed_frame is not None:
            self.delayed_frame.cancel()
        for answering, shown_at in self.shown.items():
            await in_thread(
                services.mark_shown, match_id=self.seat.match_id, role=self.seat.role, answering=answering, at=shown_at
            )
        await self.channel_layer.group_discard(group_of(self.seat.match_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        await self._answer(_parsed(text_data))

    def _say_busy(self) -> None:
        self.sending = asyncio.create_task(self._send({"type": "busy"}))
        if hasattr(self, "seat"):
            _roll.add(self, timezone.now() - timedelta(seconds=time.monotonic() - self.filled_at), waits=True)

    async def _answer(self, message: dict[str, Any]) -> None:
        if message.get("type") == "move" and isinstance(message.get("fields"), dict):
            await self._move({str(name): str(value) for name, value in message["fields"].items()})
        elif message.get("type") == "here":
            self.lags = message.get("last", self.last) != self.last
            _roll.add(self, timezone.now())
        elif not await in_thread(presence.heard, self.seat, timezone.now()):
            await self._say_gone()
        elif message.get("type") == "back":
            await in_thread(services.come_back, match_id=self.seat.match_id, role=self.seat.role)
            await self._show(again=True)
        elif message.get("type") == "chat":
            await self._send(await in_thread(chat.answer, self.seat, message))
        elif message.get("type") == "sync":
            await self._show(again=message.get("last") != self.last)
            await self._send({"type": "synced"})
        else:
            await self._send({"type": "refused", "errors": {"": "This message could not be read."}})

    async def compare(self, match: presence.Found | None) -> None:
        """Compare what the page shows with what was found when it said that it was there."""
        if match is None or self.lags or match.has_news_after(self.last):
            await self.dispatch_in_turn({"type": "page.late", "is_theirs": match is not None})

    async def page_late(self, event: dict[str, Any]) -> None:
        """Handle that the page, which said that it was there, has missed something, or has lost its seat."""
        await (self._show(again=True) if event["is_theirs"] else self._say_gone())

    async def _say_gone(self) -> None:
        await self._send({"type": "gone"})
        await self.close(GONE)

    async def match_moved(self, event: dict[str, Any]) -> None:
        """Handle a change of the match (from `announce`, with a frame per participant's role)."""
        frame = event["frames"].get(self.seat.role)
        if frame is not None:
            await self._take(frame, clock=event["clock"])

    async def _take(self, frame: dict[str, Any], *, clock: bool = False) -> None:
        """Show a new frame; if it only waits for others, after a moment."""
        if frame["answering"] is None and not frame["over"] and not clock:
            self._show_later(frame["last"])
        else:
            await self._send_frame(frame, again=clock)

    async def match_marked(self, event: dict[str, Any]) -> None:
        """Handle an answer that changed no view (from `announce`): no frame is needed."""
        marks = event["news"]
        if marks["after"] < self.last:
            return
        if marks["after"] > self.last:
            await self._show()
            return
        self.last = marks["last"]
        if marks["seats"].get(self.seat.role) == "answered":
            self.awaits = marks["awaits"]
        await self._send({"type": "marks", "you": self.seat.role, **marks})
        await self._send_draft()

    async def match_replaced(self, event: dict[str, Any]) -> None:
        """Handle agents taking seats (from `announce`)."""
        if self.seat.role in event["roles"]:
            await self._say_gone()

    async def match_message(self, event: dict[str, Any]) -> None:
        """Handle a message of the researchers to a role: the page fetches it."""
        if event["role"] == self.seat.role:
            await self._send({"type": "message"})

    async def match_chat(self, event: dict[str, Any]) -> None:
        """Handle a new message in the chat (from `announce`)."""
        if self.seat.role in event["readers"]:
            await self._send({"type": "chat"})

    async def match_draft(self, event: dict[str, Any]) -> None:
        """Handle an agent's draft (from `announce`): only the newest counts, and its frame is sent first.

        Pages are not notified of every move of an agent that moves several times, so the frame may have to be fetched.
        """
        if self.seat.role not in event["people"] or (self.draft and event["number"] <= self.draft["number"]):
            return
        self.draft = event
        if event["answering"] > self.last:
            await self._show()
        else:
            await self._send_draft()

    async def _send_draft(self) -> None:
        """Send the newest draft, if the page is waiting for that answer."""
        draft = self.draft
        if draft is not None and self.awaits.get(draft["role"]) == draft["answering"]:
            await self._send({"type": "draft", **{name: draft[name] for name in ("role", "answering", "text")}})

    def _show_later(self, last: int) -> None:
        """After a moment, show that others are thinking, unless it is this seat's turn again by then."""

        async def show() -> None:
            await asyncio.sleep(QUICK_REPLY_SECONDS)
            try:
                if self.last < last:
                    await self._show()
            except OUTAGE_ERRORS as error:
                _log_outage(error)

        if self.delayed_frame is None or self.delayed_frame.done():
            self.delayed_frame = asyncio.create_task(show())

    async def _move(self, fields: dict[str, str]) -> None:
        answering = fields.get("answering", "")
        shown_at = next((time_shown for number, time_shown in self.shown.items() if str(number) == answering), None)
        sender = Sender(self.seat)
        outcome = await in_thread(_heard_and_moved, sender, fields, shown_at=shown_at)
        frame = sender.frame
        if outcome is None:
            await self._say_gone()
            return
        if outcome["type"] == "taken":
            # The next frame shows the result: the opponent's reply or, after a moment, that it is thinking.
            if outcome.get("again"):
                await self._show(again=True)
            elif frame is not None:
                for page in list(_pages.get(self.seat.pk, ())):
                    await page._take(frame)
            else:
                self._show_later(outcome["last"])
            return
        await self._send(outcome)
        if outcome["type"] == "stale":
            await self._show(again=True)

    async def _show(self, *, again: bool = False) -> None:
        """Send the current frame if the page has not seen it, or always if `again`."""
        await self._send_frame(await in_thread(current_frame, self.seat), again=again)

    async def _send_frame(self, frame: dict[str, Any], *, again: bool) -> None:
        if frame["last"] < self.last or (frame["last"] == self.last and not again):
            return
        if frame["answering"] is not None and frame["answering"] not in self.shown:
            self.shown = {frame["answering"]: timezone.now()}
        self.last = frame["last"]
        self.awaits = frame["awaits"]
        await self.send(text_data=to_json(frame).decode())
        await self._send_draft()


class _Heart:
    """One timer for all pages of a process that are asked and told."""

    def __init__(self) -> None:
        self.pages: set[PageConsumer] = set()
        self.next: asyncio.TimerHandle | None = None

    def add(self, page: PageConsumer) -> None:
        self.pages.add(page)
        if self.next is None:
            self._beat_later()

    def discard(self, page: PageConsumer) -> None:
        self.pages.discard(page)
        if self.next is not None and not self.pages:
            self.next.cancel()
            self.next = None

    def _beat_later(self) -> None:
        self.next = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        now = time.monotonic()
        for page in self.pages:
            page.beat(now)
        self._beat_later()


_heart = _Heart()


class _Roll:
    """The pages that say that they are there, or whose messages wait: they are recorded together, before other work."""

    def __init__(self) -> None:
        self.here: dict[PlayConsumer, datetime] = {}
        self.waiting: dict[PlayConsumer, datetime] = {}
        self.calling: asyncio.Task[None] | None = None

    def add(self, page: PlayConsumer, at: datetime, *, waits: bool = False) -> None:
        (self.waiting if waits else self.here)[page] = at
        if self.calling is None:
            self.calling = asyncio.create_task(self._call())

    async def _call(self) -> None:
        try:
            await asyncio.sleep(ROLL_SECONDS)
        finally:
            here, waiting, self.here, self.waiting, self.calling = self.here, self.waiting, {}, {}, None
        seats = ({page.seat.pk: at for page, at in pages.items()} for pages in (here, waiting))
        try:
            found = await _threads.run(partial(presence.hear_all, *seats), urgent=True)
        except OUTAGE_ERRORS as error:
            _log_outage(error)
            for page in here:
                await page.close(TRY_AGAIN_LATER)
            return
        await asyncio.gather(*(page.compare(found.get(page.seat.pk)) for page in here))


_roll = _Roll()


def _heard_and_moved(sender: Sender, fields: dict[str, str], *, shown_at: datetime | None) -> dict[str, Any] | None:
    """Return the outcome of a move, or None if the seat is no longer the participant's."""
    seat = sender.seat
    with override(seat.match.language):
        try:
            outcome = intake.handle_move(seat, fields, shown_at=shown_at, sender=sender)
        except NotHeard:
            return intake.handle_move(seat, fields, shown_at=shown_at) if presence.heard(seat, sender.at) else None
        return outcome if outcome["type"] == "taken" or presence.heard(seat, sender.at) else None


def _heard_seat(token: str, step: str, at: datetime) -> Seat | None:
    """Return the seat of a page that connected at that time; None if it has none, or it is no longer theirs."""
    seat = live_seat(token, step)
    return seat if seat is not None and presence.heard(seat, at) else None


def _step_in(query: bytes) -> str:
    """Return the step that the page shows; empty if it does not say."""
    return parse_qs(query.decode("latin-1")).get("step", [""])[0]


def _parsed(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > MAX_MESSAGE_LENGTH:
        return {}
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
