"""Announces changes to lobby pages. Messages may be lost: pages also ask every few seconds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from channels.layers import get_channel_layer

from matches.channels import in_background


def channel_of(hall_id: int, pool: str) -> str:
    """Return the channel group of the participants in a pool."""
    return f"lobby.{hall_id}.{hashlib.sha256(pool.encode()).hexdigest()[:16]}"


def channel_of_place(place: int) -> str:
    """Return the channel group of one participant's pages."""
    return f"lobby.place.{place}"


def notify(hall_id: int, pool: str, here: Mapping[int, tuple[int, int]], *, changed: Iterable[int] = ()) -> None:
    """Send to the pages of a pool who is `here` (`grouping.prospects`), and to those of `changed` places to ask."""
    in_background(_send(channel_of(hall_id, pool), here, list(changed)), to="pages of a lobby")


async def _send(pool_channel: str, here: Mapping[int, tuple[int, int]], changed: Iterable[int]) -> None:
    layer = get_channel_layer()
    for place in changed:
        await layer.group_send(channel_of_place(place), {"type": "lobby.changed"})
    counts = [[place, *numbers] for place, numbers in here.items()]
    await layer.group_send(pool_channel, {"type": "lobby.here", "counts": counts})
