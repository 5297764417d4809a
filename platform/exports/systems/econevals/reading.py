"""EconEvals' record of one run: `global_params.csv` with the instance, and `logs.csv` with every period.

Their cells are Python literals, which are parsed and never evaluated. A run of patience has `high_level_results.csv`
and a log of every answer instead. docs/published.md describes the files.
"""

from __future__ import annotations

import csv
import re
import sys
from ast import literal_eval
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isclose, log
from pathlib import Path
from typing import Any

import numpy as np

from exports.published import Disagreement, Imported, Unreadable, UnreadableRecord, differing, imported, read_or_said
from exports.systems.econevals import instances
from games import registry
from games.interface import Json, MoveData, Role
from games.play import Play, configure, replay_moves
from games.pricing.market import LEVELS as PRICING
from games.procurement.instances import LEVELS as PROCUREMENT
from games.scheduling.instances import LEVELS as SCHEDULING

PARAMS, LOG, ANSWERS = "global_params.csv", "logs.csv", "high_level_results.csv"
TOLERANCE = 1e-6
"""Relative difference up to which a computed number agrees with the program's, which optimises numerically."""
OPTIMISED = 1e-3
"""The same for its optimal prices."""
CENT = 0.005
"""How much a value that is recorded to two decimals may differ."""
OUTCOMES = (
    "prices", "quantities", "profits", "matching", "blocking_pairs", "blocking_pair", "alloc", "cost", "utility",
    "is_feasible", "company_revenue", "worker_inequality",
)  # fmt: skip
"""The columns of the outcomes of a period, of all kinds of runs."""
TOLD: Mapping[str, str] = {"v1_known_horizon": "horizon", "v1_graded_best": "horizon_goal"}
HORIZONS: Mapping[str, str] = {
    "one_month": "1 month", "six_months": "6 months", "one_year": "1 year", "five_years": "5 years",
}  # fmt: skip
REDRAWN = "The blocking pairs that players were told are drawn again."
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


@dataclass(frozen=True)
class Run:
    """A run in our terms.

    Attributes:
        found: yields what the record says otherwise, once the run is played again.
    """

    game: str
    config: Mapping[str, Json]
    players: Mapping[Role, str]
    moves: Sequence[tuple[Role, MoveData]]
    found: Callable[[Play], Iterator[Disagreement]]
    remark: Callable[[Play], str | None] = lambda play: None


@dataclass(frozen=True)
class Files:
    """The files of a run."""

    folder: Path

    @cached_property
    def params(self) -> Mapping[str, Any]:
        return {key: _value(cell) for key, cell in _rows(self.folder / PARAMS)[0].items()}

    @cached_property
    def log(self) -> list[dict[str, str]]:
        return _rows(self.folder / LOG, ("model", *OUTCOMES))

    def periods(self, key: str) -> list[dict[str, Any]]:
        """Return the rows of the log with the outcome of a period, which have this column; one for each period."""
        return [{name: _value(row[name]) for name in OUTCOMES if name in row} for row in self.log if row.get(key)]

    @property
    def model(self) -> str:
        """The model: a parameter or, in duopoly, a column of the log."""
        named = (row["model"] for row in self.log if row.get("model"))
        return str(self.params["model"] if "model" in self.params else next(named, "unknown"))


# ---- scheduling ------------------------------------------------------------------------------------------


