"""Announce a match's changes after they are committed.

Pages are notified over the channel layer, agents through the task queue. Both are only hints: pages ask again
if they notice a gap, and the sweep finds every turn whose task was lost. A broker that is down delays a match
but never fails a move.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction

from games.interface import Role
from games.play import Play
from matches import channels, screens
from matches.models import Match
from matches.sending import Sender
from matches.turns import OpenTurn

PLAY_TURN, SPEAK = "matches.play_turn", "matches.speak"
"""The tasks that answer an agent's turn, and let models write in a chat; `matches.tasks` imports this module."""


def when_committed(
    match: Match,
    play: Play,
    *,
    turns: Sequence[OpenTurn] = (),
    frames_for: Collection[Role] | None = None,
    marks_after: int | None = None,
    replaced: Collection[Role] = (),
    sender: Sender | None = None,
) -> None:
    """After the commit, notify the pages and queue the agents' `turns`.

    Args:
        frames_for: if only clocks have changed, the roles whose pages get a frame; None: every page gets one.
        marks_after: if no view has changed, the event since which pages are told who has answered; None: they are
            not told.
        replaced: participants whose seat an agent has just taken.
        sender: the page that made the change; it is given its new frame.
    """
    if replaced:
        transaction.on_commit(partial(_send, match, {"type": "match.replaced", "roles": list(replaced)}))
    if frames_for is None:
        if play.over or _some_page_needs_update(match, play):
            transaction.on_commit(partial(_send_frames, match, play, match.people(), sender=sender))
    else:
        if marks_after is not None and match.people():
            marks = screens.marks_message(match, play, after=marks_after)
            transaction.on_commit(partial(_send, match, {"type": "match.marked", "news": marks}))
        if frames_for:
            transaction.on_commit(partial(_send_frames, match, play, frames_for, clock=True))
    for turn in turns:
        transaction.on_commit(partial(queue_turn, match, turn))


def chat_when_committed(match: Match, readers: Collection[str]) -> None:
    """After the commit, tell the pages of these seats that the chat has a new message."""
    transaction.on_commit(partial(_send, match, {"type": "match.chat", "readers": list(readers)}))


def queue_speaking(match: Match) -> None:
    """Let the models of a match look whether they want to write; if the task is lost, they stay silent."""
    current_app.send_task(SPEAK, (match.pk,))


def _some_page_needs_update(match: Match, play: Play) -> bool:
    """Return False if no participant plays, or the only one has just moved and so has the new state already.

    If pages may not show which seats agents play, every change is announced, as it is between people.
    """
    people = match.people()
    if len(people) > 1 or not match.disclosure().shows_seats:
        return bool(people)
    return bool(people & set(play.waiting_for()))


def queue_turn(match: Match, turn: OpenTurn) -> None:
    """Queue an agent's turn; the sweep queues it again if the task is lost."""
    current_app.send_task(PLAY_TURN, (str(match.uid), turn.role, turn.answering))


def _send_frames(
    match: Match, play: Play, roles: Collection[Role], *, clock: bool = False, sender: Sender | None = None
) -> None:
    """Send one message to all pages of the match; each picks the frame of its own role.

    The page that moved is given its frame here, without a message. If it is open twice, in two processes, the other
    one asks for it, as after a lost message.
    """
    frames = screens.frames(match, play, roles, clock=clock)
    if sender is not None:
        sender.frame = frames.pop(sender.seat.role, None)
    if frames:
        _send(match, {"type": "match.moved", "frames": frames, "clock": clock})


def _send(match: Match, message: dict[str, Any]) -> None:
    """Send one message to all pages of the match, without waiting."""
    channels.send_to_pages(match.pk, message)
