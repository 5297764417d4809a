"""Enrol arriving participants: resume their session, or give them a place and draw their cell."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Aggregate, Count, Exists, IntegerField, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.db.models.lookups import Exact
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.interface import Role
from lobby.models import Group
from lobby.signals import group_made
from matches.models import Match, Seat
from participants.consent import NO_PLACE_LEFT
from participants.models import Enrolment, new_code_word, new_token
from participants.services import end_expired, expiry_after
from participants.signals import consented
from participants.states import State
from participants.steps import Step, StepRefused, register
from participants.values import register_values, values_of
from participants.wording import remember
from recruiters import otree, simulated
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused, NotAgain, UsedCode
from recruiters.models import Identity
from studies import drawing, faults, journeys, opening, participations
from studies.journeys import DRAW, common_steps, draw_point, lobby_hall, steps_of
from studies.models import Cell, Placement, Study, Version, configured

T = TypeVar("T")
HELD_OR_OFFERED = Q(released_at=None)
"""Placements that hold a place or were offered one; new participants are placed where these are fewest."""
HELD = HELD_OR_OFFERED & ~Q(enrolment__state=State.ARRIVED)
"""Placements that hold a place: consenting takes it, opening the link does not."""
_DRAW_NUMBER, _BLOCK = (Cast(KT(key), IntegerField()) for key in ("draw__number", "draw__block"))


class NotOpen(EntryRefused):
    title = gettext_lazy("This study is not open")


class NoSuchSeat(EntryRefused):
    title = gettext_lazy("This link does not open the study")


class Full(EntryRefused):
    title = gettext_lazy("All places are taken")


@transaction.atomic
def enrol(
    study: Study,
    arrival: Arrival,
    *,
    chosen: str = "",
    language: str = "",
    again: bool = False,
    token: str = "",
    prepared: Enrolment | None = None,
) -> Enrolment:
    """Return the arriving participant's enrolment: the one they began, or a new one.

    Args:
        chosen: use only cells of this role, if there are any (demos let people choose).
        language: that the participant chose, if the study offers it; by default the study's.
        token: of the enrolment that may begin now; empty for any.
        again: begin another enrolment if the earlier one, begun with the same reusable link, has ended.
        prepared: one for this participant (`prepare`), if it suits what the link asks for.

    Raises:
        EntryRefused: with the message for the participant; nothing was changed.
    """
    latest = latest_enrolment(study, arrival)
    if latest is not None and not _begins_another(latest, arrival, again):
        return _readmit(latest, arrival)
    participations.lock_worker(arrival)
    version = Version.objects.select_for_update().filter(study=study).order_by("-number").first()
    refuse_closed(study, version)
    assert version is not None
    latest = latest_enrolment(study, arrival)
    if latest is not None and not _begins_another(latest, arrival, again):
        return _readmit(latest, arrival)
    if token and (existing := Enrolment.objects.filter(token=token).first()) is not None:
        return existing
    version.study = study
    version = version.in_language(language)
    if (version.purpose == Match.Purpose.SIMULATED) != (arrival.recruiter == simulated.KIND):
        raise NotOpen(_("Only simulated participants take part in this study."))
    participations.refuse(version, arrival)
    faults.refuse_while_unavailable(version)
    if arrival.recruiter == otree.KIND and arrival.cell is not None:
        refuse_unknown_cell(version, arrival.cell)
    asked = Asked(arrival.role, arrival.cell, arrival.together, chosen)
    token = token or new_token()
    if prepared is None or asked != Asked() or not _claim(prepared, version, token=token, return_to=arrival.return_to):
        is_drawn = asked != Asked(together=asked.together) or not draw_point(version)
        seat = _released_if_full(lambda: find_seat(version, asked) if is_drawn else _refuse_full(version))
        number = 1 + version.placements.count() if seat is None else 0
        enrolment, placement = _made(version, seat, asked, number, token=token, return_to=arrival.return_to)
        enrolment.save()
        placement.save()
    else:
        enrolment = prepared
    remember(enrolment.token, enrolment.language)
    if arrival.proof:
        Identity.objects.create(
            study=study.slug,
            recruiter=arrival.recruiter,
            worker=arrival.worker,
            proof=arrival.proof,
            details={
                **arrival.details,
                **({"cell": arrival.cell} if arrival.cell else {}),
                **({"together": arrival.together} if arrival.together else {}),
            },
            occasion=latest.identity.occasion + 1 if latest is not None else 1,
            enrolment=enrolment,
        )
    return enrolment


def _made(
    version: Version, seat: FoundSeat | None, asked: Asked, number: int, **fields: Any
) -> tuple[Enrolment, Placement]:
    """Return an enrolment and its placement, unsaved.

    Args:
        number: the participant's in the version, from 1, which matters before the draw.
    """
    enrolment = Enrolment(
        steps=seat.steps(version, asked) if seat else common_steps(version, number=number),
        expires_at=expiry_after(version.plan.minutes),
        may_ask=_may_ask(version, seat),
        language=version.language,
        code_word=new_code_word(version.language),
        **fields,
    )
    placement = Placement(enrolment=enrolment, version=version)
    _put(placement, seat)
    return enrolment, placement


@transaction.atomic
def prepare(study: Study, languages: Sequence[str]) -> list[Enrolment]:
    """Return enrolments for people who will all begin at once, one for each of these languages, in few statements.

    The draws are those of people who come one after the other. An enrolment begins when `enrol` is given it;
    one that nobody begins is deleted (`discard`). There are none if nobody may enter now.
    """
    version = Version.objects.select_for_update().filter(study=study).order_by("-number").first()
    try:
        refuse_closed(study, version)
        assert version is not None
        version.study = study
        faults.refuse_while_unavailable(version)
        _refuse_full(version)
    except EntryRefused:
        return []
    made, asked, seats = [], Asked(), Seats(version, stratum="")
    peers: dict[str, Seats] = {}
    for number, language in enumerate(languages, start=1 + version.placements.count()):
        read, seat = version.in_language(language), None
        if not draw_point(version):
            mine = peers[read.language] = peers.get(read.language) or _peers(read, asked, seats)
            seat = find_seat(read, asked, seats=seats, peers=mine)
            for each in {seats, mine}:
                each.take(seat)
        made.append(_made(read, seat, asked, number))
    enrolments = Enrolment.objects.bulk_create(enrolment for enrolment, _placement in made)
    Placement.objects.bulk_create(placement for _enrolment, placement in made)
    return enrolments


def _claim(prepared: Enrolment, version: Version, *, token: str, return_to: str) -> bool:
    """Let somebody begin a prepared enrolment; return False if it is of another version or language, or begun."""
    now = timezone.now()
    begins = {"token": token, "return_to": return_to, "arrived_at": now, "last_seen_at": now}
    begins["expires_at"] = expiry_after(version.plan.minutes)
    found = Enrolment.objects.filter(pk=prepared.pk, token=prepared.token, language=version.language)
    if not found.filter(placement__version=version).update(**begins):
        return False
    for name, value in begins.items():
        setattr(prepared, name, value)
    return True


@transaction.atomic
def discard(tokens: Collection[str]) -> None:
    """Delete prepared enrolments that nobody begins, so that they count nowhere.

    Args:
        tokens: from when they were seen unused; one that has been begun since has a new token, and stays.
    """
    unclaimed = Enrolment.objects.select_for_update().filter(token__in=tokens)
    Enrolment.objects.filter(pk__in=[each.pk for each in unclaimed]).delete()


def _readmit(enrolment: Enrolment, arrival: Arrival) -> Enrolment:
    """Raise UsedCode if the link can be used only once and a different browser began with it."""
    if arrival.once and not constant_time_compare(enrolment.token, arrival.held):
        raise UsedCode
    return enrolment


def latest_enrolment(study: Study, arrival: Arrival) -> Enrolment | None:
    """Return the latest enrolment begun with this link."""
    if not arrival.proof:
        return None
    identity = (
        Identity.objects.select_related("enrolment")
        .filter(study=study.slug, recruiter=arrival.recruiter, proof=arrival.proof)
        .order_by("-occasion")
        .first()
    )
    return identity.enrolment if identity else None


def may_begin_again(study: Study, arrival: Arrival) -> bool:
    """Return whether the holder of this link, whose enrolment has ended, may begin another one.

    Raises:
        TooSoon: they may, but only later.
    """
    version = study.latest_version()
    if not arrival.lasting or version is None or study.status != Study.Status.LAUNCHED:
        return False
    try:
        participations.refuse(version, arrival)
    except NotAgain:
        return False
    return True


@receiver(consented)
def hold_place(sender: type[Enrolment], enrolment: Enrolment, **_signal: Any) -> None:
    """Hold the participant's place from consent on; if it has been taken, draw again.

    Raises:
        StepRefused: no place is left; nothing was changed.
    """
    placements = Placement.objects.select_related("cell", "version__study").select_for_update(of=("version",))
    placement = placements.filter(enrolment=enrolment, released_at=None).order_by().first()
    if placement is None:
        return
    version = placement.version.in_language(enrolment.language)
    try:
        if placement.cell is None:
            _released_if_full(lambda: _refuse_full(version))
            return
        placement.cell.version = version
        if Seats(version, only=placement.cell).free(placement.cell.pk, placement.role) > 0:
            return
        asked = _asked_by(enrolment, role=placement.role)
        seat = _released_if_full(lambda: find_seat(version, asked))
    except Full as full:
        raise StepRefused({NO_PLACE_LEFT: str(full)}) from None
    assert seat is not None
    _put(placement, seat)
    placement.save()
    enrolment.steps = [enrolment.steps[0], *seat.steps(version, asked)[1:]]
    enrolment.may_ask = _may_ask(version, seat)


@register
class Draw(Step):
    """Stands for the steps that depend on the cell: drawn when it is reached, before any of them."""

    kind = DRAW
    title = gettext_lazy("The game")
    template = ""
    state = State.CONSENTED

    def unfolded(self) -> list[dict[str, Any]]:
        """Draw the participant's cell; return the steps from here on."""
        placement = Placement.objects.select_related("cell").get(enrolment=self.enrolment)
        version = Version.objects.select_for_update().select_related("study").get(pk=placement.version_id)
        version = version.in_language(self.enrolment.language)
        asked = _asked_by(self.enrolment)
        balanced = version.reader.cell_rules.strata
        values = values_of(self.enrolment) if balanced else {}
        stratum = json.dumps([values.get(name) for name in balanced], sort_keys=True) if balanced else ""
        seat = find_seat(version, asked, stratum=stratum, over=True)
        _put(placement, seat)
        placement.save()
        self.enrolment.may_ask = _may_ask(version, seat)
        return seat.steps(version, asked, start=draw_point(version))

    def context(self) -> dict[str, Any]:
        return {}

    def answer(self, data: Mapping[str, str]) -> None:
        raise StepRefused({})