def _scheduling(files: Files) -> Run:
    params, periods = files.params, files.periods("matching")
    instance = {
        "worker_preferences": params["worker_prefs"],
        "task_preferences": params["task_prefs"],
    }
    gaps = (params["score_gap_worker"], params["score_gap_task"])
    most = params["num_blocking_pairs"]
    workers = len(params["worker_prefs"])
    config = {
        "level": _level(SCHEDULING, lambda level: level[0] == workers),
        "periods": params["num_attempts"],
        "feedback": most,
        "instance": instance,
        "instance_seed": params["seed"],
    }

    def found(play: Play) -> Iterator[Disagreement]:
        rng = np.random.RandomState(params["seed"])
        drawn = instances.preferences(rng, workers, *gaps)
        yield from differing(f"preferences from seed {params['seed']}", instance, drawn)
        told: dict[str, Any] = {}
        for number, row in enumerate(periods, start=1):
            pairs = play.state.instance.blocking_pairs(row["matching"])
            yield from differing(f"blocking pairs in period {number}", row["blocking_pairs"], pairs)
            key = str(sorted(row["matching"].items()))
            if key not in told and len(pairs) > most:
                told[key] = [pairs[i] for i in rng.choice(range(len(pairs)), most, replace=False)]
            told.setdefault(key, pairs or None)
            yield from differing(f"pairs told in period {number}", row["blocking_pair"], told[key])

    def remark(play: Play) -> str | None:
        ours = [[*attempt.told] for attempt in play.state.attempts]
        theirs = [[*map(tuple, row["blocking_pair"] or ())] for row in periods]
        return None if all(sorted(a) == sorted(b) for a, b in zip(ours, theirs, strict=True)) else REDRAWN

    moves = [("agent", {"assignment": row["matching"]}) for row in periods]
    return Run("scheduling", config, {"agent": files.model}, moves, found, remark)


# ---- pricing ---------------------------------------------------------------------------------------------


def _pricing(files: Files) -> Run:
    params, periods = files.params, files.periods("prices")
    names, seed, n = params["product_ids"], params["seed"], params["num_attempts"]
    sigma, rates = params["sigma"], params["alpha_list"]
    if params["mu"] != 1 or len({*params["multiplier_list"]}) != 1:
        raise UnreadableRecord("Its demand is noisy, or its mu is not 1.")
    slopes, amplitudes = ([*params[key]] or [0.0] * len(names) for key in ("slopes", "amplitudes"))
    instance = {
        "products": [
            {
                "id": name,
                "quality": quality,
                "cost": params["costs"][name],
                "group": group,
                "alpha": {"start": start, "slope": slope, "amplitude": amplitude},
            }
            for name, quality, group, start, slope, amplitude in zip(
                names, params["a_tuple"], params["group_idxs"], rates[0], slopes, amplitudes, strict=True
            )
        ],
        "season": params["period_length"],
        "sigma": sigma,
        "market": params["multiplier_list"][0],
        # The program weighs buying nothing like a group, with exp(a0)/(1 - sigma) in place of the sum.
        "outside": (1 - sigma) ** 2 * (params["a0"] - log(1 - sigma)),
        "advice": instances.advice(seed),
    }
    level = _level(PRICING, lambda count: count == len(names))
    config = {"level": level, "periods": n, "instance": instance, "instance_seed": seed, "source": "program"}
    config["pattern"] = "periodic" if any(amplitudes) else "linear" if any(slopes) else "constant"

    def found(play: Play) -> Iterator[Disagreement]:
        market = play.state.instance
        drawn = instances.market(seed, level, n)
        recorded = {
            "starts": rates[0], "costs": [*params["costs"].values()], "qualities": [*params["a_tuple"]],
            "season": params["period_length"], "groups": params["group_idxs"],
            "drifts": [{"amplitude": value} for value in amplitudes] if any(amplitudes)
            else [{"slope": value} for value in slopes],
        }  # fmt: skip
        for key, value in recorded.items():
            yield from differing(f"{key} from seed {seed}", value, drawn[key])
        for period, of_period in enumerate(rates):
            yield from _far(
                f"rates in period {period + 1}", of_period, [market.rate(p, period) for p in market.products]
            )
        for period, row in enumerate(periods):
            # Prices are recorded to two decimals, what follows from them to more: so they allow this much.
            sold, bounds = market.quantities(row["prices"], period), _bounds(market, row["prices"], period)
            earned = market.profits(row["prices"], period)
            for name in names:
                for what, key, ours, within in (("quantity", "quantities", sold, 0), ("profit", "profits", earned, 1)):
                    if abs(row[key][name] - ours[name]) > CENT + bounds[name][within] + TOLERANCE:
                        yield Disagreement(f"{what} of {name} in period {period + 1}", row[key][name], ours[name])

    moves = [("agent", {"prices": row["prices"]}) for row in periods]
    return Run("pricing", config, {"agent": files.model}, moves, found)


