"""Enrol arriving participants: resume their session, or place them in the emptiest cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from games import registry
from games.interface import Game, Role
from games.play import configure
from lobby.models import Group
from lobby.signals import group_made
from matches.disclosing import Discloses, shows_names
from matches.models import Match, Seat
from opponents.agents import Seats, labels_in, people_in
from participants.consent import NO_PLACE_LEFT
from participants.models import Enrolment
from participants.services import end_expired, expiry_after
from participants.signals import consented
from participants.states import State
from participants.steps import StepRefused
from payouts.rules import PayRule
from recruiters import otree, simulated
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused, NotAgain, UsedCode
from recruiters.models import Identity
from studies import disclosure, faults, participations, sessions, texts
from studies.formats import seats_in
from studies.models import Cell, Placement, Study, Version
from studies.sessions import Leg, Session, legs_of, session_of, starting_cells

HELD_OR_OFFERED = Q(released_at=None)
"""Placements that hold a place or were offered one; new participants are placed where these are fewest."""
HELD = HELD_OR_OFFERED & ~Q(enrolment__state=State.ARRIVED)
"""Placements that hold a place: consenting takes it, opening the link does not."""


class NotOpen(EntryRefused):
    title = _("This study is not open")


class NoSuchRole(EntryRefused):
    title = _("This link does not open the study")


class NoSuchCell(EntryRefused):
    title = _("This link does not open the study")


class Full(EntryRefused):
    title = _("All places are taken")


@transaction.atomic
def enrol(
    study: Study, arrival: Arrival, *, role: str | None = None, again: bool = False, token: str = ""
) -> Enrolment:
    """Return the arriving participant's enrolment: the one they began, or a new one in the emptiest open cell.

    Args:
        role: use only cells of this role (demos let people choose).
        token: of the enrolment that may begin now; empty for any.
        again: begin another enrolment if the earlier one, begun with the same reusable link, has ended.

    Raises:
        EntryRefused: with the message for the participant; nothing was changed.
    """
    latest = latest_enrolment(study, arrival)
    if latest is not None and not _begins_another(latest, arrival, again):
        return _readmit(latest, arrival)
    refuse_closed(study)
    participations.lock_worker(arrival)
    version = Version.objects.select_for_update().filter(study=study).order_by("-number").first()
    assert version is not None
    latest = latest_enrolment(study, arrival)
    if latest is not None and not _begins_another(latest, arrival, again):
        return _readmit(latest, arrival)
    if token and (existing := Enrolment.objects.filter(token=token).first()) is not None:
        return existing
    version.study = study
    _refuse_mixing(version, arrival)
    participations.refuse(version, arrival)
    faults.refuse_while_unavailable(version)
    if arrival.recruiter == otree.KIND and arrival.cell is not None:
        refuse_unknown_cell(version, arrival.cell)
    cell, role, number = _find_seat(version, role or arrival.role, arrival.cell, arrival.together)
    enrolment = Enrolment.objects.create(
        steps=steps_of(version, cell, role, number=number, together=arrival.together),
        expires_at=expiry_after(version.content["timers"]["minutes"]),
        return_to=arrival.return_to,
        **({"token": token} if token else {}),
    )
    Placement.objects.create(enrolment=enrolment, cell=cell, role=role)
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
    """Hold the participant's place from consent on; if it has been taken, take the emptiest other one.

    Raises:
        StepRefused: no place is left; nothing was changed.
    """
    placement = Placement.objects.select_related("cell").filter(enrolment=enrolment, released_at=None).first()
    if placement is None:
        return
    version = Version.objects.select_for_update().get(pk=placement.cell.version_id)
    held_placements = Placement.objects.filter(HELD, cell=placement.cell, role=placement.role)
    taken_by_agents = _taken_by_agents(version)[placement.cell_id, placement.role]
    if held_placements.exclude(pk=placement.pk).count() + taken_by_agents < placement.cell.quota:
        return
    try:
        details = Identity.objects.filter(enrolment=enrolment).values_list("details", flat=True).first() or {}
        together = details.get("together", "")
        placement.cell, placement.role, number = _find_seat(version, placement.role, details.get("cell"), together)
    except Full as full:
        raise StepRefused({NO_PLACE_LEFT: str(full)}) from None
    placement.save(update_fields=["cell", "role"])
    later_steps = steps_of(version, placement.cell, placement.role, number=number, together=together)[1:]
    enrolment.steps = [enrolment.steps[0], *later_steps]


def _begins_another(enrolment: Enrolment, arrival: Arrival, again: bool) -> bool:
    return again and arrival.lasting and enrolment.ended


def _find_seat(version: Version, role: str | None, cell: int | None, together: str) -> tuple[Cell, Role, int]:
    """Return the emptiest open seat. If all are taken, first release the places of participants whose time is over."""
    try:
        return emptiest_seat(version, role=role, cell=cell, together=together)
    except Full:
        if not end_expired():
            raise
        return emptiest_seat(version, role=role, cell=cell, together=together)


def refuse_unknown_cell(version: Version, number: int) -> None:
    """Raise NoSuchCell if the version has no cell of this number."""
    if not version.cells.filter(number=number).exists():
        raise NoSuchCell(
            _(
                "The link asks for cell {number}, which this study doesn't have. Please tell the people who gave "
                "it to you."
            ).format(number=number)
        )


def refuse_closed(study: Study) -> None:
    """Raise NotOpen if the study is closed to new participants, or one of its agents can play no match."""
    if study.status != Study.Status.LAUNCHED:
        raise NotOpen(_closed_reason(study))
    version = study.latest_version()
    if version is not None and faults.why_closed(version):
        raise NotOpen(_paused())


def _refuse_mixing(version: Version, arrival: Arrival) -> None:
    """Raise NotOpen unless simulated participants, and only they, enter a study made for them."""
    if (version.content["purpose"] == Match.Purpose.SIMULATED) != (arrival.recruiter == simulated.KIND):
        raise NotOpen(_("Only simulated participants take part in this study."))


def _closed_reason(study: Study) -> str:
    if study.status == Study.Status.PAUSED:
        return _paused()
    if study.status == Study.Status.CLOSED:
        return _("The study has ended. Thank you for your interest.")
    return _("The study has not started yet. Please try again later with the same link.")


def _paused() -> str:
    return _("The study is paused at the moment. Please try again later with the same link.")


def emptiest_seat(
    version: Version, *, role: str | None = None, cell: int | None = None, together: str = ""
) -> tuple[Cell, Role, int]:
    """Return the open cell with the lowest (completed + live) / places, its least-held seat, and a number.

    The number, from 1, counts all participants ever placed in the cell, or those of them who may play together.

    Cells with incomplete groups come first, so that nobody waits because others were placed elsewhere. Ties between
    cells are broken at random from the version's seed. Within a cell, the first of the seats with the fewest
    participants is used, so that four successive arrivals can form a group of four.

    Args:
        role: consider only this seat.
        cell: consider only the cell of this number; a number that the version does not have is ignored.
        together: form groups only with participants of the same text (`recruiters.arrivals.Arrival`).

    Call under the version's lock.

    Raises:
        Full, NoSuchRole
    """
    has_other_games = "further" in version.content
    cells = starting_cells(
        version.cells.order_by("number"), session_of(version.content), has_other_games=has_other_games
    )
    cells = [candidate for candidate in cells if candidate.number == cell] or list(cells)
    seats = [(cell, seat) for cell in cells for seat in cell.people]
    if role:
        seats = [(cell, seat) for cell, seat in seats if seat == role]
        if not seats:
            raise NoSuchRole(
                _("The link asks for a role that this study doesn't have. Please tell the person who gave it to you.")
            )
    placements = Placement.objects.filter(cell__version=version)
    counts = _counts_by_seat(placements)
    peers = placements.filter(enrolment__identity__details__together=together) if together else placements
    _held, peers_held_or_offered, peers_ever_placed = _counts_by_seat(peers) if together else counts
    held, held_or_offered, ever_placed = counts
    for counter in (held, held_or_offered):
        counter.update(_taken_by_agents(version))
    open_seats = [(cell, seat) for cell, seat in seats if held[cell.pk, seat] < cell.quota]
    if not open_seats:
        raise Full(
            _("All places in this study are taken at the moment. A place may become free, so please try again later.")
        )
    filled_shares = {
        cell.pk: sum(held_or_offered[cell.pk, seat] for seat in cell.people) / cell.places for cell, _seat in open_seats
    }
    forming_cells = _cells_forming_groups(peers.filter(released_at=None), [cell for cell, _seat in open_seats])
    open_seats = [(cell, seat) for cell, seat in open_seats if cell.pk in forming_cells] or open_seats
    lowest = min(filled_shares[cell.pk] for cell, _seat in open_seats)
    emptiest = list({cell.pk: cell for cell, _seat in open_seats if filled_shares[cell.pk] == lowest}.values())
    cell = Random(f"{version.seed}/{ever_placed.total()}").choice(emptiest)
    seat = min(
        (seat for other, seat in open_seats if other.pk == cell.pk),
        key=lambda seat: peers_held_or_offered[cell.pk, seat],
    )
    return cell, seat, 1 + sum(number for (other, _seat), number in peers_ever_placed.items() if other == cell.pk)


SeatCounts = Counter[tuple[int, Role]]


def _counts_by_seat(placements: QuerySet[Placement]) -> tuple[SeatCounts, SeatCounts, SeatCounts]:
    """Return counts by cell and seat: places held, places held or offered, and all placements ever."""
    counts = (Count("pk", filter=HELD), Count("pk", filter=HELD_OR_OFFERED), Count("pk"))
    rows = list(
        placements.values_list("cell", "role")
        .annotate(held=counts[0], held_or_offered=counts[1], ever_placed=counts[2])
        .order_by()
    )
    held, held_or_offered, ever_placed = (Counter({row[:2]: row[column] for row in rows}) for column in (2, 3, 4))
    return held, held_or_offered, ever_placed


def _cells_forming_groups(placements: QuerySet[Placement], cells: Collection[Cell]) -> set[int]:
    """Return the cells in which participants do not form whole groups yet."""
    group_sizes = {cell.pk: cell.group_size for cell in cells if cell.group_size > 1}
    if not group_sizes:
        return set()
    seated = Seat.objects.filter(enrolment=OuterRef("enrolment"))
    waiting = placements.filter(cell__in=group_sizes, enrolment__ended_at=None).exclude(Exists(seated))
    counts = waiting.order_by().values_list("cell").annotate(Count("pk"))
    return {cell for cell, number in counts if number % group_sizes[cell]}


def _taken_by_agents(version: Version) -> Counter[tuple[int, Role]]:
    """Return how often agents took unfilled seats, by cell and seat; these are not offered again."""
    if "lobby" not in version.content:
        return Counter()
    numbers = dict(version.cells.values_list("number", "pk"))
    seats = Seat.objects.filter(fills_in=True, match__lobby_group__hall__key=lobby_hall(version))
    counts: Counter[tuple[int, Role]] = Counter()
    for pool, role in seats.values_list("match__lobby_group__pool", "role"):
        first_cell, cell, match = pool.split("/")[:3]
        counts[numbers[int(first_cell)], role] += match == "1" and cell == first_cell
    return counts


def lobby_hall(version: Version) -> str:
    """Return the lobby in which the version's participants wait for each other."""
    return f"version-{version.pk}"


