"""Enrol arriving participants: resume their session, or give them a place and draw their cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.interface import Role
from lobby.models import Group
from lobby.signals import group_made
from matches.bulk import send_together, wait_for_answers
from matches.models import Match
from matches.rows import Answer, ask, insert, new_keys
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
from studies.journeys import DRAW, common_steps, draw_point
from studies.models import Cell, Placement, Study, Version, configured
from studies.seats import Asked, FoundSeat, Seats

T = TypeVar("T")
Counted = tuple[Seats, Seats]
"""The seats as counted among all participants, and among those whom somebody may play with."""
_LATEST = "SELECT id FROM studies_version WHERE study_id = %s ORDER BY number DESC LIMIT 1"
_OWN_VERSION = """
SELECT id FROM studies_version WHERE id = (
    SELECT version_id FROM studies_placement WHERE enrolment_id = %s AND released_at IS NULL
)
"""
_OFFERED = """
SELECT cell.quota, (
    SELECT COUNT(*) FROM studies_placement placement WHERE placement.released_at IS NULL AND placement.role = own.role
    AND placement.cell_id IN (
        SELECT same.id FROM studies_cell same JOIN studies_version version ON version.id = same.version_id
        WHERE same.sha256 = cell.sha256 AND version.study_id = (
            SELECT study_id FROM studies_version WHERE id = own.version_id
        )
    )
) FROM studies_placement own LEFT JOIN studies_cell cell ON cell.id = own.cell_id
WHERE own.enrolment_id = %s AND own.released_at IS NULL
"""
"""The quota of somebody's cell, NULL before the draw; how many hold or were offered their seat, they included."""
HELD = Q(released_at=None) & ~Q(enrolment__state=State.ARRIVED)
"""Placements that hold a place: consenting takes it, opening the link does not."""


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
    version: Version | None = None,
    chosen: str = "",
    language: str = "",
    again: bool = False,
    token: str = "",
    prepared: Enrolment | None = None,
    tell: Callable[[Enrolment], None] | None = None,
) -> Enrolment:
    """Return the arriving participant's enrolment: the one they began, or a new one.

    Args:
        version: the study's latest, if it has just been read.
        chosen: use only cells of this role, if there are any (demos let people choose).
        language: that the participant chose, if the study offers it; by default the study's.
        token: of the enrolment that may begin now; empty for any.
        again: begin another enrolment if the earlier one, begun with the same reusable link, has ended.
        prepared: one for this participant (`prepare`), if it suits what the link asks for.
        tell: is called with the enrolment in the same transaction.

    Raises:
        EntryRefused: with the message for the participant; nothing was changed.
    """
    enrolment = _enrolled(study, version, arrival, chosen, language, again=again, token=token, prepared=prepared)
    remember(enrolment.token, enrolment.language)
    if tell is not None:
        wait_for_answers()
        tell(enrolment)
    return enrolment


def _enrolled(
    study: Study,
    version: Version | None,
    arrival: Arrival,
    chosen: str,
    language: str,
    *,
    again: bool,
    token: str,
    prepared: Enrolment | None,
) -> Enrolment:
    latest = latest_enrolment(study, arrival)
    if latest is not None and not _begins_another(latest, arrival, again):
        return _readmit(latest, arrival)
    participations.lock_worker(arrival)
    version = _open_version(study, version or study.latest_version(), arrival, language)
    asked = Asked(arrival.role, arrival.cell, arrival.together, chosen)
    newest, counted, keys = _locked(version, asked, prepared)
    if newest != version.pk:  # launched again since it was read
        version = _open_version(study, study.latest_version(), arrival, language)
        _newest, counted, keys = _locked(version, asked, prepared)
    latest = latest_enrolment(study, arrival)
    if latest is not None and not _begins_another(latest, arrival, again):
        return _readmit(latest, arrival)
    if token and (existing := Enrolment.objects.filter(token=token).first()) is not None:
        return existing
    participations.refuse(version, arrival)
    token = token or new_token()
    if prepared is None or asked != Asked() or not _claim(prepared, version, token=token, return_to=arrival.return_to):
        seat, number = _released_if_full(lambda anew: _placed(version, asked, None if anew else counted))
        enrolment, placement = _made(version, seat, asked, number, keys()[0], token=token, return_to=arrival.return_to)
        insert(enrolment)
        insert(placement)
    else:
        enrolment = prepared
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


