"""The socket of a participant's page.

The page sends {"type": "move", "fields": {…}} and {"type": "sync", "last": n}; it is sent frames
(see `screens.frame`), {"type": "refused" | "stale"} in answer to a move that was not taken, {"type":
"synced"} in answer to a sync (after a frame, if the page had missed one), {"type": "draft", "role",
"answering", "text"} while an agent that its frame waits for writes (text null: it was retracted), and
{"type": "gone"} when the token opens no match.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import close_old_connections
from django.utils import timezone

from matches import intake, services
from matches.announce import group_of
from matches.step import current_frame, live_seat
from participants import services as people

T = TypeVar("T")
LONGEST_MESSAGE = 32_768
"""Characters; a move with the longest allowed message is far below."""
PATIENCE = 0.3
"""Seconds in which a quick opponent's reply may come before the page is shown that it is thinking."""
_threads = ThreadPoolExecutor(max_workers=12, thread_name_prefix="play")
"""Enough for commits to wait on the disk together; more would only contend for the interpreter."""


async def in_thread(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run database work beside the event loop, in a few threads that keep their connections."""

    def work() -> T:
        close_old_connections()
        return function(*args, **options)

    return await asyncio.get_running_loop().run_in_executor(_threads, work)


class PlayConsumer(AsyncWebsocketConsumer):
    """One page that watches one seat."""

    async def dispatch(self, message: dict[str, Any]) -> None:
        """As the library does, without its thread hop per message to look after database connections.

        Database work here runs in threads of our own, which look after theirs.
        """
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        self.seat = await in_thread(live_seat, self.scope["url_route"]["kwargs"]["token"])
        await self.accept()
        if self.seat is None:
            await self._send({"type": "gone"})
            await self.close(4404)
            return
        self.last = 0
        self.shown: dict[int, Any] = {}
        self.late: asyncio.Task[None] | None = None
        self.awaits: dict[str, int] = {}
        self.draft: dict[str, Any] | None = None
        await self.channel_layer.group_add(group_of(self.seat.match_id), self.channel_name)
        await in_thread(people.touch, self.seat.enrolment_id)
        await self._show()

    async def disconnect(self, code: int) -> None:
        if getattr(self, "seat", None) is None:
            return
        await self.channel_layer.group_discard(group_of(self.seat.match_id), self.channel_name)
        if self.late is not None:
            self.late.cancel()
        for answering, at in self.shown.items():
            await in_thread(
                services.mark_shown, match_id=self.seat.match_id, role=self.seat.role, answering=answering, at=at
            )

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = _parsed(text_data)
        if message.get("type") == "move" and isinstance(message.get("fields"), dict):
            await self._move({str(name): str(value) for name, value in message["fields"].items()})
        elif message.get("type") == "sync":
            await in_thread(people.touch, self.seat.enrolment_id)
            await self._show(again=message.get("last") != self.last)
            await self._send({"type": "synced"})
        else:
            await self._send({"type": "refused", "errors": {"": "This message could not be read."}})

    async def match_moved(self, event: dict[str, Any]) -> None:
        """The match has moved (sent by `announce`, with a frame per role that a person plays)."""
        frame = event["frames"][self.seat.role]
        if frame["answering"] is None and not frame["over"] and not event["clock"]:
            self._show_later(frame["last"])
        else:
            await self._send_frame(frame, again=event["clock"])

    async def match_draft(self, event: dict[str, Any]) -> None:
        """An agent's words so far (sent by `announce`): only the newest counts, and its frame comes before it.

        Pages are not told of each move of an agent that goes on, so that the frame may have to be fetched.
        """
        if self.seat.role not in event["people"] or (self.draft and event["number"] <= self.draft["number"]):
            return
        self.draft = event
        if event["answering"] > self.last:
            await self._show()
        else:
            await self._send_draft()

    async def _send_draft(self) -> None:
        """Send the newest draft, if the page waits for the answer that it is of."""
        draft = self.draft
        if draft is not None and self.awaits.get(draft["role"]) == draft["answering"]:
            await self._send({"type": "draft", **{name: draft[name] for name in ("role", "answering", "text")}})

    def _show_later(self, last: int) -> None:
        """Show that others are thinking, if the match has not come back to this seat meanwhile."""

        async def show() -> None:
            await asyncio.sleep(PATIENCE)
            if self.last < last:
                await self._show()

        if self.late is None or self.late.done():
            self.late = asyncio.create_task(show())

    async def _move(self, fields: dict[str, str]) -> None:
        answering = fields.get("answering", "")
        shown = next((at for question, at in self.shown.items() if str(question) == answering), None)
        outcome = await in_thread(intake.take, self.seat, fields, shown_at=shown)
        if outcome["type"] == "taken":
            # The next frame says so: the opponent's reply, or after a moment that it is thinking.
            self._show_later(outcome["last"])
            return
        await self._send(outcome)
        if outcome["type"] == "stale":
            await self._show(again=True)

    async def _show(self, *, again: bool = False) -> None:
        """Send the match as it stands, if the page has not seen it or in any case `again`."""
        await self._send_frame(await in_thread(current_frame, self.seat), again=again)

    async def _send_frame(self, frame: dict[str, Any], *, again: bool) -> None:
        if frame["last"] < self.last or (frame["last"] == self.last and not again):
            return
        if frame["answering"] is not None and frame["answering"] not in self.shown:
            self.shown = {frame["answering"]: timezone.now()}
        self.last = frame["last"]
        self.awaits = frame["awaits"]
        await self._send(frame)
        await self._send_draft()

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message))


def _parsed(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > LONGEST_MESSAGE:
        return {}
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
