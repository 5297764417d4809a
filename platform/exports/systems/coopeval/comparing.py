"""CoopEval's printed tables, and the results that its authors publish beside their records, next to ours."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import SkippedError
from analysis.published.coopeval import printed
from analysis.published.coopeval.payoffs import AVERAGE, MEASURES, rank_best_first
from analysis.published.coopeval.play import CRITERIA
from analysis.published.coopeval.tournaments import (
    REFERENCES,
    Tournament,
    mean_and_se,
    over_means,
    readable_name,
    tournaments,
)
from analysis.toolbox import deviation_ratings, replicator
from exports.errors import ExportError
from exports.published import Analysed, Comparison
from exports.systems.coopeval.reading import GAME, GAMES, Experiment, experiments

AGENTS = (AVERAGE, *printed.MODELS)
TITLES: Mapping[str, str] = {AVERAGE: "LLM average", **printed.MODELS}
RATINGS = (
    "the published ratings fix whatever is tight in one solution of the solver; ours are the lexicographic minimum"
)
STOPPING = "the published dynamics stop when all agents earn alike, ours when those with a share above 1e-6 do"
AGGREGATE, DESIGNS, RANKING = "Results over all games", "Quality of designs", "Order of mechanisms"
RANKS = "Ranks by the published ratings"
PER_GAME, REASONS = "Results of each game", "Shares of reasons"
PER_GAME_FILE, REASONS_FOLDER = "table_all_games.tex", "outputs/judge/*/dataset"
Runs = Mapping[tuple[str, str], Sequence[Tournament]]
"""Tournaments by mechanism and base game, in the order of their runs."""


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the printed values, and those in the published files, beside ours."""
    if (data := analysed.data(GAME)) is None:
        return
    yield from _aggregate(analysed)
    yield from _designs(analysed)
    yield from _ranking(analysed)
    runs: dict[tuple[str, str], list[Tournament]] = {}
    try:
        found = tournaments(data)
    except SkippedError as error:
        raise ExportError(str(error)) from None
    for run in found:
        runs.setdefault((run.mechanism, run.game), []).append(run)
    yield from _published_ranks(root)
    for path in _above(root, f"**/{PER_GAME_FILE}"):
        yield from _per_game(path, runs)
    yield from _files(root, runs)
    for folder in _above(root, REASONS_FOLDER):
        yield from _reasons(folder)


def _above(root: Path, pattern: str) -> Iterator[Path]:
    """Yield the paths of a pattern in the nearest folder that has any: the root, or one of the two above it."""
    for folder in (root, *list(root.resolve().parents)[:2]):
        if paths := sorted(folder.glob(pattern)):
            yield from paths
            return


# ---- the paper's tables ----------------------------------------------------------------------------------


def _pair(
    table: str, what: str, decimals: int, of_paper: tuple[float, float], here: Callable[[str], float | None], cause: str
) -> Iterator[Comparison]:
    for key, suffix, value in (("estimate", "", of_paper[0]), ("se", ", SE", of_paper[1])):
        yield Comparison(table, what + suffix, value, here(key), decimals, cause)


def _aggregate(analysed: Analysed) -> Iterator[Comparison]:
    for (mechanism, measure), row in printed.AGGREGATE.items():
        name = readable_name(mechanism)
        for agent, values in zip(AGENTS, printed.values(row), strict=True):
            if measure in MEASURES:
                here = partial(analysed.number, "coopeval.payoffs", GAME, f"{mechanism}.{agent}.{measure}")
                yield from _pair(AGGREGATE, f"{name}, {measure}, {TITLES[agent]}", 3, values, here, "")
            elif agent != AVERAGE:
                here = partial(analysed.number, "coopeval.deviation", GAME, f"{name}.{agent}")
                yield from _pair(AGGREGATE, f"{name}, {measure}, {TITLES[agent]}", 1, values, here, RATINGS)


