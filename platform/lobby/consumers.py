"""The socket of a lobby page.

The server sends {"type": "ask"} every few seconds and when there is news, and the page answers {"type": "sync"},
which shows that it is open, also in the background, where browsers slow down timers. {"type": "ready", "group"} says
that the participant is ready. The page receives what it shows (`step.page_status`), {"type": "here", "others",
"missing"} when others arrive or leave, and {"type": "begin"} when it must reload.
"""

from __future__ import annotations

import json
from typing import Any

from lobby import services
from lobby.announce import channel_of, channel_of_place
from lobby.models import Place
from lobby.services import table_of
from lobby.step import answer_request, place_of, say_ready
from matches.consumers import PageConsumer, in_thread

PAGE_CLOSED = 1001
"""The close code that browsers send when the page is closed or left; a lost connection has another or none."""


class LobbyConsumer(PageConsumer):
    """The connection of one lobby page."""

    question = {"type": "ask"}
    place: Place | None = None

    async def connect(self) -> None:
        self.token = self.scope["url_route"]["kwargs"]["token"]
        self.hears_pool = False
        self.place = await in_thread(place_of, self.token)
        await self.accept()
        if self.place is None:
            await self._send({"type": "begin"})
            await self.close(4404)
            return
        await self.channel_layer.group_add(channel_of_place(self.place.pk), self.channel_name)
        await self._send(await in_thread(answer_request, self.token))

    async def disconnect(self, code: int) -> None:
        if self.place is None:
            return
        await self.channel_layer.group_discard(channel_of_place(self.place.pk), self.channel_name)
        await self._hear_pool(False)
        if code == PAGE_CLOSED:
            await in_thread(services.mark_absent, self.place)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            message = json.loads(text_data or "{}")
            group = int(message["group"]) if message.get("type") == "ready" else None
        except (ValueError, TypeError, KeyError, AttributeError):
            group = None
        if group is not None:
            await in_thread(say_ready, self.token, group)
        await self._send(await in_thread(answer_request, self.token))

    async def lobby_changed(self, event: dict[str, Any]) -> None:
        """Handle a group formed, opened or dissolved, or a wait that ended (sent by `announce`)."""
        await self._send({"type": "ask"})

    async def lobby_here(self, event: dict[str, Any]) -> None:
        """Handle an arrival or a departure (sent by `announce`)."""
        if self.place is None:
            return
        numbers = next((numbers for place, *numbers in event["counts"] if place == self.place.pk), None)
        if numbers is not None and not table_of(self.place).is_blind:
            await self._send({"type": "here", "others": numbers[0], "missing": numbers[1]})

    async def _hear_pool(self, hears: bool) -> None:
        """Subscribe to arrivals and departures while waiting; a crowd that is asked would drown in them."""
        if self.place is not None and hears != self.hears_pool:
            self.hears_pool = hears
            change = self.channel_layer.group_add if hears else self.channel_layer.group_discard
            await change(channel_of(self.place.hall_id, self.place.pool), self.channel_name)

    async def _send(self, message: dict[str, Any]) -> None:
        await super()._send(message)
        if "stage" in message:  # afterwards: while Redis is unavailable, what is said must not become old
            await self._hear_pool(message["stage"] == "waiting")
