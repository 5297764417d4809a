"""general.messages: how much players write."""

from __future__ import annotations

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, estimates, players_of, quantiles, shares, with_dependence
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, share, text

QUANTILES = {"p10": 0.1, "q1": 0.25, "median": 0.5, "q3": 0.75, "p90": 0.9}
DRAWN = ("Words per message", "Words per match")


@analysis(
    "general.messages", "Messages", "How much do players write, and which players stay silent?",
    "Means (CR3) and quantiles per message and per match; in matches with messages, the share of silent "
    f"seats, with Wilson intervals over independent units. {UNITS}",
    columns={"messages": ["match", "role", "words", "characters"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    messages = data.table("messages", ["match", "role", "words", "characters"])
    if not len(messages):
        raise SkippedError("The dataset has no messages.")
    messages["player"] = players_of(data, messages)
    messages = with_dependence(data, messages)
    seats = with_dependence(data, _seats(data, messages))
    parts = [
        _lengths(data, rows, column, options).assign(measure=measure, name=measure.lower())
        for measure, rows, column in (
            ("Words per message", messages, "words"), ("Characters per message", messages, "characters"),
            ("Words per match", seats, "words"), ("Messages per match", seats, "sent"),
        )
    ]  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    lengths = Table(
        "lengths", "Length of messages",
        [text("measure", "Measure"), "player", "n", number("estimate", "Mean"), "low", "high", "clusters", "method",
         number("p10", "10 %"), "q1", "median", "q3", number("p90", "90 %"), "note"],
        rows,
        charts=[Chart("boxes", name="words", title="Words written", y="player", facet="measure", titles={"x": "Words"},
                    low="p10", high="p90",
                    rows=rows[rows["measure"].isin(DRAWN)], players=data.players)],
    )  # fmt: skip
    silent = Table(
        "silent", "Matches without a message from the player",
        ["player", count("n", "Seats"), count("silent", "Silent"), share("estimate", "Share"), "low", "high",
         "clusters", "method", "note"],
        _in_order(data, shares(seats, ["player"], "silent", level=options.level).rename(columns={"number": "silent"})),
    )  # fmt: skip
    return Result([lengths, silent], numbers=lengths.numbers("{player}: {name}"), n={"messages": len(messages)})


def _lengths(data: Data, rows: pd.DataFrame, column: str, options: Options) -> pd.DataFrame:
    known = rows.astype({column: "float64"}).dropna(subset=["player"])
    means = estimates(known, ["player"], column, share=False, level=options.level, bounds=(0, None))
    spread = quantiles(rows, ["player"], column, QUANTILES).set_index("player")[[*QUANTILES]]
    return _in_order(data, means.drop(columns="median").join(spread, on="player"))


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


ANALYSES = [run]
