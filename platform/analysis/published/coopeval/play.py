"""Actions, votes, designs and reasons (figures 2, 4 to 18)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, by_group, distribution, grouped, players_of, share_of, with_dependence
from analysis.options import Options
from analysis.published.coopeval import printed
from analysis.published.coopeval.measures import design_quality
from analysis.published.coopeval.tournaments import (
    GAME,
    MECHANISM,
    REFERENCES,
    REPUTATION,
    file_name,
    of_dilemmas,
    over_means,
    readable,
)
from analysis.results import Result
from analysis.tables import Chart, Table, count, share, text

DECISIONS = ["match", "role", "round", "phase", "move"]
MATCH_COLUMNS = ["match", "repetition", "config_base_game", "config_mechanism"]
NO_HISTORY = "no history"
OF_DECISIONS = {"matches": MATCH_COLUMNS, "decisions": DECISIONS}


def moves(data: Data, phase: str) -> pd.DataFrame:
    """Return the parsed moves of a phase, with player, repetition, base game and mechanism."""
    rows = data.table("decisions", DECISIONS)
    rows = rows[rows["phase"] == phase].reset_index(drop=True)
    parsed: list[Any] = [json.loads(move) if isinstance(move, str) else {} for move in rows["move"]]
    return with_tournament(data, rows.assign(move=parsed))


def with_tournament(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    """Add the player, base game, mechanism and run to rows with `match` and `role`."""
    matches = data.table("matches", MATCH_COLUMNS).set_index("match")
    rows = rows.assign(player=players_of(data, rows))
    rows = rows.join(matches.rename(columns={"config_base_game": "game", "config_mechanism": "mechanism"}), on="match")
    return rows[rows["player"].notna() & rows["mechanism"].notna()].reset_index(drop=True)


def _shares(data: Data, rows: pd.DataFrame, by: list[str], of: str, level: float) -> pd.DataFrame:
    """Return how often each value of a column occurs within each group, with its share over independent units."""
    found = distribution(with_dependence(data, rows), by, of, level=level)
    return found[found["k"] > 0].reset_index(drop=True)


@of_dilemmas(
    "coopeval.actions", "Actions (CoopEval, figures 8 and 9)", "Which actions are played?",
    "Mean stated probability of each action over decisions; realised shares over rounds and seats.",
    columns={**OF_DECISIONS, "rounds": ["match", "role", "action"]},
)  # fmt: skip
def actions(data: Data, options: Options) -> Result:
    acts = moves(data, "act")
    if not len(acts):
        raise SkippedError("The decisions have no phase “act”.")
    by = ["game", "mechanism"]
    stated = pd.DataFrame([
        {"game": game, "mechanism": mechanism, "action": action, "probability": probability}
        for game, mechanism, move in zip(acts["game"], acts["mechanism"], acts["move"], strict=True)
        for action, probability in probabilities(move).items()
    ], columns=[*by, "action", "probability"])  # fmt: skip
    decisions = acts.groupby(by).size().rename("n")
    rounds = with_tournament(data, data.table("rounds", ["match", "role", "action"]))
    realised = rounds.groupby(by)["action"].value_counts(normalize=True).rename("realised")
    sums = stated.groupby([*by, "action"])["probability"].agg(sum)
    found = pd.concat([sums, realised], axis=1).reset_index().join(decisions, on=by)
    known = found.groupby(by)[["probability", "realised"]].transform("count") > 0
    is_delegated = found["action"] == "delegate"
    found = found.fillna({"probability": 0.0, "realised": 0.0}).assign(
        estimate=lambda found: found["probability"] / found["n"], delegated=is_delegated,
        realised=lambda found: found["realised"].where(known["realised"] & ~is_delegated),
    )[known["probability"]].sort_values([*by, "delegated", "action"])  # fmt: skip
    table = Table(
        "actions", "Actions by base game and mechanism",
        [GAME, MECHANISM, text("action", "Action"), share("estimate", "Stated"), share("realised", "Realised"),
         count("n", "Decisions")],
        readable(found[[*by, "action", "estimate", "realised", "n"]].astype({"n": "int64"})),
        note="Stated: mean stated probability. Realised: share of actions after randomisation and after the mediator "
        "acted for those who delegated.",
        charts=[Chart("bars", title="Stated probability of each action", y="mechanism", colour="action", facet="game",
                      stacked=True, titles={"x": "Mean stated probability"},
                      order={"colour": sorted(set(found["action"]), key=lambda name: (name == "delegate", name))})],
    )  # fmt: skip
    return Result([table])


def probabilities(move: Mapping[str, Any]) -> dict[str, float]:
    """Return the stated probability of each action."""
    if isinstance(move.get("percentages"), Mapping):
        return {name: value / 100 for name, value in move["percentages"].items()}
    return {str(move["action"]): 1.0} if "action" in move else {}


@of_dilemmas(
    "coopeval.reactions", "Reciprocity (CoopEval, figures 10 to 13)", "Do agents reciprocate?",
    f"Realised action given each current co-player's action in the previous round; intervals over units. {UNITS}",
    columns={"matches": MATCH_COLUMNS, "rounds": ["match", "round", "role", "group", "action"]},
)  # fmt: skip
def reactions(data: Data, options: Options) -> Result:
    columns = ["match", "round", "role", "group", "action"]
    rows = with_tournament(data, data.table("rounds", columns))
    rows = rows[rows["mechanism"].isin(["repetition", *REPUTATION])]
    if not len(rows):
        raise SkippedError("No match had several rounds, so there are no previous actions to react to.")
    found = readable(_shares(data, reacting(rows), ["mechanism", "game", "player", "after"], "action", options.level))
    charts = [
        Chart("bars", name=file_name(mechanism), y="where", colour="action", facet="game",
              title=f"Actions after a co-player's previous action: {mechanism}", stacked=True,
              rows=of_mechanism.assign(where=of_mechanism["player"] + ", " + of_mechanism["after"]),
              order={"colour": sorted(set(of_mechanism["action"]))})
        for mechanism, of_mechanism in grouped(found, "mechanism", sort=False)
    ]  # fmt: skip
    table = Table(
        "reactions", "Actions after a co-player's previous action",
        [MECHANISM, GAME, text("player", "Agent"), text("after", "After"), text("action", "Action"),
         count("k", "Times"), share("estimate", "Share"), "low", "high", count("n", "of"), "clusters", "note"],
        found, note="In games with three seats, each co-player counts separately.", charts=charts,
    )  # fmt: skip
    return Result([table])


def reacting(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each action `after` each co-player's previous action: what a current co-player did in the previous round.

    The previous round may have been in any group; an action is after "no history" if no co-player has such a round.
    """
    rows = rows.astype({"action": "str"}).reset_index(names="act")
    met = rows[["match", "round", "group", "role"]]
    pairs = rows.merge(met, on=["match", "round", "group"], suffixes=("", "_met"))
    pairs = pairs[pairs["role"] != pairs["role_met"]]
    before = rows[["match", "round", "role", "action"]].assign(round=rows["round"] + 1)
    before = before.rename(columns={"role": "role_met", "action": "after"})
    pairs = pairs.merge(before, on=["match", "round", "role_met"])
    pairs = pairs.assign(after="after " + pairs["after"])
    return pd.concat([pairs, rows[~rows["act"].isin(pairs["act"])].assign(after=NO_HISTORY)])