def steps_of(version: Version, cell: Cell, role: Role, *, number: int = 1, together: str = "") -> list[dict[str, Any]]:
    """Return the frozen steps through this version for a participant in this seat of this cell.

    Args:
        number: the participant's number within the cell, from 1, among those of the same `together`.
        together: the participant meets only others with the same text; empty for anyone.
    """
    content = version.content
    session = session_of(content)
    legs = legs_of(version, cell, role, number=number, together=together)
    own_leg = Leg(content, cell, role, str(cell.number))
    games = [registry.get(game) for game in dict.fromkeys([content["game"], *(leg.part["game"] for leg in legs)])]
    reserved_words = [word for game in games for word in (game.title, *game.reserved_words)]
    seats = dict.fromkeys(seat for leg in [own_leg, *legs] for seat in leg.cell.seats)
    reserved = [*reserved_words, *seats, "parley", "player", "opponent"]
    surveys, rule = content.get("surveys", {}), cell.pay()
    configured, asks_code_word = _configured(own_leg), content["checks"]["code_word"]
    endings_possible = texts.possible_endings(
        code_word=asks_code_word,
        quiz=content["checks"]["quiz"],
        screens=False,  # participants who reach the instructions have passed the screening
        groups=_meets_people(content, legs),
    )
    endings = texts.endings_table(rule, endings_possible)

    def instruction_parts(leg: Leg) -> dict[str, Any]:
        """Return what the instructions of a match say in addition to its rules."""
        game = _configured(leg)
        promise = texts.pay_promise(rule, alike=game.pays_alike())
        promises = [sessions.session_promise(session, has_other_games="further" in content), promise]
        pay = " ".join(filter(None, [*promises, texts.worked_examples(rule, game, leg.role)]))
        return {**_game_data(version, leg, rule), "pay": pay, "endings": endings}

    steps: list[dict[str, Any]] = [
        {
            "kind": "consent",
            "text": content["texts"]["consent"],
            "facts": texts.key_facts(content["timers"], rule, configured, content.get("about_minutes")),
            "leaving": texts.leaving_promise(rule),
            "others": disclosure.version_disclosure(content),
            **({"behaviour": content["behaviour"]} if content.get("behaviour") else {}),
            **({"demo": True} if content["purpose"] == Match.Purpose.DEMO else {}),
        },
        {
            "kind": "name",
            "reserved": reserved,
            "visible": any(names_visible(leg.cell.seats, disclosure.told_in(content)) for leg in legs),
        },
        *_questions(surveys, "before"),
        {
            "kind": "instructions",
            **instruction_parts(legs[0]),
            **({"code_word": {"tries": 1 + content["checks"].get("code_word_again", False)}} if asks_code_word else {}),
        },
    ]
    previous_leg = legs[0]
    for match, leg in enumerate(legs, start=1):
        if not leg.same_rules(previous_leg):
            steps.append({"kind": "instructions", **instruction_parts(leg)})
        where = {"match": match, "number": number, "first_cell": cell, "together": together}
        steps += _match_steps(version, leg, rule, session, **where)
        previous_leg = leg
    quiz_leg = [leg for leg in legs if leg.plays_own_game][-1]
    if content["checks"]["quiz"] and configured.quiz(role):
        steps.append({"kind": "quiz", **_game_data(version, quiz_leg, rule), "stake": texts.quiz_stake(rule)})
    return [*steps, *_questions(surveys, "after")]


