"""general.balance: whether cells filled evenly and their participants are comparable."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import add_holm, level_text, sorted_levels
from analysis.general.people import participants
from analysis.results import Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox import balance, smd

if TYPE_CHECKING:
    import pandas as pd

PRE_GAME = "survey_before_"
MAX_OPTIONS = 20
SMD_LINE = 0.1


def run(data: Data, options: Options) -> Result:
    """Return arrivals compared with quotas, and answers given before the game, by cell."""
    frame = participants(data, *(n for n in data.names("participants") if n.startswith(PRE_GAME)))
    tables, figures, numbers, warnings = [], [], {}, []
    arrivals = _arrivals(frame, data)
    if arrivals:
        fit = _fit(arrivals)
        tables.append(Table("arrivals", "Arrivals and quotas by cell", [
            text("arm", "Cell"), count("quota", "Quota (people)"), count("arrived", "Arrived"),
            number("expected", "Expected"),
        ], arrivals, note=_fit_note(fit)))  # fmt: skip
        numbers["arrivals"] = fit
    answers, small_cells = _answers(frame, data, options)
    known = min((row["known"] for row in answers), default=len(frame))
    if known < len(frame):
        warnings.append(
            f"Answers are known of {known:,} of {len(frame):,} people randomised. A dataset holds those of people with "
            "a match in it; export it with excluded rows to compare everybody who answered."
        )
    if small_cells:
        warnings.append(f"Cells with fewer than {options.min_group} answers are left out: {', '.join(small_cells)}.")
    if answers:
        add_holm(answers)
        tables.append(Table("answers", "Answers given before the game, by cell", [
            text("question", "Question"), text("option", "Option"), count("n", "n"), count("groups", "Cells"),
            number("smd", "Largest difference (SD)"), text("pair", "Between"), text("test", "Test"),
            number("statistic", "Statistic"), p_value(), p_value("p_holm", "p, Holm"),
        ], answers))  # fmt: skip
        figures.append(_love_plot(answers))
        numbers |= {row["where"]: {"estimate": row["smd"], "p": row["p"], "n": row["n"]} for row in answers}
    if not tables:
        raise SkippedError("There are no quotas, and no questions were asked before the game.")
    return Result(
        tables,
        figures,
        numbers,
        n={"people": len(frame), "clusters": int(frame["cluster"].nunique())},
        warnings=warnings,
    )


def _arrivals(frame: pd.DataFrame, data: Data) -> list[dict[str, Any]]:
    """Return quotas and arrivals by cell. Both count people: quotas are multiplied by the people per match."""
    if not data.has("cells", "version", "cell", "quota"):
        return []
    columns = [n for n in ("version", "cell", "quota", "seats", "dataset") if data.has("cells", n)]
    cells = data.table("cells", columns)
    cells = cells[cells["quota"].notna() & (cells["quota"] > 0)]
    arrivals = frame.groupby(["dataset", "version", "cell"], observed=True).size()
    arms = frame.drop_duplicates(["dataset", "version", "cell"]).set_index(["dataset", "version", "cell"])["arm"]
    rows = []
    for row in cells.to_dict("records"):
        key = (row["dataset"], row["version"], row["cell"])
        name = arms.get(key, f"cell {level_text(row['cell'])}")
        people = max(1, str(row.get("seats") or "").count('"person"'))
        rows.append({"arm": name, "quota": float(row["quota"]) * people, "arrived": int(arrivals.get(key, 0))})
    quotas, arrived = sum(row["quota"] for row in rows), sum(row["arrived"] for row in rows)
    for row in rows:
        row["expected"] = row["quota"] * arrived / quotas if quotas else None
    return rows


def _fit(arrivals: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the χ² goodness-of-fit test of arrivals against quotas."""
    n = sum(row["arrived"] for row in arrivals)
    if len(arrivals) < 2 or not n:
        return {"estimate": None, "p": None, "n": n}
    from scipy.stats import chi2

    statistic = sum((row["arrived"] - row["expected"]) ** 2 / row["expected"] for row in arrivals)
    return {"estimate": statistic, "df": len(arrivals) - 1, "p": float(chi2.sf(statistic, len(arrivals) - 1)), "n": n}


