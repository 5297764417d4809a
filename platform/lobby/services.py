"""The lobby: arriving, staying present, forming groups and giving up after the waiting time.

Groups are formed under the hall's row lock, in the transaction that opens the match: a participant is in at
most one group. Participants whose page has not sent a request recently join none. Lock halls before enrolments.
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
from lobby.grouping import Waiting, find_group, partial_group, seats_for
from lobby.models import Group, Hall, Place
from lobby.signals import group_made
from lobby.tables import Table
from matches.models import Seat
from matches.services import Player, open_match
from opponents.agents import parse_agents
from participants import services as people
from participants.models import Enrolment, Visit
from participants.states import State
from recruiters.models import Identity

REFRESH_SECONDS = 2
"""Presence is not stored again if it was stored within this time."""
PRESENT_SECONDS = 15
"""A participant counts as present if their page sent a request within this time."""
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
            kind=Table.of(enrolment, step).reserved_kind,
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
    needs_update = _note_presence(place)
    if place.heard_at != before:
        people.touch(place.enrolment_id)
    if needs_update:
        update_pool(place.hall_id, place.pool)
    return needs_update


def _note_presence(place: Place) -> bool:
    """Store that the participant is present; return whether they were absent or have waited long enough."""
    now = timezone.now()
    needs_update = not _heard_within(place, PRESENT_SECONDS) or place.is_over
    if not _heard_within(place, REFRESH_SECONDS):
        place.heard_at = now
        Place.objects.filter(pk=place.pk).update(heard_at=now)
    return needs_update


def _heard_within(place: Place, seconds: float) -> bool:
    return place.heard_at is not None and timezone.now() - place.heard_at < timedelta(seconds=seconds)


def mark_absent(place: Place) -> None:
    """Record that the page was closed: the participant is absent until a page sends a request again."""
    if Place.objects.filter(pk=place.pk, group=None).update(heard_at=None):
        notify(place.hall_id, place.pool)


def notify(hall_id: int, pool: str) -> None:
    """Send the list of participants present to the pages of a pool."""
    announce.notify(hall_id, pool, list(present(hall_id, pool)))


def present(hall_id: int, pool: str) -> QuerySet[Place]:
    """Return the places of participants who wait and are present, in order of arrival."""
    cutoff = timezone.now() - timedelta(seconds=PRESENT_SECONDS)
    waiting = Place.objects.filter(hall=hall_id, pool=pool, group=None, left_at=None, enrolment__ended_at=None)
    return waiting.filter(heard_at__gte=cutoff).order_by("since", "pk")


def update_pool(hall_id: int, pool: str) -> None:
    """Form all possible groups, end waits that are over and notify the pages."""
    started: list[int] = []
    while _needs_update(places := list(present(hall_id, pool))):
        affected_places = _form_group(hall_id, pool, table_of(places[0]))
        if affected_places is None:
            break
        started += affected_places
    announce.notify(hall_id, pool, places, started=started)


def _form_group(hall_id: int, pool: str, table: Table) -> list[int] | None:
    """Form one group or end one participant's wait; return the places affected, or None if there is nothing to do."""
    with transaction.atomic():
        Hall.objects.select_for_update().get(pk=hall_id)
        excluded: set[int] = set()
        while places := {place.pk: place for place in present(hall_id, pool).exclude(pk__in=excluded)}:
            waiting = _waiting(list(places.values()), table)
            overdue = next((candidate for candidate in waiting if places[candidate.key].is_over), None)
            group = find_group(waiting, table.needed) or (overdue and partial_group(waiting, table.needed, overdue))
            if not group:
                return None
            members = _lock_members([places[candidate.key] for candidate in group])
            if len(members) < len(group):
                excluded |= {candidate.key for candidate in group} - {place.pk for place in members}
            elif len(group) == len(table.seats):
                return _open_match(table, members, group)
            else:
                return _end_wait(table, members, group)
    return None


def _needs_update(places: Sequence[Place]) -> bool:
    """Return whether a group can be formed or a wait is over, so that the lock is worth taking."""
    if not places:
        return False
    if any(place.is_over for place in places):
        return True
    table = table_of(places[0])
    return len(places) >= len(table.seats) and find_group(_waiting(places, table), table.needed) is not None


def table_of(place: Place) -> Table:
    """Return the table for which the participants of this pool wait."""
    return Table.of(place.enrolment, place.step)


def _lock_members(places: Sequence[Place]) -> list[Place]:
    """Lock the enrolments and return the places whose participants are still at the lobby."""
    locked = Enrolment.objects.select_for_update().filter(pk__in=[place.enrolment_id for place in places])
    enrolments = {enrolment.pk: enrolment for enrolment in locked.order_by("pk")}
    for place in places:
        place.enrolment = enrolments[place.enrolment_id]
    return [place for place in places if not place.enrolment.ended and place.enrolment.position == place.step]


def _waiting(places: Sequence[Place], table: Table) -> list[Waiting]:
    """Return the places as input for `find_group`; earlier partners count only while the study keeps them apart."""
    past_partners: Mapping[int, frozenset[int]] = {}
    if table.lobby.get("strangers"):
        past_partners = _past_partners_of([place for place in places if _waits_for_strangers(place, table)], places)
    return [Waiting(place.pk, place.kind, past_partners.get(place.pk, frozenset())) for place in places]


