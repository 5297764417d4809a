"""The plan of analysis that a dataset's manifest holds: hypotheses as they were frozen, and what changed since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.frames import level_text
from analysis.toolbox.numbers import finite

KEY = "analysis_plan"
ASSIGNED, COMPLETED, BOTH = "assigned", "completed", "both"
PRIMARY = "primary"
HUMAN_LEVEL, AGENT_LEVEL = "human", "agent"


@dataclass(frozen=True)
class Hypothesis:
    """A planned comparison: the first level minus the second.

    Attributes:
        outcome: stage, levels of the pass or number of the repeat if any, and the metric or question.
        factors: one factor, or two of which the difference of differences is meant; empty for people against agents.
        levels: for each factor, its two levels as text.
        seat: the role in which people are compared with agents; "" for any.
        estimands: "assigned" (everybody randomised) and "completed" (those analysed), the headline first.
        model: auto, linear, logit, ordered or log.
        adjust: earlier answers, as stage and question.
        exclude: conditions over earlier answers.
    """

    name: str
    claim: str
    outcome: tuple[str, ...]
    factors: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    seat: str
    estimands: tuple[str, ...]
    model: str
    adjust: tuple[tuple[str, ...], ...]
    exclude: tuple[str, ...]
    role: str
    family: str

    @property
    def of_players(self) -> bool:
        """Whether people are compared with agents."""
        return not self.factors

    @property
    def first(self) -> str:
        """The first levels in words."""
        return " and ".join(first for first, _second in self.levels)

    @property
    def second(self) -> str:
        """The second levels in words."""
        return " and ".join(second for _first, second in self.levels)


@dataclass(frozen=True)
class Change:
    """What was done to a hypothesis after the first launch, and how much had ended by then.

    Attributes:
        what: added, changed or removed.
        fields: the old and new value of each changed field.
    """

    at: str
    hypothesis: str
    what: str
    fields: Mapping[str, Sequence[Any]]
    participants: int
    matches: int


@dataclass(frozen=True)
class AnalysisPlan:
    """The hypotheses now in force, the sample, and the changes since the first launch."""

    frozen_at: str
    version: str
    version_number: int | None
    hypotheses: tuple[Hypothesis, ...]
    per_arm: int | None
    why: str
    stop: str
    changes: tuple[Change, ...]
    warnings: tuple[str, ...] = ()

    @property
    def families(self) -> list[str]:
        """The families in order of their first hypotheses."""
        return list(dict.fromkeys(hypothesis.family for hypothesis in self.hypotheses))


def plan_of(data: Data) -> AnalysisPlan | None:
    """Return the plan of the first dataset that has one; None if no analysis was planned."""
    plans = [(folder.name, plan) for folder in data.folders if (plan := folder.manifest.get(KEY))]
    if not plans:
        return None
    name, plan = plans[0]
    others = [other for other, theirs in plans[1:] if theirs.get("hypotheses") != plan.get("hypotheses")]
    sample = plan.get("sample") or {}
    return AnalysisPlan(
        frozen_at=str(plan.get("frozen_at") or ""),
        version=str(plan.get("version") or ""),
        version_number=plan.get("version_number"),
        hypotheses=tuple(map(_hypothesis, plan.get("hypotheses") or ())),
        per_arm=sample.get("per_arm"), why=str(sample.get("why") or ""), stop=str(sample.get("stop") or ""),
        changes=tuple(map(_change, plan.get("changes") or ())),
        warnings=(f"The hypotheses of {', '.join(others)} differ; those of {name} are tested.",) if others else (),
    )  # fmt: skip


def _hypothesis(planned: Mapping[str, Any]) -> Hypothesis:
    contrast = planned.get("contrast") or {}
    factors, levels = contrast.get("factors") or (), contrast.get("levels") or ()
    if "factor" in contrast:
        factors, levels = (contrast["factor"],), (levels,)
    if not factors:
        levels = (contrast.get("players") or (HUMAN_LEVEL, AGENT_LEVEL),)
    estimand = planned.get("estimand") or BOTH
    return Hypothesis(
        name=planned["name"],
        claim=planned.get("claim") or "",
        outcome=tuple(str(planned["outcome"]).split(".")),
        factors=tuple(factors),
        levels=tuple((level_text(first), level_text(second)) for first, second in levels),
        seat=contrast.get("role") or "",
        estimands=(ASSIGNED, COMPLETED) if estimand == BOTH else (estimand,),
        model=planned.get("model") or "auto",
        adjust=tuple(tuple(name.split(".")) for name in planned.get("adjust") or ()),
        exclude=tuple(planned.get("exclude") or ()),
        role=planned.get("role") or PRIMARY,
        family=planned.get("family") or "main",
    )


def _change(change: Mapping[str, Any]) -> Change:
    ended = change.get("ended") or {}
    return Change(change.get("at") or "", change.get("hypothesis") or "", change.get("what") or "changed",
                  change.get("fields") or {}, ended.get("participants") or 0, ended.get("matches") or 0)  # fmt: skip


# ---- answers -------------------------------------------------------------------------------------------------


def answer_columns(data: Data, outcome: Sequence[str]) -> list[str]:
    """Return the participants' columns with the answers to a question, one per pass unless the pass is named."""
    if len(outcome) < 2 or not data.has("participants"):
        return []
    *passes, question = outcome[1:]
    suffix = "_".join(["", *passes])
    found = [name for name in data.names("participants")
             if name.startswith((f"survey_before_{question}", f"survey_after_{question}"))]  # fmt: skip
    exact = [name for name in found if name.split("_", 2)[2] == question + suffix]
    return exact or ([] if passes else found)


def answers(data: Data, people: pd.DataFrame, name: Sequence[str]) -> dict[str, pd.Series]:
    """Return an earlier answer as numbers: itself, or whether each option but the first was given."""
    columns = answer_columns(data, name)
    if not columns:
        return {}
    values = people[columns[0]]
    if data.kind("participants", columns[0]) in ("number", "integer", "boolean"):
        return {columns[0]: values.astype("float64")}
    texts = values.map(level_text, na_action="ignore")
    levels = sorted(texts.dropna().unique())
    return {f"{columns[0]}={level}": (texts == level).astype("float64").where(texts.notna(), np.nan)
            for level in levels[1:]}  # fmt: skip


def plain_answer(value: Any) -> Any:
    """Return an answer as conditions compare it: numbers as numbers, missing as None."""
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    number = finite(value)
    return value if number is None or isinstance(value, str) else number