def _fit_note(fit: dict[str, Any]) -> str:
    if fit["p"] is None:
        return "No test: there is only one cell, or there are no arrivals."
    return (
        f"χ² = {fit['estimate']:.3f}, df = {fit['df']}, p = {fit['p']:.3f}. Cells fill evenly by design, so "
        "p is expected to be close to 1."
    )


def _answers(frame: pd.DataFrame, data: Data, options: Options) -> tuple[list[dict[str, Any]], list[str]]:
    """Return, for each question (and option), the largest difference between two cells and a test over all cells."""
    names = [n for n in frame.columns if n.startswith(PRE_GAME)]
    rows: list[dict[str, Any]] = []
    small_cells: set[str] = set()
    for name in names:
        values = frame[name]
        kind = data.kind("participants", name)
        if kind == "text" or (values.nunique() > MAX_OPTIONS and kind == "choice"):
            continue
        groups = {arm: values[frame["arm"] == arm].dropna() for arm in sorted_levels(frame["arm"])}
        small_cells |= {arm for arm, answers in groups.items() if 0 < len(answers) < options.min_group}
        groups = {arm: answers for arm, answers in groups.items() if len(answers) >= options.min_group}
        if len(groups) < 2:
            continue
        question = charts.label(name.removeprefix(PRE_GAME))
        n, known = sum(map(len, groups.values())), int(values.notna().sum())
        if kind in ("number", "integer"):
            numbers = {arm: answers.astype(float).tolist() for arm, answers in groups.items()}
            statistics = {**_anova(list(numbers.values())), **_largest_smd(numbers)}
            rows.append(
                {
                    "question": question,
                    "option": "",
                    "n": n,
                    "groups": len(groups),
                    **statistics,
                    "where": question,
                    "known": known,
                }
            )
            continue
        levels = sorted_levels(values.dropna().map(level_text))
        counts = [[int((answers.map(level_text) == level).sum()) for level in levels] for answers in groups.values()]
        chi2 = balance(counts)
        test = {"test": "χ²", "statistic": chi2["chi2"], "p": chi2["p"]}
        for index, level in enumerate(levels):
            flags = {arm: (answers.map(level_text) == level).astype(float).tolist() for arm, answers in groups.items()}
            rows.append({
                "question": question, "option": level, "n": n, "groups": len(groups), **_largest_smd(flags),
                **(test if index == 0 else dict.fromkeys(test)), "where": f"{question}: {level}",
                "known": known,
            })  # fmt: skip
    return rows, sorted(small_cells)


def _largest_smd(groups: dict[str, list[float]]) -> dict[str, Any]:
    """Return the pair of cells that differ most, and their standardised mean difference."""
    pairs = [
        (first, second, smd(groups[first], groups[second])["estimate"]) for first, second in combinations(groups, 2)
    ]
    defined = [pair for pair in pairs if pair[2] is not None]
    if not defined:
        return {"smd": None, "pair": ""}
    first, second, difference = max(defined, key=lambda pair: abs(pair[2]))
    return {"smd": difference, "pair": f"{first} − {second}"}


def _anova(groups: list[list[float]]) -> dict[str, Any]:
    """Return a one-way F test, without values if there is no variation within groups."""
    from scipy.stats import f_oneway

    if all(len(set(group)) == 1 for group in groups):
        return {"test": "F", "statistic": None, "p": None}
    test = f_oneway(*groups)
    return {"test": "F", "statistic": float(test.statistic), "p": float(test.pvalue)}


def _love_plot(rows: list[dict[str, Any]]) -> Any:
    ordered = sorted((row for row in rows if row["smd"] is not None), key=lambda row: -abs(row["smd"]))[:40]
    dots = [{"where": row["where"], "estimate": abs(row["smd"])} for row in ordered]
    return charts.dots("love", "Largest pre-game difference between two cells", dots, y="where",
                       x_title="Absolute standardised mean difference (line at .1)", line=SMD_LINE,
        zero=True)  # fmt: skip


ANALYSES = [
    Analysis(
        id="general.balance",
        title="Balance of cells",
        question="Did the cells fill evenly, and were their participants comparable before the game?",
        method=(
            "Everybody randomised (placed in a cell): χ² goodness-of-fit test of arrivals against quotas; for each "
            "question asked before the game, the largest standardised mean difference between two cells, with a χ² "
            "test (choices) or a one-way F test (numbers); Holm-adjusted p-values."
        ),
        needs="people",
        columns={"participants": ["cell", "version"]},
        run=run,
    )
]
