"""The lobby: arriving, staying present, forming groups, getting ready, and giving up after the waiting time.

A complete group gets its seats and is asked "Ready?"; its match opens when the last of them has said so. All this
happens under the hall's row lock: a participant is in at most one group. Participants whose page has not sent a
request recently join none. Lock halls before enrolments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.dispatch import receiver
from django.utils import timezone

from games.interface import Role
from lobby import announce, times
from lobby.coalescing import Coalesced
from lobby.grouping import Waiting, find_group, partial_group, prospects, seats_for
from lobby.models import Group, Hall, Place
from lobby.signals import group_made
from lobby.tables import Table
from matches.models import Seat
from matches.services import Player, open_match
from opponents.agents import parse_agents
from participants import services as people
from participants.models import Enrolment
from participants.signals import enrolment_ended
from participants.states import State
from recruiters.models import Identity

REFRESH_SECONDS = 2
"""Presence is not stored again if it was stored within this time."""
STRANGERS_SHARE = 1 / 3
"""The share of the waiting time during which participants who have met before are kept apart."""
MOST_MISSED = 2
"""How many starts a participant may miss before the study ends for them, with pay for waiting."""
WAITING = Q(left_at=None, group__match=None)
"""The places of participants who have no match yet: waiting for a group, or asked whether they are ready."""


def arrive(enrolment: Enrolment, step: int) -> Place:
    """Return the participant's place at the lobby step, creating it if needed; groups form after the commit.

    Call under the enrolment's row lock.
    """
    place = Place.objects.select_related("group").filter(enrolment=enrolment, step=step).first()
    if place is None:
        lobby = enrolment.steps[step]
        hall, _new = Hall.objects.get_or_create(key=lobby["hall"])
        now = timezone.now()
        place = Place.objects.create(
            enrolment=enrolment,
            step=step,
            hall=hall,
            pool=lobby["pool"],
            kind=Table.of(enrolment, step).reserved_kind,
            since=now,
            queued_at=now,
            until=now + timedelta(seconds=lobby["limit"]),
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
    ends_at = times.asking_ends(place.group) if place.group is not None else times.wait_ends(place)
    needs_update = times.is_over(ends_at) or times.seconds_until(times.kept_until(place)) == 0
    is_asked_now = place.group is not None and not _was_asked(place)
    if is_asked_now or place.heard_at is None or now - place.heard_at >= timedelta(seconds=REFRESH_SECONDS):
        place.heard_at = now
        Place.objects.filter(pk=place.pk).update(heard_at=now)
    return needs_update


def mark_absent(place: Place) -> None:
    """Record that the page was closed: the participant is absent until a page sends a request again."""
    if Place.objects.filter(WAITING, pk=place.pk).update(heard_at=None):
        notify(place.hall_id, place.pool)


@receiver(enrolment_ended)
def leave_at_once(enrolment: Enrolment, **_signal: Any) -> None:
    """Remove a participant whose enrolment ends from the lobby, and from a group that was not ready yet."""
    for hall_id, pool in Place.objects.filter(WAITING, enrolment=enrolment).values_list("hall", "pool"):
        transaction.on_commit(partial(update_pool, hall_id, pool))


def say_ready(enrolment: Enrolment, step: int, group: int) -> None:
    """Record that the participant is ready; the match opens after the commit if they were the last of the group.

    If this group is no longer asked, nothing changes. Call under the enrolment's row lock.
    """
    asked = Place.objects.filter(enrolment=enrolment, step=step, group=group, group__match=None, ready_at=None)
    now = timezone.now()
    if place := asked.first():
        asked.update(ready_at=now, heard_at=now)
        transaction.on_commit(partial(_update_if_due, place.hall_id, place.pool))


def notify(hall_id: int, pool: str, *, changed: Iterable[int] = ()) -> None:
    """Tell the pages of a pool how many are here, and those of the places in `changed` that they have news."""
    announce.notify(hall_id, pool, pool_prospects(hall_id, pool), changed=changed)


def present(hall_id: int, pool: str) -> QuerySet[Place]:
    """Return the places of participants who wait for a group and are present, in the order of the queue."""
    waiting = Place.objects.filter(hall=hall_id, pool=pool, group=None, left_at=None, enrolment__ended_at=None)
    return waiting.filter(heard_at__gte=times.present_since()).order_by("queued_at", "pk")


def pool_prospects(hall_id: int, pool: str) -> dict[int, tuple[int, int]]:
    """Return `grouping.prospects` of everyone who waits in the pool and is present, by place."""
    places = list(present(hall_id, pool))
    return _prospects(places) if places else {}


def prospects_of(place: Place) -> tuple[int, int]:
    """Return how many others are here for this waiting participant's group, and how many must still arrive."""
    places = list(present(place.hall_id, place.pool))
    if place not in places:
        places.append(place)
    return _prospects(places)[place.pk]


