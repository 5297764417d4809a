"""The twelve regressions: effects of markets, parameters and players (section 4; tables 2 and 3; appendix F)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis import charts, toolbox
from analysis.frames import add_holm
from analysis.published.glee import printed
from analysis.published.glee.families import (
    FAMILIES,
    GAINS,
    HUMAN,
    MARKET,
    METRICS,
    REQUIRED_COLUMNS,
    ROLES,
    display,
    families,
    frame,
    reference_player,
)
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
    p_value,
    text,
)
from analysis.toolbox import ols

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

POINTS = 100
"""Factor that converts effects to percentage points."""
FORMULA_NOTE = (
    "The published values for {metrics} may come from code whose formulas differ from the paper's; other values should "
    "agree up to rounding."
)


def regress(rows: pd.DataFrame, family: str, metric: str, *, level: float = 0.95) -> dict[str, Any]:
    """Regress the metric on parameters, market and both players.

    Returns:
        the result of `toolbox.effects`; terms also have `factor` and `level`, and the paper's classical standard error
        and half the width of its interval; effects are in percentage points, and each factor's reference has a row
        of 0.
    """
    reference, _warning = reference_player(rows)
    factors = {**FAMILIES[family].factors, **dict.fromkeys(ROLES, reference)}
    fit = toolbox.effects(rows, metric, factors, group="cluster", replay="replay", cell=["setting"], level=level)
    classical = {term["term"]: term for term in ols(rows, metric, factors, level=level)["terms"]}
    terms = []
    for factor in ("Intercept", *factors):
        factor_terms = [term for term in fit["terms"] if term["term"].split("=")[0] == factor]
        if factor != "Intercept":
            levels = sorted({value for value in rows[factor].tolist() if value == value and value is not None}, key=str)
            estimated = {term["term"] for term in factor_terms} | set(fit["dropped"])
            references = [value for value in levels if f"{factor}={value}" not in estimated]
            factor_terms = [_reference(factor, value) for value in references] + factor_terms
        for term in factor_terms:
            name, _sign, value = term["term"].partition("=")
            published = classical.get(term["term"], term)
            half = None if published["low"] is None else (published["high"] - published["low"]) / 2
            terms.append({**{k: _points(term[k]) for k in ("estimate", "se", "low", "high")}, "p": term["p"],
                          "classical_se": _points(published["se"]), "classical_half": _points(half),
                          "factor": name, "level": _level(value), "components": term.get("components"),
                          "note": term.get("note", ""), "reference": term.get("reference", False)})  # fmt: skip
    return {**fit, "terms": terms}


def _reference(factor: str, level: Any) -> dict[str, Any]:
    return {"term": f"{factor}={level}", "estimate": 0.0, "se": None, "low": None, "high": None, "p": None,
            "reference": True}  # fmt: skip


def _points(value: float | None) -> float | None:
    return None if value is None else POINTS * value


def _level(value: str) -> str:
    try:
        return display(float(value))
    except ValueError:
        return value


def _warnings(rows: pd.DataFrame, fits: Sequence[Mapping[str, Any]]) -> list[str]:
    messages = [reference_player(rows)[1]]
    for fit in fits:
        # The warning above already names the players' reference level.
        messages += [message for message in fit["warnings"] if not message.startswith(("alice:", "bob:"))]
        if fit["dropped"]:
            messages.append(f"Dropped because of collinearity with earlier columns: {', '.join(fit['dropped'])}.")
    return [message for message in dict.fromkeys(messages) if message]


def _formula_note(family: str, metrics: Sequence[str]) -> str:
    names = [METRICS[metric].lower() for metric in metrics if metric in FAMILIES[family].other_formulas]
    return FORMULA_NOTE.format(metrics=" and ".join(names)) if names else ""


# ---- table 2 -------------------------------------------------------------------------------------------------


def market(data: Data, options: Options) -> Result:
    """Return coefficients of the market factor on efficiency and fairness, in the layout of table 2."""
    tables, numbers, warnings = [], {}, []
    for family in families(data):
        rows = frame(data, family)
        fits = {metric: regress(rows, family, metric, level=options.level) for metric in ("efficiency", "fairness")}
        warnings += _warnings(rows, list(fits.values()))
        results, widths = market_rows(family, fits)
        titles = [title for _column, title in FAMILIES[family].market]
        note = "Largest half-width of the classical intervals in each column: " + ", ".join(
            f"{METRICS[metric].lower()} ±{width:.1f}" for metric, width in widths.items() if width is not None
        )
        tables.append(Table(
            family, f"{FAMILIES[family].title}: effect of the market, in percentage points",
            [*(text(f"market_{index}", title) for index, title in enumerate(titles)),
             number("efficiency", "Efficiency"), number("fairness", "Fairness"),
             number("published_efficiency", "Published efficiency"),
             number("published_fairness", "Published fairness")],
            results,
            note=f"{note}. Bold: within one half-width of the best; underlined: within one half-width of the worst. "
            "Published values are matched by their rank in efficiency (within the same horizon), because the text of "
            "the published table lacks the check marks in the other columns. "
            f"{_formula_note(family, ('efficiency', 'fairness'))}".strip(),
            bold={"efficiency": "best_efficiency", "fairness": "best_fairness"},
            underlined={"efficiency": "worst_efficiency", "fairness": "worst_fairness"},
        ))  # fmt: skip
        for metric, fit in fits.items():
            market_terms = [term for term in fit["terms"] if term["factor"] == MARKET]
            numbers |= {f"{family}.{metric}.{term['level']}": _number(term, fit) for term in market_terms}
    return Result(tables, [], numbers, warnings=warnings)


def market_rows(
    family: str, fits: Mapping[str, Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, float | None]]:
    """Return the rows of table 2, sorted by efficiency, and the half-width of each column."""
    terms = {metric: [t for t in fit["terms"] if t["factor"] == MARKET] for metric, fit in fits.items()}
    widths = {
        metric: max((t["classical_half"] for t in metric_terms if t["classical_half"] is not None), default=None)
        for metric, metric_terms in terms.items()
    }
    fairness_terms = {term["level"]: term for term in terms["fairness"]}
    results = []
    for term in sorted(terms["efficiency"], key=lambda t: -t["estimate"]):
        fairness = fairness_terms.get(term["level"], {})
        row: dict[str, Any] = {f"market_{index}": value for index, value in enumerate(term["level"].split(" · "))}
        row |= {"efficiency": term["estimate"], "fairness": fairness.get("estimate"), "reference": term["reference"]}
        row |= {"efficiency_classical_half": term["classical_half"]}
        row |= {"fairness_classical_half": fairness.get("classical_half")}
        results.append(row)
    for metric, width in widths.items():
        values = [row[metric] for row in results if row[metric] is not None]
        for row in results:
            row[f"best_{metric}"] = row[metric] is not None and row[metric] >= max(values) - (width or 0)
            row[f"worst_{metric}"] = row[metric] is not None and row[metric] <= min(values) + (width or 0)
    _add_published(family, results)
    return results, widths


def _add_published(family: str, results: list[dict[str, Any]]) -> None:
    """Add published values by horizon and rank; the reference level gets the published reference."""
    remaining = {horizon: list(values) for horizon, values in printed.MARKETS[family].items()}
    for row in results:
        horizon = row["market_0"] if "∞" in remaining else ""
        unused = remaining.get(horizon) or []
        at_reference = next((pair for pair in unused if pair == printed.REFERENCE), None)
        if row["reference"]:
            published = at_reference
        else:
            published = next((pair for pair in unused if pair != printed.REFERENCE), None)
        if published is not None:
            unused.remove(published)
        row["published_efficiency"], row["published_fairness"] = published or (None, None)


def _number(term: Mapping[str, Any], fit: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: term[key] for key in ("estimate", "se", "low", "high", "p")}, "n": fit["n"]}


# ---- all coefficients ------------------------------------------------------------------------------------------


def effects(data: Data, options: Options) -> Result:
    """Return every coefficient of the regressions."""
    tables, figures, warnings = [], [], []
    for family in families(data):
        rows = frame(data, family)
        results, fits = [], []
        names = {column: title for column, (title, _reference) in FAMILIES[family].parameters.items()}
        names |= {MARKET: " · ".join(title for _column, title in FAMILIES[family].market)}
        names |= {"alice": "Alice", "bob": "Bob", "Intercept": "Intercept"}
        for metric, title in METRICS.items():
            fit = regress(rows, family, metric, level=options.level)
            fits.append(fit)
            results += [
                {**term, "metric": title, "factor": names[term["factor"]], "n": fit["n"], "r2": fit["r2"]}
                for term in fit["terms"]
            ]
        warnings += _warnings(rows, fits)
        add_holm(results)
        title = FAMILIES[family].title
        tables.append(Table(
            family, f"{title}: coefficients, in percentage points",
            [text("metric", "Metric"), text("factor", "Factor"), text("level", "Level"), number("estimate", "Effect"),
             number("se", "SE"), number("low", "Low"), number("high", "High"), p_value(), p_value("p_holm", "p, Holm"),
             number("classical_se", "SE, classical"), count("n", "n"), count("components", "Units"),
             NOTE],
            results, note="Effects are relative to the level whose effect is 0. The paper's standard errors are the "
            "classical ones, and its p-values are unadjusted.",
        ))  # fmt: skip
        drawn = [{**row, "where": f"{row['factor']}: {row['level']}"} for row in results
                 if row["factor"] not in ("Alice", "Bob", "Intercept")]  # fmt: skip
        figures.append(
            charts.figure(
                "dots",
                family,
                f"{title}: effects of parameters and markets",
                drawn,
                y="where",
                facet="metric",
                line=0,
                titles={"x": "Percentage points"},
            )
        )
        unbounded = rows["fairness"].notna() & ((rows["fairness"] < 0) | (rows["fairness"] > 1))
        if family == "negotiation" and len(rows):
            share_in_range = POINTS * (1 - unbounded.sum() / max(1, rows["fairness"].notna().sum()))
            warnings.append(
                f"Negotiation: fairness is not bounded; {share_in_range:.1f} % of its values lie in [0, 1]."
            )
        if rows["unverified"].any():
            warnings += _robustness(rows, family)
    return Result(tables, figures, warnings=warnings)


def _robustness(rows: pd.DataFrame, family: str) -> list[str]:
    """Return a sentence on how much coefficients change without the unverified matches."""
    changes = []
    for metric in METRICS:
        all_matches, without_unverified = (
            {(term["factor"], term["level"]): term["estimate"] for term in regress(sample, family, metric)["terms"]}
            for sample in (rows, rows[~rows["unverified"]])
        )
        changes += [abs(all_matches[key] - without_unverified[key]) for key in all_matches if key in without_unverified]
    n_unverified = int(rows["unverified"].sum())
    return [
        f"{FAMILIES[family].title}: {n_unverified:,} matches that break the rules are included; without them, no "
        f"coefficient changes by more than {max(changes, default=0):.2f} percentage points."
    ]


# ---- table 3 -----------------------------------------------------------------------------------------------------


def player_terms(data: Data, family: str, options: Options) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the coefficients of the players on their own self-gain, by role, and warnings."""
    rows = frame(data, family)
    terms_by_role, fits = {}, []
    for role, metric in zip(ROLES, GAINS, strict=True):
        fit = regress(rows, family, metric, level=options.level)
        fits.append(fit)
        games = rows[role].value_counts().to_dict()
        terms_by_role[role] = [
            {**term, "player": term["level"], "role": role.capitalize(), "n": fit["n"],
             "matches": games.get(term["level"], 0)}
            for term in fit["terms"] if term["factor"] == role
        ]  # fmt: skip
    return terms_by_role, _warnings(rows, fits)


