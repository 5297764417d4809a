"""Which seats of a version are taken, whose number in a cell is free, and what was drawn last.

Everything is asked in a few statements whose answers are read when they are needed, so that a transaction that holds
a version's lock waits once for all of them (`matches.bulk.send_together`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef

from games.interface import Role
from matches.models import Seat
from matches.rows import Answer, ask
from participants.states import State
from plans.stages import Game, walk
from studies import drawing
from studies.journeys import lobby_hall, steps_of
from studies.models import Cell, Placement, Version, kept

SeatCounts = Counter[tuple[int, Role]]
_TAKEN = """
SELECT mine.id, mine.quota, mine.weight, taken.role, taken.people
FROM studies_cell mine LEFT JOIN (studies_cell same JOIN (
    SELECT cell_id, role, COUNT(*) AS people FROM studies_placement placement WHERE released_at IS NULL
    AND version_id IN (SELECT id FROM studies_version WHERE study_id = %(study)s) {among} GROUP BY cell_id, role
) taken ON taken.cell_id = same.id) ON same.sha256 = mine.sha256 WHERE mine.version_id = %(version)s
"""
_DRAWN = """
SELECT NULL AS cell_id, MAX(CAST(draw ->> 'number' AS integer)), 0
FROM studies_placement WHERE version_id = %(version)s
UNION ALL SELECT cell_id, CAST(draw ->> 'block' AS integer), COUNT(*)
FROM studies_placement WHERE version_id = %(version)s AND draw ->> 'stratum' = %(stratum)s
AND CAST(draw ->> 'block' AS integer) = (
    SELECT MAX(CAST(draw ->> 'block' AS integer)) FROM studies_placement
    WHERE version_id = %(version)s AND draw ->> 'stratum' = %(stratum)s
) GROUP BY 1, 2
"""
_STAYING = """
FROM studies_placement placement WHERE cell_id IN (SELECT id FROM studies_cell WHERE version_id = %(version)s)
AND (released_at IS NULL OR EXISTS (SELECT 1 FROM matches_seat WHERE enrolment_id = placement.enrolment_id)) {among}
"""
"""Those who have played or may still play: anyone who leaves before their first match hands their number on."""
_NUMBERS = f"""
SELECT cell_id, COUNT(DISTINCT CAST(draw ->> 'place' AS integer)), MAX(CAST(draw ->> 'place' AS integer))
{_STAYING} GROUP BY cell_id
"""
_NUMBERS_OF_ONE = f"SELECT CAST(draw ->> 'place' AS integer) {_STAYING} AND cell_id = %(cell)s"
_UNDRAWN = """
SELECT (SELECT COUNT(*) FROM studies_placement WHERE version_id = %(version)s), (
    SELECT COUNT(*) FROM studies_placement placement WHERE cell_id IS NULL AND released_at IS NULL AND version_id IN (
        SELECT same.version_id FROM studies_cell mine JOIN studies_cell same ON same.sha256 = mine.sha256
        JOIN studies_version version ON version.id = same.version_id
        WHERE mine.version_id = %(version)s AND version.study_id = %(study)s
    ) {among}
)
"""
_AMONG = {
    "offered": "AND enrolment_id IN (SELECT id FROM participants_enrolment WHERE ended_at IS NULL AND state = "
    f"'{State.ARRIVED}')",
    "language": "AND enrolment_id IN (SELECT id FROM participants_enrolment WHERE language = %(language)s)",
    "together": "AND enrolment_id IN (SELECT enrolment_id FROM recruiters_identity WHERE details ->> 'together' = "
    "%(together)s)",
}


@kept
def _cells(version: Version) -> dict[int, Cell]:
    """Return a version's cells in order, by key. Launching again changes their quotas and weights, and nothing else."""
    cells = {cell.pk: cell for cell in version.cells.order_by("number")}
    for cell in cells.values():
        cell.version = version
    return cells


@kept
def _agents_fill_in(version: Version) -> bool:
    """Return whether agents may take seats for which nobody has arrived."""
    plans = (version.reader.plan(cell.factors) for cell in version.reader.cells)
    met = [(each.stage, each.lobby) for plan in plans for each in walk(plan.journey)]
    lobbies = [around or stage.lobby for stage, around in met if isinstance(stage, Game)]
    return any(lobby.otherwise == "agents" for lobby in lobbies)


@dataclass(frozen=True)
class Asked:
    """What a participant's link asks for.

    Attributes:
        role: only this seat.
        cell: only the cell of this number; a number that the version does not have is ignored.
        together: form groups only with participants of the same text (`recruiters.arrivals.Arrival`).
        chosen: the seat chosen on the page; ignored if the version has no such seat.
    """

    role: str | None = None
    cell: int | None = None
    together: str = ""
    chosen: str = ""


