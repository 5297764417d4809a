"""Announces to lobby pages who is present. Messages may be lost: pages also ask every few seconds."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from channels.layers import get_channel_layer

from lobby.models import Place
from lobby.tables import Table
from matches.channels import background_loop

log = logging.getLogger(__name__)


def channel_of(hall_id: int, pool: str) -> str:
    """Return the channel group of the participants waiting in a pool."""
    return f"lobby.{hall_id}.{hashlib.sha256(pool.encode()).hexdigest()[:16]}"


def notify(hall_id: int, pool: str, places: Sequence[Place], *, started: Sequence[int] = ()) -> None:
    """Send the list of `places` present to all pages of the pool; pages of the places in `started` begin the game."""
    message = {"type": "lobby.changed", "here": forming_group(places), "begun": list(started)}
    future = get_channel_layer().group_send(channel_of(hall_id, pool), message)
    asyncio.run_coroutine_threadsafe(future, background_loop()).add_done_callback(_log_failure)


def forming_group(places: Sequence[Place]) -> dict[str, Any]:
    """Return the forming group's seats, {"title", "number", "place" (null while free)}, and how many are missing."""
    if not places:
        return {"seats": [], "missing": 0}
    return seats_of(Table.of(places[0].enrolment, places[0].step), places)


def seats_of(table: Table, places: Sequence[Place]) -> dict[str, Any]:
    """Return what `forming_group` does, for a table and the places waiting for it."""
    queues: dict[str, list[int]] = {}
    for place in places:
        queues.setdefault(place.kind, []).append(place.pk)
    numbers = {role: number for number, role in enumerate(table.game.roles(), start=1)}
    seats = []
    for role, kind in table.seats.items():
        queue = queues.get(kind, [])
        place = queue.pop(0) if queue else None
        seats.append({"title": table.game.role_title(role), "number": numbers[role], "place": place})
    return {"seats": seats, "missing": sum(seat["place"] is None for seat in seats)}


def _log_failure(future: Future[None]) -> None:
    if error := future.exception():
        log.warning("Redis is unavailable: a lobby was not notified: %s", type(error).__name__)
