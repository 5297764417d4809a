"""A study that many people have played: real rows, copied from one match that was actually played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import cycle
from typing import Any

from django.db import connection, models
from django.utils import timezone

from games.play import configure, script_move
from games.registry import get
from matches import services
from matches.models import Match, Seat
from monitoring.tallies import tally_everything
from opponents.models import Call
from participants.models import Enrolment
from participants.states import State
from studies.models import Cell, Placement, Study
from studies.tests import kit

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
    ended = [now - MIN_AGE - PLAYED_OVER * (i / max(1, finished)) for i in range(finished)]
    last_seen = [now - timedelta(seconds=5 + i % 600) for i in range(live)]
    for moments, has_ended in ((ended, True), (last_seen, False)):
        if moments:
            _play(study, moments, has_ended)
    tally_everything()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _play(study: Study, moments: Sequence[datetime], ended: bool) -> None:
    original = _match(study, ended)
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
    cells = cycle(Cell.objects.filter(version__study=study).order_by("number"))
    _saved(
        Placement(enrolment=person, version=cell.version, cell=cell, role="alice", placed_at=person.arrived_at)
        for person, cell in zip(people, cells, strict=False)
    )
    matches = _saved(
        _copy(
            original,
            turns={role: {**turn, "opened_at": moment.isoformat()} for role, turn in original.turns.items()},
            started_at=moment - timedelta(minutes=6),
            ended_at=moment if ended else None,
            deadline=None if ended else moment + timedelta(hours=1),
        )
        for moment in moments
    )
    _saved(
        Seat(match=match, role=role, **seat)
        for match, person in zip(matches, people, strict=True)
        for role, seat in {"alice": {"enrolment": person, "step": 3}, "bob": {"agent": AGENT}}.items()
    )
    both = list(zip(matches, moments, strict=True))
    ago = [timedelta(seconds=20 * (len(log) - event.number)) for event in log]
    _saved(_event(event, match, moment - ago[i]) for match, moment in both for i, event in enumerate(log))
    _saved(_call(match, moment - timedelta(seconds=20 * i), i) for match, moment in both for i in range(3))
    original.delete()


def _match(study: Study, ended: bool) -> Match:
    """Return a match that has ended, or in which alice has made an offer and bob is asked."""
    (key,) = study.games
    config = configure(get(key), {}).config.model_dump(mode="json")
    players = {role: services.Player(agent="script:fair", delay=3600) for role in ("alice", "bob")}
    match = services.open_match(game=key, config=config, players=players, seed=1, budget_of=f"study:{study.slug}")
    is_first = True
    while is_first or (ended and match.status == Match.Status.LIVE):
        is_first = False
        play = match.play()
        (role,) = play.waiting_for()
        move = script_move(play, role, "fair")
        services.submit_move(match_id=match.pk, role=role, move=move, answering=play.opened[role])
        match.refresh_from_db()
    return match


def _event(event: models.Model, match: Match, at: datetime) -> Any:
    is_persons = event.kind == "move" and event.role == "alice"
    shown_at = at - timedelta(seconds=3 + match.pk % 17) if is_persons else None
    return _copy(event, match_id=match.pk, at=at, asked_at=shown_at, shown_at=shown_at)


def _call(match: Match, at: datetime, number: int) -> Call:
    failed = (match.pk + number) % 50 == 0
    return Call(
        match_uid=match.uid,
        role="bob",
        answering=2 + number,
        at=at,
        budget_of=match.budget_of,
        endpoint="openai",
        model="bench",
        latency=1 + match.pk % 7,
        outcome=Call.Outcome.FAILED if failed else Call.Outcome.MOVE,
        cost=None if failed else Decimal("0.0021"),
        record={"model": "bench", "messages": [{"role": "user", "content": "Divide 100. " * 40}], "answer": "{}"},
    )


def _copy(row: models.Model, **changes: Any) -> Any:
    """Return an unsaved copy without the row's own identifiers."""
    fields = [field.attname for field in row._meta.concrete_fields if not field.unique]
    return type(row)(**{name: getattr(row, name) for name in fields} | changes)


def _saved(rows: Iterable[models.Model]) -> list[Any]:
    """Save the rows and return them."""
    unsaved = list(rows)
    return type(unsaved[0])._default_manager.bulk_create(unsaved, batch_size=1000)
