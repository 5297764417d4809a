"""The lobby: arriving, staying present, forming groups and giving up after the waiting time.

Groups are formed under the hall's row lock, in the transaction that opens the match: a participant is in at
most one group. Participants whose page was not heard from lately join none. Lock halls before enrolments.
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
from opponents.agents import parse_agents
from participants import services as people
from participants.models import Enrolment, Visit
from participants.states import State

FRESH_SECONDS = 2
"""Presence is not stored again if the page was heard from within this time."""
PRESENT_SECONDS = 15
"""A participant counts as present if the page was heard from within this time."""
STRANGERS_SHARE = 1 / 3
"""The share of the waiting time during which participants who have met before are kept apart."""


def arrive(enrolment: Enrolment, step: int) -> Place:
    """Return the participant's place at the lobby step, creating it if needed; groups form after the commit.

    Call under the enrolment's row lock.
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
        transaction.on_commit(partial(update_pool, hall.pk, place.pool))
    elif _note_presence(place):
        transaction.on_commit(partial(update_pool, place.hall_id, place.pool))
    place.enrolment = enrolment
    return place


def mark_present(place: Place) -> bool:
    """Record that the participant is present; return whether forming a group was tried."""
    before = place.heard_at
    something_new = _note_presence(place)
    if place.heard_at != before:
        people.touch(place.enrolment_id)
    if something_new:
        update_pool(place.hall_id, place.pool)
    return something_new


def _note_presence(place: Place) -> bool:
    """Store that the participant is present; return whether they were absent or have waited long enough."""
    now = timezone.now()
    something_new = not _heard_within(place, PRESENT_SECONDS) or place.until <= now
    if not _heard_within(place, FRESH_SECONDS):
        place.heard_at = now
        Place.objects.filter(pk=place.pk).update(heard_at=now)
    return something_new


def _heard_within(place: Place, seconds: float) -> bool:
    return place.heard_at is not None and timezone.now() - place.heard_at < timedelta(seconds=seconds)


def mark_absent(place: Place) -> None:
    """Record that the page was closed: the participant is absent until another page is heard from."""
    if Place.objects.filter(pk=place.pk, group=None).update(heard_at=None):
        tell(place.hall_id, place.pool)


def tell(hall_id: int, pool: str) -> None:
    """Send the pages of a pool who is present."""
    announce.tell(hall_id, pool, list(present(hall_id, pool)))


def present(hall_id: int, pool: str) -> QuerySet[Place]:
    """Return the places of participants who wait and are present, in order of arrival."""
    heard = timezone.now() - timedelta(seconds=PRESENT_SECONDS)
    waiting = Place.objects.filter(hall=hall_id, pool=pool, group=None, left_at=None, enrolment__ended_at=None)
    return waiting.filter(heard_at__gte=heard).order_by("since", "pk")


def update_pool(hall_id: int, pool: str) -> None:
    """Form all possible groups, end waits that are over and notify the pages."""
    begun: list[int] = []
    while _needs_update(places := list(present(hall_id, pool))):
        made = _make_group(hall_id, pool, table_of(places[0]))
        if made is None:
            break
        begun += made
    announce.tell(hall_id, pool, places, begun=begun)


def _make_group(hall_id: int, pool: str, table: Table) -> list[int] | None:
    """Form one group or end one participant's wait; return the places concerned, or None if nothing is to be done."""
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


def _needs_update(places: Sequence[Place]) -> bool:
    """Return whether taking the lock is worthwhile."""
    if not places:
        return False
    if any(place.until <= timezone.now() for place in places):
        return True
    table = table_of(places[0])
    return len(places) >= len(table.seats) and group_of(_waiting(places, table), table.needed) is not None


def table_of(place: Place) -> Table:
    """Return the table for which the participants of this pool wait."""
    return Table.of(place.enrolment, place.step)


def _locked(places: Sequence[Place]) -> list[Place]:
    """Lock the enrolments and return the places whose participants are still at the lobby."""
    held = Enrolment.objects.select_for_update().filter(pk__in=[place.enrolment_id for place in places])
    enrolments = {enrolment.pk: enrolment for enrolment in held.order_by("pk")}
    for place in places:
        place.enrolment = enrolments[place.enrolment_id]
    return [place for place in places if not place.enrolment.ended and place.enrolment.position == place.step]


def _waiting(places: Sequence[Place], table: Table) -> list[Waiting]:
    """Return the places as input for `group_of`; earlier partners count only while the study keeps them apart."""
    met: Mapping[int, frozenset[int]] = {}
    if table.lobby.get("strangers"):
        met = _met([place for place in places if _may_still_find_strangers(place, table)], places)
    return [Waiting(place.pk, place.kind, met.get(place.pk, frozenset())) for place in places]


def _may_still_find_strangers(place: Place, table: Table) -> bool:
    waited = (timezone.now() - place.since).total_seconds()
    return waited < table.lobby["limit"] * STRANGERS_SHARE


def _met(some: Sequence[Place], places: Sequence[Place]) -> dict[int, frozenset[int]]:
    """Return, for each place in `some`, the places of participants they have played with."""
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
    """Open the group's match; empty seats go to the study's agent and are flagged. Return the places."""
    by_key = {place.pk: place for place in places}
    kept = {place.pk: place.enrolment.steps[place.step + 1]["role"] for place in places}
    taken = {role: by_key[key] for role, key in seats_for(group, table.seats, kept).items()}
    first = places[0]
    number = Group.objects.filter(hall=first.hall_id, pool=first.pool).count() + 1
    seed = Random(f"{table.lobby['seed']}/{number}").randrange(2**31)
    match_step = table.match
    lineup = table.filled(taken)
    players = Player.agents(
        parse_agents(match_step["agents"]), lineup, seed=seed, filling_in=set(table.seats) - set(taken)
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
    """Move the participant on to the match in the assigned seat and update the later steps to match."""
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
    """Apply the study's rule for a participant whose waiting time is over."""
    if table.lobby["after"] == "agents":
        return _seat(table, members, group)
    if table.lobby["after"] == "fewer" and (smaller := table.smaller(len(group))) is not None:
        return _seat(smaller, members, group)
    late = members[0]
    Place.objects.filter(pk=late.pk).update(left_at=min(timezone.now(), late.until))
    people.end(late.enrolment, State.NO_PARTNER)
    return [late.pk]


def waited_seconds(enrolment: Enrolment) -> float:
    """Return how many seconds a participant waited without finding a partner."""
    place = Place.objects.filter(enrolment=enrolment, group=None, left_at__isnull=False).order_by("-step").first()
    return 0.0 if place is None or place.left_at is None else (place.left_at - place.since).total_seconds()


def sweep() -> None:
    """Update every pool with waiting participants, so that lost messages and crashed processes strand nobody."""
    waiting = Place.objects.filter(group=None, left_at=None, enrolment__ended_at=None)
    for hall_id, pool in waiting.order_by().values_list("hall", "pool").distinct():
        if _needs_update(list(present(hall_id, pool))):
            update_pool(hall_id, pool)
