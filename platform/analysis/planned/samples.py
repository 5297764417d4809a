"""The rows with which a hypothesis is tested, and the people behind them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import FACTOR, HUMAN, OUTCOMES, Data, is_fixed_by
from analysis.errors import SkippedError
from analysis.frames import GROUP, PERSON, POSITION, level_text, seat_outcomes
from analysis.general.people import participants
from analysis.planned.hypotheses import (
    AGENT_LEVEL,
    ASSIGNED,
    HUMAN_LEVEL,
    Hypothesis,
    answer_columns,
    answers,
    plain_answer,
)
from analysis.reasons import without_treatment
from analysis.tables import records
from games.conditions import Condition

Y, WHO, STRATUM, UNIT, BLOCK, PEOPLE = "outcome", "who", "stratum", "assigned_unit", "assigned_block", "people"
DRAW = ("assignment_rule", "assignment_number", "assignment_stratum", "assignment_block", "assignment_open",
        "assignment_forced", "assignment_completes")  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """Rows for a hypothesis.

    Attributes:
        frame: `outcome`, the columns of the regression, `cluster` (the independent unit), those with persons, `people`
            (the row's participants), and `assigned_unit` and `assigned_block` of the contrast's first factor.
        heading, unit: the outcome's name, and its unit of measurement.
        factors: the reference level of each factor in the regression, those of the contrast first.
        term: the tested term.
        covariates: columns of numbers in the regression.
        bounds: the outcome's possible range.
        yes_no: whether the outcome is yes or no.
        table, column: where the outcome is in the dataset.
        people: everybody randomised to the levels compared, with the `level` of the first factor if it is between
            participants.
        between: whether the contrast's first factor differs between participants.
        undrawn: why the assignment cannot be repeated; "" if it can.
        missing: rows without the outcome.
        left_out: people whom the plan's own conditions exclude.
        roles, strata: the seats compared, and the parameters that make strata, for people against agents.
        codes: the numbers for the options of a question.
    """

    frame: pd.DataFrame
    heading: str
    unit: str
    factors: dict[str, str]
    term: str
    covariates: list[str]
    bounds: tuple[float | None, float | None]
    yes_no: bool
    table: str
    column: str
    people: pd.DataFrame
    between: bool
    undrawn: str
    missing: int = 0
    left_out: int = 0
    roles: list[str] = field(default_factory=list)
    strata: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def sample_of(data: Data, hypothesis: Hypothesis, estimand: str, *, exclude: bool = True) -> Sample:
    """Return the rows of a hypothesis under an estimand.

    Args:
        exclude: whether the plan's own conditions of exclusion apply.

    Raises:
        SkippedError: the dataset lacks the outcome, a factor or its levels.
    """
    assigned = estimand == ASSIGNED and data.with_excluded is not None
    source = data.with_excluded if assigned else data
    assert source is not None
    everybody, notes = _everybody(data, hypothesis), []
    out = {name for condition in hypothesis.exclude if exclude for name in _excluded(everybody, condition, data)}
    for asked in (name for condition in hypothesis.exclude for name in Condition.parse(condition).references()):
        if not answer_columns(data, asked):
            notes.append(f"{'.'.join(asked)} is no answer in the dataset; conditions on it are not true of anybody")
    table, column = _outcome(source, hypothesis)
    roles: list[str] = []
    strata: list[str] = []
    if table == "participants":
        frame = _answer_rows(source, hypothesis, everybody, assigned=estimand == ASSIGNED)
    elif hypothesis.of_players:
        frame, roles, strata = _seats(source, hypothesis, table, column)
    else:
        frame = _match_rows(source, hypothesis, table, column)
    frame = frame[frame[PEOPLE].map(out.isdisjoint).astype(bool)]
    everybody = everybody[~everybody["participant"].isin(out)]
    columns = [FACTOR + name for name in hypothesis.factors] or [WHO]
    for name, (first, second) in zip(columns, hypothesis.levels, strict=True):
        frame = frame[frame[name].isin([first, second])]
        if name in everybody:
            everybody = everybody[everybody[name].isin([first, second])]
    if not len(frame):
        raise SkippedError("no match or answer has one of the levels compared.")
    between = columns[0] in everybody
    everybody = everybody.assign(level=everybody[columns[0]] if between else "")
    of_contrast = {name: second for name, (_first, second) in zip(columns, hypothesis.levels, strict=True)}
    missing, frame = int(frame[Y].isna().sum()), frame[frame[Y].notna()].reset_index(drop=True)
    if not len(frame):
        raise SkippedError("no match or answer has the outcome.")
    others = [STRATUM] if hypothesis.of_players else [n for n in source.treatments("matches") if n in frame]
    others += [POSITION] if POSITION in frame else []
    varying = [name for name in others if name not in of_contrast and frame[name].nunique() > 1
               and not is_fixed_by(frame, name, columns)]  # fmt: skip
    factors = of_contrast | {name: frame[name].value_counts(sort=True).index[0] for name in varying}
    covariates = []
    for earlier in hypothesis.adjust:
        for answer, values in answers(data, everybody, earlier).items():
            by_person = dict(zip(everybody["participant"], values, strict=True))
            frame[answer] = [_mean([by_person.get(person) for person in people]) for people in frame[PEOPLE]]
            covariates.append(answer)
    undrawn = _with_assignment(data, frame, everybody, columns[0], between=between)
    term = ":".join(f"{name}={first}" for name, (first, _second) in zip(columns, hypothesis.levels, strict=True))
    described = source.fields(table)[column]
    listed = options(source, column) if table == "participants" else []
    bounds = described.range if not listed else (0.0, 1.0) if len(listed) == 2 else (1.0, float(len(listed)))
    return Sample(
        frame, _heading(source, hypothesis, table, column), described.unit, factors, term, covariates, bounds,
        described.kind == "boolean" or len(listed) == 2, table, column, everybody, between, undrawn, missing, len(out),
        roles, strata, _codes(listed), notes,
    )  # fmt: skip


def _everybody(data: Data, hypothesis: Hypothesis) -> pd.DataFrame:
    """Return everybody randomised, with what the hypothesis uses of them; nobody if the dataset has no people."""
    nobody = pd.DataFrame({name: pd.Series(dtype="object") for name in ("participant", "in_dataset", "cluster")})
    if not data.has("participants", "participant", "stage", "cell", "version"):
        return nobody
    named = [
        *hypothesis.adjust,
        *(name for condition in hypothesis.exclude for name in Condition.parse(condition).references()),
    ]
    columns = [column for name in named for column in answer_columns(data, name)]
    try:
        return participants(data, *columns, *(name for name in DRAW if data.has("participants", name)))
    except SkippedError:
        return nobody


def _excluded(people: pd.DataFrame, condition: str, data: Data) -> list[str]:
    """Return the participants of whom a condition is true."""
    columns = {name: (answer_columns(data, name) or [""])[0] for name in Condition.parse(condition).references()}
    found = []
    for row in records(people):
        given = {name: plain_answer(row.get(column)) for name, column in columns.items()}
        if Condition.parse(condition).holds(given.get):
            found.append(row["participant"])
    return found


def _outcome(data: Data, hypothesis: Hypothesis) -> tuple[str, str]:
    """Return the table and column of the outcome: a match's metric, a seat's, or an answer."""
    stage, name = hypothesis.outcome[0], hypothesis.outcome[-1]
    if not data.has("matches", "stage") or (data.column("matches", "stage") == stage).any():
        if data.has("seats") and name in (*seat_outcomes(data), *(["payoff"] if data.has("seats", "payoff") else [])):
            return "seats", name
        if name in data.outcomes:
            return "matches", name
    if data.has("participants") and (columns := answer_columns(data, hypothesis.outcome)):
        if data.kind("participants", columns[0]) in OUTCOMES or options(data, columns[0]):
            return "participants", columns[0]
        raise SkippedError(f"{'.'.join(hypothesis.outcome)} is neither a number nor yes or no.")
    raise SkippedError(f"the dataset has no outcome {'.'.join(hypothesis.outcome)}.")


def _heading(data: Data, hypothesis: Hypothesis, table: str, column: str) -> str:
    if table == "participants":
        listed = options(data, column)
        what = f"the share answering {listed[0]} to" if len(listed) == 2 else "the answer to"
        return f"{what} {hypothesis.outcome[-1]}"
    heading = data.heading(column, table)
    begins_with_role = any(heading.startswith(f"{data.role_name(role)} ") for role in data.roles)
    return heading if begins_with_role else heading[:1].lower() + heading[1:]


# ---- rows ----------------------------------------------------------------------------------------------------


def _matches(data: Data, hypothesis: Hypothesis) -> pd.DataFrame:
    """Return the matches of the outcome's stage, with units, people and factors."""
    names = [name for name in ("stage", "pass", "repeat", "reasons") if data.has("matches", name)]
    frame = data.table("matches", ["match", *names])
    frame[GROUP] = data.column("matches", "cluster") if data.has("matches", "cluster") else None
    frame["cluster"] = data.clusters
    for name in data.treatments("matches"):
        frame[name] = data.column("matches", name).map(level_text, na_action="ignore").astype("str")
    for role in data.persons:
        frame[f"{PERSON}{role}"] = data.persons[role]
    seated = [name for role in data.roles if data.has("matches", name := f"participant_{role}")]
    people = data.table("matches", ["match", *seated])[seated]
    frame[PEOPLE] = [[person for person in row if isinstance(person, str)] for row in people.itertuples(index=False)]
    if data.has("matches", "session"):
        frame[POSITION] = data.column("matches", "session").map(level_text).astype("str")
    stage, *path, _name = hypothesis.outcome
    if "stage" in frame:
        frame = frame[frame["stage"] == stage]
    if path and "pass" in frame:
        passes = frame["pass"].fillna("").astype("str")
        here = passes == ".".join(path)
        if "repeat" in frame:
            here |= (passes == ".".join(path[:-1])) & (frame["repeat"].map(level_text) == path[-1])
        frame = frame[here]
    if data.everything and "reasons" in frame:
        frame = frame[~frame["reasons"].fillna("").map(without_treatment)]
    return frame


def _match_rows(data: Data, hypothesis: Hypothesis, table: str, column: str) -> pd.DataFrame:
    """Return one row per match, or per seat of a person."""
    frame = _matches(data, hypothesis)
    missing = [name for name in hypothesis.factors if FACTOR + name not in frame]
    if missing:
        raise SkippedError(f"the dataset has no factor {', '.join(missing)}.")
    if table == "matches":
        by_match = _values(data, "matches", column).set_axis(data.column("matches", "match"))
        return frame.assign(**{Y: frame["match"].map(by_match)})
    seats = data.table("seats", ["match", "role", "player", "participant"])
    seats[Y] = _values(data, "seats", column)
    seats = seats[seats["player"] == HUMAN]
    rows = frame.merge(seats, on="match", how="inner")
    rows[PEOPLE] = [[person] if isinstance(person, str) else [] for person in rows["participant"]]
    return rows


def _seats(data: Data, hypothesis: Hypothesis, table: str, column: str) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return one row per seat in strata in which both people and agents sat, the roles, and the parameters of strata.

    A stratum is a configuration, without what determines who sits there, with the opponents.
    """
    frame, match = _matches(data, hypothesis), data.column("matches", "match")
    agents = data.players_by_role.fillna("").set_axis(match)
    values = _values(data, table, column)
    of_match = values.set_axis(match) if table == "matches" else None
    if of_match is None:
        of_seat = data.table("seats", ["match", "role"]).assign(**{Y: values})
    parts, roles = [], [hypothesis.seat] if hypothesis.seat else data.roles
    for role in roles:
        if role not in data.roles:
            raise SkippedError(f"the dataset has no role {role}.")
        rows = frame.assign(role=role)
        players = agents.loc[rows["match"]]
        rows[WHO] = np.where(players[role] == HUMAN, HUMAN_LEVEL, AGENT_LEVEL)
        rows["opponents"] = ["|".join(sorted(row)) for row in players.drop(columns=role).itertuples(index=False)]
        if of_match is not None:
            rows[Y] = rows["match"].map(of_match)
        else:
            rows = rows.merge(of_seat[of_seat["role"] == role].drop(columns="role"), on="match", how="left")
        parts.append(rows[(players[role] != "").to_numpy()])
    rows = pd.concat(parts, ignore_index=True)
    configuration = [name for name in data.varying if name != "dataset"]
    of_configuration = data.table("matches", ["match", *configuration]).set_index("match").loc[rows["match"]]
    kept = [name for name in configuration if not (
        rows.groupby(of_configuration[name].to_numpy(), dropna=False)[WHO].nunique() == 1).all()]  # fmt: skip
    stratum = pd.Series(rows["role"] + "§" + rows["opponents"])
    for name in kept:
        stratum = stratum + "|" + of_configuration[name].map(level_text).astype("str").to_numpy()
    rows[STRATUM] = stratum
    human = (rows[WHO] == HUMAN_LEVEL).groupby(stratum)
    return rows[human.transform("any") & ~human.transform("all")], roles, kept


def _answer_rows(data: Data, hypothesis: Hypothesis, people: pd.DataFrame, *, assigned: bool) -> pd.DataFrame:
    """Return one row per participant and, for a factor within participants, pass."""
    if hypothesis.of_players:
        raise SkippedError("agents answer no questions.")
    values = data.table("participants", ["participant", "in_dataset"])
    rows = people if assigned else people[people["in_dataset"].fillna(False).astype(bool)]
    within, parts = [name for name in hypothesis.factors if FACTOR + name not in people], []
    for name in answer_columns(data, hypothesis.outcome):
        by_person = dict(zip(values["participant"], _values(data, "participants", name), strict=True))
        levels = levels_in(hypothesis, name)
        parts.append(rows.assign(**{Y: rows["participant"].map(by_person)},
                                 **{FACTOR + factor: levels.get(factor) for factor in within}))  # fmt: skip
    if not parts or (within and len(parts) < 2):
        raise SkippedError("the question was not asked at the levels compared.")
    frame = pd.concat(parts, ignore_index=True)
    frame[PEOPLE] = [[person] for person in frame["participant"]]
    frame[GROUP], frame[f"{PERSON}self"] = None, frame["participant"].map(data.person())
    return frame


def levels_in(hypothesis: Hypothesis, column: str) -> dict[str, str]:
    """Return the levels within participants that the name of a column with answers ends with."""
    words = column.split("_", 2)[2].removeprefix(hypothesis.outcome[-1]).strip("_").split("_")
    pairs = zip(hypothesis.factors, hypothesis.levels, strict=True)
    return {factor: level for factor, levels in pairs for level in levels if level in words}


def options(data: Data, column: str) -> list[str]:
    """Return the options of a question with one answer, in order; none if it has a number or text."""
    of_column = data.fields("participants")[column]
    return of_column.values.split("; ") if of_column.kind == "choice" and of_column.values else []


def _values(data: Data, table: str, column: str) -> pd.Series:
    """Return a column as numbers: of two options the first is 1, of more, each is its place from 1."""
    values = data.column(table, column)
    if table == "participants" and (listed := options(data, column)):
        values = values.map(_codes(listed))
    return values.astype("float64")


def _codes(listed: Sequence[str]) -> dict[str, int]:
    """Return the numbers of a question's options."""
    return dict(zip(listed, [1, 0] if len(listed) == 2 else range(1, len(listed) + 1), strict=True))


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None and value == value]
    return float(np.mean(known)) if known else float("nan")


