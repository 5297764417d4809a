"""general.agreement: when players agree, and which offers are accepted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, share_of, shares, times_drawn, with_dependence
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, share, text
from analysis.toolbox.dependence import FEWEST_UNITS

FLAGS = ("agreement", "trade")
DECISIONS = ("move_decision", "move_accept", "move_answer")
ACCEPTED = frozenset({"accept", "accepted", "yes", "true", "acceptoffer", "buy", "deal"})
DECILES = 10
MAX_ROUNDS = 40
LOG_RATIO = 100
"""Ratio of the largest to the smallest offer above which the axis is logarithmic."""


def _applies(data: Data) -> str:
    return "" if any(data.has("matches", name) for name in FLAGS) else "The game records no agreement or trade."


@analysis(
    "general.agreement", "Agreement", "When do players agree, and which offers are accepted?",
    "Share of matches without agreement after each round (Kaplan–Meier; bootstrap over units once matches have "
    "ended without agreement); share of offers accepted, by what the responder would get; Wilson intervals "
    f"over independent units. {UNITS}",
    columns={"matches": ["match"], "decisions": ["match", "role", "move_number"]}, applies=_applies,
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
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
            [count("round", "Round"), count("n", "Still playing"), count("agreed", "Agreed in it"),
             share("estimate", "Share open"), "low", "high", "clusters", "method", "note"],
            still_open,
            note="Kaplan–Meier: a match that ends without agreement leaves at its end.",
            charts=[Chart("lines", x="round", titles={"y": "Share without agreement"}, domain=(0, 1))],
        ))  # fmt: skip
    else:
        warnings.append("Decisions do not record a round, so there is no curve over rounds.")
    answers = [*_answers(data)]
    if answers:
        rows = _by_offer(with_dependence(data, pd.concat(answers, ignore_index=True)), options)
        tables.append(Table(
            "offers", "Acceptance by size of the offer",
            [text("role", "Responder"), text("field", "Offer"), count("bin", "Group"),
             number("offered", "Mean offer"), count("n", "Offers"), share("estimate", "Accepted"), "low", "high",
             "clusters", "method", "note"],
            rows,
            note=f"With fewer than {DECILES} different offers to a role each is a group, else deciles are; equal "
            "offers are in the same group. The size of an offer is what the responder would get.",
            charts=[Chart("lines", title="Share of offers accepted, by size", x="offered", colour="role", facet="field",
                        players=data.roles, titles={"x": "Mean offer", "y": "Share accepted"},
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
    last_round, has_agreed = ended["last"].astype("int64").to_numpy(), ended["agreed"].to_numpy() > 0
    units = np.unique(ended["cluster"], return_inverse=True)[1]
    rounds = np.arange(min(int(last_round.max()), MAX_ROUNDS) + 1)
    agreed, playing = (np.zeros((units.max() + 1, len(rounds))) for _count in range(2))
    for found, here in ((agreed, (last_round[:, None] == rounds) & has_agreed[:, None]),
                        (playing, last_round[:, None] >= rounds)):  # fmt: skip
        np.add.at(found, units, here)
    drawn = _still_open(agreed, playing, times_drawn(len(agreed), options.draws, options.seed))
    low, high = np.nanquantile(drawn, [(1 - options.level) / 2, (1 + options.level) / 2], axis=0)
    rows = []
    for end, estimate in zip(rounds, _still_open(agreed, playing, np.ones((1, len(agreed))))[0], strict=True):
        if len(agreed) < FEWEST_UNITS or not (~has_agreed & (last_round < end)).any():
            # Until a match leaves without agreement, this is a share.
            is_open = ended.assign(open=1.0 - (has_agreed & (last_round <= end)))
            rows.append(share_of(is_open, "open", level=options.level))
        else:
            rows.append({"low": low[end], "high": high[end], "clusters": len(agreed), "method": "bootstrap"})
        rows[-1] |= {"estimate": estimate, "n": int(playing[:, end].sum()), "round": int(end),
                     "agreed": int(agreed[:, end].sum())}  # fmt: skip
    return pd.DataFrame(rows)


def _still_open(agreed: np.ndarray, playing: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the share still open after each round (Kaplan–Meier), in each draw of units.

    Args:
        agreed, playing: each unit's matches that agreed in each round, and that had not ended before it.
        times: how often each unit is drawn, of shape (draws, units).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        left = 1 - (times @ agreed) / (times @ playing)
    shares: np.ndarray = np.cumprod(np.where(np.isnan(left), 1, left), axis=1)
    return shares


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


def _by_offer(answers: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return the share accepted of each offer, or in each decile of the offers, of a field to a role."""
    rows = []
    for (field, role), offers in answers.groupby(["field", "role"]):
        distinct = np.unique(offers["offered"])
        edges = np.unique(np.quantile(offers["offered"], np.linspace(0, 1, DECILES + 1)[1:-1]))
        edges = distinct[:-1] if len(distinct) < DECILES else edges
        offers = offers.assign(bin=np.searchsorted(edges, offers["offered"], side="left") + 1)
        found = shares(offers, ["bin"], "accepted", level=options.level)
        means = offers.groupby("bin")["offered"].mean()
        rows.append(found.drop(columns="number").join(means, on="bin").assign(field=str(field), role=str(role)))
    return pd.concat(rows, ignore_index=True)


ANALYSES = [run]
