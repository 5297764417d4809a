"""general.order: outcomes by position and by the order of arms, and carry-over from the first match to the second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis.data import HUMAN, Data
from analysis.errors import SkippedError
from analysis.frames import EXPLORATORY, UNITS, Unit, estimates, level_text, sorted_levels, units, with_q
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, text
from analysis.toolbox.effects import OF_TERM, Effects

PERSON, PLACE, ARM, ORDER, FIRST = "first_person", "place", "arm", "arms_in_order", "first_arm"
HEADINGS = {PLACE: "Position", ORDER: "Order", FIRST: "First arm"}
MOST_POSITIONS, MOST_ORDERS, MOST_LINES = 20, 12, 6
ALL_ORDERS = "all orders"
SECOND, BOTH = "second match, given its own arm", "sum of both matches"


@dataclass
class _Found:
    means: list[pd.DataFrame] = field(default_factory=list)
    terms: list[dict[str, Any]] = field(default_factory=list)
    carried: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@analysis(
    "general.order", "Position and order",
    "Do outcomes depend on the position of a match, the order of arms, or the arm of the first match?",
    "Means by position and order. OLS of each outcome on position, order and the match's own arm, and of "
    "second matches on the first one's arm; standard errors from leaving out one independent unit at a time "
    f"(CR3). {UNITS} {EXPLORATORY}",
    needs="people", columns={"matches": ["match", "game", "participant_*"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    found = _Found()
    for unit in _placed(data, found.warnings):
        for outcome in unit.outcomes:
            if unit.frame[outcome].notna().any():
                _add(found, unit, outcome, options)
    if not found.means:
        raise SkippedError("Nobody played several matches.")
    means = pd.concat(found.means, ignore_index=True)
    by_order = means["order"] != ALL_ORDERS
    several = 1 < means["order"][by_order].nunique() <= MOST_LINES
    tables = [Table(
        "positions", "Outcomes by position and order of arms",
        ["outcome", text("order", "Order"), count("position", "Position"), text("arm", "Arm"), "n", "clusters",
         number("estimate", "Mean or share"), "low", "high", "note"],
        means, note="Position: which match of its (first) participant it is.",
        charts=[Chart("lines", title="Outcomes by position of the match", x="position", facet="outcome",
                      colour="order" if several else "", rows=means[by_order == several], most={"facet": 6})],
    )]  # fmt: skip
    of_effects = ["outcome", "factor", "level", text("reference", "Reference"), number("estimate", "Effect"), "se",
                  "low", "high", "p", "q", "n", "components", "note"]  # fmt: skip
    named: dict[str, Any] = {}
    if found.terms:
        tables.append(Table(
            "effects", "Effects of position and order", of_effects, with_q(pd.DataFrame(found.terms)),
            note=f"With the match's own arm held constant. {EXPLORATORY}",
        ))  # fmt: skip
        named |= tables[-1].numbers("{key}: {factor} {level}")
    if found.carried:
        tables.append(Table(
            "carry_over", "Carry-over: effects of the arm of the first match",
            [of_effects[0], text("of", "On"), *of_effects[2:]], with_q(pd.DataFrame(found.carried)),
            note="If the second match's arm follows from the first one's, their effects on it cannot be distinguished. "
            "Those who began with another arm are then compared over both matches, in which everybody met both arms. "
            + EXPLORATORY,
        ))  # fmt: skip
        named |= tables[-1].numbers("carry-over: {key}: {level}")
    return Result(tables, numbers=named, warnings=list(dict.fromkeys(found.warnings)))


# ---- positions, arms and orders ------------------------------------------------------------------------


def _placed(data: Data, warnings: list[str]) -> Iterator[Unit]:
    """Yield the units of observation with positions, arms and orders, if people played several matches."""
    places = _places(data)
    if places is None:
        return
    for unit in units(data):
        frame = unit.frame.join(places, on="match")
        frame = frame[frame[PLACE].notna() & (frame["player"] == HUMAN if "player" in frame else True)]
        if (frame[PLACE] > MOST_POSITIONS).any():
            warnings.append(f"Positions after the {MOST_POSITIONS}th are left out.")
            frame = frame[frame[PLACE] <= MOST_POSITIONS]
        frame = frame.astype({PLACE: "int64"}).sort_values([PERSON, PLACE], kind="stable").reset_index(drop=True)
        candidates = [*(["game"] if len(data.games) > 1 else []), *(n for n in unit.factors if n != "player")]
        within = [name for name in candidates if frame.groupby(PERSON)[name].nunique().max() > 1]
        arm = frame[within].astype("str").agg(" · ".join, axis=1) if within else pd.Series("", index=frame.index)
        matches = frame.assign(**{ARM: arm}).drop_duplicates("match").groupby(PERSON, sort=False)[ARM]
        order, first = matches.agg(" → ".join) if within else matches.first(), matches.first()
        if order.nunique() > MOST_ORDERS:
            warnings.append(f"There are {order.nunique()} orders of arms; only the first arms are compared.")
            order = first + " first"
        frame = frame.assign(**{ARM: arm, ORDER: frame[PERSON].map(order), FIRST: frame[PERSON].map(first)})
        yield Unit(unit.name, frame, unit.outcomes, within, unit.players, unit.shares, unit.headings)


def _places(data: Data) -> pd.DataFrame | None:
    """Return each match's first participant, and its position among theirs; None if nobody played several matches."""
    names = [name for role in data.roles if data.has("matches", name := f"participant_{role}")]
    frame = data.table("matches", ["match", "game", *names])
    person = frame[names].bfill(axis=1).iloc[:, 0] if names else pd.Series(None, index=frame.index, dtype="str")
    place = data.column("matches", "session") if data.has("matches", "session") else None
    if place is None or place.nunique() < 2:
        if not data.has("matches", "started_at"):
            return None
        place = data.column("matches", "started_at").groupby(person).rank(method="first")
    places = frame[["match", "game"]].assign(**{PERSON: person, PLACE: place.astype("float64")})
    places = places[person.notna() & places[PLACE].notna()]
    return places.set_index("match") if places.groupby(PERSON).size().gt(1).any() else None