def players(data: Data, options: Options) -> Result:
    """Return coefficients of the players on their own self-gain, in the layout of table 3."""
    tables, figures, numbers, warnings = [], [], {}, []
    for family in families(data):
        terms_by_role, notes = player_terms(data, family, options)
        warnings += notes
        by_player: dict[str, dict[str, Any]] = {}
        for role, terms in terms_by_role.items():
            for term in terms:
                row = by_player.setdefault(term["player"], {"player": term["player"]})
                row |= {role: term["estimate"], f"{role}_classical_half": term["classical_half"],
                        f"{role}_low": term["low"], f"{role}_high": term["high"], f"{role}_p": term["p"],
                        f"{role}_matches": term["matches"]}  # fmt: skip
                row[f"published_{role}"] = printed.player(term["player"], family, role)
                if not term["reference"]:
                    numbers[f"{family}.{role}.{term['player']}"] = {**_number(term, term), "n": term["matches"]}
        results = sorted(by_player.values(), key=lambda row: -row.get("alice", float("-inf")))
        title = FAMILIES[family].title
        columns = [text("player", "Player")]
        for role in ROLES:
            columns += [number(role, role.capitalize()), number(f"{role}_classical_half", "±, classical"),
                        number(f"{role}_low", "Low"), number(f"{role}_high", "High"),
                        text(f"published_{role}", f"{role.capitalize()}, published")]  # fmt: skip
        tables.append(Table(
            family, f"{title}: effect of the player on their own self-gain, in percentage points", columns, results,
            note="±, classical: as published, half the width of the interval for independent matches. Sorted by effect "
            f"as Alice. {_formula_note(family, GAINS)}".strip(),
        ))  # fmt: skip
        drawn = [term for terms in terms_by_role.values() for term in sorted(terms, key=lambda t: -t["estimate"])]
        figures.append(_dots(data, family, title, drawn))
    return Result(tables, figures, numbers, warnings=warnings)


