"""The only places where a match changes: opening it, a move, a time-out, an abandonment.

Each locks the match's row, lets the rules decide, appends events and, once committed, tells the
pages and queues the agents whose turn it is (`matches.change`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

import games.play
from games import registry
from games.errors import GameError
from games.interface import MoveData, Role
from games.play import Play, script_move
from llm_agents.agent import parse_spec
from llm_agents.match import asked
from matches.agent_settings import DEFAULT, AgentSettings
from matches.change import Change, extension_seconds
from matches.errors import Stale
from matches.models import Agent, Match, Seat
from matches.turns import OpenTurn
from participants import services as people
from participants.models import Enrolment
from participants.states import State

ON_TIMEOUT = "end"
"""What happens when a person's time is up: "end" the match, or play the game's "default" move."""

Mover = Callable[[Play], MoveData]


@dataclass(frozen=True)
class Taken:
    """A move that was taken, and where the match stands after it and what followed at once."""

    play: Play
    moves: int = 1
    """How many moves were made: this one, and those that followed at once."""

    @property
    def last(self) -> int:
        """The match's new last event."""
        return self.play.last

    @property
    def over(self) -> bool:
        return self.play.over


@dataclass(frozen=True)
class Player:
    """Who takes a seat: an enrolment (at a step of its way), or an agent's specification, delay and settings."""

    enrolment: Enrolment | None = None
    step: int | None = None
    agent: str = ""
    delay: float = 0
    settings: AgentSettings = DEFAULT


@transaction.atomic
def open_match(
    *,
    game: str,
    config: Mapping[str, Any],
    players: Mapping[Role, Player],
    seed: int,
    purpose: str = Match.Purpose.STUDY,
    texts: Mapping[str, Any] | None = None,
    timers: Mapping[str, Any] | None = None,
    budget_of: str = "",
) -> Match:
    """Seat the players and open their first turn.

    Args:
        budget_of: whose money the calls of its models are, such as "study:trust-1".

    Raises:
        GameError: the configuration is not playable.
        ValueError: the players do not fit the roles.
    """
    configured = games.play.configure(registry.get(game), config)
    if set(players) != set(configured.roles()):
        raise ValueError(f"seats {sorted(players)} do not fit the roles {sorted(configured.roles())}")
    play, events = games.play.start(configured, seed)
    match = Match.objects.create(
        game=game,
        config=configured.config.model_dump(mode="json"),
        texts=dict(texts or {}),
        timers=dict(timers or {}),
        rules_version=configured.rules_version,
        seed=seed,
        purpose=purpose,
        budget_of=budget_of,
        snapshot=games.play.snapshot(play),
    )
    Seat.objects.bulk_create(
        Seat(
            match=match,
            role=role,
            enrolment=player.enrolment,
            step=player.step,
            agent=player.agent,
            delay=player.delay,
            settings=player.settings.model_dump(mode="json", exclude_defaults=True),
        )
        for role, player in players.items()
    )
    agents = {
        role: Agent(player.agent, player.delay, player.settings) for role, player in players.items() if player.agent
    }
    change = Change.opening(match, play, events, agents)
    if match.driven:
        _let_scripts_play(change)
    change.write()
    return match


@transaction.atomic
def submit_move(
    *,
    match_id: int,
    role: Role,
    move: MoveData | Mover,
    answering: int,
    by: str | None = None,
    shown_at: datetime | None = None,
    keeps_moving: bool = False,
) -> Taken:
    """Take one move: the one path for screens, agents and the clock.

    Args:
        move: plain data, or a function that chooses it from the play under the match's lock.
        answering: number of the event that opened the turn which this move answers.
        by: who moves, if not the seat's own player ("clock", "script:fair").
        shown_at: when the question was on the person's screen, if the page knows it.
        keeps_moving: `move` is a function that also answers whatever the role is asked straight after.

    Raises:
        Stale: the turn is no longer open; nothing changed.
        Refused: the move is not allowed; nothing changed.
    """
    change = Change.begin(match_id)
    play = change.play
    if role not in play.waiting_for() or play.opened[role] != answering:
        raise Stale(_("The game is over.") if play.over else _("The game has moved on; here is where it stands."))
    change.move(role, move(play) if callable(move) else move, by=by, shown_at=shown_at)
    while keeps_moving and callable(move) and role in change.play.waiting_for():
        change.move(role, move(change.play), by=by)
    if change.match.driven:
        _let_scripts_play(change)
    change.write()
    return Taken(change.play, change.moves)


