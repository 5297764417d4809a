"""Telling the world that a match has moved, once that is committed.

Pages hear it over the channel layer, agents through the task queue. Both are only hints: pages ask
again when they see a gap, and the sweep finds every turn whose task was lost. So a broker that is
down delays a match, and never fails a move.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction

from games.interface import Role
from games.play import Play
from matches import channels, screens
from matches.models import Match
from matches.turns import OpenTurn

log = logging.getLogger(__name__)
PLAY_TURN = "matches.play_turn"
"""Name of the task that answers an agent's turn (`matches.tasks`): said by name, since tasks make moves themselves."""


def when_committed(
    match: Match,
    play: Play,
    *,
    turns: Sequence[OpenTurn] = (),
    frames_for: Collection[Role] | None = None,
    marks_after: int | None = None,
    replaced: Collection[Role] = (),
) -> None:
    """After the commit: tell the pages, and queue the agents' `turns`.

    Args:
        frames_for: the view of nobody has changed, and these pages alone get a frame, because their clock has;
            None: every page gets one.
        marks_after: where nobody's view has changed, the pages are told who has answered since this event; None:
            nobody has.
        replaced: people whose seat an agent has taken just now.
    """
    if replaced:
        transaction.on_commit(partial(_send, match, {"type": "match.replaced", "roles": list(replaced)}))
    if frames_for is None:
        if play.over or _somebody_is_told_something(match, play):
            transaction.on_commit(partial(_tell, match, match.people()))
    else:
        if marks_after is not None and match.people():
            news = screens.news(match, play, after=marks_after)
            transaction.on_commit(partial(_send, match, {"type": "match.marked", "news": news}))
        if frames_for:
            transaction.on_commit(partial(_tell, match, frames_for, clock=True))
    for turn in turns:
        transaction.on_commit(partial(queue_turn, match, turn))


def _somebody_is_told_something(match: Match, play: Play) -> bool:
    """False when nobody watches, or the only person has just moved: their page knows that already."""
    people = match.people()
    return len(people) > 1 or bool(people & set(play.waiting_for()))


def queue_turn(match: Match, turn: OpenTurn) -> None:
    """Hand an agent's turn to the workers."""
    try:
        current_app.send_task(PLAY_TURN, (str(match.uid), turn.role, turn.answering))
    except Exception as error:  # noqa: BLE001  (any broker failure: the sweep will queue it again)
        log.warning("turn of match %s not queued: %s", match.pk, type(error).__name__)


def _tell(match: Match, roles: Collection[Role], *, clock: bool = False) -> None:
    """One message for all pages of the match: each takes the frame of its own role out of it."""
    _send(match, {"type": "match.moved", "frames": screens.frames(match, roles), "clock": clock})


def _send(match: Match, message: dict[str, Any]) -> None:
    """One message to every page of the match, without waiting for it."""
    channels.send_to_pages(match.pk, message).add_done_callback(_log_failure)


def _log_failure(sending: Future[None]) -> None:
    if error := sending.exception():
        log.warning("a move was not announced: %s", type(error).__name__)
