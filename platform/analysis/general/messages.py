"""general.messages: how much players write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, players_of, share_of, with_dependence
from analysis.results import NOTE, Analysis, Options, Result, Table, count, estimate_columns, number, share, text

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = {"low": 0.1, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.9}


def run(data: Data, options: Options) -> Result:
    """Return words and characters per message and per match by player, and the share of silent seats."""
    frame = data.table("messages", ["match", "role", "words", "characters"])
    if not len(frame):
        raise SkippedError("The dataset has no messages.")
    frame["who"] = players_of(data, frame)
    seats = with_dependence(data, _seats(data, frame))
    rows: list[dict[str, Any]] = []
    per_match = seats.rename(columns={"words": "words", "sent": "messages"})
    for measure, source_frame, column in (
        ("Words per message", frame, "words"),
        ("Characters per message", frame, "characters"),
        ("Words per match", per_match, "words"),
        ("Messages per match", per_match, "messages"),
    ):
        for player in data.players:
            values = source_frame.loc[source_frame["who"] == player, column].dropna().astype(float)
            if len(values):
                spread = {name: float(values.quantile(q)) for name, q in QUANTILES.items()}
                rows.append(
                    {"measure": measure, "player": player, "n": len(values), "mean": float(values.mean()), **spread}
                )
    silent = []
    for player in data.players:
        subset = seats[seats["who"] == player]
        if len(subset):
            subset = subset.assign(silent=(subset["sent"] == 0).astype(float))
            silent_share = share_of(subset, "silent", level=options.level)
            silent.append({"player": player, "silent": int(subset["silent"].sum()), **silent_share})
    tables = [
        Table(
            "lengths",
            "Length of messages",
            [
                text("measure", "Measure"),
                text("player", "Player"),
                count("n", "n"),
                number("mean", "Mean"),
                number("low", "10 %"),
                number("q1", "25 %"),
                number("median", "Median"),
                number("q3", "75 %"),
                number("high", "90 %"),
            ],
            rows,
        ),
        Table(
            "silent",
            "Matches without a message from the player",
            [
                text("player", "Player"),
                count("n", "Seats"),
                count("silent", "Silent"),
                *estimate_columns("Share", share),
                NOTE,
            ],
            silent,
        ),
    ]
    drawn = [row for row in rows if row["measure"] in ("Words per message", "Words per match")]
    figure = charts.boxes(
        "words", "Words written", drawn, y="player", facet="measure", x_title="Words", players=data.players
    )
    numbers = {f"{row['player']}: {row['measure'].lower()}": {"estimate": row["mean"], "n": row["n"]} for row in rows}
    return Result(tables, [figure], numbers, n={"messages": len(frame)})


def _seats(data: Data, frame: pd.DataFrame) -> pd.DataFrame:
    """Return every seat in matches with messages, with who played it and the messages and words sent."""
    import pandas as pd

    match_ids = data.column("matches", "match")
    with_messages = set(frame["match"])
    sums = frame.groupby(["match", "role"])["words"].agg(["size", "sum"])
    frames = []
    for role in data.roles:
        seat_rows = pd.DataFrame({"match": match_ids, "role": role, "who": data.players_by_role[role]})
        frames.append(seat_rows[seat_rows["who"].notna() & seat_rows["match"].isin(with_messages)])
    seats = pd.concat(frames, ignore_index=True).join(sums, on=["match", "role"])
    return seats.rename(columns={"size": "sent", "sum": "words"}).fillna({"sent": 0, "words": 0})


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
