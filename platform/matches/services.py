"""The only functions that change a match: open it, move, handle time-outs, abandon it.

Each locks the match's row, applies the rules, appends events and, after the commit, notifies the pages and
queues the agents whose turn it is (`matches.change`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import override

import games.play
from games import registry
from games.errors import GameError, Refused
from games.interface import Game, MoveData, Role
from games.play import Play, script_move
from llm_agents.agent import spec_of
from llm_agents.match import roles_to_ask
from matches import absences, chat
from matches.bulk import send_together, wait_for_answers
from matches.change import Change, OnPage
from matches.errors import Stale
from matches.models import LineUp, Match, Seat, cache_players, line_up_in
from matches.sending import Sender
from matches.turns import OpenTurn
from opponents.agents import NO_ANSWER_SUFFIX, Agent, draw_lineup
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from plans.asking import DEFAULT, AgentSettings
from plans.seats import Seats

ON_TIMEOUT = "end"
"""What happens when a participant's time is up, or when a participant leaves a match with others.

"end" the match, play the game's "default" move, or let an "agent" take the seat (`timers["standin"]`).
"""
AS_TIMEOUT = "as_timeout"
"""The policy for a lost connection (`timers["on_absence"]`) that is the same as for all whose time is up."""

TOLERANCE = timedelta(seconds=2)
"""How late an answer may be, and how far apart limits may be that are judged together: the time between two sweeps."""
MOST_AT_ONCE = 20
"""How many moves scripts make in the transaction of a live match's move before the worker makes the others."""
MOST_IN_WORKER = 200
"""The same in the worker, where nobody's page waits."""
UNNOTICED = timedelta(seconds=5)
"""A page calls more often than this: a shorter loss of connection is not noticed."""
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


class Opening(NamedTuple):
    """A match that opens, with its first questions and the moves that scripts make at once, before it is written."""

    match: Match
    seats: Sequence[Seat]
    change: Change
    configured: Game[Any, Any]
    line_up: LineUp


@transaction.atomic
def open_match(*, shown_to: Role | None = None, **what: Any) -> Match:
    """Seat the players and open their first turn.

    Args:
        shown_to: the participant whose page shows the first question now, if it is theirs.
        what: see `opening`.

    Raises:
        GameError: the configuration is not playable.
        ValueError: the players do not fit the roles.
    """
    opened = opening(**what)
    match, change = opened.match, opened.change
    if shown_to is not None and shown_to in change.turns:
        change.mark_shown(shown_to, change.now)
    _create([opened])
    change.write()
    if match.chat() is not None:
        transaction.on_commit(lambda: chat.queue_models(match))
    return match


def write_openings(openings: Sequence[Opening]) -> None:
    """Write matches of collections as they open; call this in a transaction."""
    _create(openings)
    Change.write_logs([opened.change for opened in openings])


def _create(openings: Sequence[Opening]) -> None:
    Change.create([opened.change for opened in openings])
    Seat.objects.bulk_create(seat for opened in openings for seat in opened.seats)
    for match, _seats, _change, configured, line_up in openings:
        cache_players(match, configured, line_up._replace(match_id=match.pk))


