"""Time and memory to write, verify and analyse a dataset of the published size.

Scripts play matches of the published configurations of the three families, with made-up messages where messages
are allowed. The database gets the rows of a collection that was played here. A few thousand matches are played; the
others are copies with their own identifiers.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import psutil

from config.supervisor import ROOT, Stack

TABLE_FORMATS, ALL_FORMATS = "csv,parquet", "csv,parquet,jsonl"
READING_SECONDS = 0.5
"""Seconds between two memory readings; each costs milliseconds per process."""
MATCHES = 80_000
SHARES = {"bargaining": 0.47, "negotiation": 0.434, "persuasion": 0.096}
"""Shares of the families among the matches, which give 7.4 decisions per match, as in the published data."""
MATCHES_PLAYED = 1500
CHUNK = 500
_MESSAGE_WORDS = (
    "I think that this offer is fair for both of us because the money loses worth while we wait and a quick deal is "
    "better than none so please accept what I propose now or tell me which share you would take instead thank you"
).split()


@dataclass(frozen=True)
class Usage:
    """A command's duration in seconds, and the peak memory of all its processes together in MB.

    Attributes:
        cpu: seconds of CPU time of all its processes together, without the database.
        resident: the sum of their resident memory.
        unshared: the same, counting shared pages once.
    """

    seconds: float
    cpu: float
    resident: float
    unshared: float


def create_collections(name: str, *, matches: int, seed: int = 1) -> dict[str, int]:
    """Create the collections NAME-FAMILY with finished matches; called inside the stack.

    Returns: the number of decisions by collection.
    """
    decisions_by_slug = {}
    for family, share in SHARES.items():
        decisions_by_slug[f"{name}-{family}"] = _collection(
            f"{name}-{family}", family, round(matches * share), seed=seed
        )
    return decisions_by_slug


def _collection(slug: str, family: str, number: int, *, seed: int) -> int:
    from django.db import transaction
    from django.utils import timezone

    from collecting.models import Collection, Item
    from collecting.planning import planned
    from games.grids import published
    from matches.bulk import write_logs
    from matches.models import Match, Seat
    from plans.starting import collection_for

    rng = Random(f"{seed}/{family}")
    table = published(family).TABLES["glee"]
    plays = [
        _played_match(family, {key: rng.choice(values) for key, values in table.items()}, rng)
        for _ in range(MATCHES_PLAYED)
    ]
    configurations = list({repr(config): config for config, *_rest in plays}.values())
    agents = sorted({agent for _config, _seed, players, *_rest in plays for agent in players.values()})
    repetitions = ceil(number / (len(configurations) * len(agents)))  # at least as many as planned
    plan = collection_for(family, title=slug, configurations=configurations, agents=agents, repetitions=repetitions)
    collection = planned(plan, slug=slug)
    collection.planned, collection.status = number, Collection.Status.DONE
    collection.save()
    now = timezone.now()
    decisions = 0
    for start in range(0, number, CHUNK):
        chosen = [plays[i % MATCHES_PLAYED] for i in range(start, min(start + CHUNK, number))]
        with transaction.atomic():
            matches = Match.objects.bulk_create(
                Match(
                    game=family,
                    config=config,
                    rules_version=version,
                    seed=seed,
                    purpose=Match.Purpose.COLLECTION,
                    status=Match.Status.FINISHED,
                    ending="finished",
                    payoffs=payoffs,
                    metrics=metrics,
                    started_at=now - timedelta(seconds=rng.uniform(20, 300)),
                    ended_at=now,
                )
                for config, seed, _players, _log, payoffs, metrics, version in chosen
            )
            Seat.objects.bulk_create(
                Seat(match=match, role=role, agent=agent)
                for match, play in zip(matches, chosen, strict=True)
                for role, agent in play[2].items()
            )
            write_logs(((match.pk, play[3]) for match, play in zip(matches, chosen, strict=True)), at=now)
            move_counts = [sum(event.kind == "move" for event in play[3]) for play in chosen]
            Item.objects.bulk_create(
                Item(
                    collection=collection,
                    number=start + i,
                    status=Item.Status.FINISHED,
                    match=match,
                    decisions=moves_made,
                    ended_at=now,
                )
                for i, (match, moves_made) in enumerate(zip(matches, move_counts, strict=True), start=1)
            )
            decisions += sum(move_counts)
    return decisions


def _played_match(family: str, config: dict[str, Any], rng: Random) -> tuple[Any, ...]:
    """Return the configuration, seed, players, log, payoffs, metrics and rules version of a match between scripts."""
    from games import registry
    from games.play import configure, script_move, start, submit

    game = configure(registry.get(family), config)
    scripts = {role: rng.choice(sorted(game.scripts)) for role in game.roles()}
    if family != "persuasion":  # two patient scripts would reject each other for a hundred rounds; models do not
        scripts[rng.choice(game.roles())] = "random"
    seed, config_data = rng.getrandbits(32), game.config.model_dump(mode="json")
    play, events = start(game, seed)
    log = list(events)
    while not play.over:
        role = play.waiting_for()[0]
        move = script_move(play, role, scripts[role])
        if "message" in move or ("decision" not in move and config_data.get("messages_allowed")):
            move = {**move, "message": " ".join(rng.choices(_MESSAGE_WORDS, k=rng.randint(8, 60)))}
        play, events = submit(play, role, move)
        log += events
    players = {role: f"script:{script}" for role, script in scripts.items()}
    return config_data, seed, players, log, play.payoffs(), play.metrics(), game.rules_version


# ---- measuring ---------------------------------------------------------------------------------------


def measured(stack: Stack, *arguments: str) -> Usage:
    """Run a management command and measure it with its children.

    Raises:
        RuntimeError: the command failed.
    """
    started_at, cpu_before = time.monotonic(), _children_cpu()
    with tempfile.TemporaryFile("w+") as problems:
        child = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=stack.environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=problems,
        )
        root = psutil.Process(child.pid)
        resident = unshared = 0.0
        try:
            while child.poll() is None:
                sizes = list(_memory_sizes(root))
                resident = max(resident, sum(size[0] for size in sizes))
                unshared = max(unshared, sum(size[1] for size in sizes))
                time.sleep(READING_SECONDS)
        finally:
            child.terminate()
        if child.returncode:
            problems.seek(0)
            raise RuntimeError(f"manage.py {' '.join(arguments)} failed: {problems.read()[-2000:]}")
    return Usage(time.monotonic() - started_at, _children_cpu() - cpu_before, resident / 1e6, unshared / 1e6)


def _children_cpu() -> float:
    """Return the CPU seconds of all ended children and their descendants."""
    resources_used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return resources_used.ru_utime + resources_used.ru_stime


def _memory_sizes(root: psutil.Process) -> Iterator[tuple[int, int]]:
    """Yield (resident bytes, bytes with shared pages counted once) of a process and its descendants."""
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in processes:
        try:
            memory = process.memory_full_info()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        yield memory.rss, memory.pss


def report(stack: Stack, *, matches: int = MATCHES) -> None:
    """Print a row for each family, and the totals."""
    started_at = time.monotonic()
    decisions_by_slug = stack.call("deploy.bench.datasets.create_collections", "published", matches=matches)
    print(
        f"{matches:,} matches with {sum(decisions_by_slug.values()):,} decisions, "
        f"made in {time.monotonic() - started_at:.0f} s"
    )
    steps = [f"{step} in s | CPU s | MB" for step in ("tables", "all", "verified", "analysed")]
    print(f"| dataset | decisions | {' | '.join(steps)} |")
    print("|" + "---|" * 14, flush=True)
    rows = []
    for slug, decisions in decisions_by_slug.items():
        with tempfile.TemporaryDirectory(prefix="parley-bench-export-") as folder:
            tables_folder, full_folder = str(Path(folder) / "few"), str(Path(folder) / "whole")
            row = [
                measured(stack, "export_dataset", slug, "--to", tables_folder, "--formats", TABLE_FORMATS),
                measured(stack, "export_dataset", slug, "--to", full_folder, "--formats", ALL_FORMATS),
                measured(stack, "verify_dataset", full_folder),
                measured(stack, "analyse", tables_folder, "--to", str(Path(folder) / "report")),
            ]
        rows.append(row)
        print(f"| {slug} | {decisions:,} | {' | '.join(_row([usage]) for usage in row)} |", flush=True)
    totals = " | ".join(_row(list(column)) for column in zip(*rows, strict=True))
    print(f"| all | {sum(decisions_by_slug.values()):,} | {totals} |", flush=True)


def _row(usages: list[Usage]) -> str:
    seconds, cpu = sum(usage.seconds for usage in usages), sum(usage.cpu for usage in usages)
    unshared, resident = max(usage.unshared for usage in usages), max(usage.resident for usage in usages)
    return f"{seconds:.1f} | {cpu:.1f} | {unshared:.0f} (resident {resident:.0f})"
