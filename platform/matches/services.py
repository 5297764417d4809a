"""The only functions that change a match: open it, move, handle time-outs, abandon it.

Each locks the match's row, applies the rules, appends events and, after the commit, notifies the pages and
queues the agents whose turn it is (`matches.change`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
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
from llm_agents.agent import spec_of
from llm_agents.match import roles_to_ask
from matches.absences import is_lost
from matches.change import Change, extension_seconds
from matches.errors import Stale
from matches.models import Match, Seat, cache_players
from matches.turns import OpenTurn
from opponents.agent_settings import DEFAULT, AgentSettings
from opponents.agents import NO_ANSWER_SUFFIX, Agent, Seats, draw_lineup
from participants import services as people
from participants.models import Enrolment
from participants.states import State

ON_TIMEOUT = "end"
"""What happens when a participant's time is up, or when a participant leaves a match with others.

"end" the match, play the game's "default" move, or let an "agent" take the seat (`timers["standin"]`).
"""

log = logging.getLogger(__name__)
Mover = Callable[[Play], MoveData]


@dataclass(frozen=True)
class MoveResult:
    """The result of a move: the play after it and after the moves that followed at once."""

    play: Play
    moves: int = 1
    """How many moves were made: this one and those that followed at once."""

    @property
    def last(self) -> int:
        """Return the number of the match's new last event."""
        return self.play.last

    @property
    def over(self) -> bool:
        return self.play.over


@dataclass(frozen=True)
class Player:
    """Who takes a seat: an enrolment (at a step of its path), or an agent's specification, delay and settings.

    Attributes:
        label: the agent's name; empty: its specification.
    """

    enrolment: Enrolment | None = None
    step: int | None = None
    agent: str = ""
    delay: float = 0
    settings: AgentSettings = DEFAULT
    label: str = ""
    fills_in: bool = False

    @classmethod
    def agents(
        cls, agents: Mapping[str, Agent], seats: Seats, *, seed: int, filling_in: Collection[Role] = ()
    ) -> dict[Role, Player]:
        """Return the agents of a line-up by seat, in the match with this seed.

        Args:
            agents: by label.
            filling_in: seats for which nobody arrived.
        """
        return {
            role: cls(
                agent=agent.spec,
                delay=agent.delay,
                settings=agent.settings,
                label=label,
                fills_in=role in filling_in,
            )
            for role, label in draw_lineup(seats, seed).items()
            for agent in [agents[label]]
        }


