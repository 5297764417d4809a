"""A study that many people have played: real rows, copied from one match that was actually played."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, models
from django.utils import timezone

from games.play import configure, script_move
from games.registry import get
from matches import services
from matches.models import Event, Match, Seat
from monitoring.tallies import tally_everything
from opponents.models import Call
from participants.models import Enrolment
from participants.states import State
from studies.models import Cell, Placement, Study
from studies.tests import kit

ROWS = 1000
PLAYED_OVER = timedelta(days=10)
MIN_AGE = timedelta(minutes=30)
"""Finished matches ended at least this long ago; anything newer belongs to live matches."""
GRID = {"delta_alice": [0.8, 0.9, 1.0], "delta_bob": [0.8, 0.9, 1.0]}
AGENT = "openai:bench"


def launch_crowded(slug: str, *, finished: int, live: int) -> int:
    """Launch a bargaining study that `finished` people have played and `live` are playing; return its key."""
    agents = {AGENT: kit.agent(AGENT, cap_study=500)}
    study = kit.launched(slug, title="A crowded study", grid=GRID, roles=["alice"], agents=agents, quota=100_000)
    add_people(study, finished=finished, live=live)
    return study.pk


def add_people(study: Study, *, finished: int, live: int) -> None:
    """Add people who have played, and people who are playing."""
    now = timezone.now()
    cells = list(Cell.objects.filter(version__study=study).order_by("number"))
    ended_times = [now - MIN_AGE - PLAYED_OVER * (index / max(1, finished)) for index in range(finished)]
    _play(study, cells, ended_times, ended=True)
    last_seen = [now - timedelta(seconds=5 + index % 600) for index in range(live)]
    _play(study, cells, last_seen, ended=False)
    tally_everything()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _play(study: Study, cells: Sequence[Cell], moments: Sequence[datetime], *, ended: bool) -> None:
    if not moments:
        return
    original = _finished_match(study) if ended else _open_match(study)
    log = list(original.events.order_by("number"))
    people = _saved(
        Enrolment(
            state=State.COMPLETED if ended else State.PLAYING,
            arrived_at=moment - timedelta(minutes=8),
            last_seen_at=moment,
            expires_at=moment + timedelta(hours=2),
            ended_at=moment if ended else None,
        )
        for moment in moments
    )
    _saved(
        Placement(
            enrolment=person,
            version=cells[index % len(cells)].version,
            cell=cells[index % len(cells)],
            role="alice",
            placed_at=person.arrived_at,
        )
        for index, person in enumerate(people)
    )
    matches = _saved(_match_copy(original, moment, ended) for moment in moments)
    _saved(
        seat
        for match, person in zip(matches, people, strict=True)
        for seat in (
            Seat(match=match, role="alice", enrolment=person, step=3),
            Seat(match=match, role="bob", agent=AGENT),
        )
    )
    _saved(
        _event_copy(event, match, moment, len(log))
        for match, moment in zip(matches, moments, strict=True)
        for event in log
    )
    _saved(
        _call(match, moment - timedelta(seconds=20 * number), number)
        for match, moment in zip(matches, moments, strict=True)
        for number in range(3)
    )
    original.events.all().delete()
    original.seats.all().delete()
    original.delete()


def _open_match(study: Study) -> Match:
    """Return a match in which alice has made an offer and bob is asked."""
    (key,) = study.games
    config = configure(get(key), {}).config.model_dump(mode="json")
    players = {role: services.Player(agent="script:fair", delay=3600) for role in ("alice", "bob")}
    match = services.open_match(game=key, config=config, players=players, seed=1, budget_of=f"study:{study.slug}")
    _move(match)
    return match


def _finished_match(study: Study) -> Match:
    match = _open_match(study)
    while match.status == Match.Status.LIVE:
        _move(match)
    return match


def _move(match: Match) -> None:
    match.refresh_from_db()
    play = match.play()
    (role,) = play.waiting_for()
    move = script_move(play, role, "fair")
    services.submit_move(match_id=match.pk, role=role, move=move, answering=play.opened[role])
    match.refresh_from_db()


def _match_copy(original: Match, moment: datetime, ended: bool) -> Match:
    names = ("game", "config", "rules_version", "seed", "budget_of", "status", "ending", "snapshot", "payoffs")
    turns = {role: {**turn, "opened_at": moment.isoformat()} for role, turn in original.turns.items()}
    return Match(
        **{name: getattr(original, name) for name in (*names, "metrics", "texts", "timers")},
        uid=uuid.uuid4(),
        turns=turns,
        started_at=moment - timedelta(minutes=6),
        ended_at=moment if ended else None,
        deadline=None if ended else moment + timedelta(hours=1),
    )


def _event_copy(event: Event, match: Match, moment: datetime, last_number: int) -> Event:
    event_time = moment - timedelta(seconds=20 * (last_number - event.number))
    by_person = event.kind == "move" and event.role == "alice"
    shown_at = event_time - timedelta(seconds=3 + match.pk % 17) if by_person else None
    return Event(
        match=match,
        number=event.number,
        kind=event.kind,
        role=event.role,
        data=event.data,
        at=event_time,
        asked_at=shown_at,
        shown_at=shown_at,
    )


def _call(match: Match, moment: datetime, number: int) -> Call:
    failed = (match.pk + number) % 50 == 0
    return Call(
        match_uid=match.uid,
        role="bob",
        answering=2 + number,
        at=moment,
        budget_of=match.budget_of,
        endpoint="openai",
        model="bench",
        latency=1 + match.pk % 7,
        outcome=Call.Outcome.FAILED if failed else Call.Outcome.MOVE,
        cost=None if failed else Decimal("0.0021"),
        record={"model": "bench", "messages": [{"role": "user", "content": "Divide 100. " * 40}], "answer": "{}"},
    )


def _saved(rows: Iterable[models.Model]) -> list[Any]:
    """Save the rows and return them."""
    unsaved = list(rows)
    return type(unsaved[0])._default_manager.bulk_create(unsaved, batch_size=ROWS) if unsaved else []
