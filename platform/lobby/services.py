"""What happens in a lobby: coming, being heard from, being put into a group, and waiting in vain.

Groups are made under the lock of the hall's row, each in the transaction that opens its match: a person is
in no group or in one. Whoever has not been heard from lately is in none. Halls are locked before enrolments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from random import Random

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from games.interface import Role
from lobby import announce
from lobby.grouping import Waiting, group_of, part_of, seats_for
from lobby.models import Group, Hall, Place
from lobby.signals import group_made
from lobby.tables import Table
from matches.models import Seat
from matches.services import Player, open_match
from opponents.agents import agents_of
from participants import services as people
from participants.models import Enrolment, Visit
from participants.states import State

FRESH_SECONDS = 2
"""Somebody whose page was heard from within this need not be written down again."""
PRESENT_SECONDS = 15
"""Somebody whose page was heard from within this is here."""
STRANGERS_SHARE = 1 / 3
"""Of the limit: as long are people kept apart who have played with each other before."""


def arrive(enrolment: Enrolment, step: int) -> Place:
    """Give somebody their place at the lobby step, or find the one they have; groups follow the commit.

    Call under the lock of the enrolment's row.
    """
    place = Place.objects.filter(enrolment=enrolment, step=step).first()
    if place is None:
        lobby = enrolment.steps[step]
        hall, _new = Hall.objects.get_or_create(key=lobby["hall"])
        place = Place.objects.create(
            enrolment=enrolment,
            step=step,
            hall=hall,
            pool=lobby["pool"],
            kind=Table.of(enrolment, step).kept_kind,
            until=timezone.now() + timedelta(seconds=lobby["limit"]),
        )
        transaction.on_commit(partial(look_after, hall.pk, place.pool))
    elif _note_presence(place):
        transaction.on_commit(partial(look_after, place.hall_id, place.pool))
    place.enrolment = enrolment
    return place


def hear(place: Place) -> bool:
    """Somebody's page says that they are here. Whoever was missed may complete a group; whether it was tried."""
    before = place.heard_at
    something_new = _note_presence(place)
    if place.heard_at != before:
        people.touch(place.enrolment_id)
    if something_new:
        look_after(place.hall_id, place.pool)
    return something_new


def _note_presence(place: Place) -> bool:
    """Write down that somebody is here; whether that, or the time that they have waited, changes anything."""
    now = timezone.now()
    something_new = not _heard_within(place, PRESENT_SECONDS) or place.until <= now
    if not _heard_within(place, FRESH_SECONDS):
        place.heard_at = now
        Place.objects.filter(pk=place.pk).update(heard_at=now)
    return something_new


def _heard_within(place: Place, seconds: float) -> bool:
    return place.heard_at is not None and timezone.now() - place.heard_at < timedelta(seconds=seconds)


def miss(place: Place) -> None:
    """Somebody's page was closed: nobody waits for them until another page of theirs is heard from."""
    if Place.objects.filter(pk=place.pk, group=None).update(heard_at=None):
        tell(place.hall_id, place.pool)


def tell(hall_id: int, pool: str) -> None:
    """Tell the pages of a pool who is here."""
    announce.tell(hall_id, pool, list(present(hall_id, pool)))


def present(hall_id: int, pool: str) -> QuerySet[Place]:
    """Who waits and is here, in the order of their coming."""
    heard = timezone.now() - timedelta(seconds=PRESENT_SECONDS)
    waiting = Place.objects.filter(hall=hall_id, pool=pool, group=None, left_at=None, enrolment__ended_at=None)
    return waiting.filter(heard_at__gte=heard).order_by("since", "pk")


def look_after(hall_id: int, pool: str) -> None:
    """Make the groups that can be made, let go whose time is up, and tell the pages."""
    begun: list[int] = []
    while _something_to_do(places := list(present(hall_id, pool))):
        made = _make_group(hall_id, pool, table_of(places[0]))
        if made is None:
            break
        begun += made
    announce.tell(hall_id, pool, places, begun=begun)


def _make_group(hall_id: int, pool: str, table: Table) -> list[int] | None:
    """One group, or one person's way out: the places that it was for; None when there is nothing to do."""
    with transaction.atomic():
        Hall.objects.select_for_update().get(pk=hall_id)
        gone: set[int] = set()
        while places := {place.pk: place for place in present(hall_id, pool).exclude(pk__in=gone)}:
            waiting = _waiting(list(places.values()), table)
            late = next((one for one in waiting if places[one.key].until <= timezone.now()), None)
            group = group_of(waiting, table.needed) or (late and part_of(waiting, table.needed, late))
            if not group:
                return None
            members = _locked([places[one.key] for one in group])
            if len(members) < len(group):
                gone |= {one.key for one in group} - {place.pk for place in members}
            elif len(group) == len(table.seats):
                return _seat(table, members, group)
            else:
                return _wait_no_longer(table, members, group)
    return None


def _something_to_do(places: Sequence[Place]) -> bool:
    """Whether it is worth taking the lock."""
    if not places:
        return False
    if any(place.until <= timezone.now() for place in places):
        return True
    table = table_of(places[0])
    return len(places) >= len(table.seats) and group_of(_waiting(places, table), table.needed) is not None


def table_of(place: Place) -> Table:
    """The table for which the people of a place's pool wait."""
    return Table.of(place.enrolment, place.step)


