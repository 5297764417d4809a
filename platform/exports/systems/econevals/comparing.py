"""EconEvals' program and paper next to ours: parameters, expected blocking pairs, tables 1 to 4."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from analysis.published.econevals import printed
from analysis.published.econevals.frames import frame
from analysis.tables import records
from exports.published import FAULTY, Analysed, Comparison
from exports.systems.econevals import instances
from games import registry
from games.duopoly.published import CURRENCIES
from games.play import configure
from games.pricing.market import LEVELS as PRICING
from games.pricing.market import P_GROUP
from games.procurement.instances import LEVELS as PROCUREMENT
from games.scheduling.instances import LEVELS as SCHEDULING
from games.scheduling.instances import Instance

BASELINES, DRAWS = "*scheduling_baseline_data.txt", 10_000
"""The program's file of sampled expectations, and its number of samples of each."""
EXACT = "an interval of 95 % misses one value in twenty"
UNPUBLISHED = "the paper's runs are not published"
DIVISOR = "ours divides by the exact expectation, the paper by a sampled one"
SIZES = {"num_alternatives_per_input": 0, "num_inputs": 1, "NUM_ITEMS_PER_ENTRY_P": 2, "QUANTITY_PER_ITEM_P": 3,
         "MAX_EFFECTIVENESS": 4}  # fmt: skip
"""The place of the program's parameters of procurement in our levels."""


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the values of the program and of the paper beside ours."""
    yield from _parameters(root)
    for path in sorted(root.rglob(BASELINES)):
        yield from _expected(ast.literal_eval(path.read_text("utf-8")))
    for (game, level), scores in printed.SCORES.items():
        yield from _scores(analysed, game, level, scores)
    for game, pairs in printed.LITMUS.items():
        cause = _cause(analysed, game)
        rows = {printed.name_of(row["agent"]): row for row in analysed.rows("econevals.litmus", game, "litmus")}
        for model, pair in zip(printed.MODELS, pairs, strict=True):
            row: Mapping[str, Any] = rows.get(model, {})
            for key, value, decimals in zip(
                ("estimate", "reliability"), pair, (3 if game == "patience" else 2, 2), strict=True
            ):
                what = f"{registry.get(game).title}, {model}, {'reliability' if key == 'reliability' else 'score'}"
                yield Comparison("Table 2: litmus scores", what, value, row.get(key), decimals, cause)
    yield from _rates(analysed)
    yield from _told(analysed)


def _rates(analysed: Analysed) -> Iterator[Comparison]:
    """Yield table 3; the paper compounds annually (docs/econevals.md)."""
    data, cause = analysed.data("patience"), _cause(analysed, "patience")
    columns = ["config_horizon", "rate_annual", "reliability"]
    rows = [] if data is None else records(frame(data, "patience", columns))
    found = {(row["config_horizon"], printed.name_of(row["agent"])): row for row in rows}
    for horizon, pairs in printed.RATES.items():
        for model, pair in zip(printed.MODELS, pairs, strict=True):
            row: Mapping[str, Any] = found.get((horizon, model), {})
            for key, value, decimals in zip(columns[1:], pair, (2, 3), strict=True):
                what = f"{horizon}, {model}, {key.replace('_annual', '')}"
                yield Comparison("Table 3: interest rates", what, value, row.get(key), decimals, cause)


def _told(analysed: Analysed) -> Iterator[Comparison]:
    """Yield table 4: Gemini in procurement, by what it was told."""
    data, cause = analysed.data("procurement"), _cause(analysed, "procurement")
    columns = ["config_told", "score", "exploration_rate"]
    rows = [] if data is None else records(frame(data, "procurement", columns))
    for told, of_told in printed.TOLD.items():
        for key, values, unit, decimals in zip(columns[1:], of_told, (100, 1), (1, 2), strict=True):
            for level, value in zip(printed.LEVELS, values, strict=True):
                means = [unit * row[key] for row in rows if printed.name_of(row["agent"]) == "Gemini 1.5 Pro"
                         and (row["config_told"], row["config_level"]) == (told, level)]  # fmt: skip
                what = f"{told.replace('_', ' and ')}, {level}, {key.replace('_', ' ')}"
                here = fmean(means) if means else None
                yield Comparison("Table 4: what Gemini was told", what, value, here, decimals, cause)


def _cause(analysed: Analysed, game: str) -> str:
    data = analysed.data(game)
    return UNPUBLISHED if data is None else f"{UNPUBLISHED}; the folder has {len(data.table('matches', ['match'])):,}"


def _scores(analysed: Analysed, game: str, level: str, scores: Any) -> Iterator[Comparison]:
    rows, cause = analysed.rows("econevals.scores", game, "scores"), _cause(analysed, game)
    of_score = f"{cause}; {DIVISOR}" if game == "scheduling" and rows else cause
    of_level = [row for row in rows if str(row["level"]) in (level, f"{level}, not told the horizon")]
    found = {printed.name_of(row["agent"]): row for row in of_level}
    for model, score, solved in zip(
        printed.MODELS, scores, printed.SOLVED.get((game, level), (None,) * 3), strict=True
    ):
        row: Mapping[str, Any] = found.get(model, {})
        what = f"{registry.get(game).title}, {level}, {model}"
        yield Comparison("Table 1: scores", what, score, row.get("estimate"), 1, of_score)
        if solved is not None:
            yield Comparison("Table 1: solved instances", what, solved, row.get("solved"), 0, cause)


# ---- the program -----------------------------------------------------------------------------------------


def _parameters(root: Path) -> Iterator[Comparison]:
    """Yield the parameters that the program's scripts for its experiments set; their source is parsed and not run."""
    ours = _our_parameters()
    for path in sorted(root.rglob("run_*_batch.py")):
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, *FAULTY):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            try:
                value = ast.literal_eval(node.value)
            except FAULTY:
                continue
            for name, part in _parts(node.targets[0].id, value):
                if (here := ours.get((path.stem, name))) is not None:
                    yield Comparison("Parameters of the program", f"{path.stem}: {name}", part, here)