def opening(
    *,
    game: str,
    config: Mapping[str, Any],
    players: Mapping[Role, Player],
    seed: int,
    purpose: str = Match.Purpose.STUDY,
    texts: Mapping[str, Any] | None = None,
    timers: Mapping[str, Any] | None = None,
    budget_of: str = "",
) -> Opening:
    """Return a match as it opens; nothing is read or written.

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
    match = Match(
        game=game,
        config=configured.config.model_dump(mode="json"),
        texts=dict(texts or {}),
        timers=dict(timers or {}),
        rules_version=configured.rules_version,
        seed=seed,
        purpose=purpose,
        budget_of=budget_of,
    )
    seats = [
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
    ]
    line_up = line_up_in(match, seats)
    change = Change.opening(match, play, events, line_up.agents)
    if (match.driven and not (match.collected and match.chat())) or play.game.time_ends:
        _let_scripts_play(change)
    return Opening(match, seats, change, configured, line_up)


def move_in_transaction(
    *,
    match_id: int,
    role: Role,
    move: MoveData | Mover,
    answering: int,
    by: str | None = None,
    shown_at: datetime | None = None,
    made_at: datetime | None = None,
    on_page: OnPage | None = None,
    replaces: int | None = None,
    scripts_after: int | None = None,
    sender: Sender | None = None,
) -> MoveResult:
    """Make one move, whether from a screen, an agent or the clock; call this in a transaction.

    Args:
        move: plain data, or a function that chooses it from the play under the match's lock.
        answering: number of the event that opened the turn.
        by: who moves, if not the seat's own player ("clock", "script:fair").
        shown_at: when the question was shown to the participant, if known.
        made_at: of a move from a participant's page, when they made it according to the page (now, if it does not
            say); None: the move is not from a page.
        on_page: what the participant saw, tried and confirmed on the page before the move.
        replaces: the number of the participant's sealed move in whose place this one counts.
        scripts_after: how many moves scripts may make after it in the same transaction; by default MOST_AT_ONCE.
        sender: the page that sends the move, if it was not heard just before.

    Raises:
        NotHeard: the page must be heard first; nothing changed.
        Stale: the turn is no longer open, its time is up, or an agent answers it; nothing changed.
        Refused: the move is not allowed; nothing changed.
    """
    send_together()
    change = Change.begin(match_id, sender)
    if not change.match.has_begun(change.now):
        raise Stale(_("The game has not begun yet."))
    if replaces is not None:
        _reopen(change, role, replaces)
    play = change.play
    _refuse_stale(play, role, answering)
    if made_at is not None and replaces is None:
        _refuse_late(change, role, made_at)
    change.move(role, move(play) if callable(move) else move, by=by, shown_at=shown_at, on_page=on_page)
    _let_scripts_play(change, most=scripts_after)
    _finish(change)
    return MoveResult(change.play, change.moves)


submit_move = transaction.atomic(move_in_transaction)


def _reopen(change: Change, role: Role, number: int) -> None:
    """Open the participant's question again, whose sealed answer is to be replaced; the answer counts until then."""
    try:
        change.reopen(role, number)
    except Refused as refused:
        raise Stale(str(refused)) from None


def _refuse_stale(play: Play, role: Role, answering: int) -> None:
    if not play.awaits_answer(role, answering):
        raise Stale(_("The game is over.") if play.over else _("The game has moved on. This is the current state."))


def _refuse_late(change: Change, role: Role, made_at: datetime) -> None:
    """Refuse a participant's move that was not made in time, or that an agent makes for them.

    A page cannot claim to have been unable to deliver a move for longer than our last outage was, or the grace period.
    """
    turn = change.turns[role]
    if turn.by_agent:
        raise Stale(_("A program answers this question for you. You play again from your next turn."))
    if turn.deadline + TOLERANCE >= change.now or not change.is_final(role):
        return
    lost = max([UNNOTICED, *(end - start for start, end in _outages_of(change, turn))])
    made_at = max(made_at, change.now - min(absences.grace_of(change.match.timers), lost) - TOLERANCE)
    if min(made_at, change.now) > change.limit_of(role) + TOLERANCE:
        raise Stale(_("Your time was up before you answered."))


def _outages_of(change: Change, turn: OpenTurn) -> list[tuple[datetime, datetime]]:
    """Return our outages while the turn's present clock has been running."""
    return change.uptime.touching(turn.clock_from or turn.opened_at, max(change.now, turn.deadline))


def _let_scripts_play(change: Change, *, most: int | None = None) -> None:
    """Make the moves of scripts without delay until another player has to move.

    In a live match, a script that fails is left to the worker.

    Args:
        most: how many moves of a live match may be made in this change after the first; by default MOST_AT_ONCE.
    """
    if change.play.game.time_ends:
        for seat in [seat for seat in change.play.waiting_for() if seat in change.agents]:
            change.move(seat, change.play.game.default(change.play.state, seat))
        return
    most = MOST_AT_ONCE if most is None else most
    scripts = {} if change.match.paced else _at_once(change.agents)
    driven = change.match.driven
    failure = GameError if driven else Exception  # the worker reports what is wrong with a script
    while scripts and (driven or change.moves <= most):
        role = next((role for role in roles_to_ask(change.play) if role in scripts), None)
        if role is None:
            return
        try:
            with override(change.match.language):
                move = script_move(change.play, role, scripts[role])
            change.move(role, move)
        except failure:
            if not driven:
                return
            change.abandon(State.OPPONENT_FAILED, role)


def _at_once(agents: Mapping[Role, Agent]) -> dict[Role, str]:
    """Return the names of the scripts without delay, by role."""
    return {role: spec_of(agent.spec).name for role, agent in agents.items() if agent.scripted and not agent.delay}


