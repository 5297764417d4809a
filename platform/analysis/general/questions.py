"""general.questions: answers to survey questions by arm, effects of factors on them, and association with outcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data, label
from analysis.errors import SkippedError
from analysis.frames import (
    EXPLORATORY,
    estimates,
    factors_and_levels,
    level_text,
    matches,
    ranks,
    sorted_levels,
    with_q,
)
from analysis.general.people import factors, participants
from analysis.naming import BETWEEN
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, share, text
from analysis.toolbox.effects import OF_TERM, Effects, within

BEFORE, AFTER = "survey_before_", "survey_after_"
CHOSEN_OF = "the chosen ones of: "
"""How the codebook begins the values of questions with several answers."""
MAX_OPTIONS = 20
MAX_ARMS = 8
"""With more arms, the figure shows all of them together."""
MOST_EFFECTS = 40
OPEN, SEVERAL, CHOICE, NUMBER = "open text", "several options", "one option", "number"
MEAN = "mean"
ASKED = text("asked", "Asked")
QUESTION, OPTION = text("question", "Question"), text("option", "Answer")


@dataclass(frozen=True)
class _Question:
    """A question's answers.

    Attributes:
        kind: OPEN (which also stands for dates and rankings; they are only counted), SEVERAL, CHOICE or NUMBER.
        measures: by answer, or MEAN for numbers, everybody's value: whether they gave it, as 0 or 1, or the number.
    """

    name: str
    asked: str
    wording: str
    kind: str
    answers: int
    measures: dict[str, pd.Series]

    @property
    def about(self) -> dict[str, str]:
        return {"question": self.name, "asked": self.asked}

    @property
    def telling(self) -> list[str]:
        """The measures to test: of two options, one tells everything."""
        names = [*self.measures]
        return names[1:] if self.kind == CHOICE and len(names) == 2 else names


@analysis(
    "general.questions", "Survey questions",
    "What did people answer, do factors change their answers, and are answers related to outcomes?",
    "Of everybody who answered: shares of answers and means of numbers by arm, with intervals over independent "
    "units; effects of the factors between participants by OLS; correlations with outcomes within arms. "
    "Standard errors from leaving out one unit at a time (CR3). Open text is only counted. "
    + EXPLORATORY,
    needs="people", columns={"participants": ["participant", "cell", "version", "survey_*"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    names = [n for n in data.names("participants") if n.startswith((BEFORE, AFTER))]
    people = participants(data, *names)
    asked = [_question(data, people, name) for name in names if people[name].notna().any()]
    if not asked:
        raise SkippedError("No survey question was answered.")
    counted = [{**question.about, "wording": question.wording, "kind": question.kind, "n": question.answers}
               for question in asked]  # fmt: skip
    tables = [Table("questions", "Questions and answers",
                    [QUESTION, ASKED, text("wording", "Wording"), text("kind", "Kind"), count("n", "Answers")],
                    counted, note="Open text, dates and rankings are only counted.")]  # fmt: skip
    asked = [question for question in asked if question.measures]
    by_arm = pd.DataFrame([row for question in asked for row in _by_arm(people, question, options)])
    tables += _distributions(by_arm, options)
    named: dict[str, Any] = {}
    warnings: list[str] = []
    effects = pd.DataFrame([row for question in asked for row in _effects(data, people, question, options, warnings)])
    if len(effects):
        where = effects["what"] + " · " + effects["factor"] + ": " + effects["level"]
        tables.append(Table(
            "effects", "Effects of factors on answers",
            [QUESTION, OPTION, "factor", "level", text("reference", "Reference"), number("estimate", "Effect"), "se",
             "low", "high", "p", "q", "n", "components", "note"],
            with_q(effects),
            note="Effects on shares (from −1 to 1) or means. Effects on questions before the game are chance. "
            + EXPLORATORY,
            charts=[Chart("dots", title="Effects of factors on shares of answers", y="where", line=0,
                          rows=shown, most={"y": MOST_EFFECTS})]
            if len(shown := effects.assign(where=where)[effects["option"] != MEAN]) else [],
        ))  # fmt: skip
        named |= tables[-1].numbers("{question}: {option}: {factor} {level}")
    related = pd.DataFrame([row for question in asked for row in _associations(data, people, question, options)])
    if len(related):
        tables.append(Table(
            "associations", "Association of answers with outcomes within arms",
            [QUESTION, OPTION, "outcome", number("estimate", "Correlation"), "low", "high", "p", "q", "n",
             "clusters", "note"],
            with_q(related),
            note="Correlation after taking out the means of arms, of people's mean outcomes over their matches. It "
            f"says nothing about causes. {EXPLORATORY}",
        ))  # fmt: skip
        named |= tables[-1].numbers("{question}: {option} with {key}")
    return Result(tables, numbers=named, n={"people": len(people)}, warnings=list(dict.fromkeys(warnings)))


def _question(data: Data, people: pd.DataFrame, name: str) -> _Question:
    """Return a question with its answers as numbers."""
    known, kind, listed = people[name].notna(), data.kind("participants", name), _listed(data, name)
    asked, short = ("before", BEFORE) if name.startswith(BEFORE) else ("after", AFTER)
    wording = data.fields("participants")[name].meaning.partition(": ")[2]
    measures: dict[str, pd.Series] = {}
    what = OPEN
    if kind in ("number", "integer"):
        what, measures = NUMBER, {MEAN: people[name].astype("float64")}
    elif kind in ("choice", "boolean") or listed.startswith(CHOSEN_OF):
        what = SEVERAL if listed.startswith(CHOSEN_OF) else CHOICE
        chosen = people[name].map(
            _chosen if what == SEVERAL else lambda answer: [level_text(answer)], na_action="ignore"
        )
        given = sorted_levels({option for answer in chosen[known] for option in answer})
        order = [option for option in listed.removeprefix(CHOSEN_OF).split("; ") if option in given]
        levels = [*order, *(option for option in given if option not in order)]
        if len(levels) <= MAX_OPTIONS:
            measures = {option: chosen.map(lambda given, option=option: float(option in given), na_action="ignore")
                        .astype("float64") for option in levels}  # fmt: skip
    return _Question(label(name.removeprefix(short)), asked, wording, what, int(known.sum()), measures)


def _listed(data: Data, name: str) -> str:
    """Return what the codebook says of a column's values."""
    if not data.has("codebook", "table", "column", "values"):
        return ""
    rows = data.table("codebook", ["table", "column", "values"])
    found = rows["values"][(rows["table"] == "participants") & (rows["column"] == name)].dropna()
    return str(found.iloc[0]) if len(found) else ""