@of_dilemmas(
    "coopeval.votes", "Adoption (CoopEval, figures 14 to 17)", "Are mechanisms adopted?",
    "Largest number of approvals per match; share of matches in which all sign or delegate; approval rates "
    "by proposer; rates of signing and delegating by agent; standard errors over runs, intervals of shares of "
    f"matches over units. {UNITS}",
    columns={**OF_DECISIONS,
             "matches": [*MATCH_COLUMNS, "winner_approvals", "contract_active", "delegation_rate"]},
)  # fmt: skip
def votes(data: Data, options: Options) -> Result:
    rows = data.table("matches", [*MATCH_COLUMNS, "winner_approvals", "contract_active", "delegation_rate"])
    rows = rows.rename(columns={"config_base_game": "game", "config_mechanism": "mechanism"})
    rows = rows[rows["mechanism"].isin(["mediation", "contract"])]
    if not len(rows):
        raise SkippedError("No match had a mediator or a contract.")
    delegated = rows["delegation_rate"].astype("float64") >= 1
    is_unanimous = rows["contract_active"].astype("boolean").where(rows["mechanism"] == "contract", delegated)
    rows = rows.assign(value=is_unanimous.fillna(False).astype(float).where(rows["repetition"].notna()))
    with_winner = rows[rows["winner_approvals"].notna()].astype({"winner_approvals": "int64"})
    largest = _shares(data, with_winner.rename(columns={"winner_approvals": "approvals"}), ["mechanism", "game"],
                      "approvals", options.level).astype({"approvals": "str"})  # fmt: skip
    titles = {"x": "Share of matches"}
    tables = [Table(
        "largest", "Largest number of approvals",
        [MECHANISM, GAME, text("approvals", "Approvals"), count("k", "Matches"), share("estimate", "Share"), "low",
         "high", count("n", "of"), "note"],
        readable(largest),
        charts=[Chart("bars", y="game", colour="approvals", facet="mechanism", stacked=True, titles=titles,
                      order={"colour": sorted(set(largest["approvals"]), key=int)})],
    )]  # fmt: skip
    for name, title, who, of_matches in (
        ("adopted", "Matches in which all sign or delegate", GAME, rows),
        ("approvals", "Approvals of proposals, by proposer", text("player", "Proposer"), _approvals(data)),
        ("signing", "Signing and delegating by agent", text("player", "Agent"), _signatures(data)),
    ):
        found = by_group(of_matches, ["mechanism", who.name], lambda rows: over_means(rows, "value", "repetition"))
        drawn = title.replace(" of proposals,", "")
        tables.append(Table(
            name, title, [MECHANISM, who, share("estimate", "Share"), share("se", "SE over runs"), count("n", "Runs")],
            readable(found),
            charts=[Chart("bars", title=f"{drawn} ± SE", y=who.name, facet="mechanism", se="se")] * bool(len(found)),
        ))  # fmt: skip
    return Result(tables)


