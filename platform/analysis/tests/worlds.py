"""Realistic datasets: people and scripts play through the services, and the exporter writes the files.

They need the platform and a database, so nothing here is imported before Django is set up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any


def export_game(
    key: str, folder: Path, *, matches: int = 4, configs: Sequence[Mapping[str, Any]] = ({},), seed: int = 1
) -> Path:
    """Write a collection of matches between two of its scripts in every order, cycling configurations."""
    from collecting.models import Collection
    from collecting.planning import planned
    from collecting.storing import Finished, store
    from exports.dataset import export
    from games import registry
    from games.play import configure
    from llm_agents.agent import parse_spec
    from llm_agents.match import play_match
    from plans.starting import collection_for

    rng, kind = Random(f"{key}/{seed}"), registry.get(key)
    scripts = [f"script:{script}" for script in sorted(kind.scripts)[:2]]
    plan = collection_for(key, title=key, configurations=list(configs), repetitions=matches, agents=scripts)
    collection = planned(plan, slug=key.replace("_", "-"))
    collection.planned = collection.begun = matches
    collection.status = Collection.Status.DONE
    collection.save()
    finished = []
    for number in range(1, matches + 1):
        game = configure(kind, configs[number % len(configs)])
        agents = {role: scripts[(number >> index) % 2 % len(scripts)] for index, role in enumerate(game.roles())}
        match = play_match(game, rng.getrandbits(32), {role: parse_spec(agent) for role, agent in agents.items()})
        finished.append(Finished.of(match.play, agents, match.events, seconds=30))
    store(collection, finished, first=1)
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
