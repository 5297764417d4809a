"""Actions, votes, designs and reasons (figures 2, 4 to 18)."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import players_of, with_se_bounds
from analysis.published.coopeval.measures import design_quality
from analysis.published.coopeval.tournaments import GAMES, REPUTATION, mean_and_se, readable_name
from analysis.results import Analysis, Options, Result, Table, count, estimate_columns, share, text
from analysis.toolbox import proportion

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

DECISIONS = ["match", "role", "round", "phase", "move"]
MATCH_COLUMNS = ["match", "repetition", "config_base_game", "config_mechanism"]
WILSON = estimate_columns("Share", share)
NO_HISTORY = "no history"
PUBLISHED_DESIGNS: Mapping[tuple[str, str], str] = {
    ("mediation", "ns"): "95.8, 95.8, 97.2, 75.0, 27.8, 61.1",
    ("contract", "ns"): "91.7, 91.7, 87.5, 91.7, 65.3, 59.7",
}
"""Percentages in figure 18: Claude, Gemini-R, Gemini-B, GPT-5.2, GPT-4o, Qwen."""


def moves(data: Data, phase: str) -> pd.DataFrame:
    """Return the parsed moves of a phase, with player, repetition, base game and mechanism."""
    rows = data.table("decisions", DECISIONS)
    rows = rows[rows["phase"] == phase].reset_index(drop=True)
    rows["move"] = [json.loads(move) if isinstance(move, str) else {} for move in rows["move"]]
    return with_tournament(data, rows)


def with_tournament(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    """Add the player, base game, mechanism and run to rows with `match` and `role`."""
    rows = rows.copy()
    rows["player"] = players_of(data, rows)
    matches = data.table("matches", MATCH_COLUMNS).set_index("match")
    rows = rows.join(matches.rename(columns={"config_base_game": "game", "config_mechanism": "mechanism"}), on="match")
    return rows[rows["player"].notna() & rows["mechanism"].notna()].reset_index(drop=True)


def _groups(rows: pd.DataFrame, *keys: str) -> Any:
    return rows.groupby(list(keys), sort=True)


# ---- what is played ------------------------------------------------------------------------------------


def actions(data: Data, options: Options) -> Result:
    """Return the mean stated probability and the realised share of each action."""
    acts = moves(data, "act")
    if not len(acts):
        raise SkippedError("The decisions have no phase “act”.")
    stated = [{**row, "stated": probabilities(row["move"])} for row in acts.to_dict("records")]
    realised = with_tournament(data, data.table("rounds", ["match", "role", "action"]))
    realised_counts: dict[tuple[str, str], Counter[str]] = {}
    for row in realised.to_dict("records"):
        realised_counts.setdefault((row["game"], row["mechanism"]), Counter())[str(row["action"])] += 1
    sums: dict[tuple[str, str], dict[str, float]] = {}
    n_decisions: Counter[tuple[str, str]] = Counter()
    for row in stated:
        key = (row["game"], row["mechanism"])
        n_decisions[key] += 1
        for action, probability in row["stated"].items():
            action_sums = sums.setdefault(key, {})
            action_sums[action] = action_sums.get(action, 0.0) + probability
    results = []
    for key in sorted(sums):
        names = sorted({*sums[key], *realised_counts.get(key, ())}, key=lambda name: (name == "delegate", name))
        total = sum(realised_counts.get(key, Counter()).values())
        for action in names:
            results.append(
                {
                    "game": readable_name(key[0]),
                    "mechanism": readable_name(key[1]),
                    "action": action,
                    "estimate": sums[key].get(action, 0.0) / n_decisions[key],
                    "realised": realised_counts[key][action] / total if total and action != "delegate" else None,
                    "n": n_decisions[key],
                }
            )
    table = Table(
        "actions",
        "Actions by base game and mechanism",
        [
            text("game", "Game"),
            text("mechanism", "Mechanism"),
            text("action", "Action"),
            share("estimate", "Stated"),
            share("realised", "Realised"),
            count("n", "Decisions"),
        ],
        results,
        note="Stated: mean stated probability. Realised: share of actions after randomisation and after the mediator "
        "acted for those who delegated.",
    )
    order = sorted({row["action"] for row in results}, key=lambda name: (name == "delegate", name))
    figure = charts.figure(
        "bars",
        "actions",
        "Stated probability of each action",
        results,
        y="mechanism",
        colour="action",
        facet="game",
        stacked=True,
        titles={"x": "Mean stated probability"},
        formats={"x": "%"},
        order={"colour": order},
    )
    return Result([table], [figure])


def probabilities(move: Mapping[str, Any]) -> dict[str, float]:
    """Return the stated probability of each action."""
    if isinstance(move.get("percentages"), Mapping):
        return {name: value / 100 for name, value in move["percentages"].items()}
    return {str(move["action"]): 1.0} if "action" in move else {}


def reactions(data: Data, options: Options) -> Result:
    """Return realised actions given the co-players' actions in the previous round."""
    columns = ["match", "round", "role", "group", "action"]
    rows = with_tournament(data, data.table("rounds", columns))
    rows = rows[rows["mechanism"].isin(["repetition", *REPUTATION])]
    if not len(rows):
        raise SkippedError("No match had several rounds, so there are no previous actions to react to.")
    counts = count_reactions(rows)
    totals: Counter[tuple[str, ...]] = Counter()
    for key, k in counts.items():
        totals[key[:-1]] += k
    results = [
        {
            "mechanism": readable_name(mechanism),
            "game": readable_name(game),
            "player": player,
            "after": history,
            "action": action,
            "k": k,
            **proportion(k, totals[mechanism, game, player, history], level=options.level),
        }
        for (mechanism, game, player, history, action), k in sorted(counts.items())
    ]
    table = Table(
        "reactions",
        "Actions after a co-player's previous action",
        [
            text("mechanism", "Mechanism"),
            text("game", "Game"),
            text("player", "Agent"),
            text("after", "After"),
            text("action", "Action"),
            count("k", "Times"),
            *WILSON,
            count("n", "of"),
        ],
        results,
        note="In games with three seats, each co-player counts separately.",
    )
    figures = []
    for mechanism in dict.fromkeys(row["mechanism"] for row in results):
        subset = [
            {**row, "where": f"{row['player']}, {row['after']}"} for row in results if row["mechanism"] == mechanism
        ]
        figures.append(
            charts.figure(
                "bars",
                mechanism.replace(" ", "_").replace("-", "_"),
                f"Actions after a co-player's previous action: {mechanism}",
                subset,
                y="where",
                colour="action",
                facet="game",
                stacked=True,
                titles={"x": "Share"},
                formats={"x": "%"},
                order={"colour": sorted({row["action"] for row in subset})},
            )
        )
    return Result([table], figures)