def prepare(*, game: str, config: Mapping[str, Any], seed: int) -> None:
    """Do the slow computations for opening such a match in advance, if any; call this outside transactions.

    Raises:
        GameError: the configuration is not playable.
    """
    rules = registry.get(game)
    if rules.slow_setup:
        games.play.prepare(games.play.configure(rules, config), seed)


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
        budget_of: what its models' calls are charged to, such as "study:trust-1".

    Raises:
        GameError: the configuration is not playable.
        ValueError: the players do not fit the roles.
    """
    configured = games.play.configure(registry.get(game), config, amounts=(texts or {}).get("amounts", "dollars"))
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
            label=player.label or player.agent,
            fills_in=player.fills_in,
            agent=player.agent,
            delay=player.delay,
            settings=player.settings.model_dump(mode="json", exclude_defaults=True),
        )
        for role, player in players.items()
    )
    agents = {
        role: Agent(spec=player.agent, delay=player.delay, settings=player.settings)
        for role, player in players.items()
        if player.agent
    }
    cache_players(match, configured, agents)
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
    made_at: datetime | None = None,
) -> MoveResult:
    """Make one move, whether from a screen, an agent or the clock.

    Args:
        move: plain data, or a function that chooses it from the play under the match's lock.
        answering: number of the event that opened the turn.
        by: who moves, if not the seat's own player ("clock", "script:fair").
        shown_at: when the question was shown to the participant, if known.
        keeps_moving: `move` is a function that also answers the role's immediately following turns.
        made_at: of a move from a participant's page, when they made it according to the page (now, if it does not
            say); None: the move is not from a page.

    Raises:
        Stale: the turn is no longer open, its time is up, or an agent answers it; nothing changed.
        Refused: the move is not allowed; nothing changed.
    """
    change = Change.begin(match_id)
    play = change.play
    _refuse_stale(play, role, answering)
    change.move(role, move(play) if callable(move) else move, by=by, shown_at=shown_at)
    while keeps_moving and callable(move) and role in change.play.waiting_for():
        change.move(role, move(change.play), by=by)
    if change.match.driven:
        _let_scripts_play(change)
    _answer_for_the_absent(change)
    change.write()
    return MoveResult(change.play, change.moves)


def _refuse_stale(play: Play, role: Role, answering: int) -> None:
    if not play.awaits_answer(role, answering):
        raise Stale(_("The game is over.") if play.over else _("The game has moved on. This is the current state."))


def _let_scripts_play(change: Change) -> None:
    """Make the moves of scripts without delay until another player has to move."""
    scripts = {role: spec_of(agent.spec).name for role, agent in change.agents.items() if _moves_at_once(agent)}
    while (role := next((role for role in roles_to_ask(change.play) if role in scripts), None)) is not None:
        try:
            change.move(role, script_move(change.play, role, scripts[role]))
        except GameError:
            change.abandon(State.OPPONENT_FAILED, role)


def _moves_at_once(agent: Agent) -> bool:
    return not agent.delay and agent.scripted


@transaction.atomic
def handle_time_outs(*, match_id: int) -> None:
    """Handle a match's overdue turns: one extension for participants, then what the study specifies."""
    change = Change.begin(match_id)
    overdue = [turn for turn in change.turns.values() if turn.deadline <= timezone.now()]
    for turn in overdue:
        if not change.play.over:
            _handle_time_out(change, turn)
    if overdue:
        _answer_for_the_absent(change)
        change.write()


def _handle_time_out(change: Change, turn: OpenTurn) -> None:
    if turn.by_agent:
        _replace_agent(change, turn.role)
    elif not turn.extended and extension_seconds(change.match) > 0:
        change.extend(turn.role)
    elif _timeout_policy(change) == "default":
        change.move_by_clock(turn.role)
    elif _timeout_policy(change) == "agent" and _others_play(change, turn.role):
        enrolment_id = _give_seat_to_agent(change, turn.role)
        people.end(people.locked(enrolment_id), State.REPLACED)
    else:
        enrolment = Seat.objects.select_related("enrolment").get(match=change.match, role=turn.role).enrolment
        is_present = enrolment is not None and enrolment.recently_seen()
        _abandon(change, State.TIMED_OUT if is_present else State.DROPPED_OUT, turn.role)


def _timeout_policy(change: Change) -> str:
    policy: str = change.match.timers.get("on_timeout", ON_TIMEOUT)
    return ON_TIMEOUT if policy == "agent" and "standin" not in change.match.timers else policy


def _others_play(change: Change, role: Role) -> bool:
    """Return whether a participant other than `role` would be left in the match."""
    other_people = change.match.people() - {role}
    return any(not is_lost(change.absences.get(person, {})) for person in other_people)


def _give_seat_to_agent(change: Change, role: Role) -> int:
    """Give a participant's seat to the study's agent; return the participant's enrolment."""
    change.seat_agent(role, Agent.model_validate(change.match.timers["standin"]))
    return _mark_left(change, role)


def _mark_left(change: Change, role: Role) -> int:
    seat = Seat.objects.get(match=change.match, role=role)
    Seat.objects.filter(pk=seat.pk).update(left_at=timezone.now())
    enrolment_id = seat.enrolment_id
    assert enrolment_id is not None
    return enrolment_id


def _answer_for_the_absent(change: Change) -> None:
    """Let the clock answer at once for participants who are away."""
    while (role := next((r for r in change.play.waiting_for() if change.is_away(r)), None)) is not None:
        change.move_by_clock(role)