# ---- the assignment ------------------------------------------------------------------------------------------


def _with_assignment(data: Data, frame: pd.DataFrame, people: pd.DataFrame, factor: str, *, between: bool) -> str:
    """Add the unit that was assigned and the block within which its level can be exchanged; return why not, if so.

    Only units with equal levels of the other factors are exchanged. Those of the rule "random" are exchanged if their
    levels had the same chances; of "emptiest", between two draws at which every cell was open.
    """
    frame[UNIT], frame[BLOCK] = None, None
    if factor == WHO:
        return "who played was not drawn"
    others = [name for name in map(str, frame.columns) if name.startswith(FACTOR) and name != factor]
    if not between:
        if POSITION in frame and (frame.groupby(POSITION)[factor].nunique() == 1).all():
            return "the order was not drawn"
        if "pass" not in frame:
            return "the order is not in the dataset"
        key = frame["cluster"].astype("str")
        frame[UNIT] = key + "|" + frame["pass"].fillna("").astype("str")
        frame[BLOCK] = _joined(frame, ["cluster", *others])
        return ""
    if "assignment_rule" not in people or people["assignment_rule"].isna().all():
        return "the assignment is not in the dataset"
    draws = people[people["assignment_rule"].notna()].copy()
    draws["block"] = _blocks(data, draws, factor)
    drawn = draws[draws["block"].notna()]
    block_of = dict(zip(drawn["participant"], drawn["block"], strict=True))
    frame[UNIT] = frame["cluster"].astype("str")
    named = frame[PEOPLE].map(lambda persons: sorted({block_of[person] for person in persons if person in block_of}))
    blocks = named.groupby(frame["cluster"]).agg(lambda lists: sorted({block for each in lists for block in each}))
    mixed = any(len(of_unit) > 1 for of_unit in blocks)
    by_unit = {unit: of_unit[0] if of_unit and not mixed else f"fixed {unit}" if not of_unit else ""
               for unit, of_unit in blocks.items()}  # fmt: skip
    frame[BLOCK] = frame["cluster"].map(by_unit) + _joined(frame, [n for n in others if n in people])
    return ""


