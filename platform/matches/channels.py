"""What leaves a process for the pages of a match: the channel group, and the event loop that sends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import Any

from channels.layers import get_channel_layer


def group_of(match_id: int) -> str:
    """The channel group of everybody who watches a match."""
    return f"match.{match_id}"


def send_to_pages(match_id: int, message: Mapping[str, Any]) -> Future[None]:
    """Send one message to all pages of the match, without waiting for it."""
    sending = get_channel_layer().group_send(group_of(match_id), dict(message))
    return asyncio.run_coroutine_threadsafe(sending, background_loop())


async def tell_draft(
    match_id: int, role: str, answering: int, *, people: Sequence[str], text: str | None, number: int
) -> None:
    """Show `people` the words so far of an agent's answer; None: there are none any more. See `matches.drafts`."""
    message = {
        "type": "match.draft",
        "role": role,
        "answering": answering,
        "people": list(people),
        "text": text,
        "number": number,
    }
    await get_channel_layer().group_send(group_of(match_id), message)


@lru_cache(maxsize=1)
def background_loop() -> asyncio.AbstractEventLoop:
    """One event loop per process, in a thread of its own, for everything that threads send or wait for."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="background-loop", daemon=True).start()
    return loop