def _dots(data: Data, name: str, title: str, terms: Sequence[Mapping[str, Any]]) -> Figure:
    return charts.figure(
        "dots",
        name,
        f"{title}: effect of the player on their own self-gain",
        terms,
        y="player",
        facet="role",
        line=0,
        titles={"x": "Percentage points"},
    )


# ---- people among players ----------------------------------------------------------------------------------------


def humans(data: Data, options: Options) -> Result:
    """Return where people rank among the players of each role."""
    results, figures, numbers, warnings = [], [], {}, []
    for family in families(data):
        terms_by_role, notes = player_terms(data, family, options)
        warnings += notes
        drawn = []
        for role, terms in terms_by_role.items():
            if (row := rank_of_humans(terms)) is None:
                continue
            results.append({"family": FAMILIES[family].title, "role": role.capitalize(), **row,
                         "published": printed.HUMANS[family, role]})  # fmt: skip
            numbers[f"{family}.{role}"] = {key: row[key] for key in ("estimate", "low", "high", "n")}
            drawn += [{**t, "who": "people" if t["player"] == HUMAN else "models"}
                      for t in sorted(terms, key=lambda t: -t["estimate"])]  # fmt: skip
        if drawn:
            title = FAMILIES[family].title
            figures.append(
                charts.figure(
                    "dots",
                    family,
                    f"{title}: people among the players",
                    drawn,
                    y="player",
                    colour="who",
                    facet="role",
                    line=0,
                    titles={"x": "Effect on their own self-gain, percentage points"},
                )
            )
    table = Table(
        "ranks", "Rank of people among the players, by effect on their own self-gain",
        [text("family", "Family"), text("role", "Role"), count("rank", "Rank"), count("of", "of"),
         *estimate_columns("People"), text("best", "Best model"),
         number("best_estimate", "Its effect"), text("worst", "Worst model"), number("worst_estimate", "Its effect"),
         text("verdict", "People's interval"), text("published", "Published rank")],
        results, note="Percentage points; rank 1 is the highest. See general.human_vs_model for people and models in "
        "the same configuration and role, against the same opponents.",
    )  # fmt: skip
    return Result([table], figures, numbers, warnings=warnings)