def _open_version(study: Study, version: Version | None, arrival: Arrival, language: str) -> Version:
    """Return the study's latest version, which somebody would begin now, in the language in which they read it.

    Raises:
        EntryRefused: nobody may begin now, or nobody who arrives like this.
    """
    refuse_closed(study, version)
    assert version is not None
    version.study = study
    version = version.in_language(language)
    if (version.purpose == Match.Purpose.SIMULATED) != (arrival.recruiter == simulated.KIND):
        raise NotOpen(_("Only simulated participants take part in this study."))
    faults.refuse_while_unavailable(version)
    if arrival.recruiter == otree.KIND and arrival.cell is not None:
        refuse_unknown_cell(version, arrival.cell)
    return version


def _locked(version: Version, asked: Asked, prepared: Enrolment | None) -> tuple[int, Counted | None, Answer]:
    """Lock the study's latest version; return its key, what was counted for a draw, and keys for new rows.

    All is asked at once, so that what the lock holds up does not wait for one answer after the other.
    """
    if prepared is None:
        send_together()
    locked = ask(f"{_LATEST} {_for_update()}", [version.study_id])
    counted = _count(version, asked) if prepared is None else None
    keys = new_keys(Enrolment, Placement)
    return locked()[0][0], counted, keys


def _for_update() -> str:
    """Return what locks the rows that a query finds; SQLite runs transactions that write one at a time anyway."""
    return connection.ops.for_update_sql() if connection.features.has_select_for_update else ""


def _placed(version: Version, asked: Asked, counted: Counted | None) -> tuple[FoundSeat | None, int]:
    """Return a seat or, if the cell is drawn later, the participant's number in the version."""
    if _is_drawn(version, asked):
        return find_seat(version, asked, counted=counted), 0
    seats, _peers = counted or _count(version, asked)
    _refuse_full(seats)
    return None, seats.number


def _is_drawn(version: Version, asked: Asked) -> bool:
    """Return whether the cell is drawn on arrival."""
    return asked != Asked(together=asked.together) or not draw_point(version)


def _count(version: Version, asked: Asked) -> Counted:
    """Ask for all that is needed to place somebody who arrives; call under the version's lock."""
    if _is_drawn(version, asked):
        return _count_all(version, asked)
    seats = Seats(version)
    seats.ask_undrawn()
    return seats, seats


def _count_all(version: Version, asked: Asked, stratum: str = "") -> Counted:
    """Ask for all that is needed to draw a cell; call under the version's lock."""
    seats = Seats(version, stratum=stratum)
    peers = _peers(version, asked, seats)
    peers.ask_numbers()
    return seats, peers


def _made(
    version: Version,
    seat: FoundSeat | None,
    asked: Asked,
    number: int,
    keys: tuple[int | None, int | None] = (None, None),
    **fields: Any,
) -> tuple[Enrolment, Placement]:
    """Return an enrolment and its placement, unsaved.

    Args:
        number: the participant's in the version, from 1, which matters before the draw.
        keys: of the two, if known.
    """
    enrolment = Enrolment(
        pk=keys[0],
        steps=seat.steps(version, asked) if seat else common_steps(version, number=number),
        expires_at=expiry_after(version.plan.minutes),
        may_ask=_may_ask(version, seat),
        language=version.language,
        code_word=new_code_word(version.language),
        **fields,
    )
    placement = Placement(pk=keys[1], enrolment=enrolment, version=version)
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
        _refuse_full(Seats(version))
    except EntryRefused:
        return []
    made, asked, seats = [], Asked(), Seats(version, stratum="")
    peers: dict[str, Seats] = {}
    for number, language in enumerate(languages, start=1 + version.placements.count()):
        read, seat = version.in_language(language), None
        if not draw_point(version):
            mine = peers[read.language] = peers.get(read.language) or _peers(read, asked, seats)
            seat = find_seat(read, asked, counted=(seats, mine))
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
    if _holds(enrolment):
        return
    placement = Placement.objects.select_related("version__study").filter(enrolment=enrolment, released_at=None).get()
    version = placement.version.in_language(enrolment.language)
    try:
        if placement.cell_id is None:
            _released_if_full(lambda _again: _refuse_full(Seats(version)))
            return
        if Seats(version).has_free(placement.cell_id, placement.role):
            return
        asked = _asked_by(enrolment, role=placement.role)
        seat = _released_if_full(lambda _again: find_seat(version, asked))
    except Full as full:
        raise StepRefused({NO_PLACE_LEFT: str(full)}) from None
    _put(placement, seat)
    placement.save()
    enrolment.steps = [enrolment.steps[0], *seat.steps(version, asked)[1:]]
    enrolment.may_ask = _may_ask(version, seat)