def _let_scripts_play(change: Change) -> None:
    """Make the moves of scripted players, who have nothing to wait for, until somebody else must think."""
    while (role := next((r for r in asked(change.play) if _moves_at_once(change.agents.get(r))), None)) is not None:
        try:
            change.move(role, script_move(change.play, role, parse_spec(change.agents[role].spec).name))
        except GameError:
            change.abandon(State.OPPONENT_FAILED, role)


def _moves_at_once(agent: Agent | None) -> bool:
    return agent is not None and not agent.delay and parse_spec(agent.spec).scripted


@transaction.atomic
def let_time_run_out(*, match_id: int) -> None:
    """What the clock does to a match's overdue turns: one extension for people, then the end."""
    change = Change.begin(match_id)
    overdue = [turn for turn in change.turns.values() if turn.deadline <= timezone.now()]
    for turn in overdue:
        if not change.play.over:
            _run_out(change, turn)
    if overdue:
        change.write()


def _run_out(change: Change, turn: OpenTurn) -> None:
    if turn.by_agent:
        _replace_agent(change, turn.role)
    elif not turn.extended and extension_seconds(change.match) > 0:
        change.extend(turn.role)
    elif change.match.timers.get("on_timeout", ON_TIMEOUT) == "default":
        change.move(turn.role, change.play.game.default(change.play.state, turn.role), by="clock")
    else:
        enrolment = Seat.objects.select_related("enrolment").get(match=change.match, role=turn.role).enrolment
        here = enrolment is not None and enrolment.recently_seen()
        _abandon(change, State.TIMED_OUT if here else State.DROPPED_OUT, turn.role)


def _replace_agent(change: Change, role: Role) -> None:
    """Whoever should have asked this agent is gone: the study's scripted player moves, or the match ends."""
    script = change.agents[role].settings.script
    try:
        if script:
            change.move(role, script_move(change.play, role, script), by=f"script:{script}")
            return
    except GameError:
        pass
    _abandon(change, State.OPPONENT_FAILED, role)


@transaction.atomic
def mark_shown(*, match_id: int, role: Role, answering: int, at: datetime) -> None:
    """Remember when a question was first on the person's screen."""
    change = Change.begin(match_id)
    turn = change.turns.get(role)
    if turn is not None and turn.answering == answering and turn.shown_at is None:
        change.mark_shown(role, at)
        change.write(quietly=True)
        waited = Enrolment.objects.filter(seats__match=match_id, seats__role=role, state=State.WAITING)
        waited.update(state=State.PLAYING)


@transaction.atomic
def abandon_match(*, match_id: int, reason: str, role: Role | None = None) -> None:
    """End a live match without a result; `reason` is the state that ended it. Once over, nothing happens."""
    change = Change.begin(match_id)
    if not change.play.over:
        _abandon(change, reason, role)
        change.write()


def _abandon(change: Change, reason: str, role: Role | None) -> None:
    """End the match; the one whose doing it was gets `reason` as their state, the others a failed opponent."""
    change.abandon(str(reason), role)
    for seat in Seat.objects.filter(match=change.match, enrolment__isnull=False):
        enrolment = people.locked(seat.enrolment_id)
        people.end(enrolment, State(reason) if seat.role == role else State.OPPONENT_FAILED)
