"""general.response_times: how long people take to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import HUMAN, Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, level_text, sorted_levels, with_dependence
from analysis.general.turns import kinds_of_moves
from analysis.results import NOTE, Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox import effects, survival

if TYPE_CHECKING:
    import pandas as pd

MAX_STEPS = 120
"""Maximum number of steps drawn in a survival curve."""
MAX_ROUNDS = 30


def run(data: Data, options: Options) -> Result:
    """Return quartiles, a regression on round and kind of move, and the share of turns still unanswered over time."""
    frame = _turns(data)
    if not len(frame):
        raise SkippedError("No person's turns have recorded times.")
    answered = frame[frame["answered"]]
    too_few = f"fewer than {options.min_group}"
    rows: list[dict[str, Any]] = []
    n_hidden = 0
    for name, title in {"": "All", "role": "Role", "kind": "Kind of move", "round": "Round"}.items():
        levels = [""] if not name else sorted_levels(answered[name].dropna())
        for level in levels if name != "round" else levels[:MAX_ROUNDS]:
            subset = answered if not name else answered[answered[name] == level]
            row: dict[str, Any] = {"by": title, "level": level, "n": len(subset)}
            if subset["person"].nunique() < options.min_group:
                n_hidden += 1
                rows.append({"by": title, "level": level, "people": too_few})
                continue
            quartiles = subset["seconds"].quantile([0.1, 0.25, 0.5, 0.75, 0.9]).tolist()
            row |= dict(zip(("low", "q1", "median", "q3", "high"), quartiles, strict=True))
            rows.append(row | {"people": str(subset["person"].nunique())})
    columns = [
        text("by", "By"),
        text("level", "Group"),
        text("people", "People"),
        count("n", "Answers"),
        number("q1", "25 % (s)"),
        number("median", "Median (s)"),
        number("q3", "75 % (s)"),
    ]
    tables = [Table("seconds", "Response times in seconds", columns, rows)]
    figures, numbers, warnings = [], {}, []
    if n_hidden:
        warnings.append(f"Times of {too_few} people are not shown ({n_hidden} groups).")
    if frame["person"].nunique() >= options.min_group:
        numbers["median"] = (
            {"estimate": float(answered["seconds"].median()), "n": len(answered)} if len(answered) else {}
        )
        terms = _regression(answered, options)
        if terms:
            tables.append(
                Table(
                    "regression",
                    "Regression of log(seconds + 1)",
                    [
                        text("term", "Term"),
                        number("estimate", "Effect"),
                        number("se", "SE"),
                        number("low", "Low"),
                        number("high", "High"),
                        p_value(),
                        count("n", "n"),
                        count("clusters", "Units"),
                        NOTE,
                    ],
                    terms,
                )
            )
            numbers |= {
                f"log seconds: {t['term']}": {
                    k: t[k] for k in ("estimate", "se", "low", "high", "p", "n", "clusters", "method")
                }
                for t in terms
            }
        curve = _curves(data, frame, options)
        if curve:
            figures.append(
                charts.lines(
                    "unanswered",
                    "Share of turns still unanswered, by seconds since the screen was shown",
                    curve,
                    x="seconds",
                    y="share",
                    colour="role",
                    players=data.roles,
                    x_title="Seconds",
                    y_title="Share unanswered",
                    y_format="%",
                    step=True,
                    points=False,
                    y_domain=(0, 1),
                )
            )
    unanswered = int((~frame["answered"]).sum())
    if unanswered:
        warnings.append(
            f"{unanswered:,} turns were never answered; they are censored in the curves and left out elsewhere."
        )
    return Result(
        tables,
        figures,
        numbers,
        n={
            "decisions": len(frame),
            "people": int(frame["person"].nunique()),
            "clusters": int(frame["cluster"].nunique()),
        },
        warnings=warnings,
    )


def _turns(data: Data) -> pd.DataFrame:
    """Return the turns that people answered themselves or never: role, round, kind, seconds, answered, person."""
    import pandas as pd

    optional_columns = [n for n in ("by", "round", "answered") if data.has("decisions", n)]
    frame = data.table("decisions", ["match", "role", "player", "seconds", "shown_at", *optional_columns])
    frame["kind"] = kinds_of_moves(data)
    if "answered" not in frame:
        frame["answered"] = True
    frame["answered"] = frame["answered"].fillna(True).astype(bool)
    answered_by_person = frame["by"].isna() | ~frame["answered"] if "by" in frame else True
    frame = frame[
        (frame["player"] == HUMAN) & answered_by_person & frame["seconds"].notna() & frame["shown_at"].notna()
    ].copy()
    frame["round"] = frame["round"].map(level_text) if "round" in frame else None
    people: dict[tuple[str, str], str] = {}
    person = data.person()
    for role in data.roles:
        if data.has("matches", f"participant_{role}"):
            rows = data.table("matches", ["match", f"participant_{role}"]).dropna()
            people |= {
                (match, role): person(name)
                for match, name in zip(rows["match"], rows[f"participant_{role}"], strict=True)
            }
    keys = zip(frame["match"], frame["role"], strict=True)
    frame["person"] = pd.Series([people.get(key, f"{key[0]} {key[1]}") for key in keys], index=frame.index, dtype="str")
    return with_dependence(data, frame)


def _regression(answered: pd.DataFrame, options: Options) -> list[dict[str, Any]]:
    import numpy as np

    frame = answered.assign(log_seconds=np.log1p(answered["seconds"]))
    factors = {
        name: frame[name].mode().iloc[0]
        for name in ("round", "kind")
        if name in frame and 1 < frame[name].nunique() <= MAX_ROUNDS
    }
    if not factors:
        return []
    fit = effects(frame, "log_seconds", factors, group="cluster", level=options.level)
    return [{**term, "n": fit["n"], "clusters": fit["clusters"]} for term in fit["terms"]]


def _curves(data: Data, frame: pd.DataFrame, options: Options) -> list[dict[str, Any]]:
    """Return Kaplan–Meier steps by role, thinned out for drawing, up to the 99th percentile of the times."""
    import numpy as np

    rows = []
    for role in sorted_levels(frame["role"].dropna()):
        subset = frame[frame["role"] == role]
        if subset["person"].nunique() < options.min_group:
            continue
        curve = survival(subset["seconds"].tolist(), subset["answered"].tolist())
        end = float(subset["seconds"].quantile(0.99))
        times, shares = np.array([0.0, *curve["times"]]), np.array([1.0, *curve["share"]])
        indices = np.flatnonzero(times <= end)
        indices = indices[np.unique(np.linspace(0, len(indices) - 1, min(len(indices), MAX_STEPS)).round().astype(int))]
        rows += [
            {"role": data.role_name(role), "seconds": float(times[index]), "share": float(shares[index])}
            for index in indices
        ]
    return rows


ANALYSES = [
    Analysis(
        id="general.response_times",
        title="Response times",
        question="How long do people take to answer?",
        method=(
            "Seconds from when the screen is shown to the answer: quartiles; OLS of log(seconds + 1) on round and kind "
            "of move, with standard errors from leaving out one independent unit at a time (CR3); Kaplan–Meier curves "
            f"in which unanswered turns are censored. {UNITS}"
        ),
        needs="people",
        columns={"decisions": ["match", "role", "player", "seconds", "shown_at"]},
        run=run,
    )
]
