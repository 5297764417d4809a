"""Messages from a process to the pages of a match: the channel group and the event loop that sends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import Any

from channels.layers import get_channel_layer


def group_of(match_id: int) -> str:
    """Return the channel group of all pages that watch a match."""
    return f"match.{match_id}"


def send_to_pages(match_id: int, message: Mapping[str, Any]) -> Future[None]:
    """Send one message to all pages of the match, without waiting."""
    sending = get_channel_layer().group_send(group_of(match_id), dict(message))
    return asyncio.run_coroutine_threadsafe(sending, background_loop())


async def send_draft(
    match_id: int, role: str, answering: int, *, people: Sequence[str], text: str | None, number: int
) -> None:
    """Show `people` an agent's answer so far; None removes it. See `matches.drafts`."""
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
    """Return the process's event loop, which runs in its own thread and sends for all other threads."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="background-loop", daemon=True).start()
    return loop
