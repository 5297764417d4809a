"""Time and memory to write, verify and analyse a dataset of the published size.

Scripts play matches of the published configurations of the three families, with made-up messages where messages
are allowed. The database gets the rows of a collection that was played here. A few thousand matches are played; the
others are copies with their own identifiers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from deploy.bench.kit import Table, Usage, command, stack_on
from games import registry
from games.grids import published
from games.play import configure, script_move, start, submit

if TYPE_CHECKING:
    from collecting.storing import Finished

MATCHES = 80_000
SHARES = {"bargaining": 0.47, "negotiation": 0.434, "persuasion": 0.096}
"""Shares of the families among the matches, which give 7.4 decisions per match, as in the published data."""
MATCHES_PLAYED = 1500
CHUNK = 500
_MESSAGE_WORDS = (
    "I think that this offer is fair for both of us because the money loses worth while we wait and a quick deal is "
    "better than none so please accept what I propose now or tell me which share you would take instead thank you"
).split()


def report(options: argparse.Namespace) -> None:
    """Print a row for each family, and the totals, for each database."""
    for database in options.database:
        with stack_on(database) as (stack, _pids):
            started_at = time.monotonic()
            decisions = stack.call("deploy.bench.datasets.create_collections", matches=options.exported)
            seconds = time.monotonic() - started_at
            print(f"\n{options.exported:,} matches on {database}, made in {seconds:.0f} s")
            steps = [f"{step} in s|CPU s|MB" for step in ("tables", "all", "verified", "analysed")]
            table = Table(f"dataset|decisions|{'|'.join(steps)}")
            rows = []
            for slug, number in decisions.items():
                with tempfile.TemporaryDirectory(prefix="parley-bench-export-") as folder:
                    few, whole, report_folder = (str(Path(folder) / name) for name in ("few", "whole", "report"))
                    row = [
                        command(stack, "export_dataset", slug, "--to", few, "--formats", "csv,parquet"),
                        command(stack, "export_dataset", slug, "--to", whole, "--formats", "csv,parquet,jsonl"),
                        command(stack, "verify_dataset", whole),
                        command(stack, "analyse", few, "--to", report_folder),
                    ]
                rows.append(row)
                table.row(slug, number, *(cell for usage in row for cell in _cells([usage])))
            columns = zip(*rows, strict=True)
            table.row("all", sum(decisions.values()), *(cell for column in columns for cell in _cells(column)))


def _cells(usages: Sequence[Usage]) -> tuple[str, str, str]:
    """Return the sums of seconds and CPU seconds, and the largest memory."""
    resident, unshared = (max(sizes) for sizes in zip(*(usage.memory for usage in usages), strict=True))
    seconds, cpu = sum(usage.seconds for usage in usages), sum(usage.cpu for usage in usages)
    return f"{seconds:.1f}", f"{cpu:.1f}", f"{unshared:.0f} (resident {resident:.0f})"


def create_collections(*, matches: int) -> dict[str, int]:
    """Create a finished collection of each family; return the decisions by slug. Called inside the stack."""
    return {family: _collection(family, round(matches * share)) for family, share in SHARES.items()}


def _collection(family: str, number: int) -> int:
    from collecting.models import Collection
    from collecting.planning import planned
    from collecting.storing import store
    from plans.starting import collection_for

    rng, tables = Random(f"1/{family}"), published(family)
    assert tables is not None
    parameters = tables.TABLES["glee"]
    plays = [
        _played(family, {key: rng.choice(values) for key, values in parameters.items()}, rng)
        for _ in range(min(MATCHES_PLAYED, number))
    ]
    configurations = list({repr(play.config): play.config for play in plays}.values())
    agents = sorted({agent for play in plays for agent in play.agents.values()})
    repetitions = ceil(number / (len(configurations) * len(agents)))  # at least as many as planned
    plan = collection_for(family, title=family, configurations=configurations, agents=agents, repetitions=repetitions)
    collection = planned(plan, slug=family)
    collection.planned, collection.status = number, Collection.Status.DONE
    collection.save()
    chosen = [replace(plays[i % len(plays)], seconds=rng.uniform(20, 300)) for i in range(number)]
    for begin in range(0, number, CHUNK):
        store(collection, chosen[begin : begin + CHUNK], first=begin + 1)
    return sum(play.moves for play in chosen)


def _played(family: str, config: dict[str, Any], rng: Random) -> Finished:
    """Play a match between scripts, with messages where they are allowed."""
    from collecting.storing import Finished

    game = configure(registry.get(family), config)
    scripts = {role: rng.choice(sorted(game.scripts)) for role in game.roles()}
    if family != "persuasion":  # two patient scripts would reject each other for a hundred rounds; models do not
        scripts[rng.choice(game.roles())] = "random"
    play, events = start(game, rng.getrandbits(32))
    log = list(events)
    while not play.over:
        role = play.waiting_for()[0]
        move = script_move(play, role, scripts[role])
        if "message" in move or ("decision" not in move and getattr(game.config, "messages_allowed", False)):
            move = {**move, "message": " ".join(rng.choices(_MESSAGE_WORDS, k=rng.randint(8, 60)))}
        play, events = submit(play, role, move)
        log += events
    return Finished.of(play, {role: f"script:{script}" for role, script in scripts.items()}, log)
