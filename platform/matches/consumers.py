"""The socket of a participant's page.

The page sends {"type": "move", "fields": {…}} and {"type": "sync", "last": n}; it is sent frames
(see `screens.frame`), {"type": "taken" | "refused" | "stale"} in answer to a move, and {"type":
"gone"} when the token opens no match.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from matches import screens, services
from matches.announce import group_of
from matches.step import current_frame, live_seat
from participants import services as people

LONGEST_MESSAGE = 32_768
"""Characters; a move with the longest allowed message is far below."""
PATIENCE = 0.3
"""Seconds in which a quick opponent's reply may come before the page is shown that it is thinking."""
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="play")


def in_thread(function):
    """Run database work beside the event loop, in threads that keep their connections."""
    return database_sync_to_async(function, thread_sensitive=False, executor=_threads)


class PlayConsumer(AsyncWebsocketConsumer):
    """One page that watches one seat."""

    async def connect(self) -> None:
        self.seat = await in_thread(live_seat)(self.scope["url_route"]["kwargs"]["token"])
        await self.accept()
        if self.seat is None:
            await self._send({"type": "gone"})
            await self.close(4404)
            return
        self.last = 0
        self.shown: dict[int, Any] = {}
        self.flushing: asyncio.Task | None = None
        await self.channel_layer.group_add(group_of(self.seat.match_id), self.channel_name)
        await in_thread(people.touch)(self.seat.enrolment_id)
        await self._show()

    async def disconnect(self, code: int) -> None:
        if getattr(self, "seat", None) is None:
            return
        await self.channel_layer.group_discard(group_of(self.seat.match_id), self.channel_name)
        for answering, at in self.shown.items():
            await in_thread(services.mark_shown)(
                match_id=self.seat.match_id, role=self.seat.role, answering=answering, at=at
            )

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = _parsed(text_data)
        if message.get("type") == "move" and isinstance(message.get("fields"), dict):
            await self._move({str(name): str(value) for name, value in message["fields"].items()})
        elif message.get("type") == "sync":
            await in_thread(people.touch)(self.seat.enrolment_id)
            await self._show(known=message.get("last"))
        else:
            await self._send({"type": "refused", "errors": {"": "This message could not be read."}})

    async def match_moved(self, event: dict[str, Any]) -> None:
        """The match has moved (sent by `announce`)."""
        if event["last"] <= self.last and not event.get("clock"):
            return
        if self.seat.role in event["waiting"] or event["over"]:
            await self._show()
        elif self.flushing is None or self.flushing.done():
            self.flushing = asyncio.create_task(self._show_unless_newer(event["last"]))

    async def _show_unless_newer(self, last: int) -> None:
        await asyncio.sleep(PATIENCE)
        if self.last < last:
            await self._show()

    async def _move(self, fields: dict[str, str]) -> None:
        answering = fields.get("answering", "")
        shown = self.shown.pop(int(answering), None) if answering.isdecimal() else None
        outcome = await in_thread(screens.take)(self.seat, fields, shown_at=shown)
        await self._send(outcome)
        if outcome["type"] == "stale":
            await self._show()

    async def _show(self, known: Any = None) -> None:
        """Send the frame, unless the page says that it knows it already."""
        frame = await in_thread(current_frame)(self.seat)
        if frame["answering"] is not None and frame["answering"] not in self.shown:
            self.shown = {frame["answering"]: timezone.now()}
        self.last = frame["last"]
        if known != frame["last"]:
            await self._send(frame)

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message))


def _parsed(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > LONGEST_MESSAGE:
        return {}
    try:
        message = json.loads(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
