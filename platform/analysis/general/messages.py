"""general.messages: how much players write."""

from __future__ import annotations

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, players_of, quantiles, shares, with_dependence
from analysis.options import Options
from analysis.results import Analysis, Result
from analysis.tables import Chart, Table, count, number, share, text

QUANTILES = {"low": 0.1, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.9}
DRAWN = ("Words per message", "Words per match")


def run(data: Data, options: Options) -> Result:
    """Return words and characters per message and per match by player, and the share of silent seats."""
    messages = data.table("messages", ["match", "role", "words", "characters"])
    if not len(messages):
        raise SkippedError("The dataset has no messages.")
    messages["player"] = players_of(data, messages)
    seats = with_dependence(data, _seats(data, messages))
    parts = [
        _lengths(data, rows, column).assign(measure=measure)
        for measure, rows, column in (
            ("Words per message", messages, "words"), ("Characters per message", messages, "characters"),
            ("Words per match", seats, "words"), ("Messages per match", seats, "sent"),
        )
    ]  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    lengths = Table(
        "lengths", "Length of messages",
        [text("measure", "Measure"), "player", "n", number("mean", "Mean"), number("low", "10 %"), "q1", "median", "q3",
         number("high", "90 %")],
        rows,
        charts=[Chart("boxes", name="words", title="Words written", y="player", facet="measure", titles={"x": "Words"},
                    rows=rows[rows["measure"].isin(DRAWN)], players=data.players)],
    )  # fmt: skip
    silent = Table(
        "silent", "Matches without a message from the player",
        ["player", count("n", "Seats"), count("silent", "Silent"), share("estimate", "Share"), "low", "high", "note"],
        _in_order(data, shares(seats, ["player"], "silent", level=options.level).rename(columns={"number": "silent"})),
    )  # fmt: skip
    numbers = {f"{row['player']}: {row['measure'].lower()}": {"estimate": row["mean"], "n": row["n"]}
               for row in lengths.records}  # fmt: skip
    return Result([lengths, silent], numbers=numbers, n={"messages": len(messages)})


def _lengths(data: Data, rows: pd.DataFrame, column: str) -> pd.DataFrame:
    means = rows.astype({column: "float64"}).groupby("player")[column].mean().rename("mean")
    return _in_order(data, quantiles(rows, ["player"], column, QUANTILES).join(means, on="player"))


def _in_order(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("player", key=lambda names: names.map(data.players.index))


def _seats(data: Data, messages: pd.DataFrame) -> pd.DataFrame:
    """Return every seat in matches with messages: its player, messages and words sent, and whether it was silent."""
    players = data.players_by_role.set_axis(data.column("matches", "match"))
    seats = players.rename_axis("match").reset_index().melt("match", var_name="role", value_name="player").dropna()
    sent = messages.groupby(["match", "role"])["words"].agg(sent="size", words="sum")
    seats = seats[seats["match"].isin(messages["match"])].join(sent, on=["match", "role"])
    seats = seats.fillna({"sent": 0, "words": 0})
    return seats.assign(silent=(seats["sent"] == 0).astype("float64"))


ANALYSES = [
    Analysis(
        id="general.messages",
        title="Messages",
        question="How much do players write, and which players stay silent?",
        method="Quantiles per message and per match; in matches with messages, the share of silent seats, with Wilson "
        f"intervals over independent units. {UNITS}",
        columns={"messages": ["match", "role", "words", "characters"]},
        run=run,
    )
]
