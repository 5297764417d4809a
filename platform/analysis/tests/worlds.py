"""Realistic datasets: people and scripts play through the services, and the exporter writes the files.

They need the platform and a database, so nothing here is imported before Django is set up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any


def export_game(
    key: str, folder: Path, *, matches: int = 4, configs: Sequence[Mapping[str, Any]] = ({},), seed: int = 1
) -> Path:
    """Write a collection of matches between two of its scripts in every order, cycling configurations."""
    from django.utils import timezone

    from collecting.models import Collection, Item
    from collecting.planning import planned
    from exports.dataset import export
    from games import registry
    from games.play import configure, script_move, snapshot, start, submit
    from matches.bulk import write_logs
    from matches.models import Match, Seat
    from plans.starting import collection_for

    rng, kind, now = Random(f"{key}/{seed}"), registry.get(key), timezone.now()
    scripts = sorted(kind.scripts)[:2]
    plan = collection_for(key, title=key, configurations=list(configs), repetitions=matches,
                          agents=[f"script:{script}" for script in scripts])  # fmt: skip
    collection = planned(plan, slug=key.replace("_", "-"))
    collection.planned = collection.begun = matches
    collection.status = Collection.Status.DONE
    collection.save()
    for number in range(1, matches + 1):
        game = configure(kind, configs[number % len(configs)])
        playing = {role: scripts[(number >> index) % 2 % len(scripts)] for index, role in enumerate(game.roles())}
        match_seed = rng.getrandbits(32)
        play, events = start(game, match_seed)
        log = list(events)
        while not play.over:
            role = play.waiting_for()[0]
            play, events = submit(play, role, script_move(play, role, playing[role]))
            log += events
        match = Match.objects.create(
            game=key, config=game.config.model_dump(mode="json"), rules_version=game.rules_version,
            seed=match_seed, purpose=Match.Purpose.COLLECTION, status=Match.Status.FINISHED,
            ending="finished", payoffs=play.payoffs(), metrics=play.metrics(), started_at=now - timedelta(seconds=30),
            ended_at=now, snapshot=snapshot(play),
        )  # fmt: skip
        Seat.objects.bulk_create(Seat(match=match, role=r, agent=f"script:{s}") for r, s in playing.items())
        write_logs([(match.pk, log)], at=now)
        Item.objects.create(collection=collection, number=number, status=Item.Status.FINISHED, match=match,
                            decisions=sum(event.kind == "move" for event in log), ended_at=now)  # fmt: skip
    export(collection, folder, ("csv", "parquet"), processes=1)
    return folder


def export_people(folder: Path, *, people: int = 11) -> Path:
    """Write a study in which the first people of a sample bargained; their matches also have model calls."""
    from exports.dataset import export
    from exports.tests import building
    from matches.models import Match
    from showcase.samples import bargaining, making
    from studies.models import Study

    rng = Random(1)
    for _part in making.bargaining_study(people):
        pass
    study = Study.objects.get(slug=bargaining.SLUG)
    for match in Match.objects.filter(seats__enrolment__placement__cell__version__study=study).order_by("pk"):
        building.save_call(match, answer="-2", input_tokens=12, output_tokens=3, latency=rng.uniform(0.2, 2))
    export(study, folder, ("csv", "parquet"), processes=1)
    return folder