@transaction.atomic
def handle_time_outs(*, match_id: int) -> None:
    """Handle a match's overdue turns: one extension for participants, then what the study specifies.

    All participants whose time is up are judged together: nobody is paid because another was looked at first.
    """
    change = Change.begin(match_id)
    overdue = [turn for turn in change.turns.values() if change.uptime.has_passed(turn.limit(change.uptime))]
    if not overdue:
        return
    seats = _seats_of_people(change)
    noted = [role for role, seat in seats.items() if _note_absence(change, role, seat)]
    due = [turn for turn in overdue if _is_due(change, turn, seats)]
    late = [turn.role for turn in due if not turn.by_agent and change.is_final(turn.role)]
    for turn in due:
        if not turn.by_agent and turn.role not in late:
            change.extend(turn.role)
    if late and not _someone_is_late_soon(change, late):
        _end_time(change, {role: seats[role] for role in late})
    for turn in due:
        if turn.by_agent and change.turns.get(turn.role) is turn:
            _replace_agent(change, turn.role)
    if due or noted:
        _finish(change)


def _seats_of_people(change: Change) -> dict[Role, Seat]:
    """Return the seats of participants who are asked, with their enrolments."""
    asked = [role for role, turn in change.turns.items() if not turn.by_agent]
    seats = Seat.objects.select_related("enrolment").filter(match=change.match, role__in=asked, enrolment__isnull=False)
    return {seat.role: seat for seat in seats}


def _is_due(change: Change, turn: OpenTurn, seats: Mapping[Role, Seat]) -> bool:
    """Return whether a turn's time is up and its participant could have delivered an answer given in time.

    After an outage, pages need some time to do so. A page that has not called since the limit may have lost its
    connection: it calls soon, or its participant is absent.
    """
    limit, uptime = change.limit_of(turn.role), change.uptime
    if turn.by_agent or not uptime.has_passed(limit):
        return turn.by_agent
    if change.match.simulated:
        return True
    grace = absences.grace_of(change.match.timers)
    if any(ended + min(grace, ended - began) > change.now for began, ended in _outages_of(change, turn)):
        return False
    is_absent = absences.has_lost_connection(change.absences.get(turn.role, {}))
    last_seen_at = _enrolment_in(seats[turn.role]).last_seen_at
    return is_absent or last_seen_at >= limit or absences.is_silent(last_seen_at, uptime)


def _enrolment_in(seat: Seat) -> Enrolment:
    assert seat.enrolment is not None
    return seat.enrolment


def _someone_is_late_soon(change: Change, late: Collection[Role]) -> bool:
    """Return whether another participant's time is about to be up: they are then judged together."""
    return any(
        not turn.by_agent and change.is_final(role) and change.limit_of(role) <= change.now + TOLERANCE
        for role, turn in change.turns.items()
        if role not in late
    )


def _end_time(change: Change, late: Mapping[Role, Seat]) -> None:
    """Act, once, on all participants whose time is up."""
    endings = {role: _ending_of(change, seat) for role, seat in late.items()}
    policies = {role: _policy_of(change, role) for role in late}
    if not _others_play(change, late):
        policies = {role: "end" if policy == "agent" else policy for role, policy in policies.items()}
    if "end" in policies.values():
        _abandon(change, {role: ending for role, ending in endings.items() if policies[role] == "end"})
        return
    asked = {role: change.turns[role].answering for role in late if policies[role] == "default"}
    for role, answering in asked.items():
        if change.play.awaits_answer(role, answering):
            change.move_by_clock(role)
    for role, ending in endings.items():
        if policies[role] == "agent":
            _replace(change, late[role], ending)


def _policy_of(change: Change, role: Role) -> str:
    """Return what happens to a participant whose time is up: another policy may hold for lost connections."""
    own: str = change.match.timers.get("on_absence", AS_TIMEOUT)
    is_absent = absences.has_lost_connection(change.absences.get(role, {}))
    return own if is_absent and own != AS_TIMEOUT else _timeout_policy(change)


def _ending_of(change: Change, seat: Seat) -> State:
    """Return how the study ends for a participant whose time is up."""
    last_seen_at = _enrolment_in(seat).last_seen_at
    if change.uptime.lost(last_seen_at):
        return State.OUR_OUTAGE
    is_absent = absences.has_lost_connection(change.absences.get(seat.role, {}))
    return State.DROPPED_OUT if is_absent or absences.is_silent(last_seen_at, change.uptime) else State.TIMED_OUT


