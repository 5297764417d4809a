"""Economics Arena: results of runs of the authors' package, its defaults, and the paper's tables.

The paper's own runs are not published. The package returns the result of a run as a dictionary: limit or assets and
values, the choices in order of seats, fouls, winners, payoffs. docs/published.md describes the files that are read.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from exports.published import (
    FAULTY,
    TOLERANCE,
    Analysed,
    Comparison,
    Disagreement,
    Imported,
    System,
    Unreadable,
    classes_in,
    imported,
)
from games import registry
from games.beauty_contest.strategies import remarks as contest_remarks
from games.interface import Json
from games.play import Play, configure, replay_moves, start
from games.sealed_auction.strategies import remarks as auction_remarks
from plans.library import ready_made

CONTEST, AUCTION = "beauty_contest", "sealed_auction"
CHOICES, LIMITS = "choices", {"upper_bound": CONTEST, "budget": AUCTION}
"""Keys of a result: the numbers chosen, and the limit, which tells the game."""
KEYS = {CONTEST: "answer", AUCTION: "bid"}

UNPUBLISHED = "the paper's runs are not published"
DECIMALS = "the package rounds values down to whole numbers, which the paper does not say"
POPULAR = "the package asks for no popular answer; the paper's prompts do, and ours follow them"
DEFAULTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "BeautyContest": (CONTEST, {"upper_bound": "upper", "prize": "prize"}),
    "SecondPriceAuction": (
        AUCTION,
        {"budget": "assets", "mean_private_value": "value_mean", "std_private_value": "value_sd"},
    ),
}
"""The package's classes: our game, and our names of their parameters."""
PRESETS = {CONTEST: "econarena-contest-senior", AUCTION: "econarena-sealed-senior"}
"""Our presets whose stakes are in the range of the package's defaults; a contest's limit varies by session."""
PUBLISHED_DEFAULTS: Mapping[str, float] = {
    "upper_bound": 100, "prize": 1, "budget": 1000, "mean_private_value": 500, "std_private_value": 100,
}  # fmt: skip
"""The defaults of the package's version 0.0.4."""
ASKED = ("understanding", "reason")
"""What the package asks models beside their choice."""


def read(root: Path) -> Iterator[Imported | Unreadable]:
    """Yield every result in the JSON files below `root`, played again by the package's rules."""
    list(root.iterdir())
    for path in sorted(path for path in root.rglob("*.json*") if path.suffix in (".json", ".jsonl")):
        name = path.relative_to(root).as_posix()
        environment = path.parent.name if path.parent != root else path.stem
        try:
            text = path.read_text("utf-8")
            runs = [json.loads(line) for line in text.splitlines() if line.strip()] if path.suffix == ".jsonl" else [
                json.loads(text)
            ]  # fmt: skip
        except FAULTY as error:
            yield Unreadable(name, f"It is not JSON: {error}.")
            continue
        for number, run in enumerate(runs[0] if len(runs) == 1 and isinstance(runs[0], list) else runs, start=1):
            try:
                yield _imported(f"{name}/{number}", environment, run)
            except FAULTY as error:
                yield Unreadable(f"{name}/{number}", f"It is no result of the package: {_reason(error)}.")


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")


def _imported(name: str, environment: str, run: Mapping[str, Any]) -> Imported:
    settings, result = run.get("config") or {}, run.get("result", run)
    limit = next((key for key in LIMITS if key in result), None)
    if limit is None:
        raise ValueError(f"it has neither {' nor '.join(LIMITS)}")
    game, choices = LIMITS[limit], [_number(value) for value in result[CHOICES]]
    config: dict[str, Json] = {"players": len(choices), "source": "program"}
    if game == CONTEST:
        prize = sum(filter(None, map(_number, result["payoffs"])))
        config |= {"upper": result[limit], **({"prize": prize} if prize else {})}
    else:
        config |= {"assets": result[limit], "values": result["private_values"]}
    rules = configure(registry.get(game), config)
    roles = rules.roles()
    play, events = replay_moves(
        rules, 0, [(role, {KEYS[game]: choice}) for role, choice in zip(roles, choices, strict=True)]
    )
    labels = [f"{model or kind}" for kind, model in settings.get("players_class", ())]
    if labels and len(labels) != len(roles):
        raise ValueError(f"it has {len(labels)} players and {len(roles)} choices")
    players = dict(zip(roles, labels or ["unknown"] * len(roles), strict=True))
    return imported(name, play, events, players, partial(_disagreements, result), environment=environment)


