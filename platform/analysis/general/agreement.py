"""general.agreement: when players agree, and which offers are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, share_of, with_dependence
from analysis.results import (
    NOTE,
    Analysis,
    Figure,
    Options,
    Result,
    Table,
    count,
    estimate_columns,
    number,
    share,
    text,
)

if TYPE_CHECKING:
    import pandas as pd

FLAGS = ("agreement", "trade")
ACCEPTED = frozenset({"accept", "accepted", "yes", "true", "acceptoffer", "buy", "deal"})
DECILES = 10
MAX_ROUNDS = 40
LOG_RATIO = 100
"""Ratio of the largest to the smallest offer above which the axis is logarithmic."""


def run(data: Data, options: Options) -> Result:
    """Return the share of matches without agreement after each round, and acceptance rates by decile of the offer."""
    flag = next(name for name in FLAGS if data.has("matches", name))
    frame = data.table("matches", ["match", flag]).rename(columns={flag: "agreed"})
    if not frame["agreed"].notna().any():
        raise SkippedError(f"No match has a value for {flag}.")
    tables: list[Table] = []
    figures: list[Figure] = []
    frame = with_dependence(data, frame.assign(agreed=frame["agreed"].astype("float64")))
    numbers = {"agreed": share_of(frame, "agreed", level=options.level)}
    warnings: list[str] = []
    curve = _without_agreement(data, frame, options)
    if curve:
        tables.append(
            Table(
                "open",
                "Matches without agreement after each round",
                [
                    count("round", "Round"),
                    count("n", "Matches"),
                    count("open", "Without agreement"),
                    *estimate_columns("Share", share),
                    NOTE,
                ],
                curve,
            )
        )
        figures.append(
            charts.lines(
                "open",
                "Matches without agreement after each round",
                curve,
                x="round",
                x_title="Round",
                y_title="Share without agreement",
                y_format="%",
                y_domain=(0, 1),
            )
        )
    else:
        warnings.append("Decisions do not record a round, so there is no curve over rounds.")
    answers = _answers(data)
    if len(answers):
        answers = with_dependence(data, answers)
        rows = _deciles(answers, options)
        tables.append(
            Table(
                "offers",
                "Acceptance by size of the offer",
                [
                    text("role", "Responder"),
                    text("field", "Offer"),
                    count("decile", "Decile"),
                    number("offered", "Mean offer"),
                    count("n", "Offers"),
                    *estimate_columns("Accepted", share),
                    NOTE,
                ],
                rows,
                note="Offers are divided into deciles for each role; equal offers are in the same group. The size of "
                "an offer is what the responder would get.",
            )
        )
        figures.append(
            charts.lines(
                "offers",
                "Share of offers accepted, by size",
                rows,
                x="offered",
                colour="role",
                players=data.roles,
                x_title="Mean offer in the decile",
                y_title="Share accepted",
                y_format="%",
                facet="field",
                y_domain=(0, 1),
                log_x=_needs_log_axis([row["offered"] for row in rows]),
            )
        )
    return Result(tables, figures, numbers, warnings=warnings)


def _needs_log_axis(offers: Sequence[float]) -> bool:
    """Return whether offers span several orders of magnitude and so need a logarithmic axis."""
    return min(offers, default=0) > 0 and max(offers) > LOG_RATIO * min(offers)


def _without_agreement(data: Data, frame: pd.DataFrame, options: Options) -> list[dict[str, Any]]:
    if not data.has("decisions", "match", "round"):
        return []
    last = data.table("decisions", ["match", "round"]).dropna().groupby("match")["round"].max()
    ended = frame[frame["agreed"].notna()].join(last.rename("last"), on="match").dropna(subset=["last"])
    if not len(ended):
        return []
    rounds = ended["last"].astype(int)
    agreed_in = rounds.where(ended["agreed"].astype(bool), MAX_ROUNDS + 1)
    rows = []
    for round_number in range(0, min(int(rounds.max()), MAX_ROUNDS) + 1):
        still_open = ended.assign(open=(agreed_in > round_number).astype(float))
        open_share = share_of(still_open, "open", level=options.level)
        rows.append({"round": round_number, "open": int(still_open["open"].sum()), **open_share})
    return rows


def _answers(data: Data) -> pd.DataFrame:
    """Return answers to offers, with the columns role, field, offered, accepted and match."""
    import pandas as pd

    decision = next((n for n in ("move_decision", "move_accept", "move_answer") if data.has("decisions", n)), "")
    if not decision or data.kind("decisions", decision) not in ("choice", "text", "boolean"):
        return pd.DataFrame()
    amounts = [
        n
        for n in data.names("decisions")
        if n.startswith("move_") and n != "move_number" and data.kind("decisions", n) in ("number", "integer")
    ]
    if not amounts:
        return pd.DataFrame()
    frame = data.table("decisions", ["match", "move_number", "role", decision, *amounts]).sort_values(
        ["match", "move_number"], kind="stable"
    )
    previous = frame.groupby("match")[[*amounts, "role"]].shift(1)
    frames = []
    for role in data.roles:
        gain_column = f"move_{role}_gain"
        fields = [gain_column] if gain_column in amounts else [n for n in amounts if not n.endswith("_gain")][:1]
        for field in fields:
            rows = (
                (frame["role"] == role) & frame[decision].notna() & (previous["role"] != role) & previous[field].notna()
            )
            if rows.any():
                accepted = frame[decision][rows].astype("str").str.lower().isin(ACCEPTED)
                frames.append(
                    pd.DataFrame(
                        {
                            "role": data.role_name(role),
                            "field": "Responder's share of the offer"
                            if field == gain_column
                            else data.heading(field, "decisions"),
                            "offered": previous[field][rows].astype(float),
                            "accepted": accepted,
                            "match": frame["match"][rows],
                        }
                    )
                )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _deciles(answers: pd.DataFrame, options: Options) -> list[dict[str, Any]]:
    import numpy as np

    rows = []
    for (field, role), subset in answers.groupby(["field", "role"], sort=True):
        edges = np.unique(np.quantile(subset["offered"], np.linspace(0, 1, DECILES + 1)[1:-1]))
        deciles = np.searchsorted(edges, subset["offered"], side="left")
        for decile in sorted(set(deciles)):
            group = subset[deciles == decile]
            place = {"field": field, "role": role, "decile": decile + 1, "offered": float(group["offered"].mean())}
            rows.append(place | share_of(group, "accepted", level=options.level))
    return rows


def _applies(data: Data) -> str:
    return "" if any(data.has("matches", name) for name in FLAGS) else "The game records no agreement or trade."


ANALYSES = [
    Analysis(
        id="general.agreement",
        title="Agreement",
        question="When do players agree, and which offers are accepted?",
        method=(
            "Share of matches without agreement after each round; share of offers accepted, by decile of what the "
            f"responder would get; Wilson intervals over independent units. {UNITS}"
        ),
        columns={"matches": ["match"], "decisions": ["match", "role", "move_number"]},
        applies=_applies,
        run=run,
    )
]
