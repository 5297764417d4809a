"""What the benchmark does inside its stacks, by `Stack.call`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from collecting.models import Collection
from collecting.progress import progress
from lobby import services as lobby
from lobby import times
from lobby.models import Place
from lobby.services import table_of
from matches import agents, announce, services
from matches.models import Match, Seat
from opponents.endpoints import MEMORY
from opponents.models import Call, Endpoint
from plans.asking import AgentSettings
from studies.models import Study
from studies.tests import kit


def launch(slug: str, agents: str | dict[str, Any] = "script:fair") -> None:
    """Launch an endless bargaining study: neither the participants nor their opponent ever accept."""
    kit.launched(
        slug,
        title="Benchmark",
        config={"rounds": None, "cap": 100_000},
        roles=["alice"],
        agents=agents,
        purpose=Match.Purpose.DEMO,
        via=Study.Entry.OPEN,
        quota=1_000_000,
        minutes=1_000,
        code_word=None,
    )


def add_endpoint(name: str, url: str, concurrency: int) -> None:
    defaults = {"title": name, "protocol": "openai", "base_url": url, "concurrency": concurrency}
    Endpoint.objects.update_or_create(name=name, defaults=defaults)
    MEMORY.expire()


def lobby_truths(tokens: list[str], seconds: float) -> dict[str, tuple[list[str], str]]:
    """Return what each page in the lobby may truthfully have said within the last seconds, and who is here for it.

    The words are those of `deploy.bench.lobby.Page`'s `sentence` and `counts`; the latter are "" unless the person
    waits for a group.
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


def matches_of(tokens: Sequence[str]) -> dict[str, int]:
    """Return the match of each person who has one, by token."""
    return dict(Seat.objects.filter(enrolment__token__in=tokens).values_list("enrolment__token", "match"))


def collection_status(slug: str) -> dict[str, Any]:
    """Return the progress of a collection, the seconds since its start, and the number of stored calls."""
    collection = Collection.objects.get(slug=slug)
    assert collection.started_at is not None
    seconds = ((collection.ended_at or timezone.now()) - collection.started_at).total_seconds()
    calls = Call.objects.filter(budget_of=collection.budget_of).count()
    return {**progress(collection).as_dict(), "seconds": seconds, "calls": calls}


def long_match(url: str, game: str, periods: int) -> list[float]:
    """Play one match by calling tools at `url`; return the CPU seconds of this process for each period."""
    announce.queue_turn = lambda match, turn: None  # no worker other than this process
    add_endpoint("long", url, 1)
    asking = AgentSettings(strategy="tools", retries=0, limit_seconds=1800)
    players = {"agent": services.Player(agent="long:any", settings=asking)}
    match = services.open_match(game=game, config={"periods": periods}, players=players, seed=1)
    spent = []
    for _period in range(periods):
        match.refresh_from_db()
        started_at = time.process_time()
        agents.answer_turn(match_uid=match.uid, role="agent", answering=match.open_turns()["agent"].answering)
        spent.append(time.process_time() - started_at)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    return spent


def signed_in() -> str:
    """Create a researcher; return their session's cookie as NAME=VALUE."""
    client = Client()
    client.force_login(User.objects.create_superuser("watcher"), backend=settings.AUTHENTICATION_BACKENDS[-1])
    return client.cookies.output(attrs=[], header="").strip()