@register_values
def factors_of(enrolment: Enrolment) -> dict[str, Any]:
    """Return the factors as conditions see them, and what the recruiter said about the participant."""
    identity = Identity.objects.filter(enrolment=enrolment).values_list("details", flat=True).first()
    placement = Placement.objects.select_related("version", "cell").filter(enrolment=enrolment).first()
    factors: dict[str, Any] = {}
    if placement is not None and placement.cell is not None:
        factors = journeys.variables_of(placement.version.reader, placement.cell.factors)
    return {**factors, "recruiter": dict(identity or {})}


def _begins_another(enrolment: Enrolment, arrival: Arrival, again: bool) -> bool:
    return again and arrival.lasting and enrolment.ended


def roles_offered(study: Study) -> list[tuple[Role, str]]:
    """Return the roles that a demonstration offers, with what visitors read; empty if nothing was launched.

    Between roles that are alike nobody need choose: the role is then "", and the draw finds one.
    """
    version = study.latest_version()
    if version is None:
        return []
    offered: dict[Role, str] = {}
    kinds = set()
    for cell in version.cells.all():
        cell.version = version
        game = configured(cell.game)
        offered |= {role: game.role_label(role) for role in cell.people if role not in offered}
        kinds |= {game.alike(role) for role in cell.people}
    return [("", "")] if len(kinds) == 1 < len(offered) else list(offered.items())