@transaction.atomic
def come_back(*, match_id: int, role: Role) -> None:
    """Record that a participant whose turns the clock answered is back; does nothing for others."""
    change = Change.begin(match_id)
    if not change.play.over and change.absences.get(role):
        change.welcome_back(role)
        change.write()


@transaction.atomic
def leave(*, match_id: int, role: Role, reason: str) -> None:
    """End the match of a participant whose enrolment has ended, or continue it without them.

    Args:
        reason: the state in which the enrolment ended.
    """
    change = Change.begin(match_id)
    if change.play.over or is_lost(change.absences.get(role, {})):
        return
    policy = _timeout_policy(change)
    if policy == "end" or not _others_play(change, role):
        _abandon(change, reason, role)
    elif policy == "agent":
        _give_seat_to_agent(change, role)
    else:
        _mark_left(change, role)
        change.mark_left(role)
        _answer_for_the_absent(change)
    change.write()


@transaction.atomic
def replace_agent(*, match_id: int, role: Role, answering: int) -> MoveResult:
    """Handle an agent that gave no move at all: its fallback script moves, or the match ends.

    Raises:
        Stale: the turn is no longer open; nothing changed.
    """
    change = Change.begin(match_id)
    _refuse_stale(change.play, role, answering)
    _replace_agent(change, role)
    if change.match.driven:
        _let_scripts_play(change)
    change.write()
    return MoveResult(change.play, change.moves)


def _replace_agent(change: Change, role: Role) -> None:
    """Let the fallback script move; if scripts' moves count as data, mark this one as not counting."""
    settings = change.agents[role].settings
    script = settings.script
    by = f"script:{script}{NO_ANSWER_SUFFIX if settings.script_counts else ''}"
    try:
        if script:
            change.move(role, script_move(change.play, role, script), by=by)
            return
    except GameError:
        log.warning("scripted player %s made no legal move in match %s", script, change.match.pk)
    _abandon(change, State.OPPONENT_FAILED, role)


@transaction.atomic
def pause_turn(*, match_id: int, role: Role) -> int:
    """Extend the role's open turn once while they report a problem; return by how many seconds."""
    change = Change.begin(match_id)
    turn, seconds = change.turns.get(role), int(change.match.timers.get("report_seconds", 0))
    if turn is None or turn.by_agent or turn.paused or seconds <= 0 or turn.deadline <= timezone.now():
        return 0
    change.pause(role, seconds)
    change.write()
    return seconds


@transaction.atomic
def mark_shown(*, match_id: int, role: Role, answering: int, at: datetime) -> None:
    """Record when a question was first shown to the participant."""
    change = Change.begin(match_id)
    turn = change.turns.get(role)
    if turn is not None and turn.answering == answering and turn.shown_at is None:
        change.mark_shown(role, at)
        change.write(quietly=True)
        waiting_enrolments = Enrolment.objects.filter(seats__match=match_id, seats__role=role, state=State.WAITING)
        waiting_enrolments.update(state=State.PLAYING)


@transaction.atomic
def note_refusal(*, match_id: int, role: Role, answering: int) -> None:
    """Count a participant's refused attempt at an open turn, for the dataset."""
    change = Change.begin(match_id)
    turn = change.turns.get(role)
    if turn is not None and turn.answering == answering:
        change.count_refusal(role)
        change.write(quietly=True)


@transaction.atomic
def abandon_match(*, match_id: int, reason: str, role: Role | None = None) -> None:
    """End a live match without a result; `reason` is the state that ended it. Does nothing if it is over."""
    change = Change.begin(match_id)
    if not change.play.over:
        _abandon(change, reason, role)
        change.write()


def _abandon(change: Change, reason: str, role: Role | None) -> None:
    """End the match; `role`'s participant gets the state `reason`, the others that of another player's failure."""
    others_state = State.PARTNER_LEFT if role in change.match.people() else State.OPPONENT_FAILED
    change.abandon(str(reason), role)
    for seat in Seat.objects.filter(match=change.match, enrolment__isnull=False).order_by("enrolment"):
        enrolment = people.locked(seat.enrolment_id)
        people.end(enrolment, State(reason) if seat.role == role else others_state)