def count_reactions(rows: pd.DataFrame) -> Counter[tuple[str, str, str, str, str]]:
    """Count each (mechanism, game, player, co-player's previous action, player's action).

    The previous action is what a current co-player did in the previous round, in any group.
    """
    counts: Counter[tuple[str, str, str, str, str]] = Counter()
    ordered = rows.sort_values(["match", "round"], kind="stable").to_dict("records")
    for _match, subset in groupby(ordered, key=itemgetter("match")):
        previous: dict[str, str] = {}
        for _round, round_rows in groupby(subset, key=itemgetter("round")):
            current = list(round_rows)
            for row in current:
                co_players = [
                    other["role"]
                    for other in current
                    if other["group"] == row["group"] and other["role"] != row["role"]
                ]
                histories = [f"after {previous[role]}" for role in co_players if role in previous] or [NO_HISTORY]
                for history in histories:
                    counts[row["mechanism"], row["game"], row["player"], history, str(row["action"])] += 1
            previous = {row["role"]: str(row["action"]) for row in current}
    return counts


# ---- votes ---------------------------------------------------------------------------------------------


def votes(data: Data, options: Options) -> Result:
    """Return the rates of approval, signing and delegation."""
    rows = data.table("matches", [*MATCH_COLUMNS, "winner_approvals", "contract_active", "delegation_rate"])
    rows = rows[rows["config_mechanism"].isin(["mediation", "contract"])]
    if not len(rows):
        raise SkippedError("No match had a mediator or a contract.")
    largest, adopted = [], []
    for (mechanism, game), subset in _groups(rows, "config_mechanism", "config_base_game"):
        winner_approvals = subset["winner_approvals"].dropna()
        for approvals, k in sorted(winner_approvals.astype(int).value_counts().items()):
            largest.append(
                {
                    "mechanism": readable_name(mechanism),
                    "game": readable_name(game),
                    "approvals": f"{approvals}",
                    "k": int(k),
                    **proportion(int(k), len(winner_approvals), level=options.level),
                }
            )
        is_unanimous = subset["contract_active"] if mechanism == "contract" else subset["delegation_rate"] >= 1
        by_run = is_unanimous.fillna(False).astype(float).groupby(subset["repetition"]).mean()
        adopted.append(
            {"mechanism": readable_name(mechanism), "game": readable_name(game), **mean_and_se(by_run.tolist())}
        )
    approved, signed = _approvals(data), _signatures(data)
    tables = [
        Table(
            "largest",
            "Largest number of approvals",
            [
                text("mechanism", "Mechanism"),
                text("game", "Game"),
                text("approvals", "Approvals"),
                count("k", "Matches"),
                *WILSON,
                count("n", "of"),
            ],
            largest,
        ),
        Table(
            "adopted",
            "Matches in which all sign or delegate",
            [
                text("mechanism", "Mechanism"),
                text("game", "Game"),
                share("estimate", "Share"),
                share("se", "SE over runs"),
                count("n", "Runs"),
            ],
            adopted,
        ),
        Table(
            "approvals",
            "Approvals of proposals, by proposer",
            [
                text("mechanism", "Mechanism"),
                text("player", "Proposer"),
                share("estimate", "Share"),
                share("se", "SE over runs"),
                count("n", "Runs"),
            ],
            approved,
        ),
        Table(
            "signing",
            "Signing and delegating by agent",
            [
                text("mechanism", "Mechanism"),
                text("player", "Agent"),
                share("estimate", "Share"),
                share("se", "SE over runs"),
                count("n", "Runs"),
            ],
            signed,
        ),
    ]
    bars = [
        charts.figure(
            "bars",
            "largest",
            "Largest number of approvals",
            largest,
            y="game",
            colour="approvals",
            facet="mechanism",
            stacked=True,
            titles={"x": "Share of matches"},
            formats={"x": "%"},
            order={"colour": sorted({row["approvals"] for row in largest}, key=int)},
        ),
        _bars_with_errors("adopted", "Matches in which all sign or delegate", adopted, "game"),
    ]
    bars += [_bars_with_errors("approvals", "Approvals by proposer", approved, "player")] if approved else []
    bars += [_bars_with_errors("signing", "Signing and delegating by agent", signed, "player")] if signed else []
    return Result(tables, bars)


