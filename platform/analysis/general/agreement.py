"""general.agreement: when players agree, and which offers are accepted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, share_of, shares, with_dependence
from analysis.options import Options
from analysis.results import Analysis, Result
from analysis.tables import Chart, Table, count, number, share, text

FLAGS = ("agreement", "trade")
DECISIONS = ("move_decision", "move_accept", "move_answer")
ACCEPTED = frozenset({"accept", "accepted", "yes", "true", "acceptoffer", "buy", "deal"})
DECILES = 10
MAX_ROUNDS = 40
LOG_RATIO = 100
"""Ratio of the largest to the smallest offer above which the axis is logarithmic."""


def run(data: Data, options: Options) -> Result:
    """Return the share of matches without agreement after each round, and acceptance rates by decile of the offer."""
    flag = next(name for name in FLAGS if data.has("matches", name))
    matches = data.table("matches", ["match", flag]).rename(columns={flag: "agreed"}).astype({"agreed": "float64"})
    if not matches["agreed"].notna().any():
        raise SkippedError(f"No match has a value for {flag}.")
    matches = with_dependence(data, matches)
    numbers = {"agreed": share_of(matches, "agreed", level=options.level)}
    tables, warnings = [], []
    still_open = _without_agreement(data, matches, options)
    if still_open is not None:
        tables.append(Table(
            "open", "Matches without agreement after each round",
            [count("round", "Round"), count("n", "Matches"), count("open", "Without agreement"),
             share("estimate", "Share"), "low", "high", "note"],
            still_open,
            charts=[Chart("lines", x="round", titles={"y": "Share without agreement"}, domain=(0, 1))],
        ))  # fmt: skip
    else:
        warnings.append("Decisions do not record a round, so there is no curve over rounds.")
    answers = [*_answers(data)]
    if answers:
        rows = _deciles(with_dependence(data, pd.concat(answers, ignore_index=True)), options)
        tables.append(Table(
            "offers", "Acceptance by size of the offer",
            [text("role", "Responder"), text("field", "Offer"), count("decile", "Decile"),
             number("offered", "Mean offer"), count("n", "Offers"), share("estimate", "Accepted"), "low", "high",
             "note"],
            rows,
            note="Offers are divided into deciles for each role; equal offers are in the same group. The size of an "
            "offer is what the responder would get.",
            charts=[Chart("lines", title="Share of offers accepted, by size", x="offered", colour="role", facet="field",
                        players=data.roles, titles={"x": "Mean offer in the decile", "y": "Share accepted"},
                        domain=(0, 1), log_x=_needs_log_axis(rows["offered"]))],
        ))  # fmt: skip
    return Result(tables, numbers=numbers, warnings=warnings)


def _needs_log_axis(offers: pd.Series) -> bool:
    """Return whether offers span several orders of magnitude and so need a logarithmic axis."""
    return bool(offers.min() > 0 and offers.max() > LOG_RATIO * offers.min())


def _without_agreement(data: Data, matches: pd.DataFrame, options: Options) -> pd.DataFrame | None:
    if not data.has("decisions", "match", "round"):
        return None
    last = data.table("decisions", ["match", "round"]).dropna().groupby("match")["round"].max()
    ended = matches[matches["agreed"].notna()].join(last.rename("last"), on="match").dropna(subset=["last"])
    if not len(ended):
        return None
    agreed_in = ended["last"].astype("int64").where(ended["agreed"] > 0, MAX_ROUNDS + 1)
    rounds = range(min(int(ended["last"].max()), MAX_ROUNDS) + 1)
    rows = [share_of(ended.assign(open=(agreed_in > end).astype("float64")), "open", level=options.level)
            for end in rounds]  # fmt: skip
    return pd.DataFrame(rows).assign(round=rounds, open=[int((agreed_in > end).sum()) for end in rounds])


def _answers(data: Data) -> Iterator[pd.DataFrame]:
    """Yield answers to offers, with the columns role, field, offered, accepted and match."""
    decision = next((name for name in DECISIONS if data.has("decisions", name)), "")
    amounts = [name for name in data.names("decisions") if name.startswith("move_") and name != "move_number"
               and data.kind("decisions", name) in ("number", "integer")]  # fmt: skip
    if not decision or not amounts or data.kind("decisions", decision) not in ("choice", "text", "boolean"):
        return
    moves = data.table("decisions", ["match", "move_number", "role", decision, *amounts])
    moves = moves.sort_values(["match", "move_number"], kind="stable")
    previous = moves.groupby("match")[[*amounts, "role"]].shift(1)
    for role in data.roles:
        gain = f"move_{role}_gain"
        for field in [gain] if gain in amounts else [name for name in amounts if not name.endswith("_gain")][:1]:
            is_answer = (moves["role"] == role) & moves[decision].notna()
            is_answer &= (previous["role"] != role) & previous[field].notna()
            if is_answer.any():
                yield pd.DataFrame({
                    "role": data.role_name(role),
                    "field": "Responder's share of the offer" if field == gain else data.heading(field, "decisions"),
                    "offered": previous[field][is_answer].astype("float64"),
                    "accepted": moves[decision][is_answer].astype("str").str.lower().isin(ACCEPTED).astype("float64"),
                    "match": moves["match"][is_answer],
                })  # fmt: skip


def _deciles(answers: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return the share accepted in each decile of the offers of a field to a role."""
    rows = []
    for (field, role), offers in answers.groupby(["field", "role"]):
        edges = np.unique(np.quantile(offers["offered"], np.linspace(0, 1, DECILES + 1)[1:-1]))
        offers = offers.assign(decile=np.searchsorted(edges, offers["offered"], side="left") + 1)
        found = shares(offers, ["decile"], "accepted", level=options.level)
        means = offers.groupby("decile")["offered"].mean()
        rows.append(found.drop(columns="number").join(means, on="decile").assign(field=str(field), role=str(role)))
    return pd.concat(rows, ignore_index=True)


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