def _replace(change: Change, seat: Seat, ending: State) -> None:
    """Let the study's agent answer for a participant: until they are back or, if the study says so, for good."""
    agent = Agent.model_validate(change.match.timers["standin"])
    if change.match.timers.get("returns", True):
        change.lend_seat(seat.role, agent, ending=ending, is_there=ending == State.TIMED_OUT)
    else:
        change.seat_agent(seat.role, agent)
        _mark_left(change, seat.role)
        people.end(people.locked(_enrolment_in(seat).pk), _as_replaced(ending))


def _as_replaced(ending: str) -> State:
    """Return the ending of a participant whose seat an agent has: their own doing, or our outage."""
    return State.OUR_OUTAGE if ending == State.OUR_OUTAGE else State.REPLACED


def _timeout_policy(change: Change) -> str:
    policy: str = change.match.timers.get("on_timeout", ON_TIMEOUT)
    return ON_TIMEOUT if policy == "agent" and "standin" not in change.match.timers else policy


def _others_play(change: Change, late: Collection[Role]) -> bool:
    """Return whether participants other than these have a seat in the match."""
    return any(change.is_playing(role) for role in change.match.people() - set(late))


def _mark_left(change: Change, role: Role) -> None:
    Seat.objects.filter(match=change.match, role=role).update(left_at=change.now)


def _finish(change: Change) -> None:
    """Let the clock answer for those who are away, end the study for those who never came back, and write."""
    while (role := next((r for r in change.play.waiting_for() if change.is_away(r)), None)) is not None:
        change.move_by_clock(role)
    if change.play.over:
        wait_for_answers()
        for role, absence in change.absences.items():
            if "lent" in absence and absences.is_replaced(absence):
                seat = Seat.objects.get(match=change.match, role=role)
                assert seat.enrolment_id is not None
                Seat.objects.filter(pk=seat.pk).update(left_at=absence["lent"]["at"])
                people.end(people.locked(seat.enrolment_id), _as_replaced(absence["lent"]["ending"]))
    change.write()


@transaction.atomic
def note_absences(*, match_id: int) -> None:
    """Record which participants' pages have not been heard from for too long."""
    change = Change.begin(match_id)
    seats = Seat.objects.select_related("enrolment").filter(match_id=match_id, enrolment__isnull=False)
    if any([_note_absence(change, seat.role, seat) for seat in seats]):
        change.write()


def _note_absence(change: Change, role: Role, seat: Seat) -> bool:
    """Record it if the participant is absent and this is not known yet; return whether it was recorded."""
    enrolment, absence = _enrolment_in(seat), change.absences.get(role, {})
    if not _may_be_absent(change.match, absence) or enrolment.ended or change.play.over:
        return False
    if is_silent := absences.is_silent(enrolment.last_seen_at, change.uptime):
        change.note_absence(role, enrolment.last_seen_at)
    return is_silent


def may_be_absent(seat: Seat) -> bool:
    """Return whether an absence of the seat's participant would be news."""
    return _may_be_absent(seat.match, seat.match.absences.get(seat.role, {}))


def _may_be_absent(match: Match, absence: absences.Absence) -> bool:
    known = absences.has_lost_connection(absence) or absences.is_lost(absence) or "agent" in absence
    return absences.budget_of(match.timers) > 0 and not match.simulated and not known


@transaction.atomic
def end_absence(*, match_id: int, role: Role, since: datetime) -> None:
    """Record that a participant's page is heard from again.

    Args:
        since: when it was last heard from.
    """
    change = Change.begin(match_id)
    if not change.play.over and not absences.is_lost(change.absences.get(role, {})):
        change.end_absence(role, since)
        change.write()


@transaction.atomic
def come_back(*, match_id: int, role: Role) -> None:
    """Record that a participant for whom the clock or an agent answered is back; does nothing for others."""
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
    if change.play.over or absences.is_lost(change.absences.get(role, {})):
        return
    policy = _timeout_policy(change)
    if policy == "end" or not _others_play(change, [role]):
        _abandon(change, {role: State(reason)})
    else:
        _mark_left(change, role)
        if policy == "agent":
            change.seat_agent(role, Agent.model_validate(change.match.timers["standin"]))
        else:
            change.mark_left(role)
    _finish(change)


@transaction.atomic
def replace_agent(*, match_id: int, role: Role, answering: int) -> MoveResult:
    """Handle an agent that gave no move at all: its fallback script moves, or the match ends.

    Raises:
        Stale: the turn is no longer open; nothing changed.
    """
    change = Change.begin(match_id)
    _refuse_stale(change.play, role, answering)
    _replace_agent(change, role)
    _let_scripts_play(change)
    _finish(change)
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
    _abandon_for_others(change, State.OPPONENT_FAILED, role)