def _bars_with_errors(name: str, title: str, rows: Sequence[Mapping[str, Any]], y: str) -> Any:
    drawn = with_se_bounds(rows)
    return charts.figure(
        "bars", name, f"{title} ± SE", drawn, y=y, facet="mechanism", titles={"x": "Share"}, formats={"x": "%"}
    )


def _over_runs(values: Mapping[tuple[str, str], Mapping[Any, Sequence[float]]]) -> list[dict[str, Any]]:
    """Return rows with the mean over runs of each run's mean, from {(mechanism, player): {run: values}}."""
    return [
        {
            "mechanism": readable_name(mechanism),
            "player": player,
            **mean_and_se([sum(subset) / len(subset) for subset in runs.values()]),
        }
        for (mechanism, player), runs in sorted(values.items())
    ]


def _approvals(data: Data) -> list[dict[str, Any]]:
    proposers = {(row["match"], row["role"]): row["player"] for row in moves(data, "propose").to_dict("records")}
    values: dict[tuple[str, str], dict[Any, list[float]]] = {}
    for row in moves(data, "approve").to_dict("records"):
        for name, approved in (row["move"].get("approve") or {}).items():
            proposer = proposers.get((row["match"], f"p{name[1:]}"))
            if proposer is not None:
                runs = values.setdefault((row["mechanism"], proposer), {})
                runs.setdefault(row["repetition"], []).append(float(bool(approved)))
    return _over_runs(values)


def _signatures(data: Data) -> list[dict[str, Any]]:
    values: dict[tuple[str, str], dict[Any, list[float]]] = {}
    for row in moves(data, "sign").to_dict("records"):
        runs = values.setdefault((row["mechanism"], row["player"]), {})
        runs.setdefault(row["repetition"], []).append(float(bool(row["move"].get("sign"))))
    if data.has("rounds", "match", "role", "delegated"):
        delegations = with_tournament(data, data.table("rounds", ["match", "role", "delegated"]))
        delegations = delegations[(delegations["mechanism"] == "mediation") & delegations["delegated"].notna()]
        for row in delegations.to_dict("records"):
            runs = values.setdefault(("mediation", row["player"]), {})
            runs.setdefault(row["repetition"], []).append(float(row["delegated"]))
    return _over_runs(values)