def _prospects(places: Sequence[Place]) -> dict[int, tuple[int, int]]:
    table = table_of(places[0])
    return prospects(_waiting(places, table), table.needed)


def _update_pool(hall_id: int, pool: str) -> None:
    changed: set[int] = set()
    while _is_due(hall_id, pool):
        with transaction.atomic():
            Hall.objects.select_for_update().get(pk=hall_id)
            affected = _settle_asked_group(hall_id, pool) or _form_group(hall_id, pool)
        if not affected:
            break
        changed |= affected
    notify(hall_id, pool, changed=changed)


update_pool = Coalesced(_update_pool)
"""Form, open and dissolve groups and end waits, as far as it is time; then notify the pages of who is here."""


def _update_if_due(hall_id: int, pool: str) -> None:
    if _is_due(hall_id, pool):
        update_pool(hall_id, pool)


def _is_due(hall_id: int, pool: str) -> bool:
    """Return whether there may be something to do, so that the lock is worth taking."""
    if _decided_group(hall_id, pool) is not None:
        return True
    places = list(present(hall_id, pool))
    if not places:
        return False
    table = table_of(places[0])
    if any(has_waited(place) for place in places) or _is_gathered(places, table):
        return True
    return len(places) >= len(table.seats) and find_group(_waiting(places, table), table.needed) is not None


# ---- forming a group --------------------------------------------------------------------------------------


def _form_group(hall_id: int, pool: str) -> set[int]:
    """Form one group or end one participant's wait; return the places affected."""
    excluded: set[int] = set()
    while places := {place.pk: place for place in present(hall_id, pool).exclude(pk__in=excluded)}:
        table = table_of(next(iter(places.values())))
        waiting = _waiting(list(places.values()), table)
        is_gathered = _is_gathered(list(places.values()), table)
        overdue = next((candidate for candidate in waiting if is_gathered or has_waited(places[candidate.key])), None)
        group = find_group(waiting, table.needed) or (overdue and partial_group(waiting, table.needed, overdue))
        if not group:
            return set()
        members = _lock_members([places[candidate.key] for candidate in group])
        if len(members) < len(group):
            excluded |= {candidate.key for candidate in group} - {place.pk for place in members}
        elif len(group) == len(table.seats) or table.lobby["after"] == "agents":
            return _ask(table, members, group)
        elif table.lobby["after"] == "fewer" and (smaller := table.smaller(len(group))) is not None:
            return _ask(smaller, members, group)
        else:
            overdue_place = members[0]
            left_at = min(timezone.now(), times.wait_ends(overdue_place))
            Place.objects.filter(pk=overdue_place.pk).update(left_at=left_at)
            people.end(overdue_place.enrolment, State.NO_PARTNER)
            return {overdue_place.pk}
    return set()


def _is_gathered(places: Sequence[Place], table: Table) -> bool:
    """Return whether everyone who is left of a group that stays together is here, so that nobody else can come."""
    members = table.lobby.get("members")
    if not members:
        return False
    left = Enrolment.objects.filter(pk__in=members, ended_at=None).values_list("pk", flat=True)
    return set(left) <= {place.enrolment_id for place in places}


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
        kept_apart = timedelta(seconds=table.lobby["limit"] * STRANGERS_SHARE)
        still = [place for place in places if not times.is_over(times.ends(place.since, place.since + kept_apart))]
        past_partners = _past_partners_of(still, places)
    return [Waiting(place.pk, place.kind, past_partners.get(place.pk, frozenset())) for place in places]


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


