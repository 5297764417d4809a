"""general.human_vs_model: people compared with models in the same situation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import HUMAN, Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, add_holm, estimates, matches, roles_by_kind, seats
from analysis.results import NOTE, Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox.effects import within

if TYPE_CHECKING:
    import pandas as pd

MODELS = "all models"
PANELS = 8


def run(data: Data, options: Options) -> Result:
    """Return the differences between people and models within the strata in which both played."""
    rows: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    strata, people = 0, 0
    for role, frame, outcomes, shares in _by_role(data):
        common = _in_shared_strata(frame)
        if common is None:
            continue
        strata += common["stratum"].nunique()
        people += int((common["who"] == HUMAN).sum())
        models = sorted(set(common["who"]) - {HUMAN})
        for outcome, heading in outcomes.items():
            for against in [MODELS, *(models if len(models) > 1 else [])]:
                subset = (
                    common if against == MODELS else _in_shared_strata(common[common["who"].isin([HUMAN, against])])
                )
                difference = None if subset is None else _difference(subset, outcome, options.level)
                if difference:
                    rows.append({"role": role, "outcome": heading, "key": outcome, "against": against, **difference})
            with_side = common.assign(side=["People" if player == HUMAN else "Models" for player in common["who"]])
            by_side = estimates(with_side, ["side"], outcome, share=outcome in shares, level=options.level)
            for row in by_side.to_dict("records"):
                dots.append(
                    {"role": role, "outcome": heading, **{k: row[k] for k in ("side", "estimate", "low", "high")}}
                )
    if not rows:
        raise SkippedError(
            "People and models never played in the same configuration and role against the same opponents."
        )
    for group in dict.fromkeys((row["role"], row["key"]) for row in rows):
        add_holm([r for r in rows if (r["role"], r["key"]) == group and r["against"] != MODELS])
    for row in rows:
        row.setdefault("p_holm", row["p"])
    columns = [
        text("role", "Role"), text("outcome", "Outcome"), text("against", "People minus"), count("people", "People, n"),
        count("models", "Models, n"), count("strata", "Strata"), number("estimate", "Difference"), number("se", "SE"),
        number("low", "Low"), number("high", "High"), p_value(), p_value("p_holm", "p, Holm"),
        count("components", "Units"), NOTE,
    ]  # fmt: skip
    table = Table("differences", "People minus models in the same situation", columns, rows,
                  note="Units: independent units on the smaller side. Holm's adjustment is over the models for the "
                  "same role and outcome.")  # fmt: skip
    shown_outcomes = list(dict.fromkeys(row["outcome"] for row in dots))[:PANELS]
    shown_dots = [row for row in dots if row["outcome"] in shown_outcomes]
    figure = charts.dots("means", "People and models in the same situation", shown_dots,
                         y="role", colour="side", facet="outcome", x_title="Mean or share")  # fmt: skip
    numbers = {
        f"{r['role']}: {r['key']}: {r['against']}": {
            k: r[k]
            for k in ("estimate", "se", "low", "high", "p", "n", "clusters", "df", "components", "method", "note")
        }
        for r in rows
    }
    return Result([table], [figure], numbers, n={"strata": strata, "people": people})


def _by_role(data: Data) -> Iterator[tuple[str, pd.DataFrame, dict[str, str], frozenset[str]]]:
    """Yield role (or kind of seat), rows with who, stratum, cluster and outcomes, headings, and shares."""
    import pandas as pd

    base = matches(data)
    configuration = pd.Series("", index=base.frame.index, dtype="str")
    for name in base.config:
        configuration = configuration + "|" + base.frame[name]
    for kind, roles in roles_by_kind(data).items():
        others = {role: [other for other in data.roles if other != role] for role in roles}
        against = {
            role: data.players_by_role[others[role]].fillna("").apply(lambda row: "|".join(sorted(row)), axis=1)
            if others[role] else "" for role in roles
        }  # fmt: skip
        if len(roles) == 1:
            role = roles[0]
            frame = base.frame.assign(who=data.players_by_role[role], stratum=configuration + "§" + against[role])
            own_outcomes = [n for n in base.outcomes if not _belongs_to_other(n, role, data.roles)]
            yield (
                data.role_name(role),
                frame[frame["who"].notna()],
                {n: base.outcomes[n] for n in own_outcomes},
                base.shares,
            )
        elif data.has("seats", "match", "role", "payoff"):
            unit = seats(data)
            match = base.frame["match"]
            strata = pd.concat(
                [
                    pd.DataFrame({"match": match, "role": role, "stratum": configuration + "§" + against[role]})
                    for role in roles
                ]
            )
            frame = unit.frame.merge(strata, on=["match", "role"]).rename(columns={"player": "who"})
            yield charts.label(kind), frame[frame["who"].notna()], dict(unit.outcomes), unit.shares


def _belongs_to_other(outcome: str, role: str, roles: list[str]) -> bool:
    """Return whether an outcome belongs to another role."""
    return any(outcome in (f"payoffs_{other}",) or outcome.startswith(f"{other}_") for other in roles if other != role)


def _in_shared_strata(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the rows of strata in which both people and models played; None if there are none."""
    human = (frame["who"] == HUMAN).groupby(frame["stratum"])
    is_shared = human.transform("any") & ~human.transform("all")
    return frame[is_shared] if is_shared.any() else None


def _difference(frame: pd.DataFrame, outcome: str, level: float) -> dict[str, Any] | None:
    """Return OLS of the outcome on a human dummy and stratum dummies, over independent units."""
    rows = frame[frame[outcome].notna()]
    rows = rows if len(rows) == len(frame) else _in_shared_strata(rows)
    if rows is None or not len(rows):
        return None
    human = (rows["who"] == HUMAN).astype(float)
    people, strata = int(human.sum()), rows["stratum"]
    return {
        **within(human.to_numpy(), *(rows[name].to_numpy() for name in (outcome, "stratum", "cluster")), level=level),
        "people": people, "models": len(rows) - people, "strata": strata.nunique(),
    }  # fmt: skip


ANALYSES = [
    Analysis(
        id="general.human_vs_model",
        title="People and models in the same situation",
        question="Do people and models differ in the same configuration and role, against the same opponents?",
        method=(
            "OLS of each outcome on a human dummy and stratum dummies (configuration, role, opponents), for strata in "
            "which both people and models played; standard errors from leaving out one independent unit at a time "
            f"(CR3). {UNITS}"
        ),
        needs="both",
        columns={"matches": ["match", "player_*"]},
        run=run,
    )
]
