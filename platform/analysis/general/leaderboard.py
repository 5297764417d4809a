"""general.leaderboard: strengths and ranks of agents in games that rate them, effects of seats, direct comparisons."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import estimates, players_of, with_dependence
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, share, text
from analysis.toolbox.bradley_terry import PENALISED, SEAT_EFFECT, bradley_terry, enough_of_each
from games import registry
from games.errors import UnknownGame

ALL_CONFIGURATIONS = "all configurations"


def _applies(data: Data) -> str:
    measure = _measure(data)
    if not measure:
        return "The game does not rate its players."
    return "" if data.has("seats", measure) else f"The table seats has no column {measure}."


@analysis(
    "general.leaderboard", "Leaderboard of agents", "Which agents are stronger, and how certain is their order?",
    "Bradley–Terry strengths from all pairs of a match's seats, by maximum likelihood, with effects of seats "
    "in each configuration; intervals from leaving out one independent unit at a time (jackknife, t), those of "
    "ranks by bootstrap over units, which keep matches with one seed together. Direct comparisons: Wilson's "
    "interval with n divided by the design effect.",
    needs="agents", columns={"matches": ["match", "player_*"], "seats": ["match", "role"]}, applies=_applies,
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    measure = _measure(data)
    seats = _seats(data, measure)
    matches = [
        [*zip(rows["player"], rows["score"], strict=True)] for _match, rows in seats.groupby("match", sort=False)
    ]
    of_match = seats.drop_duplicates("match")
    configurations, warnings = enough_of_each(of_match["configuration"].tolist()), []
    if configurations is None:
        number_of = of_match["configuration"].nunique()
        warnings.append(f"Seats have the same effect in all {number_of} configurations: there are few matches of each.")
    rated = bradley_terry(matches, configuration=configurations, cluster=of_match["cluster"].tolist(),
                          draws=options.draws, seed=options.seed, level=options.level)  # fmt: skip
    effect = rated.pop(SEAT_EFFECT)
    if all(row["rank"] is None for row in rated.values()):
        raise SkippedError("No two agents played against each other.")
    strengths = _strengths(rated)
    about = f"Score: {data.heading(measure, 'seats').lower()}."
    table = Table(
        "strengths", "Strength of agents",
        [count("rank", "Rank"), text("ranks", "Rank, interval"), "player", number("estimate", "Strength"), "low",
         "high", count("n", "Matches"), "clusters", "note"],
        strengths,
        note=f"{about} The odds of scoring more than another agent are exp(difference of strengths); their mean is 0. "
        + (f"Here {PENALISED}." if any(row["note"] == PENALISED for row in rated.values()) else ""),
        charts=[Chart("dots", title="Strength of agents", y="player", line=0)] if strengths["estimate"].notna().any()
        else [],
    )  # fmt: skip
    tables = [table, _direct(seats, [*strengths["player"]], options)]
    if effect["estimate"] is not None:
        by_configuration = [{"where": name, "estimate": found} for name, found in effect["configurations"].items()]
        rows = [{**effect, "where": ALL_CONFIGURATIONS}, *(by_configuration if len(by_configuration) > 1 else [])]
        tables.append(Table(
            "seats", "Effect of the first seat",
            [text("where", "Configuration"), number("estimate", "Log-odds"), "low", "high", "note"], rows,
            note="Against the mean of the other seats, between agents of the same strength.",
        ))  # fmt: skip
    named: dict[str, Any] = table.numbers("{player}")
    named |= {f"rank of {row['player']}": {"estimate": row["rank"], "low": row["rank_low"], "high": row["rank_high"]}
              for row in table.records}  # fmt: skip
    named["first seat"] = {key: effect[key] for key in ("estimate", "low", "high", "note")}
    return Result(tables, numbers=named, warnings=warnings)


def _measure(data: Data) -> str:
    """Return the seats' column that rates agents in the dataset's game; "" if there is none."""
    try:
        return registry.get(data.games[0]).rated_by if len(data.games) == 1 else ""
    except UnknownGame:
        return ""


def _seats(data: Data, measure: str) -> pd.DataFrame:
    """Return the seats with a score in order: match, player, score, configuration, cluster and replay."""
    frame = data.table("seats", ["match", "role", measure]).rename(columns={measure: "score"})
    frame["player"] = players_of(data, frame)
    of_matches = data.table("matches", ["match", *data.varying])
    names = [f"{data.heading(name)} {{}}".format for name in data.varying]
    words = [of_matches[name].astype("object").map(name_of, na_action="ignore").fillna("")
             for name, name_of in zip(data.varying, names, strict=True)]  # fmt: skip
    configuration = pd.concat(words, axis=1).agg(", ".join, axis=1) if words else pd.Series("", of_matches.index)
    frame["configuration"] = frame["match"].map(configuration.set_axis(of_matches["match"]))
    place = {role: index for index, role in enumerate(data.roles)}
    frame = frame[frame["score"].notna() & frame["player"].notna()].astype({"score": "float64"})
    order = {match: index for index, match in enumerate(dict.fromkeys(frame["match"]))}
    frame = frame.sort_values(
        ["match", "role"], key=lambda column: column.map(place if column.name == "role" else order)
    )
    return with_dependence(data, frame).reset_index(drop=True)


def _strengths(rated: dict[str, dict[str, Any]]) -> pd.DataFrame:
    rows = [
        {"player": player, "estimate": found["strength"], **found,
         "note": found["note"] if found["low"] is None else "",
         "ranks": "–" if found["rank_low"] is None else f"{found['rank_low']} to {found['rank_high']}"}
        for player, found in rated.items()
    ]  # fmt: skip
    return pd.DataFrame(rows).sort_values(["rank", "player"], na_position="last").reset_index(drop=True)


def _direct(seats: pd.DataFrame, players: list[str], options: Options) -> Table:
    """Return the share of direct comparisons that each agent won against each other; equal scores count half."""
    pairs = [
        {"player": one["player"], "other": two["player"], "cluster": one["cluster"], "replay": one["replay"],
         "won": 0.5 if one["score"] == two["score"] else float(one["score"] > two["score"])}
        for _match, rows in seats.groupby("match", sort=False)
        for one, two in permutations(rows.to_dict("records"), 2) if one["player"] != two["player"]
    ]  # fmt: skip
    frame = pd.DataFrame(pairs)
    found = estimates(frame, ["player", "other"], "won", share=True, level=options.level)
    place = {player: index for index, player in enumerate(players)}
    found = found.sort_values(["player", "other"], key=lambda column: column.map(place), kind="stable")
    return Table(
        "head_to_head", "Share of matches in which the agent scored more than the other",
        ["player", text("other", "Other"), share("estimate", "Share"), "low", "high", "n", "clusters", "note"],
        found.reset_index(drop=True), note="Equal scores count half.",
        charts=[Chart("heat_map", title="Share of matches in which the row's agent scored more", x="other", y="player",
                      centre=0.5, formats={"colour": ".0%"}, titles={"x": "Other", "y": "Agent", "colour": "Share"},
                      order={"x": players, "y": players})],
    )  # fmt: skip


ANALYSES = [run]