def _holds(enrolment: Enrolment) -> bool:
    """Lock the version; return whether nothing is to hold, or all who were offered the seat may have it.

    Where agents may have taken seats, that is counted otherwise.
    """
    send_together()
    ask(f"{_OWN_VERSION} {_for_update()}", [enrolment.pk])
    found = ask(_OFFERED, [enrolment.pk])()
    wait_for_answers()
    agents = any(step["kind"] == "lobby" and step["after"] == "agents" for step in enrolment.steps)
    return not found or any(quota is not None and offered <= quota and not agents for quota, offered in found)


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


def _asked_by(enrolment: Enrolment, *, role: str | None = None) -> Asked:
    """Return what the link asked for by which the participant arrived."""
    details = Identity.objects.filter(enrolment=enrolment).values_list("details", flat=True).first() or {}
    return Asked(role, details.get("cell"), details.get("together", ""))


def _may_ask(version: Version, seat: FoundSeat | None) -> bool:
    """Return whether participants may ask the researchers; before the draw, as in the first cell."""
    return (seat.cell if seat else version).plan.help.asking


def _put(placement: Placement, seat: FoundSeat | None) -> None:
    if seat is not None:
        placement.cell, placement.role, placement.draw = seat.cell, seat.role, dict(seat.draw)


def _refuse_full(seats: Seats) -> None:
    """Raise Full if no place of the version is left for somebody whose cell is not drawn yet."""
    if not seats.has_room():
        raise Full(_full())


def _full() -> str:
    return _("All places in this study are taken at the moment. A place may become free, so please try again later.")


def _released_if_full(find: Callable[[bool], T]) -> T:
    """Return what `find` finds. If all places are taken, first release those of participants whose time is over.

    Args:
        find: is told whether it is called again, and must count anew.
    """
    try:
        return find(False)
    except Full:
        wait_for_answers()
        if not end_expired():
            raise
        return find(True)


def find_seat(
    version: Version,
    asked: Asked,
    *,
    stratum: str = "",
    over: bool = False,
    counted: Counted | None = None,
) -> FoundSeat:
    """Draw one of the cells with free seats, and return its least-held seat.

    Cells with incomplete groups come first, so that nobody waits because others were placed elsewhere. Within a cell,
    the first of the seats with the fewest participants is used, so that four successive arrivals can form a group of
    four.

    Args:
        over: draw among all cells if none has a free seat.
        counted: what was counted before; None: count now.

    Call under the version's lock.

    Raises:
        Full, NoSuchSeat
    """
    seats, peers = counted or _count_all(version, asked, stratum)
    cells = [cell for cell in seats.cells.values() if cell.number == asked.cell] or list(seats.cells.values())
    seats_of_all = [(cell, seat) for cell in cells for seat in cell.people]
    role = asked.role or (asked.chosen if any(seat == asked.chosen for _cell, seat in seats_of_all) else "")
    possible = [(cell, seat) for cell, seat in seats_of_all if role in ("", seat)]
    if not possible:
        raise NoSuchSeat(
            _("The link asks for a role that this study doesn't have. Please tell the person who gave it to you.")
        )
    open_seats = [(cell, seat) for cell, seat in possible if seats.has_free(cell.pk, seat)]
    if not open_seats and not over:
        raise Full(_full())
    open_seats = open_seats or possible
    open_cells = {cell.pk: cell for cell, _seat in open_seats}
    record = _drawn(version, seats, open_cells, asked, stratum)
    drawn = drawing.drawn(record)
    cell = next(cell for cell in open_cells.values() if cell.number == drawn)
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
        [drawing.Open(cell.number, seats.weights[pk], seats.share(pk), pk in forming) for pk, cell in cells.items()],
        rule=rule,
        number=number,
        seed=seed,
        stratum=stratum,
        block=seats.block if rule == "blocks" else None,
    )


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
