"""Messages from a process to pages: the channel group of a match, and the event loop that sends."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import Any

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)


def group_of(match_id: int) -> str:
    """Return the channel group of all pages that watch a match."""
    return f"match.{match_id}"


def send_to_pages(match_id: int, message: Mapping[str, Any]) -> None:
    """Send one message to all pages of the match, without waiting."""
    in_background(get_channel_layer().group_send(group_of(match_id), dict(message)), to="pages of a match")


def in_background(sending: Coroutine[Any, Any, None], *, to: str) -> None:
    """Send without waiting; if Redis is unavailable, log to which pages. They ask again themselves."""

    def log_failure(future: Future[None]) -> None:
        if error := future.exception():
            log.warning("Redis is unavailable: %s were not notified: %s", to, type(error).__name__)

    asyncio.run_coroutine_threadsafe(sending, background_loop()).add_done_callback(log_failure)


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