def rank_of_humans(terms: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the rank of people among these coefficients, and how their interval compares with the models."""
    people = next((term for term in terms if term["player"] == HUMAN), None)
    models = sorted((term for term in terms if term["player"] != HUMAN), key=lambda term: -term["estimate"])
    if people is None or not models:
        return None
    best, worst = models[0], models[-1]
    verdict = "within the range of models"
    if people["low"] is None:
        verdict = "unknown"
    elif people["low"] > best["estimate"]:
        verdict = "above the best model"
    elif people["high"] < worst["estimate"]:
        verdict = "below the worst model"
    return {
        "rank": 1 + sum(term["estimate"] > people["estimate"] for term in models), "of": len(models) + 1,
        "estimate": people["estimate"], "low": people["low"], "high": people["high"], "n": people["matches"],
        "best": best["player"], "best_estimate": best["estimate"],
        "worst": worst["player"], "worst_estimate": worst["estimate"], "verdict": verdict,
    }  # fmt: skip


REGRESSION = (
    "OLS of the metric on parameters, market (all combinations as one factor) and both players, one match per row; "
    "intervals from leaving out one independent unit at a time (CR3), classical ones only where the paper shows them; "
)
ALL_MATCHES = "All matches are included, with and without people, because the paper does not say which it used."

ANALYSES = [
    Analysis(
        id="glee.market",
        title="Market conditions (GLEE, table 2)",
        question="Do horizon, information and messages change efficiency and fairness?",
        method=f"{REGRESSION}coefficients of the market, sorted by efficiency. {ALL_MATCHES}",
        run=market, games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="glee.effects",
        title="All effects of parameters (GLEE, appendix F)",
        question="What is the effect of each parameter?",
        method=f"{REGRESSION}all coefficients in percentage points, with raw and Holm-adjusted p-values. "
        "We take the published metric values to be these coefficients, not means over configurations.",
        run=effects, games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="glee.players",
        title="Players' self-gain (GLEE, table 3)",
        question="Which players gain, and in which role?",
        method=f"{REGRESSION}coefficients of the players as Alice and as Bob on their own self-gain, relative to "
        f"gemini-1.5-flash. {ALL_MATCHES}",
        run=players, games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="glee.humans",
        title="People among the players (GLEE, question 3)",
        question="Are people different from models?",
        method=f"{REGRESSION}rank of people among the coefficients on self-gain, and their interval compared with the "
        "best and the worst model's coefficient.",
        run=humans, needs="both", games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
]  # fmt: skip