# ---- asking a group, and opening its match ------------------------------------------------------------------


def _ask(table: Table, places: Sequence[Place], group: Sequence[Waiting]) -> set[int]:
    """Seat the group and ask its members whether they are ready; return their places."""
    place_by_key = {place.pk: place for place in places}
    reserved = {place.pk: _preferred_role(table, place) for place in places}
    now, first = timezone.now(), places[0]
    ready_seconds = table.lobby["ready"]
    asked = Group.objects.create(
        hall_id=first.hall_id, pool=first.pool, made_at=now, until=now + timedelta(seconds=ready_seconds)
    )
    for role, key in seats_for(group, table.seats, reserved).items():
        place = place_by_key[key]
        place.group, place.role, place.ready_at = asked, role, None
        place.save(update_fields=["group", "role", "ready_at"])
    if ready_seconds == 0:
        _open_match(table, asked, places)
    return set(place_by_key)


def _preferred_role(table: Table, place: Place) -> Role:
    """Return the seat that the participant last had at such a table, to keep their number; else the step's."""
    role: Role = place.enrolment.steps[place.step + 1]["role"]
    if table.lobby.get("rotates"):
        return role
    own = Place.objects.filter(enrolment=place.enrolment_id, step__lte=place.step).exclude(role="")
    last_role = own.order_by("-step").values_list("role", flat=True).first()
    if last_role is not None and table.seats.get(last_role) == place.kind:
        return last_role
    return role


def _decided_group(hall_id: int, pool: str) -> int | None:
    """Return a group that is no longer waiting: everyone is ready, the time is over, or a member has left."""
    asked = Group.objects.filter(hall=hall_id, pool=pool, match=None).annotate(
        not_ready=Count("places", filter=Q(places__ready_at=None)),
        left=Count("places", filter=Q(places__enrolment__ended_at__isnull=False)),
    )
    decided = asked.filter(Q(not_ready=0) | Q(left__gt=0) | Q(until__lte=timezone.now())).order_by("-left", "pk")
    over = (g.pk for g in decided if g.not_ready == 0 or g.left > 0 or times.is_over(times.asking_ends(g)))
    return next(over, None)


def _settle_asked_group(hall_id: int, pool: str) -> set[int]:
    """Open or dissolve one group that has been asked, if it is time; return the places affected."""
    decided = _decided_group(hall_id, pool)
    if decided is None:
        return set()
    group = Group.objects.get(pk=decided)
    _lock_members(list(group.places.all()))
    places = list(group.places.select_related("enrolment", "group").order_by("queued_at", "pk"))
    ready = [place for place in places if place.ready_at is not None and not place.enrolment.ended]
    table = table_of(places[0])
    absent = [place for place in places if place not in ready]
    is_over = times.is_over(times.asking_ends(group))
    fills_in = table.lobby["after"] == "agents" and len(places) < len(table.seats)
    if len(ready) == len(places):
        _open_match(table.for_people(len(places)), group, places)
    elif is_over and ready and fills_in:
        _send_back(absent, missed=absent)
        _open_match(table, group, ready)
    else:
        _send_back(places, missed=absent if is_over else [])
        group.delete()
    return {place.pk for place in places}


def _send_back(places: Sequence[Place], *, missed: Sequence[Place]) -> None:
    """Return participants to the queue: those in `missed` to its end, and out of the study at the last miss.

    No start is missed by those whose page could not deliver an answer.
    """
    now = timezone.now()
    for place in places:
        is_missing = place in missed and not place.enrolment.ended and _could_answer(place)
        place.group, place.ready_at = None, None
        place.until = max(place.until, now)
        place.setback = Place.Setback.MISSED if is_missing else Place.Setback.OTHERS
        if is_missing:
            place.missed += 1
            place.queued_at = now
        if place.missed >= MOST_MISSED:
            place.left_at = now
        place.save()
        if place.left_at is not None:
            people.end(place.enrolment, State.NO_PARTNER)