def _approvals(data: Data) -> pd.DataFrame:
    """Return whether each proposal was approved by each voter: mechanism, player (the proposer), repetition, value."""
    proposed = moves(data, "propose")
    proposers = dict(zip(zip(proposed["match"], proposed["role"], strict=True), proposed["player"], strict=True))
    voted = moves(data, "approve")
    # Votes without a run stand alone.
    runs = [-1 - index if pd.isna(run) else run for index, run in enumerate(voted["repetition"].tolist())]
    of_vote = zip(voted["match"], voted["mechanism"], runs, voted["move"], strict=True)
    votes = [
        (mechanism, proposer, run, float(bool(approved)))
        for match, mechanism, run, move in of_vote
        for name, approved in (move.get("approve") or {}).items()
        if (proposer := proposers.get((match, f"p{name[1:]}"))) is not None
    ]
    return pd.DataFrame(votes, columns=["mechanism", "player", "repetition", "value"])


def _signatures(data: Data) -> pd.DataFrame:
    """Return whether each player signed, or delegated in a round: mechanism, player, repetition, value."""
    signed = moves(data, "sign")
    parts = [signed.assign(value=[float(bool(move.get("sign"))) for move in signed["move"]])]
    if data.has("rounds", "match", "role", "delegated"):
        rounds = with_tournament(data, data.table("rounds", ["match", "role", "delegated"]))
        rounds = rounds[(rounds["mechanism"] == "mediation") & rounds["delegated"].notna()]
        parts.append(rounds.assign(value=rounds["delegated"].astype("float64")))
    return pd.concat([part[["mechanism", "player", "repetition", "value"]] for part in parts], ignore_index=True)


CRITERIA = {"ns": "stable (Nash)", "wd": "weakly dominant"}