def _bounds(market: Any, prices: Mapping[str, float], period: int) -> dict[str, tuple[float, float]]:
    """Return by how much quantities and profits change if every price changes by half a cent, to first order."""
    bounds = {name: [0.0, 0.0] for name in prices}
    for name, price in prices.items():
        ends = [{**prices, name: price + change} for change in (-CENT, CENT)]
        for place, of in enumerate((market.quantities, market.profits)):
            low, high = (of(end, period) for end in ends)
            for each in prices:
                bounds[each][place] += abs(high[each] - low[each])
    return {name: (quantity, profit) for name, (quantity, profit) in bounds.items()}


# ---- procurement -----------------------------------------------------------------------------------------


def _procurement(files: Files) -> Run:
    params, periods = files.params, files.periods("alloc")
    if params["agg_type"] != "prod":
        raise UnreadableRecord("Its plans are not valued by a product over categories.")
    offers = [
        {
            "id": name,
            "contents": offer["contents"],
            "price": offer["variable_cost"] if "variable_cost" in offer else offer["cost"],
            "minimum": offer.get("min_quantity"),
            "upfront": offer.get("fixed_cost"),
        }
        for name, offer in params["menu"].items()
    ]
    config = {
        "level": _level(PROCUREMENT, lambda level: level[:2] == (len(offers), len(params["item_groups"]))),
        "periods": params["num_attempts"],
        "told": TOLD.get(params["prompt_type"], "baseline"),
        "instance": {
            "categories": params["item_groups"],
            "effectiveness": params["item_to_effectiveness"],
            "offers": offers,
            "budget": params["budget"],
        },
        "instance_seed": params["seed"],
        "source": "program",
    }

    def found(play: Play) -> Iterator[Disagreement]:
        drawn = instances.offers(params["seed"], str(config["level"]))
        seed = f"from seed {params['seed']}"
        yield from differing(f"offers {seed}", params["menu"], drawn["offers"])
        yield from differing(f"effectiveness {seed}", params["item_to_effectiveness"], drawn["effectiveness"])
        yield from differing(f"purchase {seed}", params["start_alloc"], drawn["purchase"])
        extra = params["budget"] - play.state.instance.cost(params["start_alloc"])
        if not -CENT <= extra <= 1 + CENT:
            yield Disagreement("budget beyond the purchase's cost", extra, "0 to 1")
        yield from _far("optimum", [params["opt_utility"]], [play.state.optimum])
        for number, (row, purchase) in enumerate(zip(periods, play.state.purchases, strict=True), start=1):
            feasible = purchase.workers is not None
            yield from differing(f"feasibility in period {number}", row["is_feasible"], feasible)
            if feasible and row["is_feasible"]:
                yield from _far(f"cost in period {number}", [row["cost"]], [purchase.cost])
                yield from _far(f"workers in period {number}", [row["utility"]], [purchase.workers])

    moves = [("agent", {"plan": row["alloc"]}) for row in periods]
    return Run("procurement", config, {"agent": files.model}, moves, found)


# ---- task allocation -------------------------------------------------------------------------------------