def _chosen(answer: str) -> list[str]:
    try:
        chosen = json.loads(answer)
    except ValueError:
        return [answer]
    return [level_text(option) for option in chosen] if isinstance(chosen, list) else [level_text(chosen)]


# ---- distributions -------------------------------------------------------------------------------------


def _by_arm(people: pd.DataFrame, question: _Question, options: Options) -> Iterator[dict[str, Any]]:
    """Yield every measure in every arm; without values for arms in which fewer than the minimum answered."""
    for option, values in question.measures.items():
        frame = people[["arm", "cluster"]].assign(value=values)
        frame = frame[frame["value"].notna()]
        rows = estimates(frame, ["arm"], "value", share=question.kind != NUMBER, level=options.level)
        for row in rows.sort_values("arm", key=ranks, kind="stable").to_dict("records"):
            small = row["n"] < options.min_group
            hidden = dict.fromkeys(("n", "estimate", "low", "high", "se", "sd", "clusters")) if small else {}
            people_text = f"fewer than {options.min_group}" if small else f"{row['n']:,}"
            keys = ("arm", "n", "estimate", "se", "low", "high", "sd", "clusters", "note")
            yield {**question.about, "option": option, "kind": question.kind, **{key: row[key] for key in keys},
                   "people": people_text, **hidden, "note": "" if small else row["note"]}  # fmt: skip