def _questions(surveys: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the page of the survey "before" or "after" the game, if there is one."""
    items = surveys.get(name)
    return [{"kind": "questions", "name": name, "items": items, "before_game": name == "before"}] if items else []


def _configured(leg: Leg) -> Game[Any, Any]:
    game = registry.get(leg.part["game"])
    return configure(game, leg.config, amounts=leg.part["texts"].get("amounts", "dollars"))


def _game_data(version: Version, leg: Leg, rule: PayRule) -> dict[str, Any]:
    """Return the data about a match's game that its steps contain."""
    pay = (leg.cell.pay() if leg.plays_own_game else rule).model_dump(mode="json", exclude={"endings"})
    match_texts = {**leg.part["texts"], "pay": pay}
    return {"game": leg.part["game"], "config": leg.config, "role": leg.role, "texts": match_texts}


def names_visible(seats: Seats, told: str) -> bool:
    """Return whether participants in these seats see each other's names."""
    people = len(people_in(seats))
    return people > 1 and shows_names(told, programs=len(seats) - people)


def _meets_people(content: Mapping[str, Any], legs: Sequence[Leg]) -> bool:
    """Return whether participants play with others; in a blind study, whether any of them do."""
    if disclosure.told_in(content) != Discloses.NONE:
        return any(leg.cell.group_size > 1 for leg in legs)
    parts = (content, *content.get("further", ()))
    return any(len(people_in(seats_in(cell))) > 1 for part in parts for cell in part["cells"])


def _match_steps(
    version: Version,
    leg: Leg,
    rule: PayRule,
    session: Session,
    *,
    match: int,
    number: int,
    first_cell: Cell,
    together: str,
) -> list[dict[str, Any]]:
    """Return the steps of one match, preceded by the lobby if several participants play it together.

    Its seed is derived from the version's seed, the cell, the group's number and, in a session, the match's number.
    """
    content, cell = version.content, leg.cell
    agents = version.agents()
    lobby = leg.part.get("lobby", {})
    fills_in = [label for label in [lobby.get("fill")] if label and cell.group_size > 1]
    own_pool = f"/{together}" if together else ""
    seed_source = f"{version.seed}/{leg.key}" + (f"/match {match}" if session.matches > 1 else "") + own_pool
    told = {
        "others": disclosure.told_in(content),
        "longest_answer": disclosure.longest_answer(leg.part["timers"], agents.values()),
    }
    match_step = {
        "kind": "match",
        **_game_data(version, leg, rule),
        "seats": cell.seats,
        "agents": {label: agents[label].frozen() for label in [*labels_in(cell.seats), *fills_in]},
        "purpose": content["purpose"],
        "timers": {**leg.part["timers"], "told": told},
        "budget_of": f"study:{version.study.slug}",
    }
    if cell.group_size == 1:
        return [{**match_step, "seed": Random(f"{seed_source}/{number}").randrange(2**31)}]
    lobby_step = {
        "kind": "lobby",
        "hall": lobby_hall(version),
        "pool": f"{first_cell.number}/{leg.key}/{match}{own_pool}",
        **lobby,
        "strangers": session.partners == "new" and (match > 1 or participations.may_return(version)),
        "seed": seed_source,
        **({"join": version.study.get_absolute_url()} if content["purpose"] == Match.Purpose.DEMO else {}),
    }
    return [lobby_step, match_step]


@receiver(group_made)
def store_seats(sender: type, group: Group, seats: Mapping[Role, Enrolment], **_signal: Any) -> None:
    """Store the seats that participants got in their group, unless the group plays another game."""
    leg_keys = group.pool.split("/")[1:2]
    if leg_keys and not leg_keys[0].isdigit():
        return
    for role, enrolment in seats.items():
        Placement.objects.filter(enrolment=enrolment).update(role=role)


def release(enrolment: Enrolment) -> None:
    """Release the place, so that another participant can fill the cell."""
    Placement.objects.filter(enrolment=enrolment, released_at=None).update(released_at=timezone.now())