def _task_allocation(files: Files) -> Run:
    params, periods = files.params, files.periods("alloc")
    n, names, sizes = params["num_workers"], params["task_ids"], params["task_id_to_task_size"]
    goal = params["prompt_type"].removesuffix("_reasoning")
    config = {
        "periods": params["num_periods"],
        "workers": n,
        "goal": "both" if goal == "main" else goal,
        "instance": {
            "productivities": params["worker_id_to_productivities"],
            "wage": params["worker_wage"],
            "tasks": [[sizes[name] for name in names[first : first + n]] for first in range(0, len(names), n)],
        },
        "instance_seed": params["seed"],
    }

    def found(play: Play) -> Iterator[Disagreement]:
        seed, gap = params["seed"], params["worker_productivity_gap"]
        drawn = [instances.tasks(seed, n, params["num_periods"], gap, lowest) for lowest in (1, 0)]
        recorded = {"sizes": sizes, "productivities": params["worker_id_to_productivities"]}
        if recorded not in drawn:
            yield from differing(f"instance from seed {seed}", recorded, drawn[0])
        metrics = play.metrics()
        for key, ours in (
            ("company_revenue_in_max_efficiency", "best_revenue"), ("company_revenue_in_max_equality", "equal_revenue"),
            ("worker_inequality_in_max_efficiency", "inequality_at_best"),
        ):  # fmt: skip
            yield from _far(ours, [params[key]], [metrics[ours]])
        yield from _far("revenue", [sum(row["company_revenue"] for row in periods)], [metrics["revenue"]])
        yield from _far("inequality", [periods[-1]["worker_inequality"]], [metrics["inequality"]])

    moves = [("agent", {"assignment": row["alloc"]}) for row in periods]
    return Run("task_allocation", config, {"agent": files.model}, moves, found)


# ---- duopoly ---------------------------------------------------------------------------------------------


def _duopoly(files: Files) -> Run:
    params, periods = files.params, files.periods("prices")
    rival = len(params["a"]) > 1
    if len({*params["a"]}) != 1 or len({*params["c"]}) != 1 or params["sigma"] != 0 or len(params["a"]) > 2:
        raise UnreadableRecord("Its firms are more than two, or differ.")
    alpha = params["alpha"]
    config = {
        "periods": len(periods), "alpha": alpha, "quality": params["a"][0], "outside": params["a0"],
        "cost": params["c"][0], "mu": params["mu"], "market": params["multiplier"], "rival": rival,
        "source": "program",
    }  # fmt: skip

    def found(play: Play) -> Iterator[Disagreement]:
        metrics = play.metrics()
        best = metrics["collusive_price"] if rival else metrics["monopoly_price"]
        yield from _far("collusive price" if rival else "monopoly price", [params["monopoly_price"]], [best], OPTIMISED)
        if rival:
            yield from _far("Nash price", [params["nash_price"]], [metrics["nash_price"]], OPTIMISED)
        rows = play.records()
        for index, row in enumerate(rows):
            period, firm = divmod(index, len(params["a"]))
            for key, ours in (("quantities", row["quantity"]), ("profits", row["payoff"] / alpha)):
                if abs(periods[period][key][firm] - ours) > CENT + TOLERANCE:
                    what = f"{key} of {row['role']} in period {period + 1}"
                    yield Disagreement(what, periods[period][key][firm], ours)

    roles = ["firm_1", "firm_2"] if rival else ["firm_1"]
    moves = [(role, {"price": price}) for row in periods for role, price in zip(roles, row["prices"], strict=True)]
    return Run("duopoly", config, dict.fromkeys(roles, files.model), moves, found)


# ---- patience --------------------------------------------------------------------------------------------


