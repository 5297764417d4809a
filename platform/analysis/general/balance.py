"""general.balance: whether cells filled evenly and their participants are alike."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import adjusted, sorted_levels, words
from analysis.general.people import participants
from analysis.results import Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox import balance, smd

if TYPE_CHECKING:
    import pandas as pd

BEFORE = "survey_before_"
MOST_OPTIONS = 20
ALIKE = 0.1


def run(data: Data, options: Options) -> Result:
    """Return arrivals against quotas, and answers given before the game, by cell."""
    frame = participants(data)
    tables, figures, numbers, warnings = [], [], {}, []
    arrivals = _arrivals(frame, data)
    if arrivals:
        fit = _fit(arrivals)
        tables.append(Table("arrivals", "Arrivals per cell against quotas", [
            text("arm", "Cell"), count("quota", "Quota (people)"), count("arrived", "Arrived"),
            number("expected", "Expected"),
        ], arrivals, note=_said(fit)))  # fmt: skip
        numbers["arrivals"] = fit
    answers, small = _answers(frame, data, options)
    if small:
        warnings.append(f"Cells with fewer than {options.min_group} answers are left out: {', '.join(small)}.")
    if answers:
        adjusted(answers)
        tables.append(Table("answers", "Answers given before the game, by cell", [
            text("question", "Question"), text("option", "Option"), count("n", "n"), count("groups", "Cells"),
            number("smd", "Largest difference (SD)"), text("pair", "Between"), text("test", "Test"),
            number("statistic", "Statistic"), p_value(), p_value("p_holm", "p, Holm"),
        ], answers))  # fmt: skip
        figures.append(_love_plot(answers))
        numbers |= {row["where"]: {"estimate": row["smd"], "p": row["p"], "n": row["n"]} for row in answers}
    if not tables:
        raise SkippedError("There are no quotas and no answers from before the game.")
    return Result(tables, figures, numbers, n={"people": len(frame)}, warnings=warnings)


def _arrivals(frame: pd.DataFrame, data: Data) -> list[dict[str, Any]]:
    """People wanted and come per cell; a cell for several people wants its quota times those who came per match."""
    if not data.has("cells", "version", "cell", "quota"):
        return []
    columns = [n for n in ("version", "cell", "quota", "seats", "dataset") if data.has("cells", n)]
    cells = data.table("cells", columns)
    cells = cells[cells["quota"].notna() & (cells["quota"] > 0)]
    came = frame.groupby(["dataset", "version", "cell"], observed=True).size()
    arms = frame.drop_duplicates(["dataset", "version", "cell"]).set_index(["dataset", "version", "cell"])["arm"]
    rows = []
    for row in cells.to_dict("records"):
        key = (row["dataset"], row["version"], row["cell"])
        name = arms.get(key, f"cell {words(row['cell'])}")
        people = max(1, str(row.get("seats") or "").count('"person"'))
        rows.append({"arm": name, "quota": float(row["quota"]) * people, "arrived": int(came.get(key, 0))})
    wanted, arrived = sum(row["quota"] for row in rows), sum(row["arrived"] for row in rows)
    for row in rows:
        row["expected"] = row["quota"] * arrived / wanted if wanted else None
    return rows


def _fit(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """χ² fit of arrivals to quotas."""
    n = sum(row["arrived"] for row in rows)
    if len(rows) < 2 or not n:
        return {"estimate": None, "p": None, "n": n}
    from scipy.stats import chi2

    statistic = sum((row["arrived"] - row["expected"]) ** 2 / row["expected"] for row in rows)
    return {"estimate": statistic, "df": len(rows) - 1, "p": float(chi2.sf(statistic, len(rows) - 1)), "n": n}


def _said(fit: dict[str, Any]) -> str:
    if fit["p"] is None:
        return "No test: only one cell, or no arrivals."
    return (
        f"χ² = {fit['estimate']:.3f}, df = {fit['df']}, p = {fit['p']:.3f}. Cells are filled evenly by design, "
        "so expect a p near 1."
    )


def _answers(frame: pd.DataFrame, data: Data, options: Options) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the largest difference between two cells per question (and option), and a test over all cells."""
    names = [n for n in data.names("participants") if n.startswith(BEFORE)]
    rows: list[dict[str, Any]] = []
    small: set[str] = set()
    own = data.table("participants", names) if names else None
    for name in names:
        values = own[name]  # type: ignore[index]
        kind = data.kind("participants", name)
        if kind == "text" or (values.nunique() > MOST_OPTIONS and kind == "choice"):
            continue
        groups = {arm: values[frame["arm"] == arm].dropna() for arm in sorted_levels(frame["arm"])}
        small |= {arm for arm, answers in groups.items() if 0 < len(answers) < options.min_group}
        groups = {arm: answers for arm, answers in groups.items() if len(answers) >= options.min_group}
        if len(groups) < 2:
            continue
        question = charts.label(name.removeprefix(BEFORE))
        n = sum(map(len, groups.values()))
        if kind in ("number", "integer"):
            numbers = {arm: answers.astype(float).tolist() for arm, answers in groups.items()}
            found = {**_anova(list(numbers.values())), **_furthest(numbers)}
            rows.append({"question": question, "option": "", "n": n, "groups": len(groups), **found, "where": question})
            continue
        levels = sorted_levels(values.dropna().map(words))
        counts = [[int((answers.map(words) == level).sum()) for level in levels] for answers in groups.values()]
        tested = balance(counts)
        test = {"test": "χ²", "statistic": tested["chi2"], "p": tested["p"]}
        for at, level in enumerate(levels):
            flags = {arm: (answers.map(words) == level).astype(float).tolist() for arm, answers in groups.items()}
            rows.append({
                "question": question, "option": level, "n": n, "groups": len(groups), **_furthest(flags),
                **(test if at == 0 else dict.fromkeys(test)), "where": f"{question}: {level}",
            })  # fmt: skip
    return rows, sorted(small)


