"""Telling the world that a match has moved, once that is committed.

Pages hear it over the channel layer, agents through the task queue. Both are only hints: pages ask
again when they see a gap, and the sweep finds every turn whose task was lost. So a broker that is
down delays a match, and never fails a move.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import lru_cache, partial

from channels.layers import get_channel_layer
from django.db import transaction

from games.play import Play
from matches import screens
from matches.models import Match
from matches.turns import OpenTurn

log = logging.getLogger(__name__)


def group_of(match_id: int) -> str:
    """The channel group of everybody who watches a match."""
    return f"match.{match_id}"


def when_committed(match: Match, play: Play, *, turns: Sequence[OpenTurn] = (), clock: bool = False) -> None:
    """After the commit: send the pages their frames, and queue the agents' `turns`.

    `clock` says that only a deadline has changed.
    """
    if clock or play.over or _somebody_is_told_something(match, play):
        transaction.on_commit(partial(_tell, match, clock))
    for turn in turns:
        transaction.on_commit(partial(queue_turn, match, turn))


def _somebody_is_told_something(match: Match, play: Play) -> bool:
    """False when nobody watches, or the only person has just moved: their page knows that already."""
    people = match.people()
    return len(people) > 1 or bool(people & set(play.waiting_for()))


def queue_turn(match: Match, turn: OpenTurn) -> None:
    """Hand an agent's turn to the workers."""
    from matches.tasks import play_turn

    try:
        play_turn.delay(str(match.uid), turn.role, turn.answering)
    except Exception as error:  # noqa: BLE001  (any broker failure: the sweep will queue it again)
        log.warning("turn of match %s not queued: %s", match.pk, type(error).__name__)


def _tell(match: Match, clock: bool) -> None:
    """One message for all pages of the match: each takes the frame of its own role out of it."""
    frames = {role: screens.frame(match, role) for role in match.people()}
    message = {"type": "match.moved", "frames": frames, "clock": clock}
    sending = get_channel_layer().group_send(group_of(match.pk), message)
    asyncio.run_coroutine_threadsafe(sending, background_loop()).add_done_callback(_log_failure)


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


def _log_failure(sending: Future[None]) -> None:
    if error := sending.exception():
        log.warning("a move was not announced: %s", type(error).__name__)


@lru_cache(maxsize=1)
def background_loop() -> asyncio.AbstractEventLoop:
    """One event loop per process, in a thread of its own, for everything that threads send or wait for."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="background-loop", daemon=True).start()
    return loop
