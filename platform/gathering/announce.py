"""Announces changes of a session to its waiting rooms. Messages may be lost: pages also ask every few seconds."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future

from channels.layers import get_channel_layer

from matches.channels import background_loop

log = logging.getLogger(__name__)


def channel_of(session: int) -> str:
    """Return the channel group of a session's waiting rooms."""
    return f"session.{session}"


def changed(session: int) -> None:
    """Let every page of a session ask where it stands."""
    sending = get_channel_layer().group_send(channel_of(session), {"type": "session.changed"})
    asyncio.run_coroutine_threadsafe(sending, background_loop()).add_done_callback(_log_failure)


def _log_failure(future: Future[None]) -> None:
    if error := future.exception():
        log.warning("Redis is unavailable: a session was not announced: %s", type(error).__name__)