def _furthest(groups: dict[str, list[float]]) -> dict[str, Any]:
    """Return the pair of cells that differ most, in standard deviations."""
    pairs = [(one, other, smd(groups[one], groups[other])["estimate"]) for one, other in combinations(groups, 2)]
    known = [pair for pair in pairs if pair[2] is not None]
    if not known:
        return {"smd": None, "pair": ""}
    one, other, difference = max(known, key=lambda pair: abs(pair[2]))
    return {"smd": difference, "pair": f"{one} − {other}"}


def _anova(groups: list[list[float]]) -> dict[str, Any]:
    """Return a one-way F test; none without variation within groups."""
    from scipy.stats import f_oneway

    if all(len(set(group)) == 1 for group in groups):
        return {"test": "F", "statistic": None, "p": None}
    found = f_oneway(*groups)
    return {"test": "F", "statistic": float(found.statistic), "p": float(found.pvalue)}


def _love_plot(rows: list[dict[str, Any]]) -> Any:
    ordered = sorted((row for row in rows if row["smd"] is not None), key=lambda row: -abs(row["smd"]))[:40]
    dots = [{"where": row["where"], "estimate": abs(row["smd"])} for row in ordered]
    return charts.dots("love", "Largest difference between two cells before the game", dots, y="where",
                       x_title="Absolute standardised mean difference (line at .1)", line=ALIKE,
        zero=True)  # fmt: skip


ANALYSES = [
    Analysis(
        id="general.balance",
        title="Balance of cells",
        question="Did the cells fill evenly, and were their participants alike before the game?",
        method=(
            "χ² fit of arrivals to quotas; for each answer given before the game the largest standardised difference "
            "between two cells, with χ² (choices) or a one-way F test (numbers), adjusted by Holm's method."
        ),
        needs="people",
        columns={"participants": ["cell", "version"]},
        run=run,
    )
]