@of_dilemmas(
    "coopeval.designs", "Designs (CoopEval, figure 18)", "Are designs sound?",
    "Stable: no one gains from a unilateral deviation from the target (all cooperate, or all delegate to a "
    "mediator that then cooperates). Weakly dominant: the target is never worse than any alternative, and better "
    "at least once. Tolerance 1e-9; mean ± SE over games. Every match has its own proposals, whereas the paper "
    "reused proposals.",
    columns=OF_DECISIONS,
)  # fmt: skip
def designs(data: Data, options: Options) -> Result:
    proposed = moves(data, "propose")
    quality = [design_quality(game, move.get("contract"), move.get("mediator"))
               for game, move in zip(proposed["game"], proposed["move"], strict=True)]  # fmt: skip
    proposed = proposed.join(pd.DataFrame(quality, proposed.index, [*CRITERIA], dtype="object"))
    proposed = proposed[proposed["ns"].notna()].astype(dict.fromkeys(CRITERIA, "float64"))
    dilemmas = proposed["game"].isin(REFERENCES)
    proposed = proposed[dilemmas] if dilemmas.any() else proposed
    if not len(proposed):
        raise SkippedError("No contract or mediator was proposed in a game with a cooperative outcome.")
    judged = proposed.melt(["mechanism", "player", "game"], [*CRITERIA], "criterion", "sound")
    found = by_group(judged, ["mechanism", "player", "criterion"],
                     lambda rows: {**over_means(rows, "sound", "game"), "proposals": len(rows)})  # fmt: skip
    keys = pd.Series([*zip(found["mechanism"], found["criterion"], strict=True)], index=found.index)
    table = Table(
        "designs", "Sound proposals by proposer",
        [MECHANISM, text("player", "Proposer"), text("criterion", "Cooperation is"), share("estimate", "Share"),
         share("se", "SE over games"), count("n", "Games"), count("proposals", "Proposals"),
         text("published", f"Published, % ({', '.join(printed.MODELS.values())})")],
        readable(found.assign(criterion=found["criterion"].map(CRITERIA), published=keys.map(printed.DESIGNS))),
        charts=[Chart("bars", title="Sound proposals by proposer ± SE over games", y="player", colour="criterion",
                      facet="mechanism", se="se", titles={"x": "Share of proposals"})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{mechanism}.{player}.{criterion}"))


LABELS: Mapping[str, str] = {"strategic_influence": "influence", "multidimensional": "several dimensions"}
"""Names of labels that are not just the judge's."""
LABELS_FILE = "labels.csv"
PREFIX = "label_"
BY = {"mechanism": "mechanism", "player": "agent", "game": "base game"}


@of_dilemmas(
    "coopeval.reasons", "Reasons (CoopEval, figures 2 and 4 to 7)", "What reasons do agents give?",
    "Share of reasonings with each of a judge's labels, overall and by mechanism, agent and base game; "
    f"intervals over units; dot plots replace the paper's radar charts. {UNITS}",
    columns={"matches": MATCH_COLUMNS},
)  # fmt: skip
def reasons(data: Data, options: Options) -> Result:
    rows = readable(with_dependence(data, labelled(data)))
    found = pd.DataFrame([*_label_shares(rows, options)])
    charts = [Chart("dots", title="Share of reasonings with each label", y="label", titles={"x": "Share"},
                    rows=found[found["by"] == "all"])]  # fmt: skip
    for name, title in BY.items():
        if rows[name].nunique() > 1:
            charts.append(Chart("heat_map", name=title.replace(" ", "_"), x="level", y="label",
                                title=f"Share of reasonings with each label, by {title}",
                                rows=found[found["by"] == title], titles={"x": "", "y": ""}))  # fmt: skip
    table = Table(
        "labels", "Reasonings with each label",
        [text("by", "By"), "level", text("label", "Label"), share("estimate", "Share"), "low", "high",
         count("n", "Reasonings"), "clusters", share("published", "Published"), "note"],
        found, note="Labels assigned by the first judge; a reasoning may have several labels.", charts=charts,
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{label}", table.frame["by"] == "all"))


def _label_shares(rows: pd.DataFrame, options: Options) -> Iterator[dict[str, Any]]:
    """Yield the share of reasonings with each label: of all, and by mechanism, agent and base game."""
    groups = [
        ("all", "all", rows),
        *((title, level, of) for name, title in BY.items() for level, of in grouped(rows, name)),
    ]
    for title, level, subset in groups:
        for name in _labels(rows):
            key, judged = name.removeprefix(PREFIX), subset[subset[name].notna()]
            yield {"by": title, "level": level, "label": LABELS.get(key, key.replace("_", " ")),
                   **share_of(judged.astype({name: "float64"}), name, level=options.level),
                   "published": printed.REASONS.get(key) if title == "all" else None}  # fmt: skip


def _labels(rows: pd.DataFrame) -> list[str]:
    return [str(name) for name in rows if str(name).startswith(PREFIX)]


def labelled(data: Data) -> pd.DataFrame:
    """Return the judged reasonings of the dataset's matches, with labels as booleans."""
    paths = [path for folder in data.folders if (path := folder.path / LABELS_FILE).is_file()]
    if not paths:
        raise SkippedError("The reasonings have not been labelled: the dataset's folder has no labels.csv.")
    rows = pd.concat([pd.read_csv(path, dtype="str", keep_default_na=False) for path in paths], ignore_index=True)
    if "judge_number" in rows:
        rows = rows[rows["judge_number"].fillna("1").isin(["1", ""])]
    truth = {"TRUE": True, "FALSE": False, "1": True, "0": False}
    rows = rows.assign(**{name: rows[name].str.upper().map(truth).astype("boolean")
                          for name in _labels(rows)})  # fmt: skip
    return with_tournament(data, rows[rows["match"].isin(data.column("matches", "match"))].reset_index(drop=True))