def _parts(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield every number of a parameter, with its place in the name."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    for key, entry in [(None, value)] if entries is None else entries:
        if isinstance(entry, int | float):
            yield name if key is None else f"{name}, {key}", entry


def _our_parameters() -> dict[tuple[str, str], float]:
    defaults = {game: configure(registry.get(game), {}).config.model_dump()
                for game in ("procurement", "scheduling", "pricing", "task_allocation", "duopoly")}  # fmt: skip
    product = {"id": "1", "quality": 2, "cost": 1, "alpha": {"start": 1}}
    market = configure(registry.get("pricing"), {"instance": {"products": [product]}}).config.instance  # type: ignore[attr-defined]
    found: dict[tuple[str, str], float] = {
        ("run_scheduling_batch", "num_attempts"): defaults["scheduling"]["periods"],
        ("run_procurement_batch", "num_attempts"): defaults["procurement"]["periods"],
        ("run_pricing_batch", "num_periods"): defaults["pricing"]["periods"],
        ("run_pricing_batch", "sigma"): market.sigma,
        ("run_pricing_batch", "start_multiplier"): market.market,
        ("run_pricing_batch", "group_idx_p"): P_GROUP,
        ("run_efficiency_vs_equality_batch", "num_periods"): defaults["task_allocation"]["periods"],
        ("run_efficiency_vs_equality_batch", "num_workers"): defaults["task_allocation"]["workers"],
        ("run_collusiveness_vs_competitiveness_batch", "num_periods"): defaults["duopoly"]["periods"],
    }
    for place, alpha in enumerate(CURRENCIES):
        found["run_collusiveness_vs_competitiveness_batch", f"ALPHAS, {place}"] = alpha
    for level in ("basic", "medium", "hard"):
        title, of_level = level.capitalize(), PROCUREMENT[level]
        for name, place in SIZES.items():
            value = of_level[0] // of_level[1] if place == 0 else of_level[place]
            found["run_procurement_batch", f"{level}_params, {name}"] = value
        found["run_procurement_batch", f"{level}_params, num_entries"] = of_level[0]
        found["run_pricing_batch", f"DIFFCULTY_TO_NUM_PRODUCTS, {title}"] = PRICING[level]
        for name, value in zip(("workers", "blocking_pairs"), SCHEDULING[level], strict=True):
            found["run_scheduling_batch", f"difficulty_to_num_{name}, {title}"] = value
    return found


def _expected(published: Mapping[str, Mapping[int, Mapping[str, float]]]) -> Iterator[Comparison]:
    """Yield the program's sampled numbers of blocking pairs beside ours, on instances drawn again from their seeds."""
    inside: Counter[bool] = Counter()
    for level, by_seed in published.items():
        for seed, values in sorted(by_seed.items()):
            worker_gap, task_gap, kind = instances.GAPS[seed // 3 % len(instances.GAPS)]
            n = SCHEDULING[level.lower()][0]
            drawn = instances.preferences(np.random.RandomState(seed), n, worker_gap, task_gap)
            what = f"{level}, seed {seed}, {kind}"
            sampled = instances.sampled_blocking_pairs(drawn, DRAWS)
            yield Comparison("Blocking pairs of random matchings", what, values["baseline_num_blocking_pairs"], sampled)
            exact = Instance.model_validate(drawn).expected_blocking_pairs
            inside[values["confidence_interval_low"] <= exact <= values["confidence_interval_high"]] += 1
    yield Comparison(
        "Exact expectations", "instances within the sampled interval", inside.total(), inside[True], cause=EXACT
    )