def _locked(places: Sequence[Place]) -> list[Place]:
    """Those of them who are still at the lobby, under the locks of their enrolments."""
    held = Enrolment.objects.select_for_update().filter(pk__in=[place.enrolment_id for place in places])
    enrolments = {enrolment.pk: enrolment for enrolment in held.order_by("pk")}
    for place in places:
        place.enrolment = enrolments[place.enrolment_id]
    return [place for place in places if not place.enrolment.ended and place.enrolment.position == place.step]


def _waiting(places: Sequence[Place], table: Table) -> list[Waiting]:
    """Those who wait as `group_of` reads them; earlier partners count for a while, where the study parts them."""
    met: Mapping[int, frozenset[int]] = {}
    if table.lobby.get("strangers"):
        met = _met([place for place in places if _may_still_find_strangers(place, table)], places)
    return [Waiting(place.pk, place.kind, met.get(place.pk, frozenset())) for place in places]


def _may_still_find_strangers(place: Place, table: Table) -> bool:
    waited = (timezone.now() - place.since).total_seconds()
    return waited < table.lobby["limit"] * STRANGERS_SHARE


def _met(some: Sequence[Place], places: Sequence[Place]) -> dict[int, frozenset[int]]:
    """For each of some places, those whose people they have played with."""
    of_enrolment = {place.enrolment_id: place.pk for place in places}
    matches: dict[int, set[int]] = {}
    for match, enrolment in Seat.objects.filter(enrolment__in=of_enrolment).values_list("match", "enrolment"):
        matches.setdefault(match, set()).add(of_enrolment[enrolment])
    return {
        place.pk: frozenset(
            other for group in matches.values() if place.pk in group for other in group if other != place.pk
        )
        for place in some
    }


def _seat(table: Table, places: Sequence[Place], group: Sequence[Waiting]) -> list[int]:
    """Open the match of a group; every seat that nobody takes goes to the study's agent, flagged.

    Returns the places.
    """
    by_key = {place.pk: place for place in places}
    kept = {place.pk: place.enrolment.steps[place.step + 1]["role"] for place in places}
    taken = {role: by_key[key] for role, key in seats_for(group, table.seats, kept).items()}
    first = places[0]
    number = Group.objects.filter(hall=first.hall_id, pool=first.pool).count() + 1
    seed = Random(f"{table.lobby['seed']}/{number}").randrange(2**31)
    match_step = table.match
    lineup = table.filled(taken)
    players = Player.agents(
        agents_of(match_step["agents"]), lineup, seed=seed, filling_in=set(table.seats) - set(taken)
    )
    for role, place in taken.items():
        players[role] = Player(enrolment=place.enrolment, step=place.step + 1)
    match = open_match(
        game=match_step["game"],
        config=match_step["config"],
        players=players,
        seed=seed,
        purpose=match_step["purpose"],
        texts=match_step.get("texts"),
        timers=match_step.get("timers"),
        budget_of=match_step.get("budget_of", ""),
    )
    made = Group.objects.create(hall_id=first.hall_id, pool=first.pool, number=number, match=match)
    Place.objects.filter(pk__in=by_key).update(group=made)
    for role, place in taken.items():
        _send_on(place, role, match_step)
    for step in {place.step for place in places}:
        waited = [place.enrolment_id for place in places if place.step == step]
        Visit.objects.filter(enrolment__in=waited, position=step).update(answered_at=timezone.now())
    group_made.send(Group, group=made, seats={role: place.enrolment for role, place in taken.items()})
    return list(by_key)


def _send_on(place: Place, role: Role, match_step: Mapping[str, object]) -> None:
    """Somebody goes on to their match, in the seat they have got; what they are asked afterwards is about it."""
    enrolment = place.enrolment
    kept = enrolment.steps[place.step + 1]
    about = [kept[name] for name in ("game", "config", "role")]
    mine = {"role": role, "config": match_step["config"], "seats": match_step["seats"]}
    for step in enrolment.steps[place.step + 1 :]:
        if step["kind"] == "lobby":
            break
        if [step.get(name) for name in ("game", "config", "role")] == about and step is not kept:
            step.update({name: value for name, value in mine.items() if name in step})
    kept.update(mine)
    enrolment.position = place.step + 1
    enrolment.state = State.PLAYING
    enrolment.save(update_fields=["steps", "position", "state"])


def _wait_no_longer(table: Table, members: Sequence[Place], group: Sequence[Waiting]) -> list[int]:
    """The first of these has waited as long as the study lets them: it says what happens now."""
    if table.lobby["after"] == "agents":
        return _seat(table, members, group)
    if table.lobby["after"] == "fewer" and (smaller := table.smaller(len(group))) is not None:
        return _seat(smaller, members, group)
    late = members[0]
    Place.objects.filter(pk=late.pk).update(left_at=min(timezone.now(), late.until))
    people.end(late.enrolment, State.NO_PARTNER)
    return [late.pk]


def waited_seconds(enrolment: Enrolment) -> float:
    """How long somebody waited who found nobody to play with."""
    place = Place.objects.filter(enrolment=enrolment, group=None, left_at__isnull=False).order_by("-step").first()
    return 0.0 if place is None or place.left_at is None else (place.left_at - place.since).total_seconds()


def sweep() -> None:
    """Look after every pool in which somebody waits: whatever was killed or lost, nobody waits for ever."""
    waiting = Place.objects.filter(group=None, left_at=None, enrolment__ended_at=None)
    for hall_id, pool in waiting.order_by().values_list("hall", "pool").distinct():
        if _something_to_do(list(present(hall_id, pool))):
            look_after(hall_id, pool)
