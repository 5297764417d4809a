"""Ask a program about a turn: open it, wait for the program without a thread, read what it sent."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Protocol, TypedDict, TypeVar

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from llm_agents.agent import PROGRAM, spec_of
from llm_agents.errors import NotConfigured, TimedOut
from llm_agents.per_loop import PerLoop
from programs.models import Program, ProgramTurn

KEPT = timedelta(hours=1)
"""How long a closed turn stays, so that a move sent again gets its first result."""
POLL_SECONDS = 0.2
SILENT_AFTER = timedelta(minutes=2)
T = TypeVar("T")


class Attempt(TypedDict):
    """What a program sent for a turn.

    Attributes:
        at: when, in ISO format.
        tool: the lookup it called; empty for a move.
        text: the lookup's arguments, or the move, as JSON text as it was sent.
        problem: why it was refused; None if it was not.
        fault: "unreadable", "illegal" or "unknown"; None if it was not refused.
        version: what the program calls its version; empty if it does not say.
    """

    at: str
    tool: str
    text: str
    problem: str | None
    fault: str | None
    version: str


class Database(Protocol):
    async def retry(self, function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
        """Run a function that uses the database in a thread of its own."""


def missing_program(specs: Iterable[str]) -> str:
    """Return why one of these agents, such as "program:NAME", cannot play; empty if all of those programs can."""
    names = [spec_of(spec).name for spec in specs if spec_of(spec).kind == PROGRAM]
    enabled = set(Program.objects.filter(name__in=names, enabled=True).values_list("name", flat=True)) if names else ()
    missing = next((name for name in names if name not in enabled), None)
    return "" if missing is None else _("There is no enabled program “{name}”.").format(name=missing)


def silence_of(name: str) -> str:
    """Return that a program is missing or has not asked for turns lately; empty if it is there."""
    since = timezone.now() - SILENT_AFTER
    if missing := missing_program([f"{PROGRAM}:{name}"]):
        return missing
    if Program.objects.filter(name=name, seen_at__gte=since).exists():
        return ""
    return _("The program is not running: it has not asked for turns in the last minutes.")


@transaction.atomic
def open_turn(
    name: str, *, match_uid: uuid.UUID, role: str, answering: int, rung: int, seconds: float, tries: int
) -> ProgramTurn:
    """Open a turn for a program, or go on with the one that a worker which died or was stopped has opened.

    Raises:
        NotConfigured: there is no enabled program of that name.
    """
    program = Program.objects.filter(name=name, enabled=True).first()
    if program is None:
        raise NotConfigured(missing_program([f"{PROGRAM}:{name}"]))
    now = timezone.now()
    deadline = now + timedelta(seconds=seconds)
    ProgramTurn.objects.filter(closed_at__lt=now - KEPT).delete()
    question = {"match_uid": match_uid, "role": role, "answering": answering, "rung": rung}
    details = {"program": program, "deadline": deadline, "tries": tries}
    turn, is_new = ProgramTurn.objects.get_or_create(**question, defaults=details)
    if not is_new and turn.closed_at is None:
        turn.deadline = deadline
        turn.save(update_fields=["deadline"])
    return turn


@transaction.atomic
def locked(pk: int) -> ProgramTurn:
    """Return a turn, locked until the end of the transaction."""
    return ProgramTurn.objects.select_for_update(of=("self",)).select_related("program").get(pk=pk)


@transaction.atomic
def close(pk: int) -> ProgramTurn:
    """Close a turn, if it is open, and return it: nothing that arrives later changes it."""
    turn = locked(pk)
    if turn.closed_at is None:
        turn.closed_at = timezone.now()
        turn.save(update_fields=["closed_at"])
    return turn


async def answered(turn: ProgramTurn, database: Database, still_wanted: Callable[[], bool]) -> ProgramTurn:
    """Wait until a turn is closed or its time is up; return it closed.

    Raises:
        TimedOut: nobody wants its answer any longer; it stays open.
    """
    room = _rooms.get("programs", None, _WaitingRoom)
    until = time.monotonic() + turn.seconds_left()
    while (left := until - time.monotonic()) > 0:
        if await room.closed(turn.pk, database, min(1.0, left)):
            break
        if not still_wanted():
            raise TimedOut("nobody waits for the program any longer")
    return await database.retry(close, turn.pk)


class _WaitingRoom:
    """All turns that one event loop waits for, looked up with one query each time."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Event] = {}
        self._looking: asyncio.Task[None] | None = None

    async def closed(self, pk: int, database: Database, seconds: float) -> bool:
        """Wait for a turn to close; return False if it has not after this time."""
        event = self._waiting.setdefault(pk, asyncio.Event())
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(database))
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            self._waiting.pop(pk, None)
        return True

    async def _look(self, database: Database) -> None:
        while self._waiting:
            for pk in await database.retry(_closed_among, list(self._waiting)):
                if pk in self._waiting:
                    self._waiting[pk].set()
            await asyncio.sleep(POLL_SECONDS)


def _closed_among(pks: list[int]) -> list[int]:
    return list(ProgramTurn.objects.filter(pk__in=pks, closed_at__isnull=False).values_list("pk", flat=True))


_rooms: PerLoop[_WaitingRoom] = PerLoop()