def _waits_for_strangers(place: Place, table: Table) -> bool:
    waited = (timezone.now() - place.since).total_seconds()
    return waited < table.lobby["limit"] * STRANGERS_SHARE


def _past_partners_of(selected: Sequence[Place], places: Sequence[Place]) -> dict[int, frozenset[int]]:
    """Return, for each place in `selected`, the places of people they have played with, now or in earlier sessions."""
    place_of_enrolment = _places_by_enrolment(places)
    places_by_match: dict[int, set[int]] = {}
    for match, enrolment in Seat.objects.filter(enrolment__in=place_of_enrolment).values_list("match", "enrolment"):
        places_by_match.setdefault(match, set()).add(place_of_enrolment[enrolment])
    return {
        place.pk: frozenset(
            other for group in places_by_match.values() if place.pk in group for other in group if other != place.pk
        )
        for place in selected
    }


def _places_by_enrolment(places: Sequence[Place]) -> dict[int, int]:
    """Return each place by every enrolment of its person, as far as the recruiter identifies people."""
    place_of_enrolment = {place.enrolment_id: place.pk for place in places}
    named = Identity.objects.exclude(worker="").values_list("recruiter", "worker", "enrolment")
    place_of_person = {
        (recruiter, worker): place_of_enrolment[enrolment]
        for recruiter, worker, enrolment in named.filter(enrolment__in=place_of_enrolment)
    }
    for recruiter, worker, enrolment in named.filter(worker__in={worker for _recruiter, worker in place_of_person}):
        if place := place_of_person.get((recruiter, worker)):
            place_of_enrolment.setdefault(enrolment, place)
    return place_of_enrolment


def _open_match(table: Table, places: Sequence[Place], group: Sequence[Waiting]) -> list[int]:
    """Open the group's match; empty seats go to the study's agent and are flagged. Return the places."""
    place_by_key = {place.pk: place for place in places}
    reserved = {place.pk: place.enrolment.steps[place.step + 1]["role"] for place in places}
    seated = {role: place_by_key[key] for role, key in seats_for(group, table.seats, reserved).items()}
    first = places[0]
    number = Group.objects.filter(hall=first.hall_id, pool=first.pool).count() + 1
    seed = Random(f"{table.lobby['seed']}/{number}").randrange(2**31)
    match_step = table.match
    lineup = table.lineup_for(seated)
    players = Player.agents(
        parse_agents(match_step["agents"]), lineup, seed=seed, filling_in=set(table.seats) - set(seated)
    )
    for role, place in seated.items():
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
    group_row = Group.objects.create(hall_id=first.hall_id, pool=first.pool, number=number, match=match)
    Place.objects.filter(pk__in=place_by_key).update(group=group_row)
    for role, place in seated.items():
        _move_to_match(place, role, match_step)
    for step in {place.step for place in places}:
        enrolment_ids = [place.enrolment_id for place in places if place.step == step]
        Visit.objects.filter(enrolment__in=enrolment_ids, position=step).update(answered_at=timezone.now())
    group_made.send(Group, group=group_row, seats={role: place.enrolment for role, place in seated.items()})
    return list(place_by_key)


def _move_to_match(place: Place, role: Role, match_step: Mapping[str, object]) -> None:
    """Move the participant on to the match in the assigned seat and update the later steps to match."""
    enrolment = place.enrolment
    own_match_step = enrolment.steps[place.step + 1]
    identity = [own_match_step[name] for name in ("game", "config", "role")]
    assigned = {"role": role, "config": match_step["config"], "seats": match_step["seats"]}
    for step in enrolment.steps[place.step + 1 :]:
        if step["kind"] == "lobby":
            break
        if [step.get(name) for name in ("game", "config", "role")] == identity and step is not own_match_step:
            step.update({name: value for name, value in assigned.items() if name in step})
    own_match_step.update(assigned)
    enrolment.position = place.step + 1
    enrolment.state = State.PLAYING
    enrolment.save(update_fields=["steps", "position", "state"])


def _end_wait(table: Table, members: Sequence[Place], group: Sequence[Waiting]) -> list[int]:
    """Apply the study's rule for a participant whose waiting time is over."""
    if table.lobby["after"] == "agents":
        return _open_match(table, members, group)
    if table.lobby["after"] == "fewer" and (smaller := table.smaller(len(group))) is not None:
        return _open_match(smaller, members, group)
    overdue = members[0]
    Place.objects.filter(pk=overdue.pk).update(left_at=min(timezone.now(), overdue.until))
    people.end(overdue.enrolment, State.NO_PARTNER)
    return [overdue.pk]


def waited_seconds(enrolment: Enrolment) -> float:
    """Return how many seconds a participant waited without finding a partner."""
    place = Place.objects.filter(enrolment=enrolment, group=None, left_at__isnull=False).order_by("-step").first()
    return 0.0 if place is None or place.left_at is None else (place.left_at - place.since).total_seconds()


def sweep() -> None:
    """Update every pool with waiting participants, so that a lost message or crashed process leaves nobody waiting."""
    waiting = Place.objects.filter(group=None, left_at=None, enrolment__ended_at=None)
    for hall_id, pool in waiting.order_by().values_list("hall", "pool").distinct():
        if _needs_update(list(present(hall_id, pool))):
            update_pool(hall_id, pool)