def _blocks(data: Data, draws: pd.DataFrame, factor: str) -> pd.Series:
    """Return the block of each participant's draw; none for draws that a link or a forming group determined."""
    key = draws["dataset"].astype("str") + "|" + draws["version"].map(level_text)
    chances = [json.loads(text) if isinstance(text, str) else {} for text in draws["assignment_open"]]
    rule = draws["assignment_rule"]
    number = draws["assignment_block"].map(level_text) if "assignment_block" in draws else pd.Series("", draws.index)
    stratum = draws["assignment_stratum"].fillna("").astype("str") if "assignment_stratum" in draws else ""
    block = key + "|" + stratum + "|" + number
    if (rule == "random").any():
        level = _level_of_cell(data, factor)
        own = [_chances(open_cells, level, row) for open_cells, row in zip(chances, records(draws), strict=True)]
        block = block.where(rule != "random", key + "|" + pd.Series(own, draws.index, dtype="str"))
    if (rule == "emptiest").any():
        full = pd.Series([len(open_cells) for open_cells in chances], draws.index)
        order = draws.assign(key=key, starts=full == full.groupby(key).transform("max")).sort_values(
            "assignment_number"
        )
        run = order.groupby("key")["starts"].cumsum().reindex(draws.index)
        block = block.where(rule != "emptiest", key + "|run " + run.astype("str"))
    for name in ("assignment_forced", "assignment_completes"):
        if name in draws:
            block = block.mask(draws[name].fillna(False).astype(bool))
    return block


def _level_of_cell(data: Data, factor: str) -> dict[tuple[str, str, str], str]:
    cells = data.table("cells", ["version", "cell", factor, "dataset"])
    return {(str(row["dataset"]), level_text(row["version"]), level_text(row["cell"])): level_text(row[factor])
            for row in records(cells)}  # fmt: skip


def _chances(open_cells: dict[str, float], level: dict[tuple[str, str, str], str], row: dict[str, Any]) -> str:
    """Return the chance of each level in a draw, as text that is equal for equal chances."""
    sums: dict[str, float] = {}
    for cell, chance in open_cells.items():
        name = level.get((str(row["dataset"]), level_text(row["version"]), cell), "")
        sums[name] = sums.get(name, 0) + chance
    return ", ".join(f"{name} {sums[name]:.9f}" for name in sorted(sums))


def _joined(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    joined = pd.Series("", frame.index, dtype="str")
    for name in names:
        joined = joined + "|" + frame[name].astype("str")
    return joined