# ---- designs -------------------------------------------------------------------------------------------


def designs(data: Data, options: Options) -> Result:
    """Return the share of proposals that make cooperation stable or weakly dominant, by proposer."""
    designs_by_player: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for row in moves(data, "propose").to_dict("records"):
        design = design_quality(row["game"], row["move"].get("contract"), row["move"].get("mediator"))
        if design["ns"] is not None:
            by_game = designs_by_player.setdefault((row["mechanism"], row["player"]), {})
            by_game.setdefault(row["game"], []).append(design)
    if not designs_by_player:
        raise SkippedError("No contract or mediator was proposed in a game with a cooperative outcome.")
    results = []
    for (mechanism, player), games in sorted(designs_by_player.items()):
        for criterion, title in (("ns", "stable (Nash)"), ("wd", "weakly dominant")):
            per_game = [sum(design[criterion] for design in subset) / len(subset) for subset in games.values()]
            results.append(
                {
                    "mechanism": readable_name(mechanism),
                    "player": player,
                    "criterion": title,
                    **mean_and_se(per_game),
                    "proposals": sum(len(subset) for subset in games.values()),
                    "published": PUBLISHED_DESIGNS.get((mechanism, criterion)),
                }
            )
    table = Table(
        "designs",
        "Sound proposals by proposer",
        [
            text("mechanism", "Mechanism"),
            text("player", "Proposer"),
            text("criterion", "Cooperation is"),
            share("estimate", "Share"),
            share("se", "SE over games"),
            count("n", "Games"),
            count("proposals", "Proposals"),
            text("published", "Published, % (Claude, Gemini-R, Gemini-B, GPT-5.2, GPT-4o, Qwen)"),
        ],
        results,
    )
    drawn = with_se_bounds(results)
    figure = charts.figure(
        "bars",
        "designs",
        "Sound proposals by proposer ± SE over games",
        drawn,
        y="player",
        colour="criterion",
        facet="mechanism",
        titles={"x": "Share of proposals"},
        formats={"x": "%"},
    )
    return Result(
        [table],
        [figure],
        {
            f"{r['mechanism']}.{r['player']}.{r['criterion']}": {k: r[k] for k in ("estimate", "se", "n")}
            for r in results
        },
    )


# ---- reasons -------------------------------------------------------------------------------------------

LABELS: Mapping[str, str] = {
    "individual_utility": "individual utility",
    "equilibrium": "equilibrium",
    "social_welfare": "social welfare",
    "inequity_aversion": "inequity aversion",
    "reciprocity": "reciprocity",
    "strategic_influence": "influence",
    "trust": "trust",
    "competitiveness": "competitiveness",
    "uncertainty": "uncertainty",
    "social_norms": "social norms",
    "misunderstanding": "misunderstanding",
    "exploration": "exploration",
    "risk_aversion": "risk aversion",
    "legibility": "legibility",
    "multidimensional": "several dimensions",
}
PUBLISHED_REASONS: Mapping[str, float] = {
    "individual_utility": 0.795,
    "equilibrium": 0.702,
    "strategic_influence": 0.491,
    "uncertainty": 0.327,
}
"""Published shares of 38,350 reasonings."""
LABELS_FILE = "labels.csv"
PREFIX = "label_"


