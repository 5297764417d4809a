"""The socket of a program: /api/v1/seats/ with its secret as a bearer token.

The server sends {"type": "seat", …} for each turn that opens, with the keys of `schemas.SeatTurn`, and {"type": "chat",
…} for each chat with something new, with those of `schemas.SeatChat`. The program sends {"type": "move", "token",
"move", "try", "version"}, {"type": "tool", "token", "name", "arguments", "version"} and {"type": "say", "token",
"text", "to", "key"}, and receives {"type": "taken" | "result" | "written" | "refused", "token", …} with the keys of the
HTTP response.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.urls import path
from pydantic import ValidationError

from api import schemas, seating, talking
from api.errors import Refused
from matches.consumers import MAX_MESSAGE_LENGTH, PageConsumer, in_thread
from programs.models import Program
from programs.tokens import program_with

LOOK_SECONDS = 0.3
"""Seconds between two looks for turns that have opened."""
REFUSED = 4401


class SeatsConsumer(PageConsumer):
    """The connection of one program."""

    burst, per_second = 300, 50

    async def connect(self) -> None:
        self.telling: asyncio.Task[None] | None = None
        header = dict(self.scope["headers"]).get(b"authorization", b"").decode(errors="replace")
        program = await in_thread(program_with, header.removeprefix("Bearer "))
        await self.accept()
        if program is None:
            await self.close(REFUSED)
            return
        self.telling = asyncio.create_task(self._tell(program, header))

    async def disconnect(self, code: int) -> None:
        if self.telling is not None:
            self.telling.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            message = json.loads((text_data or "")[: MAX_MESSAGE_LENGTH * 4])
            token = message["token"] if isinstance(message["token"], str) else ""
        except (ValueError, TypeError, KeyError, RecursionError):
            reason = "Send a JSON object with the keys type, token, and move or name."
            await self._send({"type": "refused", "token": "", "reason": reason})
            return
        try:
            reply = await in_thread(_handle, token, message)
        except Refused as refused:
            reply = {"type": "refused", "reason": str(refused), "status": refused.status, **refused.details}
        await self._send({**reply, "token": token})

    async def _tell(self, program: Program, header: str) -> None:
        """Send each turn once, until the socket closes or the program is disabled."""
        latest, heard = 0, dict[int, int | None]()
        while not self.closed:
            opened = await in_thread(_opened_after, header, latest)
            if opened is None:
                await self.close(REFUSED)
                return
            for key, seat in opened:
                latest = key
                if seat is not None:
                    await self.send(text_data=json.dumps({"type": "seat", **seat}, cls=DjangoJSONEncoder))
            for chat in await in_thread(_chats_after, program, heard):
                await self.send(text_data=json.dumps({"type": "chat", **chat}, cls=DjangoJSONEncoder))
            await asyncio.sleep(LOOK_SECONDS)


def _opened_after(header: str, latest: int) -> list[tuple[int, dict[str, Any] | None]] | None:
    """Return the (key, turn as its program sees it) of the turns opened since; None if the program may not play."""
    program = program_with(header.removeprefix("Bearer "))
    if program is None:
        return None
    return [(turn.pk, seating.shown(turn)) for turn in seating.open_turns(program, after=latest)]


def _chats_after(program: Program, heard: dict[int, int | None]) -> list[dict[str, Any]]:
    """Return the chats with messages that were not `heard` of, which it then holds."""
    newest = talking.newest(program)
    fresh = [seat for seat in newest if heard.get(seat, -1) != newest[seat]]
    heard |= newest
    return [talking.shown(program, seat) for seat in fresh]


def _handle(token: str, message: dict[str, Any]) -> dict[str, Any]:
    if message.get("type") == "say":
        fields = {key: str(message.get(key) or "") for key in ("to", "key")}
        return {"type": "written", **talking.say(token, str(message.get("text") or ""), **fields)}
    turn = seating.turn_with(token)
    if message.get("type") != "tool":
        sent = seating.SentMove.parse(message, json.dumps(message))
        return {"type": "taken", **seating.move(turn, sent)}
    try:
        call = schemas.ToolCall.model_validate({key: message[key] for key in message if key not in ("type", "token")})
    except ValidationError:
        raise Refused("A lookup has a name and its arguments, an object.") from None
    return {"type": "result", "result": seating.look_up(turn, call.name, call.arguments, version=call.version)}


websocket_urlpatterns = [path("api/v1/seats/", SeatsConsumer.as_asgi())]