def _published_ranks(root: Path) -> Iterator[Comparison]:
    """Yield the printed ranks beside those by the authors' own ratings: these differ from ours, not the ranking."""
    ranks = pd.DataFrame(
        [
            (experiment.mechanism, str(experiment.config["base_game"]), agent, rank)
            for experiment in experiments(root)
            if isinstance(experiment, Experiment) and (path := experiment.folder / "deviation_ratings.json").is_file()
            for ratings in [json.loads(path.read_text("utf-8"))]
            for agent, rank in zip(ratings, rank_best_first([*ratings.values()]), strict=True)
        ],
        columns=["mechanism", "game", "agent", "rank"],
    )
    ranks = ranks[ranks["game"].isin(REFERENCES)]
    for (mechanism, measure), row in printed.AGGREGATE.items():
        for agent, values in zip(AGENTS, printed.values(row), strict=True):
            rows = ranks[(ranks["mechanism"] == mechanism) & (ranks["agent"] == agent)]
            if measure == "rank" and len(rows):
                what = f"{readable_name(mechanism)}, {TITLES[agent]}"
                yield from _pair(RANKS, what, 1, values, over_means(rows, "rank", "game").get, "")


def _designs(analysed: Analysed) -> Iterator[Comparison]:
    for (mechanism, criterion), row in printed.DESIGNS.items():
        name = readable_name(mechanism)
        for (agent, title), values in zip(printed.MODELS.items(), printed.values(row), strict=True):
            here = partial(_percent, analysed, f"{name}.{agent}.{CRITERIA[criterion]}")
            yield from _pair(DESIGNS, f"{name}, {criterion.upper()}, {title}", 1, values, here, "")


def _percent(analysed: Analysed, name: str, key: str) -> float | None:
    value = analysed.number("coopeval.designs", GAME, name, key)
    return None if value is None else 100 * value


def _ranking(analysed: Analysed) -> Iterator[Comparison]:
    ranks = {row["mechanism"]: int(row["rank"]) for row in analysed.rows("coopeval.ranking", GAME, "mechanisms")}
    for mechanism, rank in printed.RANKS.items():
        yield Comparison(RANKING, readable_name(mechanism), rank, ranks.get(readable_name(mechanism)))


# ---- the tables of each game -----------------------------------------------------------------------------

_ROWS: Mapping[str, str] = {
    "NoMechanism": "none", "Repetition": "repetition", "Reputation-": "reputation_first_order",
    "Reputation+": "reputation_higher_order", "Mediation": "mediation", "Contracting": "contract",
}  # fmt: skip
_MEASURES: Mapping[str, str] = {"Mean": "mean", "Fitness": "fitness", "DR": "rank"}
_LAYOUT = re.compile(
    r"\\cellcolor\[HTML\]\{\w*\}|\\(?:text)?color\{[^}]*\}|\\scriptsize|\\textbf|\\multirow\{\d\}\{\*\}"
)
_GAME, _NUMBER = re.compile(r"\\caption\{Results for (\w+)\}"), re.compile(r"-?\d+\.\d+")


def _per_game(path: Path, runs: Runs) -> Iterator[Comparison]:
    """Yield the printed values of each game, in points, from the authors' table in LaTeX."""
    game = mechanism = ""
    for line in path.read_text("utf-8").splitlines():
        if caption := _GAME.search(line):
            game = GAMES.get(caption[1], "")
        cells = [cell.strip(" {}\\") for cell in _LAYOUT.sub("", line).split("&")]
        mechanism = _ROWS.get(cells[0], mechanism)
        if len(cells) != len(AGENTS) + 2 or cells[1] not in _MEASURES:
            continue
        measure = _MEASURES[cells[1]]
        found = of_runs(runs.get((mechanism, game), ()), measure)
        for agent, cell in zip(AGENTS, cells[2:], strict=True):
            if measure == "rank" and agent == AVERAGE:
                continue
            mean, se = (float(text) for text in _NUMBER.findall(cell))
            what = f"{readable_name(game)}, {readable_name(mechanism)}, {measure}, {TITLES[agent]}"
            decimals, cause = (1, RATINGS) if measure == "rank" else (3, "")
            yield from _pair(PER_GAME, what, decimals, (mean, se), found.get(agent, {}).get, cause)


