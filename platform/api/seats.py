"""The operations under /api/v1/seats/, by which researchers' own programs play."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from ninja import Router

from api import schemas, seating, talking
from api.access import ProgramSecret, TokenThrottle
from programs.models import Program

router = Router(throttle=TokenThrottle())
REFUSALS = {code: schemas.Problem for code in (401, 404, 429)}
CHAT_REFUSALS = dict.fromkeys((404, 422, 429), schemas.ChatProblem)
TURN_REFUSALS = {**REFUSALS, 409: schemas.Problem, 422: schemas.SeatProblem}
get = partial(router.get, by_alias=True, auth=ProgramSecret())


class CalledByProgram(HttpRequest):
    auth: Program


@get("", response={200: schemas.Seats, **REFUSALS}, summary="The program's open turns")
def seats(request: CalledByProgram) -> dict[str, Any]:
    """The turns that wait for the program's move, the longest waiting first, each with its own token."""
    shown = (seating.shown(turn) for turn in seating.open_turns(request.auth))
    return {"seats": [seat for seat in shown if seat is not None]}


@get("/chats", response={200: schemas.SeatChats, **REFUSALS}, summary="The chats of the program's seats")
def chats(request: CalledByProgram) -> dict[str, Any]:
    """The chats of live matches in which the program has a seat, each with its own token."""
    return {"chats": [talking.shown(request.auth, seat) for seat in talking.newest(request.auth)]}


@router.post(
    "/{token}/chat", response={200: schemas.MessageTaken, **CHAT_REFUSALS}, auth=None, summary="Write in a chat"
)
def say(request: HttpRequest, token: str, message: schemas.SentMessage) -> dict[str, Any]:
    """Write a message. 429 means: the same again after Retry-After seconds; nothing is lost. The token is enough."""
    return talking.say(token, message.text, to=message.to, key=message.key)


@router.post(
    "/{token}/tool", response={200: schemas.ToolResult, **TURN_REFUSALS}, auth=None, summary="Look something up"
)
def tool(request: HttpRequest, token: str, call: schemas.ToolCall) -> dict[str, Any]:
    """The result of a lookup that the turn offers. The token is enough; no secret is needed."""
    turn = seating.turn_with(token)
    return {"result": seating.look_up(turn, call.name, call.arguments, version=call.version)}


@router.post(
    "/{token}/move",
    response={200: schemas.MoveTaken, **TURN_REFUSALS},
    auth=None,
    summary="Move",
    openapi_extra={
        "requestBody": {"content": {"application/json": {"schema": schemas.SentMove.model_json_schema(by_alias=True)}}},
    },
)
def move(request: HttpRequest, token: str) -> dict[str, Any]:
    """Make the turn's move. A body that is not a legal move costs one of its tries, whatever it is."""
    try:
        text = request.body.decode(errors="replace")
        sent = json.loads(text)
    except RequestDataTooBig:
        raise seating.too_long() from None
    except (ValueError, RecursionError):
        sent = None
    return seating.move(seating.turn_with(token), seating.SentMove.parse(sent, text))
