"""The socket of a lobby page.

The page sends {"type": "sync"} every few seconds, which shows that it is open. It receives {"type": "lobby"} with
who is here (`step.status_of`), and {"type": "begin"} when it must reload.
"""

from __future__ import annotations

import json
from typing import Any

from lobby import services
from lobby.announce import channel_of
from lobby.step import answer_request, place_of, remaining
from matches.consumers import PageConsumer, in_thread


class LobbyConsumer(PageConsumer):
    """The connection of one lobby page."""

    async def connect(self) -> None:
        self.token = self.scope["url_route"]["kwargs"]["token"]
        self.place = await in_thread(place_of, self.token)
        await self.accept()
        if self.place is None:
            await self._send({"type": "begin"})
            await self.close(4404)
            return
        await self.channel_layer.group_add(self._channel(), self.channel_name)
        await self._send(await in_thread(answer_request, self.token))

    async def disconnect(self, code: int) -> None:
        if getattr(self, "place", None) is not None:
            await in_thread(services.mark_absent, self.place)
            await self.channel_layer.group_discard(self._channel(), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        await self._send(await in_thread(answer_request, self.token))

    async def lobby_changed(self, event: dict[str, Any]) -> None:
        """Handle an arrival, a departure or a new group (sent by `announce`)."""
        if self.place.pk in event["begun"]:
            await self._send({"type": "begin"})
        elif any(seat["place"] == self.place.pk for seat in event["here"]["seats"]):
            await self._send(
                {"type": "lobby", "place": self.place.pk, **event["here"], "remaining": remaining(self.place)}
            )

    def _channel(self) -> str:
        return channel_of(self.place.hall_id, self.place.pool)

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message))