def of_runs(runs: Sequence[Tournament], measure: str) -> dict[str, dict[str, Any]]:
    """Return the mean and standard error over runs of each agent's points or rank, and of all agents'."""
    values: dict[str, list[float]] = {}
    for run in runs:
        for agent, value in _of_run(run, measure).items():
            values.setdefault(agent, []).append(value)
    return {agent: mean_and_se(of_agent) for agent, of_agent in values.items()}


def _of_run(run: Tournament, measure: str) -> dict[str, float]:
    if measure == "mean":
        means = run.means()
        return {**means, AVERAGE: sum(means.values()) / len(means)}
    if (U := run.tensor()) is None:
        return {}
    if measure == "rank":
        return dict(zip(run.types, rank_best_first(deviation_ratings(U)), strict=True))
    end = replicator(U)
    return {**dict(zip(run.types, end["fitness"], strict=True)), AVERAGE: end["average"]}


# ---- the files of each tournament ------------------------------------------------------------------------


FILES = (
    ("agent_average_payoff", "", None), ("replicator_dynamics_fitness", STOPPING, 5), ("deviation_ratings", RATINGS, 6),
)  # fmt: skip
"""Name, cause of differences, and decimals up to which the values should agree."""


def _files(root: Path, runs: Runs) -> Iterator[Comparison]:
    """Yield what the files of each tournament say of its agents."""
    for experiment in experiments(root):
        if not isinstance(experiment, Experiment):
            continue
        key = (experiment.mechanism, str(experiment.config["base_game"]))
        run = next((run for run in runs.get(key, ()) if run.run == experiment.repetition), None)
        U = run.tensor() if run else None
        end = replicator(U) if U is not None else {}
        ours: dict[str, Sequence[float]] = {}
        if run is not None and U is not None:
            ours = {"fitness": end["fitness"], "final_population": end["population"], "rating": deviation_ratings(U)}
        for name, cause, decimals in FILES:
            path = experiment.folder / f"{name}.json"
            for agent, value in (json.loads(path.read_text("utf-8")) if path.is_file() else {}).items():
                parts = value if isinstance(value, dict) else {"rating" if cause == RATINGS else "mean": value}
                for part, number in parts.items():
                    here = None
                    if run is not None and agent in run.types:
                        here = run.means()[agent] if part == "mean" else ours[part][run.types.index(agent)]
                    what = f"{experiment.name}, {TITLES.get(agent, agent)}, {part.replace('_', ' ')}"
                    yield Comparison(path.name, what, number, here, decimals, cause)


# ---- reasons ---------------------------------------------------------------------------------------------

LABELS: Mapping[str, str] = {
    "Individual utility maximization": "individual_utility", "Strategic equilibrium focus": "equilibrium",
    "Strategic influence": "strategic_influence", "Uncertainty evaluation": "uncertainty",
}  # fmt: skip


def _reasons(folder: Path) -> Iterator[Comparison]:
    """Yield the printed shares of labels beside those of the authors' counts by game, mechanism and player."""
    counts: Counter[str] = Counter()
    of: dict[tuple[str, ...], int] = {}
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened):
                if "count" in row:
                    counts[row["label"]] += int(row["count"])
                else:
                    of[row["game"], row["mechanism"], row["player"]] = int(row["group_count"])
    total = sum(of.values())
    yield Comparison(REASONS, "reasonings", 38_350, total)
    for label, key in LABELS.items():
        yield Comparison(REASONS, label, printed.REASONS[key], counts[label] / total if total else None, 3)