@transaction.atomic
def pause_turn(*, match_id: int, role: Role) -> int:
    """Extend the role's open turn once while they report a problem; return by how many seconds."""
    change = Change.begin(match_id)
    turn, seconds = change.turns.get(role), int(change.match.timers.get("report_seconds", 0))
    if turn is None or turn.by_agent or turn.paused or seconds <= 0 or turn.limit(change.uptime) <= change.now:
        return 0
    change.pause(role, seconds)
    change.write()
    return seconds


@transaction.atomic
def hold_turn(*, match_id: int, role: Role, asked_at: datetime) -> bool:
    """Pause the clock of the role's open turn for a question to the researchers; return whether it was running.

    One question pauses clocks for `help_seconds` of the timers, and no turn is paused longer in total.
    """
    change = Change.begin(match_id)
    turn, most = change.turns.get(role), float(change.match.timers.get("help_seconds", 0))
    if turn is None or turn.by_agent or most <= 0 or turn.limit(change.uptime) <= change.now:
        return False
    if turn.held_until is not None:
        if turn.hold_left(change.now) > 0:
            return False
        change.release(role)
        turn = change.turns[role]
    until = min(asked_at + timedelta(seconds=most), change.now + timedelta(seconds=most - turn.held))
    if until <= change.now:
        return False
    change.hold(role, until)
    change.write()
    return True


@transaction.atomic
def release_turn(*, match_id: int, role: Role) -> None:
    """Let the clock of the role's open turn run again, if a question had paused it."""
    change = Change.begin(match_id)
    if role in change.turns and change.turns[role].held_until is not None:
        change.release(role)
        change.write()


@transaction.atomic
def mark_shown(*, match_id: int, role: Role, answering: int, at: datetime, waiting: bool = True) -> None:
    """Record when a question was first shown to the participant.

    Args:
        waiting: whether their enrolment may still say that they wait.
    """
    change = Change.begin(match_id)
    turn = change.turns.get(role)
    if turn is not None and turn.answering == answering and turn.shown_at is None:
        change.mark_shown(role, at)
        change.write(quietly=True)
        if waiting:
            enrolments = Enrolment.objects.filter(seats__match=match_id, seats__role=role, state=State.WAITING)
            enrolments.update(state=State.PLAYING)


@transaction.atomic
def note_attempt(*, match_id: int, role: Role, answering: int, warned: str = "") -> None:
    """Record, for the dataset, a participant's attempt at an open turn: refused or, with its words, warned about."""
    change = Change.begin(match_id)
    turn = change.turns.get(role)
    if turn is not None and turn.answering == answering:
        change.note_attempt(role, warned)
        change.write(quietly=True)


@transaction.atomic
def abandon_match(*, match_id: int, reason: str, role: Role | None = None) -> None:
    """End a live match without a result; `reason` is the state that ended it. Does nothing if it is over."""
    change = Change.begin(match_id)
    if change.play.over:
        return
    if role in change.match.people():
        _abandon(change, {role: State(reason)})
    else:
        _abandon_for_others(change, reason, role)
    _finish(change)


def _abandon(change: Change, endings: Mapping[Role, State]) -> None:
    """End the match because of these participants; the others' ending says whose fault it was."""
    roles, states = list(endings), list(endings.values())
    others_state = State.OUR_OUTAGE if State.OUR_OUTAGE in states else State.PARTNER_LEFT
    change.abandon(str(states[0]), roles[0] if len(roles) == 1 else None)
    _end_people(change, endings, others_state)


def _abandon_for_others(change: Change, reason: str, role: Role | None) -> None:
    """End the match because of an agent or the researchers."""
    change.abandon(str(reason), role)
    _end_people(change, {}, State.OPPONENT_FAILED)


def _end_people(change: Change, endings: Mapping[Role, State], others_state: State) -> None:
    """End the study for everyone in the match; for those whom an agent replaced, as their time had ended."""
    for seat in Seat.objects.filter(match=change.match, enrolment__isnull=False).order_by("enrolment"):
        assert seat.enrolment_id is not None
        absence = change.absences.get(seat.role, {})
        if seat.role in endings:
            state = endings[seat.role]
        elif "lent" in absence and absences.is_replaced(absence):
            state = State(absence["lent"]["ending"])
        else:
            state = others_state
        people.end(people.locked(seat.enrolment_id), state)