def _patience(folder: Path, model: str) -> Run:
    """Return a model's answers for one horizon: for each amount, first those with "now" as A, then as many as B."""
    counts = {float(row["value"]): int(row["preferred_100_count"]) for row in _rows(folder / ANSWERS)
              if row["model"] == model}  # fmt: skip
    responses = [row["response"] for row in _rows(folder / f"{model}_logs.csv", ("response",))]
    repetitions, rest = divmod(len(responses), len(counts))
    if rest or repetitions % 2:
        raise UnreadableRecord(f"It has {len(responses)} answers for {len(counts)} amounts.")
    horizon = next((ours for name, ours in HORIZONS.items() if folder.name.endswith(f"__{name}")), None)
    if horizon is None:
        raise UnreadableRecord(f"The folder's name does not end with a horizon, such as {next(iter(HORIZONS))}.")
    choices: dict[float, list[str]] = {}
    for number, amount in enumerate(counts):
        letters = [_letter(text) for text in responses[number * repetitions : (number + 1) * repetitions]]
        first, second = letters[: repetitions // 2], letters[repetitions // 2 :]
        choices[amount] = [letter for pair in zip(first, second, strict=True) for letter in pair]
    moves = [("agent", {"choice": letter}) for amount in sorted(choices) for letter in choices[amount]]
    config = {"horizon": horizon, "amounts": sorted(counts), "repetitions": repetitions, "order": "ascending"}

    def found(play: Play) -> Iterator[Disagreement]:
        now: dict[float, int] = defaultdict(int)
        for row in play.records():
            now[row["amount"]] += row["later"] is False
        for amount, count in counts.items():
            yield from differing(f"choices of money now at {amount}", count, now[amount])

    return Run("patience", config, {"agent": model}, moves, found)


def _letter(response: str) -> str:
    answer = _ANSWER.search(response)
    letter = answer[1].strip() if answer else ""
    return letter if letter in ("A", "B") else "none"


# ---- files -----------------------------------------------------------------------------------------------

KINDS: Mapping[str, Callable[[Files], Run]] = {
    "worker_prefs": _scheduling, "alpha_list": _pricing, "menu": _procurement,
    "task_id_to_task_size": _task_allocation, "full_alpha": _duopoly,
}  # fmt: skip
"""A parameter that only one kind of run has."""


def _rows(path: Path, names: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return the rows of a table, with only these columns if there are any: logged prompts can be very long."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as opened:
        rows = csv.DictReader(opened)
        return [{name: row[name] for name in names if name in row} for row in rows] if names else list(rows)


def _value(cell: str | None) -> Any:
    """Return the value of a cell: a Python literal, None if it is empty, or else the text."""
    if not cell:
        return None
    try:
        return literal_eval(cell)
    except (ValueError, SyntaxError):
        return cell


def _level(levels: Mapping[str, Any], fits: Callable[[Any], bool]) -> str:
    found = next((name for name, level in levels.items() if name != "small" and fits(level)), None)
    if found is None:
        raise UnreadableRecord("Its size is that of no published level.")
    return found


def _far(
    what: str, published: Sequence[Any], computed: Sequence[Any], tolerance: float = TOLERANCE
) -> Iterator[Disagreement]:
    pairs = zip(published, computed, strict=True)
    if any(not isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in pairs):
        single = len(published) == 1
        yield Disagreement(what, published[0] if single else [*published], computed[0] if single else [*computed])


def _runs(root: Path) -> Iterator[tuple[str, Callable[[], Run]]]:
    """Yield the name of every run below `root`, and a function that reads it."""
    list(root.iterdir())
    for path in sorted([*root.rglob(PARAMS), *root.rglob(ANSWERS)]):
        name = path.parent.relative_to(root).as_posix()
        if path.name == PARAMS:
            yield name, partial(_benchmark, Files(path.parent))
        else:
            for log in sorted(path.parent.glob("*_logs.csv")):
                model = log.name.removesuffix("_logs.csv")
                yield f"{name}/{model}", partial(_patience, path.parent, model)


def _benchmark(files: Files) -> Run:
    kind = next((key for key in KINDS if key in files.params), None)
    if kind is None:
        raise UnreadableRecord(f"{PARAMS} has none of {', '.join(KINDS)}.")
    return KINDS[kind](files)


def read(root: Path) -> Iterator[Imported | Unreadable]:
    """Yield every run below `root`, replayed under our rules."""
    for name, run in _runs(root):
        yield read_or_said(name, partial(_imported, name, run))


def _imported(name: str, read_run: Callable[[], Run]) -> Imported:
    run = read_run()
    play, events = replay_moves(configure(registry.get(run.game), run.config), 0, run.moves)
    match = imported(name, play, events, run.players, run.found)
    return replace(match, unverified=run.remark(play))