def refuse_unknown_cell(version: Version, number: int) -> None:
    """Raise NoSuchSeat if the version has no cell of this number."""
    if not version.cells.filter(number=number).exists():
        raise NoSuchSeat(
            _(
                "The link asks for cell {number}, which this study doesn't have. Please tell the people who gave "
                "it to you."
            ).format(number=number)
        )


def refuse_closed(study: Study, version: Version | None) -> None:
    """Raise NotOpen if the study is closed to new participants, or an agent of its latest version can play no match."""
    if study.status != Study.Status.LAUNCHED:
        not_yet = _("The study has not started yet. Please try again later with the same link.")
        reasons = {Study.Status.PAUSED: _paused(), Study.Status.CLOSED: _ended()}
        raise NotOpen(reasons.get(Study.Status(study.status), not_yet))
    entry = study.entry_rules()
    if opening.has_closed(entry):
        raise NotOpen(_ended())
    if opens := opening.opens_later(entry):
        raise NotOpen(_("The study opens on {when}. Please come back then, with the same link.").format(when=opens))
    if version is not None and faults.why_closed(version):
        raise NotOpen(_paused())


def _ended() -> str:
    return _("The study has ended. Thank you for your interest.")


def _paused() -> str:
    return _("The study is paused at the moment. Please try again later with the same link.")


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