def _number(value: Any) -> float | None:
    """Return a number; None for the package's NaN, in JSON as NaN or null."""
    return None if value is None or math.isnan(value) else float(value)


def _disagreements(result: Mapping[str, Any], play: Play) -> Iterator[Disagreement]:
    """Yield the fouls, winners and payoffs that differ; the package prints no payoff for a foul."""
    rows = {row["role"]: row for row in play.records()}
    fouls = [bool(rows[role]["foul"]) for role in rows]
    if result["fouls"] != fouls:
        yield Disagreement("fouls", result["fouls"], fouls)
    winners = [seat for seat, role in enumerate(rows) if rows[role]["won"]]
    published = [int(seat) for seat in result["winners"]] if "winners" in result else [int(result["winner"])]
    if published != winners:
        yield Disagreement("winners", published, winners)
    for seat, (role, computed) in enumerate(play.payoffs().items()):
        value = _number(result["payoffs"][seat])
        if value is None and fouls[seat] and seat not in winners:
            continue
        if value is None or computed is None or not math.isclose(value, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield Disagreement(f"payoff of {role}", value, computed)


# ---- the package and the paper ---------------------------------------------------------------------------


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the package's defaults, and the values of the paper's tables, beside ours."""
    from analysis.published.econarena import printed

    yield from _defaults(root)
    for game, models in printed.PAYOFFS.items():
        rows = analysed.rows("econarena.senior", game, "sessions")
        found = {(printed.key_of(str(row["player"])), row["first"]): row["estimate"] for row in rows}
        for model, values in models.items():
            for first, value in zip(printed.SESSIONS, values, strict=True):
                here = found.get((printed.key_of(model), first))
                what = f"{registry.get(game).title}, {model}, {first} sessions"
                yield Comparison("Table 1: payoffs among senior models", what, value, here, 3, UNPUBLISHED)
    for (game, history), percentages in printed.FOULS.items():
        rows = analysed.rows("econarena.fouls", game, "fouls")
        shares = {(printed.key_of(str(row["player"])), row["history"]): row["estimate"] for row in rows}
        for model, value in percentages.items():
            share = shares.get((printed.key_of(model), history))
            here = None if share is None else 100 * share
            what = f"{registry.get(game).title}, {history}, {model}"
            yield Comparison("Table 2: broken rules, in percent", what, value, here, 2, UNPUBLISHED)


def _defaults(root: Path) -> Iterator[Comparison]:
    """Yield the defaults of the package, as its source below `root` has them, or else as version 0.0.4 does."""
    table, source = "Defaults of the package", _in_source(root)
    for kind, (game, names) in DEFAULTS.items():
        defaults = configure(registry.get(game), {}).config.model_dump()
        preset = ready_made("collections")[PRESETS[game]].document["journey"][0]["config"]
        for theirs, ours in names.items():
            value = source.get(theirs, PUBLISHED_DEFAULTS[theirs])
            yield Comparison(table, f"{kind}: {theirs}", value, defaults[ours])
            if isinstance(here := preset.get(ours), int | float):
                yield Comparison(table, f"{kind}: {theirs}, in {PRESETS[game]}", value, here)
    fraction = configure(registry.get(CONTEST), {}).config.model_dump()["fraction"]
    yield Comparison(table, "BeautyContest: target, as a share of the mean", 2 / 3, fraction)
    yield Comparison(table, "SecondPriceAuction: decimals of drawn values", 0, 2, cause=DECIMALS)
    for game, remarks in ((CONTEST, contest_remarks), (AUCTION, auction_remarks)):
        rules: Any = configure(registry.get(game), {})
        play, _events = start(rules, 0)
        here = ", ".join(remark.key for remark in remarks(rules, play.state, "p1"))
        what = f"{registry.get(game).title}: asked beside the choice"
        yield Comparison(table, what, ", ".join(ASKED), here, cause=POPULAR)


def _in_source(root: Path) -> dict[str, float]:
    """Return the defaults of the constructors in the package's source, which is parsed and not run."""
    found: dict[str, float] = {}
    for node in classes_in(root, DEFAULTS):
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                found |= _defaults_of(method.args.args, method.args.defaults)
    return found


def _defaults_of(arguments: Sequence[ast.arg], defaults: Sequence[ast.expr]) -> dict[str, float]:
    names = [argument.arg for argument in arguments][len(arguments) - len(defaults) :]
    pairs = zip(names, defaults, strict=True)
    return {
        name: node.value
        for name, node in pairs
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }


SYSTEM = System("econarena", "Economics Arena", read, __name__)