def reasons(data: Data, options: Options) -> Result:
    """Return the share of reasonings with each label."""
    rows = labelled(data)
    rows["game"] = [readable_name(name) for name in rows["game"]]
    rows["mechanism"] = [readable_name(name) for name in rows["mechanism"]]
    names = [name for name in rows.columns if name.startswith(PREFIX)]
    results = []
    for by, title in (("", "all"), ("mechanism", "mechanism"), ("player", "agent"), ("game", "base game")):
        for level, subset in rows.groupby(by, sort=True) if by else [("all", rows)]:
            for name in names:
                key = name.removeprefix(PREFIX)
                judgements = subset[name].dropna()
                results.append(
                    {
                        "by": title,
                        "level": level,
                        "label": LABELS.get(key, key.replace("_", " ")),
                        **proportion(int(judgements.sum()), len(judgements), level=options.level),
                        "published": PUBLISHED_REASONS.get(key) if not by else None,
                    }
                )
    table = Table(
        "labels",
        "Reasonings with each label",
        [
            text("by", "By"),
            text("level", "Level"),
            text("label", "Label"),
            *WILSON,
            count("n", "Reasonings"),
            share("published", "Published"),
        ],
        results,
        note="Labels assigned by the first judge; a reasoning may have several labels.",
    )
    figures = [
        charts.figure(
            "dots",
            "labels",
            "Share of reasonings with each label",
            [r for r in results if r["by"] == "all"],
            y="label",
            titles={"x": "Share"},
            formats={"x": "%"},
        )
    ]
    for title in ("mechanism", "agent", "base game"):
        subset = [row for row in results if row["by"] == title]
        if len({row["level"] for row in subset}) > 1:
            figures.append(
                charts.figure(
                    "heat_map",
                    title.replace(" ", "_"),
                    f"Share of reasonings with each label, by {title}",
                    subset,
                    x="level",
                    y="label",
                    titles={"colour": "Share"},
                )
            )
    return Result(
        [table],
        figures,
        {
            row["label"]: {k: row.get(k) for k in ("estimate", "low", "high", "n")}
            for row in results
            if row["by"] == "all"
        },
    )


def labelled(data: Data) -> pd.DataFrame:
    """Return the judged reasonings of the dataset's matches, with labels as booleans."""
    import pandas as pd

    records: list[dict[str, Any]] = []
    for folder in data.folders:
        path = folder.path / LABELS_FILE
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                records += [row for row in csv.DictReader(file) if row.get("judge_number", "1") in ("1", "")]
    if not records:
        raise SkippedError("The reasonings have not been labelled: the dataset's folder has no labels.csv.")
    rows = pd.DataFrame(records)
    for name in [name for name in rows.columns if name.startswith(PREFIX)]:
        rows[name] = rows[name].str.upper().map({"TRUE": True, "FALSE": False, "1": True, "0": False}).astype("boolean")
    rows = rows[rows["match"].isin(set(data.column("matches", "match")))].reset_index(drop=True)
    return with_tournament(data, rows)


OF_DECISIONS = {"matches": MATCH_COLUMNS, "decisions": DECISIONS}

ANALYSES = [
    Analysis(
        id="coopeval.actions",
        title="Actions (CoopEval, figures 8 and 9)",
        question="Which actions are played?",
        method="Mean stated probability of each action over decisions; realised shares over rounds and seats.",
        run=actions,
        games=GAMES,
        columns={**OF_DECISIONS, "rounds": ["match", "role", "action"]},
    ),
    Analysis(
        id="coopeval.reactions",
        title="Reciprocity (CoopEval, figures 10 to 13)",
        question="Do agents reciprocate?",
        method="Realised action given each current co-player's action in the previous round; Wilson intervals.",
        run=reactions,
        games=GAMES,
        columns={"matches": MATCH_COLUMNS, "rounds": ["match", "round", "role", "group", "action"]},
    ),
    Analysis(
        id="coopeval.votes",
        title="Adoption (CoopEval, figures 14 to 17)",
        question="Are mechanisms adopted?",
        method="Largest number of approvals per match; share of matches in which all sign or delegate; approval rates "
        "by proposer; rates of signing and delegating by agent; standard errors over runs.",
        run=votes,
        games=GAMES,
        columns={
            "matches": [*MATCH_COLUMNS, "winner_approvals", "contract_active", "delegation_rate"],
            "decisions": DECISIONS,
        },
    ),
    Analysis(
        id="coopeval.designs",
        title="Designs (CoopEval, figure 18)",
        question="Are designs sound?",
        method="Stable: no one gains from a unilateral deviation from the target (all cooperate, or all delegate to a "
        "mediator that then cooperates). Weakly dominant: the target is never worse than any alternative, and better "
        "at least once. Tolerance 1e-9; mean ± SE over games. Every match has its own proposals, whereas the paper "
        "reused proposals.",
        run=designs,
        games=GAMES,
        columns=OF_DECISIONS,
    ),
    Analysis(
        id="coopeval.reasons",
        title="Reasons (CoopEval, figures 2 and 4 to 7)",
        question="What reasons do agents give?",
        method="Share of reasonings with each of a judge's labels, overall and by mechanism, agent and base game; "
        "Wilson intervals; dot plots replace the paper's radar charts.",
        run=reasons,
        games=GAMES,
        columns={"matches": MATCH_COLUMNS},
    ),
]
