"""The studies that the benchmark's participants play; run inside the stack by `Stack.call`."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Sum
from django.utils import timezone

from lobby import services as lobby
from lobby import times
from lobby.models import Place
from lobby.services import table_of
from matches.models import Match, Seat
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from participants import services as people
from recruiters.arrivals import Arrival
from studies.enrolling import enrol
from studies.models import Study
from studies.tests import kit

HUNG = "hung"


def launch(slug: str) -> None:
    """Launch an endless bargaining study: neither the participants nor their opponent ever accept."""
    _launch(slug, agents="script:fair")


def launch_hung(slug: str, url: str) -> None:
    """Launch the same study against a model at `url`; people wait for it as long as the benchmark lasts."""
    Endpoint.objects.create(name=HUNG, title="Hung", protocol="openai", base_url=url, concurrency=1_000)
    MEMORY.expire()
    _launch(slug, agents={HUNG: kit.agent(f"{HUNG}:any", call_seconds=600.0, limit_seconds=600.0, cap_study=1_000.0)})


def _launch(slug: str, **parts: object) -> None:
    kit.launched(
        slug,
        title="Benchmark",
        config={"rounds": None, "cap": 100_000},
        roles=["alice"],
        purpose=Match.Purpose.DEMO,
        via=Study.Entry.OPEN,
        quota=1_000_000,
        minutes=1_000,
        code_word=None,
        **parts,
    )


def people_before_lobby(slug: str, people: int, group_size: int) -> list[tuple[str, int]]:
    """Launch a study of groups with people on the page before its lobby; return their pages' paths and positions."""
    _contest(slug, players=group_size, runs=1, ready_seconds=20)
    return [_walk(slug, until="instructions") for _person in range(people)]


def lobby_truths(tokens: list[str], seconds: float) -> dict[str, tuple[list[str], str]]:
    """Return what each page in the lobby may truthfully have said within the last seconds, and who is here for it.

    The words are those of `lobby.Page.sentence` and `counts`; the latter are "" unless the person waits for a group.
    """
    places = Place.objects.filter(enrolment__token__in=tokens).select_related("enrolment", "group__match")
    since = timezone.now() - timedelta(seconds=seconds)
    prospects: dict[tuple[int, str], dict[int, tuple[int, int]]] = {}
    truths = {}
    for place in places:
        group, sentences, counts = place.group, ["lost, may be over"], ""
        if place.enrolment.ended or (group is not None and group.match is not None):
            sentences.append("begun")
        if group is None or group.made_at > since:
            sentences.append("waiting")
        if times.seconds_until(times.kept_until(place)) > 0 or group is not None:
            sentences.append("lost, kept")
        if group is not None and (group.match is None or group.match.started_at > since):
            seat = table_of(place).for_people(group.places.count()).game.role_title(place.role)
            if place.ready_at is None or place.ready_at > since:
                sentences.append(f"ready as {seat}, not pressed")
            if place.ready_at is not None:
                sentences.append(f"ready as {seat}, pressed")
        if group is None and not place.enrolment.ended:
            pool = (place.hall_id, place.pool)
            if pool not in prospects:
                prospects[pool] = lobby.pool_prospects(*pool)
            if place.pk in prospects[pool]:
                counts = "{} here, {} missing".format(*prospects[pool][place.pk])
        truths[place.enrolment.token] = (sentences, counts)
    return truths


def lobby_outcome(slug: str) -> dict[str, int]:
    """Return how many people were not seated in the end, and how often someone was sent back to the queue."""
    places = Place.objects.filter(enrolment__placement__cell__version__study__slug=slug)
    missed = places.aggregate(missed=Sum("missed"))["missed"] or 0
    return {"not seated": places.filter(group__match=None).count(), "missed": missed}


def seated_group(slug: str, people: int, runs: int) -> list[str]:
    """Seat one group at its first question; return the paths of their pages."""
    _contest(slug, players=people, runs=runs)
    return [_walk(slug, until="match")[0] for _person in range(people)]


def groups_of(paths: list[str]) -> dict[str, int]:
    """Return the match of each page whose person has one."""
    seats = Seat.objects.filter(enrolment__token__in=[path.split("/")[2] for path in paths])
    matches = dict(seats.values_list("enrolment__token", "match"))
    return {path: matches[path.split("/")[2]] for path in paths if path.split("/")[2] in matches}


def _contest(slug: str, *, players: int, runs: int, ready_seconds: int = 0) -> None:
    kit.launched(
        slug,
        title="Together",
        game="beauty_contest",
        config={"players": players, "runs": runs},
        seats={"*": "person"},
        agents={},
        purpose=Match.Purpose.DEMO,
        via=Study.Entry.OPEN,
        quota=1_000,
        code_word=None,
        ready=ready_seconds,
    )


def _walk(slug: str, *, until: str) -> tuple[str, int]:
    enrolment = enrol(Study.objects.get(slug=slug), Arrival("open", worker="", proof=""))
    while enrolment.step is not None and enrolment.step["kind"] not in (until, "lobby", "match"):
        answers = {"agree": "yes", "name": "Worker"}
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=answers)
        enrolment.refresh_from_db()
    return enrolment.get_absolute_url(), enrolment.position
