"""general.human_vs_model: people compared with models in the same situation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import HUMAN, Data, label
from analysis.errors import SkippedError
from analysis.frames import EXPLORATORY, UNITS, Unit, estimates, matches, roles_by_kind, seats, with_holm, with_q
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, text
from analysis.toolbox.effects import within

MODELS = "all models"


@analysis(
    "general.human_vs_model", "People and models in the same situation",
    "Do people and models differ in the same configuration and role, against the same opponents?",
    "OLS of each outcome on a human dummy and stratum dummies (configuration, role, opponents), for strata in "
    "which both people and models played; standard errors from leaving out one independent unit at a time "
    f"(CR3). {UNITS}",
    needs="both", columns={"matches": ["match", "player_*"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    rows: list[dict[str, Any]] = []
    means: list[pd.DataFrame] = []
    strata, people = 0, 0
    for role, unit in _by_role(data):
        common = _in_shared_strata(unit.frame)
        if common is None:
            continue
        strata, people = strata + common["stratum"].nunique(), people + int((common["who"] == HUMAN).sum())
        models = sorted(set(common["who"]) - {HUMAN})
        sides = common.assign(side=np.where(common["who"] == HUMAN, "People", "Models"))
        for outcome, heading in unit.outcomes.items():
            for against in [MODELS, *(models if len(models) > 1 else [])]:
                subset = common if against == MODELS else common[common["who"].isin([HUMAN, against])]
                difference = _difference(subset, outcome, unit.ranges[outcome], options.level)
                if difference:
                    rows.append({"role": role, "outcome": heading, "key": outcome, "against": against, **difference})
            by_side = estimates(sides, ["side"], outcome, share=outcome in unit.shares, level=options.level,
                                bounds=unit.ranges[outcome])  # fmt: skip
            means.append(by_side.assign(role=role, outcome=heading))
    if not rows:
        raise SkippedError(
            "People and models never played in the same configuration and role against the same opponents."
        )
    differences = pd.DataFrame(rows)
    single = differences[differences["against"] != MODELS]
    adjusted = [with_holm(group)["p_holm"] for _names, group in single.groupby(["role", "key"])]
    table = Table(
        "differences", "People minus models in the same situation",
        ["role", "outcome", text("against", "People minus"), count("people", "People, n"),
         count("models", "Models, n"), count("strata", "Strata"), number("estimate", "Difference"), "se", "low", "high",
         "p", "p_holm", "q", "components", "method", "note"],
        with_q(differences).assign(p_holm=pd.concat([*adjusted, differences["p"][differences["against"] == MODELS]])),
        note=f"{EXPLORATORY} Units: independent units on the smaller side. Holm's adjustment is over the models for "
        "the same role and outcome.",
        charts=[Chart("dots", name="means", title="People and models in the same situation", y="role", colour="side",
                    facet="outcome", titles={"x": "Mean or share"}, most={"facet": 8},
                    rows=pd.concat(means)[["role", "outcome", "side", "estimate", "low", "high"]])],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{role}: {key}: {against}"), n={"strata": strata, "people": people})


def _by_role(data: Data) -> Iterator[tuple[str, Unit]]:
    """Yield each role, or kind of seats, with its rows, which also have `who` played and the `stratum`."""
    base = matches(data)
    configuration = pd.Series("", index=base.frame.index, dtype="str")
    for name in base.config:
        configuration = configuration + "|" + base.frame[name]
    players = data.players_by_role.fillna("")
    strata = {}
    for role in data.roles:
        opponents = players.drop(columns=role)
        against = opponents.apply(lambda row: "|".join(sorted(row)), axis=1) if len(opponents.columns) else ""
        strata[role] = configuration + "§" + against
    for kind, roles in roles_by_kind(data).items():
        if len(roles) == 1:
            role = roles[0]
            frame = base.frame.assign(who=data.players_by_role[role], stratum=strata[role])
            others = [other for other in data.roles if other != role]
            not_own = (*(f"payoffs_{other}" for other in others), *(f"{other}_" for other in others))
            own = {name: heading for name, heading in base.outcomes.items() if not name.startswith(not_own)}
            yield data.role_name(role), _known(base, frame, own)
        elif data.has("seats", "match", "role", "payoff"):
            unit = seats(data)
            of_seat = pd.concat([pd.DataFrame({"match": base.frame["match"], "role": role, "stratum": strata[role]})
                                 for role in roles])  # fmt: skip
            frame = unit.frame.merge(of_seat, on=["match", "role"]).rename(columns={"player": "who"})
            yield label(kind), _known(unit, frame, unit.outcomes)


def _known(unit: Unit, frame: pd.DataFrame, outcomes: Any) -> Unit:
    return replace(unit, frame=frame[frame["who"].notna()], outcomes=outcomes)


def _in_shared_strata(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the rows of strata in which both people and models played; None if there are none."""
    human = (frame["who"] == HUMAN).groupby(frame["stratum"])
    is_shared = human.transform("any") & ~human.transform("all")
    return frame[is_shared] if is_shared.any() else None


def _difference(
    frame: pd.DataFrame, outcome: str, bounds: tuple[float | None, float | None], level: float
) -> dict[str, Any] | None:
    """Return OLS of the outcome on a human dummy and stratum dummies, over independent units."""
    rows = _in_shared_strata(frame[frame[outcome].notna()])
    if rows is None:
        return None
    human = (rows["who"] == HUMAN).astype("float64")
    people, strata = int(human.sum()), rows["stratum"]
    return {
        **within(human.to_numpy(), *(rows[name].to_numpy() for name in (outcome, "stratum", "cluster")), level=level,
                 bounds=bounds),
        "people": people, "models": len(rows) - people, "strata": strata.nunique(),
    }  # fmt: skip


ANALYSES = [run]