@dataclass(frozen=True)
class FoundSeat:
    """A seat in a drawn cell.

    Attributes:
        number: the participant's number, from 1, in the cell, or among those they may play with.
        draw: the record (`studies.drawing`).
    """

    cell: Cell
    role: Role
    number: int
    draw: Mapping[str, Any]

    def steps(self, version: Version, asked: Asked, *, start: int = 0) -> list[dict[str, Any]]:
        """Return the participant's steps from a stage on."""
        return steps_of(version, self.cell, self.role, number=self.number, together=asked.together, start=start)


@dataclass(eq=False)
class Seats:
    """A version's seats, by cell and role: how many are held, and how many held or offered.

    Placements in cells of earlier versions with the same factors and resolved plan count as well.

    Attributes:
        together: count only participants who may play together.
        language: count only participants who read this language.
        stratum: ask for the draws of this stratum: `last_draw` and `block`.
        cells: by key, without their present quotas and weights, which are in `quotas` and `weights`.
    """

    version: Version
    together: str = ""
    language: str = ""
    stratum: str | None = None
    cells: dict[int, Cell] = field(init=False)
    _gaps: dict[int, list[int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.cells = _cells(self.version)
        self._asked_taken = self._ask(_TAKEN)
        self._asked_draws = self._ask(_DRAWN) if self.stratum is not None else None
        self._asked_numbers: Answer | None = None
        self._asked_undrawn: Answer | None = None

    def _ask(self, sql: str, *among: str, cell: int = 0) -> Answer:
        among = (*among, *(name for name in ("language", "together") if getattr(self, name)))
        values: dict[str, Any] = {
            "study": self.version.study_id, "version": self.version.pk, "cell": cell,
            "language": self.language, "together": self.together, "stratum": self.stratum,
        }  # fmt: skip
        return ask(sql.format(among=" ".join(_AMONG[name] for name in among)), values)

    def ask_numbers(self) -> None:
        """Ask for what `free_number` needs, before other answers are read."""
        self._asked_numbers = self._asked_numbers or self._ask(_NUMBERS)

    def ask_undrawn(self) -> None:
        """Ask for what `has_room` and `number` need, before other answers are read."""
        self._asked_undrawn = self._asked_undrawn or self._ask(_UNDRAWN)

    @cached_property
    def _taken(self) -> list[Any]:
        return self._asked_taken()

    @cached_property
    def _by_agents(self) -> SeatCounts:
        alone = all(cell.group_size == 1 for cell in self.cells.values())
        return Counter() if self.together or alone or not _agents_fill_in(self.version) else _taken_by_agents(self)

    @cached_property
    def quotas(self) -> dict[int, int]:
        return {cell: quota for cell, quota, _weight, _role, _people in self._taken}

    @cached_property
    def weights(self) -> dict[int, int]:
        return {cell: weight for cell, _quota, weight, _role, _people in self._taken}

    @cached_property
    def held_or_offered(self) -> SeatCounts:
        return self._by_agents + _counted(self._taken)

    @cached_property
    def held(self) -> SeatCounts:
        return self._by_agents + _counted(self._taken) - _counted(self._ask(_TAKEN, "offered")())

    def free(self, cell: int, role: Role) -> int:
        """Return how many more participants may take this seat."""
        return self.quotas[cell] - self.held[cell, role]

    def has_free(self, cell: int, role: Role) -> bool:
        """Return whether a participant may take this seat; who holds a place matters only if all have been offered."""
        return self.held_or_offered[cell, role] < self.quotas[cell] or self.free(cell, role) > 0

    @cached_property
    def _undrawn(self) -> tuple[int, int]:
        self.ask_undrawn()
        assert self._asked_undrawn is not None
        placed, undrawn = self._asked_undrawn()[0]
        return placed, undrawn

    @property
    def number(self) -> int:
        """The next participant's number in the version, from 1."""
        return 1 + self._undrawn[0]

    def has_room(self) -> bool:
        """Return whether a place is left for somebody whose cell is not drawn yet."""
        if self._unfilled(self.held_or_offered) > self._undrawn[1]:
            return True
        offered = self._ask(_UNDRAWN, "offered")()[0][1]
        return self._unfilled(self.held) > self._undrawn[1] - offered

    def _unfilled(self, counts: SeatCounts) -> int:
        seats = [(pk, role) for pk, cell in self.cells.items() for role in cell.people]
        return sum(max(0, self.quotas[pk] - counts[pk, role]) for pk, role in seats)

    @cached_property
    def _draws(self) -> list[Any]:
        return self._asked_draws() if self._asked_draws else []

    @cached_property
    def last_draw(self) -> int:
        """The number of the version's last draw."""
        return next((number or 0 for cell, number, _times in self._draws if cell is None), 0)

    @cached_property
    def block(self) -> drawing.Block:
        """The stratum's current block, and what was drawn in it."""
        drawn = [(self.cells[cell].number, block, times) for cell, block, times in self._draws if cell is not None]
        return drawing.Block(
            max((block for _cell, block, _times in drawn), default=0),
            Counter({number: times for number, _block, times in drawn}),
        )

    @cached_property
    def _numbers(self) -> dict[int, tuple[int, int]]:
        """How many numbers of each cell are somebody's, and the highest."""
        self.ask_numbers()
        assert self._asked_numbers is not None
        return {cell: (people, highest) for cell, people, highest in self._asked_numbers()}

    def free_number(self, cell: int) -> int:
        """Return the lowest number in a cell that is nobody's who has played or may still play.

        Anyone who leaves before their first match hands their number on, and with it the order of a block that those
        with whom they would have played have, too.
        """
        people, highest = self._numbers.get(cell, (0, 0))
        if people < highest and cell not in self._gaps:
            numbers = {number for (number,) in self._ask(_NUMBERS_OF_ONE, cell=cell)()}
            self._gaps[cell] = sorted(set(range(1, highest)) - numbers)
        return self._gaps[cell][0] if people < highest else highest + 1

    @cached_property
    def waiting(self) -> Counter[int]:
        """How many participants of each cell whose matches have several wait for others."""
        sizes = [pk for pk, cell in self.cells.items() if cell.group_size > 1]
        if not sizes:
            return Counter()
        placed = Placement.objects.filter(cell__in=sizes, released_at=None, enrolment__ended_at=None)
        if self.language:
            placed = placed.filter(enrolment__language=self.language)
        if self.together:
            placed = placed.filter(enrolment__identity__details__together=self.together)
        seated = Seat.objects.filter(enrolment=OuterRef("enrolment"))
        counts = placed.exclude(Exists(seated)).order_by().values_list("cell").annotate(Count("pk"))
        return Counter(dict(counts))

    def forming(self, cells: Collection[int]) -> set[int]:
        """Return which of these cells hold participants who do not form whole groups yet."""
        return {cell for cell in cells if self.waiting[cell] % self.cells[cell].group_size}

    def take(self, found: FoundSeat) -> None:
        """Count a seat that was found, so that the next one is found as if the database knew of it."""
        cell, record = found.cell, found.draw
        self.held_or_offered[cell.pk, found.role] += 1
        self.waiting[cell.pk] += 1
        if self._asked_numbers is not None:
            people, highest = self._numbers.get(cell.pk, (0, 0))
            self._numbers[cell.pk] = people + 1, max(highest, found.number)
            if people < highest:
                self._gaps[cell.pk].remove(found.number)
        block = self.block
        self.last_draw = record["number"]
        if "block" in record:
            drawn = Counter(block.drawn) if record["block"] == block.number else Counter()
            self.block = drawing.Block(record["block"], drawn + Counter([cell.number]))

    def share(self, cell: int) -> float:
        """Return how full a cell is, with the places offered."""
        held = sum(self.held_or_offered[cell, seat] for seat in self.cells[cell].people)
        return held / (self.quotas[cell] * self.cells[cell].group_size)


def _counted(rows: Collection[Any]) -> SeatCounts:
    counts: SeatCounts = Counter()
    for cell, _quota, _weight, role, people in rows:
        if role is not None:
            counts[cell, role] += people
    return counts


def _taken_by_agents(seats: Seats) -> SeatCounts:
    """Return how often agents took unfilled seats of a cell, which are not offered again.

    A group's first match may be of another game than the cell's first one, with other seats: an agent then takes one
    of the cell's seats that none of the group's participants has.
    """
    in_hall = Seat.objects.filter(match__lobby_group__hall__key=lobby_hall(seats.version))
    filled = in_hall.filter(fills_in=True).values("match")
    earlier = Seat.objects.filter(enrolment=OuterRef("enrolment"), step__lt=OuterRef("step"))
    later_matches = in_hall.filter(Exists(earlier)).values("match")
    rows = in_hall.filter(match__in=filled).exclude(match__in=later_matches)
    roles: dict[tuple[int, int], list[Role]] = {}
    agents: Counter[int] = Counter()
    for match, fills_in, cell, role in rows.values_list(
        "match", "fills_in", "enrolment__placement__cell", "enrolment__placement__role"
    ):
        agents[match] += fills_in
        if cell in seats.cells:
            roles.setdefault((match, cell), []).append(role)
    counts: SeatCounts = Counter()
    for (match, cell), taken in roles.items():
        free = Counter(seats.cells[cell].people) - Counter(taken)
        counts.update((cell, role) for role in list(free.elements())[: agents[match]])
    return counts