def _was_asked(place: Place) -> bool:
    """Return whether the participant's page can have shown that the group is complete."""
    return place.group is not None and place.heard_at is not None and place.heard_at >= place.group.made_at


def _could_answer(place: Place) -> bool:
    """Return whether the participant's page was still heard from when the time to get ready ended."""
    if place.group is None or place.heard_at is None or not _was_asked(place):
        return False
    return place.heard_at >= times.asking_ends(place.group) - times.DELIVERY


def _open_match(table: Table, group: Group, places: Sequence[Place]) -> None:
    """Open the group's match; seats without a participant go to the study's agent and are flagged."""
    seated = {place.role: place for place in places}
    group.number = Group.objects.filter(hall=group.hall_id, pool=group.pool, number__isnull=False).count() + 1
    seed = Random(f"{table.lobby['seed']}/{group.number}").randrange(2**31)
    match_step = table.match
    players = Player.agents(
        parse_agents(match_step["agents"]),
        table.lineup_for(seated),
        seed=seed,
        filling_in=set(table.seats) - set(seated),
    )
    for role, place in seated.items():
        players[role] = Player(enrolment=place.enrolment, step=place.step + 1)
    group.match = open_match(
        game=match_step["game"],
        config=match_step["config"],
        players=players,
        seed=seed,
        purpose=match_step["purpose"],
        texts=match_step.get("texts"),
        timers=match_step.get("timers"),
        budget_of=match_step.get("budget_of", ""),
    )
    group.save()
    for role, place in seated.items():
        _keep_together(group, place, [other.enrolment_id for other in seated.values()])
        _move_to_match(place, role, match_step)
    group_made.send(Group, group=group, seats={role: place.enrolment for role, place in seated.items()})


def _keep_together(group: Group, place: Place, members: Sequence[int]) -> None:
    """If the group stays together, let the participant's later lobbies gather it again, and mark its matches."""
    steps = place.enrolment.steps
    key, is_first = steps[place.step].get("keep"), "members" not in steps[place.step]
    if key is None or not is_first:
        return
    for number, step in enumerate(steps[place.step :], start=place.step):
        if step.get("keep") != key:
            continue
        if step["kind"] == "match":
            step["cluster"] = f"group {group.pk}"
        elif number > place.step:
            own = {"pool": f"{step['pool']}/group {group.pk}", "seed": f"{step['seed']}/group {group.number}"}
            step.update({**own, "members": list(members), "ready": 0})


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
    if "show_if" in own_match_step:
        own_match_step["shown"] = True  # its lobby was
    enrolment.mark_answered(place.step)
    enrolment.position = place.step + 1
    enrolment.state, enrolment.state_shown = State.PLAYING, ""
    enrolment.save(update_fields=["steps", "position", "state", "state_shown", "page_times"])


# ---- waits without a group ----------------------------------------------------------------------------------


def has_waited(place: Place) -> bool:
    """Return whether the participant's waiting time is over."""
    return times.is_over(times.wait_ends(place))


def waited_seconds(enrolment: Enrolment) -> float:
    """Return how many seconds a participant waited without finding a partner."""
    place = last_unsuccessful_place(enrolment)
    return 0.0 if place is None or place.left_at is None else (place.left_at - place.since).total_seconds()


def last_unsuccessful_place(enrolment: Enrolment) -> Place | None:
    """Return the last place in which a participant waited without finding a partner; None if there is none."""
    return Place.objects.filter(enrolment=enrolment, group=None, left_at__isnull=False).order_by("-step").first()


def sweep() -> None:
    """Update every pool where it is time, so that a lost message or crashed process leaves nobody waiting."""
    waiting = Place.objects.filter(WAITING).filter(Q(enrolment__ended_at=None) | Q(group__isnull=False))
    for hall_id, pool in waiting.order_by().values_list("hall", "pool").distinct():
        _update_if_due(hall_id, pool)