# ---- estimates -----------------------------------------------------------------------------------------


def _add(found: _Found, unit: Unit, outcome: str, options: Options) -> None:
    frame, about = unit.frame, {"outcome": unit.outcomes[outcome], "key": outcome, "unit": unit.name}
    orders = frame[ORDER].nunique() > 1
    for by in ([PLACE], *([[ORDER, PLACE]] if orders else [])):
        rows = estimates(frame, by, outcome, share=outcome in unit.shares, level=options.level)
        rows = rows[rows["n"] > 0].sort_values(by, kind="stable").rename(columns={PLACE: "position", ORDER: "order"})
        arms = frame.groupby(by, sort=False)[ARM].agg(lambda arm: ", ".join(sorted_levels(arm))).rename("arm")
        rows = rows.merge(arms.reset_index().rename(columns={PLACE: "position", ORDER: "order"}))
        found.means.append(rows.assign(**about, **({} if ORDER in by else {"order": ALL_ORDERS})))
    factors = [PLACE, *unit.config, *([ORDER] if orders else [])]
    fit = _fit(frame, outcome, factors, unit, options)
    for term in _terms(fit, (PLACE, ORDER)):
        found.terms.append({**about, **term, "n": fit["n"]})
    if frame[FIRST].nunique() > 1:
        found.carried += [{**about, **term} for term in _carried(frame, outcome, unit, options)]


def _fit(frame: pd.DataFrame, outcome: str, factors: list[str], unit: Unit, options: Options, most: int = 1) -> Any:
    references = {name: 1 if name == PLACE else Counter(frame[name]).most_common(1)[0][0]
                  for name in factors if frame[name].nunique() > 1}  # fmt: skip
    bounds = (0.0, float(most)) if outcome in unit.shares else None
    prepared = Effects(frame, references, group="cluster", replay="replay", cell=["cell"])
    fit = prepared.on(frame[outcome].to_numpy(dtype=float), bounds=bounds, level=options.level)
    return fit | {"references": references}


def _terms(fit: Mapping[str, Any], factors: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for term in fit["terms"]:
        name, _equals, level = term["term"].partition("=")
        if name in factors:
            yield {"factor": HEADINGS[name], "level": level, "reference": level_text(fit["references"][name]),
                   **{key: term[key] for key in OF_TERM}}  # fmt: skip


def _carried(frame: pd.DataFrame, outcome: str, unit: Unit, options: Options) -> Iterator[dict[str, Any]]:
    """Yield the effects of the first match's arm."""
    rank = frame.groupby(PERSON)[PLACE].rank(method="dense")
    fit, of = _fit(frame[rank == 2], outcome, [ARM, FIRST], unit, options), SECOND
    if any(name.startswith(f"{FIRST}=") for name in fit["dropped"]):
        both = frame[rank <= 2].groupby([PERSON, rank[rank <= 2]])[outcome].mean().unstack().dropna()
        people = frame.drop_duplicates(PERSON).set_index(PERSON).loc[both.index].reset_index()
        fit = _fit(people.assign(**{outcome: both.sum(axis=1).to_numpy()}), outcome, [FIRST], unit, options, most=2)
        of = BOTH
    for term in _terms(fit, (FIRST,)):
        yield {**term, "of": of, "n": fit["n"]}


ANALYSES = [run]