def _distributions(by_arm: pd.DataFrame, options: Options) -> Iterator[Table]:
    """Yield the tables of shares and of means."""
    if not len(by_arm):
        return
    columns = [QUESTION, ASKED, OPTION, text("arm", "Arm"), text("people", "People")]
    by_colour = by_arm["arm"].nunique() <= MAX_ARMS
    shares, means = by_arm[by_arm["option"] != MEAN], by_arm[by_arm["option"] == MEAN]
    if len(shares):
        yield Table(
            "shares", "Answers by arm", [*columns, share("estimate", "Share"), "low", "high", "clusters", "note"],
            shares, note=f"Arms with fewer than {options.min_group} answers are not shown.",
            charts=[Chart("bars", title="Answers by arm", y="option", facet="question", colour="arm", rows=shares,
                          most={"facet": MAX_ARMS}, domain=(0, 1))] if by_colour else [],
        )  # fmt: skip
    if len(means):
        yield Table(
            "means", "Means of numeric answers by arm",
            [*(c for c in columns if c is not OPTION), number("estimate", "Mean"), "sd", "low", "high", "clusters",
             "note"],
            means, note=f"Arms with fewer than {options.min_group} answers are not shown.",
            charts=[Chart("dots", title="Means of numeric answers by arm", y="arm", facet="question", rows=means,
                          most={"facet": MAX_ARMS}, titles={"x": "Mean"})],
        )  # fmt: skip


# ---- effects and associations --------------------------------------------------------------------------


def _effects(
    data: Data, people: pd.DataFrame, question: _Question, options: Options, warnings: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the effects of the factors between participants on each measure."""
    headings = factors(data, people)
    if len(headings) > 1:
        headings.pop("arm", None)  # the factors and the role tell cells apart
    for option in question.telling:
        frame = people.assign(value=question.measures[option])
        frame = frame[frame["value"].notna()]
        for name in headings:
            sizes = frame[name].map(frame[name].value_counts())
            if (sizes < options.min_group).any():
                warnings.append(f"Levels with fewer than {options.min_group} answers are left out of effects.")
                frame = frame[sizes >= options.min_group]
        varying = [name for name in headings if frame[name].nunique() > 1]
        if not varying or frame["value"].nunique() < 2:
            continue
        references = {name: Counter(frame[name]).most_common(1)[0][0] for name in varying}
        bounds = None if question.kind == NUMBER else (0.0, 1.0)
        what = question.name if option == MEAN else f"{question.name}: {option}"
        fit = Effects(frame, references, group="cluster").on(
            frame["value"].to_numpy(), bounds=bounds, level=options.level
        )
        for term in fit["terms"]:
            names, levels = factors_and_levels(term["term"], references)
            if names:
                yield {**question.about, "option": option, "what": what, "n": fit["n"],
                       "factor": " × ".join(headings[name] for name in names), "level": BETWEEN.join(levels),
                       "reference": BETWEEN.join(references[name] for name in names),
                       **{key: term[key] for key in OF_TERM}}  # fmt: skip


def _associations(data: Data, people: pd.DataFrame, question: _Question, options: Options) -> Iterator[dict[str, Any]]:
    """Yield the correlation of each measure with people's payoffs and their matches' results, within arms."""
    outcomes = _outcomes(data, people)
    for option in question.telling:
        for name, (heading, of_people) in outcomes.items():
            frame = people[["arm", "cluster"]].assign(x=question.measures[option], y=of_people).dropna()
            within_arms = frame[["x", "y"]] - frame.groupby("arm")[["x", "y"]].transform("mean")
            spread = within_arms.std(ddof=0)
            if len(frame) < options.min_group or not (spread > 1e-9).all():
                continue
            x, y = (within_arms[side].to_numpy() / spread[side] for side in "xy")
            found = within(x, y, frame["arm"].to_numpy(), frame["cluster"].to_numpy(), level=options.level)
            ends = {end: None if found[end] is None else float(np.clip(found[end], -1, 1)) for end in ("low", "high")}
            yield {**question.about, "option": option, "outcome": heading, "key": name, **found, **ends}


def _outcomes(data: Data, people: pd.DataFrame) -> dict[str, tuple[str, pd.Series]]:
    """Return headings and people's means over their matches: of their payoff, and of the results of the match."""
    if not data.has("seats", "match", "participant", "payoff"):
        return {}
    seats = data.table("seats", ["match", "participant", "payoff"]).dropna(subset=["participant"])
    unit = matches(data)
    results = [name for name in unit.outcomes if name in data.outcomes and not name.startswith("payoffs_")]
    of_seats = seats.join(unit.frame.set_index("match")[results], on="match").astype({"payoff": "float64"})
    means = of_seats.groupby("participant")[["payoff", *results]].mean().reindex(people["participant"])
    headings = {"payoff": "Payoff", **{name: unit.outcomes[name] for name in results}}
    return {
        name: (heading, pd.Series(means[name].to_numpy(), index=people.index)) for name, heading in headings.items()
    }


ANALYSES = [run]