def _asked_by(enrolment: Enrolment, *, role: str | None = None) -> Asked:
    """Return what the link asked for by which the participant arrived."""
    details = Identity.objects.filter(enrolment=enrolment).values_list("details", flat=True).first() or {}
    return Asked(role, details.get("cell"), details.get("together", ""))


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


def _may_ask(version: Version, seat: FoundSeat | None) -> bool:
    """Return whether participants may ask the researchers; before the draw, as in the first cell."""
    return (seat.cell if seat else version).plan.help.asking


def _put(placement: Placement, seat: FoundSeat | None) -> None:
    if seat is not None:
        placement.cell, placement.role, placement.draw = seat.cell, seat.role, dict(seat.draw)


SeatCounts = Counter[tuple[int, Role]]


@dataclass(eq=False)
class Seats:
    """A version's seats, by cell and role: how many are held, and how many held or offered.

    Placements in cells of earlier versions with the same factors and resolved plan count as well.

    Attributes:
        together: count only participants who may play together.
        only: count only the seats of this cell.
        language: count only participants who read this language.
        stratum: read the draws of this stratum in the statement that counts: `last_draw` and `block`.
        last_draw: the number of the version's last draw.
        block: the stratum's current block, and what was drawn in it.
    """

    version: Version
    together: str = ""
    only: Cell | None = None
    language: str = ""
    stratum: str | None = None
    cells: dict[int, Cell] = field(init=False)
    last_draw: int = field(default=0, init=False)
    block: drawing.Block = field(default=drawing.Block(), init=False)
    _numbers: dict[int, set[int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.cells = {cell.pk: cell for cell in [self.only] if cell} or {
            cell.pk: cell for cell in self.version.cells.order_by("number")
        }
        for cell in self.cells.values():
            cell.version = self.version

    @cached_property
    def placements(self) -> QuerySet[Placement]:
        placed = Placement.objects.filter(version__study=self.version.study_id, cell__isnull=False)
        if self.language:
            placed = placed.filter(enrolment__language=self.language)
        return placed.filter(enrolment__identity__details__together=self.together) if self.together else placed

    @cached_property
    def counts(self) -> tuple[SeatCounts, SeatCounts]:
        placements = self.placements.filter(cell__sha256=self.only.sha256) if self.only else self.placements
        draws = {} if self.stratum is None else self._draws(self.stratum)
        rows = (
            placements.values_list("cell__sha256", "role")
            .annotate(held=Count("pk", filter=HELD), held_or_offered=Count("pk", filter=HELD_OR_OFFERED), **draws)
            .order_by()
        )
        keys = {cell.sha256: cell.pk for cell in self.cells.values()}
        alone = all(cell.group_size == 1 for cell in self.cells.values())
        taken = Counter() if self.together or alone else _taken_by_agents(self)
        held, held_or_offered = Counter(taken), Counter(taken)
        drawn: Counter[int] = Counter()
        block = 0
        for sha256, role, *numbers in rows:
            if sha256 in keys:
                held[keys[sha256], role] += numbers[0]
                held_or_offered[keys[sha256], role] += numbers[1]
                if draws:
                    self.last_draw = max(self.last_draw, numbers[2] or 0)
                    block = max(block, numbers[3] or 0)
                    drawn[self.cells[keys[sha256]].number] += numbers[4]
        self.block = drawing.Block(block, drawn)
        return held, held_or_offered

    def _draws(self, stratum: str) -> dict[str, Aggregate]:
        """Return what tells, for each cell, of the version's draws: the last number, the stratum's block, its size."""
        own, in_stratum = Q(version=self.version), Q(version=self.version, draw__stratum=stratum)
        in_version = Placement.objects.filter(in_stratum).order_by().values("version")
        current = Subquery(in_version.annotate(block=Max(_BLOCK)).values("block"))
        return {
            "last_draw": Max(_DRAW_NUMBER, filter=own),
            "last_block": Max(_BLOCK, filter=in_stratum),
            "in_block": Count("pk", filter=in_stratum & Q(Exact(_BLOCK, current))),
        }

    @property
    def held(self) -> SeatCounts:
        return self.counts[0]

    @property
    def held_or_offered(self) -> SeatCounts:
        return self.counts[1]

    def free(self, cell: int, role: Role) -> int:
        """Return how many more participants may take this seat."""
        return self.cells[cell].quota - self.held[cell, role]

    def free_number(self, cell: int) -> int:
        """Return the lowest number in a cell that is nobody's who has played or may still play.

        Anyone who leaves before their first match hands their number on, and with it the order of a block that those
        with whom they would have played have, too.
        """
        if cell not in self._numbers:
            seated = Exists(Seat.objects.filter(enrolment=OuterRef("enrolment")))
            staying = self.placements.filter(HELD_OR_OFFERED | Q(seated), cell=cell).order_by()
            self._numbers[cell] = set(staying.values_list(Cast(KT("draw__place"), IntegerField()), flat=True))
        return next(number for number in count(1) if number not in self._numbers[cell])

    @cached_property
    def waiting(self) -> Counter[int]:
        """How many participants of each cell whose matches have several wait for others."""
        sizes = [pk for pk, cell in self.cells.items() if cell.group_size > 1]
        if not sizes:
            return Counter()
        seated = Seat.objects.filter(enrolment=OuterRef("enrolment"))
        held = self.placements.filter(released_at=None, cell__in=sizes, enrolment__ended_at=None)
        counts = held.exclude(Exists(seated)).order_by().values_list("cell").annotate(Count("pk"))
        return Counter(dict(counts))

    def forming(self, cells: Collection[int]) -> set[int]:
        """Return which of these cells hold participants who do not form whole groups yet."""
        return {cell for cell in cells if self.waiting[cell] % self.cells[cell].group_size}

    def take(self, found: FoundSeat) -> None:
        """Count a seat that was found, so that the next one is found as if the database knew of it."""
        cell, record = found.cell, found.draw
        self.held_or_offered[cell.pk, found.role] += 1
        self.waiting[cell.pk] += 1
        if cell.pk in self._numbers:
            self._numbers[cell.pk].add(found.number)
        self.last_draw = record["number"]
        if "block" in record:
            drawn = Counter(self.block.drawn) if record["block"] == self.block.number else Counter()
            self.block = drawing.Block(record["block"], drawn + Counter([cell.number]))

    def share(self, cell: int) -> float:
        """Return how full a cell is, with the places offered."""
        held = sum(self.held_or_offered[cell, seat] for seat in self.cells[cell].people)
        return held / self.cells[cell].places


def _refuse_full(version: Version) -> None:
    """Raise Full if no place of the version is left for somebody whose cell is not drawn yet."""
    seats = Seats(version)
    hashes = {cell.sha256 for cell in seats.cells.values()}
    same = Version.objects.filter(study=version.study_id, cells__sha256__in=hashes)
    undrawn = Placement.objects.filter(HELD, version__in=same, cell=None).count()
    free = sum(max(0, seats.free(pk, role)) for pk, cell in seats.cells.items() for role in cell.people)
    if free <= undrawn:
        raise Full(_full())


def _full() -> str:
    return _("All places in this study are taken at the moment. A place may become free, so please try again later.")


def _released_if_full(find: Callable[[], T]) -> T:
    """Return what `find` finds. If all places are taken, first release those of participants whose time is over."""
    try:
        return find()
    except Full:
        if not end_expired():
            raise
        return find()


def find_seat(
    version: Version,
    asked: Asked,
    *,
    stratum: str = "",
    over: bool = False,
    seats: Seats | None = None,
    peers: Seats | None = None,
) -> FoundSeat:
    """Draw one of the cells with free seats, and return its least-held seat.

    Cells with incomplete groups come first, so that nobody waits because others were placed elsewhere. Within a cell,
    the first of the seats with the fewest participants is used, so that four successive arrivals can form a group of
    four.

    Args:
        over: draw among all cells if none has a free seat.
        seats, peers: what was counted before, among all and among those they may play with; None: count now.

    Call under the version's lock.

    Raises:
        Full, NoSuchSeat
    """
    seats = seats or Seats(version, stratum=stratum)
    cells = [cell for cell in seats.cells.values() if cell.number == asked.cell] or list(seats.cells.values())
    seats_of_all = [(cell, seat) for cell in cells for seat in cell.people]
    role = asked.role or (asked.chosen if any(seat == asked.chosen for _cell, seat in seats_of_all) else "")
    possible = [(cell, seat) for cell, seat in seats_of_all if role in ("", seat)]
    if not possible:
        raise NoSuchSeat(
            _("The link asks for a role that this study doesn't have. Please tell the person who gave it to you.")
        )
    open_seats = [(cell, seat) for cell, seat in possible if seats.free(cell.pk, seat) > 0]
    if not open_seats and not over:
        raise Full(_full())
    open_seats = open_seats or possible
    open_cells = {cell.pk: cell for cell, _seat in open_seats}
    record = _drawn(version, seats, open_cells, asked, stratum)
    drawn = drawing.drawn(record)
    cell = next(cell for cell in open_cells.values() if cell.number == drawn)
    peers = peers or _peers(version, asked, seats)
    own_seats = [seat for other, seat in open_seats if other.pk == cell.pk]
    seat = min(own_seats, key=lambda seat: peers.held_or_offered[cell.pk, seat])
    number = peers.free_number(cell.pk)
    return FoundSeat(peers.cells[cell.pk], seat, number, {**record, "place": number})


def _peers(version: Version, asked: Asked, seats: Seats) -> Seats:
    """Return the seats counted among those whom a participant may play with."""
    language = version.language if len(version.languages) > 1 else ""
    return Seats(version, asked.together, language=language) if asked.together or language else seats


def _drawn(version: Version, seats: Seats, cells: Mapping[int, Cell], asked: Asked, stratum: str) -> dict[str, Any]:
    """Return the record of a draw among open cells."""
    rules = version.reader.cell_rules
    rule = rules.rule
    number = 1 + seats.last_draw
    seed = f"{version.seed}/{number}"
    if asked.cell is not None and len(cells) == 1 and asked.cell == next(iter(cells.values())).number:
        return drawing.forced(asked.cell, rule=rule, number=number, seed=seed)
    peers = Seats(version, asked.together) if asked.together else seats
    forming = peers.forming(cells) if rules.unit == "group" else set()
    return drawing.draw(
        [drawing.Open(cell.number, cell.weight, seats.share(pk), pk in forming) for pk, cell in cells.items()],
        rule=rule,
        number=number,
        seed=seed,
        stratum=stratum,
        block=seats.block if rule == "blocks" else None,
    )


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


@receiver(group_made)
def store_seats(sender: type, group: Group, seats: Mapping[Role, Enrolment], **_signal: Any) -> None:
    """Store the seats that participants got in the group of their first match, if it has those of their cell."""
    for role, enrolment in seats.items():
        placement = Placement.objects.select_related("cell").filter(enrolment=enrolment).first()
        is_first = enrolment.seats.count() == 1
        if placement is not None and placement.cell is not None and is_first and set(seats) <= {*placement.cell.people}:
            placement.role = role
            placement.save(update_fields=["role"])


def release(enrolment: Enrolment) -> None:
    """Release the place, so that another participant can fill the cell."""
    Placement.objects.filter(enrolment=enrolment, released_at=None).update(released_at=timezone.now())
