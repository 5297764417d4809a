"""replicate.py and replicate.R: plain scripts that re-make the numbers of the planned hypotheses from a dataset."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any

import numpy as np

from analysis.data import FACTOR, Data
from analysis.frames import POSITION
from analysis.options import Options
from analysis.planned.confirmatory import ID, LOG
from analysis.planned.hypotheses import Hypothesis, answer_columns, plan_of
from analysis.planned.samples import STRATUM, WHO, Sample, levels_in, sample_of
from analysis.reasons import WITHOUT_TREATMENT
from analysis.results import Outcome
from analysis.toolbox.effects import MANY_ON_A_SIDE, MANY_UNITS

HERE = Path(__file__).parent
PYTHON, R = "replicate.py", "replicate.R"


def scripts(data: Data, outcomes: Sequence[Outcome], options: Options) -> dict[str, str]:
    """Return the scripts by file name; none if no planned hypothesis was tested."""
    plan, outcome = plan_of(data), next((one for one in outcomes if one.analysis.id == ID), None)
    if plan is None or outcome is None or "hypotheses" not in outcome.tables:
        return {}
    by_name = {hypothesis.name: hypothesis for hypothesis in plan.hypotheses}
    tests, given = [], []
    rows = outcome.tables["hypotheses"].records
    for row in rows:
        hypothesis = by_name[row["hypothesis"]]
        test = {key: row[key] for key in ("hypothesis", "estimand", "family", "rank")}
        sample = sample_of(data, hypothesis, row["estimand"])
        if row["method"] == "CR3" and _joined_alike(sample):
            tests.append(test | _test(data, hypothesis, row, sample))
        else:
            given.append({"family": row["family"], "rank": row["rank"], "p": row["p"]})
    for hypothesis in plan.hypotheses:
        tested = [row["rank"] for row in rows if row["hypothesis"] == hypothesis.name]
        given += [{"family": hypothesis.family, "rank": rank, "p": None}
                  for rank in range(len(hypothesis.estimands)) if rank not in tested]  # fmt: skip
    configuration = [name for name in data.varying if name != "dataset"]
    if "dataset" in data.varying:
        configuration.append("dataset")
    common = {"sha256": data.sha256, "level": options.level}
    lists = {"configuration": configuration, "never_treated": sorted(WITHOUT_TREATMENT)}
    conditions = {hypothesis.name: hypothesis.exclude for hypothesis in plan.hypotheses if hypothesis.exclude}
    in_python, in_r = (
        {literal(name): [_translated(data, condition, dialect) for condition in own]
         for name, own in conditions.items()}
        for literal, dialect in ((repr, "python"), (_r, "r"))
    )  # fmt: skip
    return {
        PYTHON: _filled(
            "script.py.txt", **common, tests=[_python(test) for test in tests], given=given, exclude_py=in_python,
            **lists),
        R: _filled("script.R.txt", **common, tests=[_r(test) for test in tests], given=_r(given), exclude_r=in_r,
                   **{name: _r(value) for name, value in lists.items()}),
    }  # fmt: skip


def _filled(template: str, **values: Any) -> str:
    from jinja2 import Environment

    page = Environment(autoescape=False, keep_trailing_newline=True)
    return page.from_string((HERE / template).read_text(encoding="utf-8")).render(**values)


def _test(data: Data, hypothesis: Hypothesis, row: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    """Return what the scripts need to know of a test."""
    names = [FACTOR + name for name in hypothesis.factors] or [WHO]
    columns: dict[str, dict[str, str]] = {sample.column: {}}
    if sample.table == "participants":
        within = {name for name in hypothesis.factors if FACTOR + name not in sample.people}
        columns = {name: {FACTOR + factor: level for factor, level in levels_in(hypothesis, name).items()
                          if factor in within} for name in answer_columns(data, hypothesis.outcome)}  # fmt: skip
    cells = 4 if ":" in sample.term else 2
    low, high = sample.bounds
    width = 1e300
    if row["model"] != LOG and low is not None and high is not None and high > low:
        width = (high - low) * cells / 2
    return {
        "table": sample.table, "stage": hypothesis.outcome[0], "columns": columns, "codes": sample.codes,
        "everything": row["estimand"] == "assigned" and data.with_excluded is not None,
        "roles": sample.roles, "strata": sample.strata,
        "contrast": dict(zip(names, map(list, hypothesis.levels), strict=True)),
        "factors": [{POSITION: "session", STRATUM: STRATUM}.get(name, name)
                    for name in sample.factors if name not in names],
        "adjust": {name: name.partition("=")[2] for name in sample.covariates},
        "log": row["model"] == LOG,
        "many": row["clusters"] > MANY_UNITS and row["components"] >= MANY_ON_A_SIDE,
        "limits": [-width, width],
    }  # fmt: skip


def _joined_alike(sample: Sample) -> bool:
    """Return whether the units follow from people, groups and seeds alone, as in the scripts, not from records."""
    if "match" not in sample.frame or not len(sample.frame):
        return True
    alone = sample.frame[[not people for people in sample.frame["people"]]]
    return not alone["cluster"].duplicated().any()


# ---- literals ------------------------------------------------------------------------------------------------


def _python(test: Mapping[str, Any]) -> str:
    return indent(pformat(dict(test), width=112, sort_dicts=False), "    ").strip()


def _r(value: Any) -> str:
    """Return a value as R reads it: mappings as named lists, sequences of texts or numbers as vectors."""
    if value is None:
        return "NA"
    if isinstance(value, bool | np.bool_):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"list({', '.join(f'{_r(key)} = {_r(item)}' for key, item in value.items())})"
    if isinstance(value, list | tuple):
        of_mappings = any(isinstance(item, Mapping) for item in value)
        joined = ", ".join(map(_r, value))
        return f"list({joined})" if of_mappings or not value else f"c({joined})"
    return repr(float(value))


# ---- conditions ----------------------------------------------------------------------------------------------

_SIGNS: Mapping[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Add: "+", ast.Sub: "-",
    ast.Mult: "*", ast.Div: "/",
}  # fmt: skip


def _translated(data: Data, condition: str, dialect: str) -> str:
    """Return a condition as an expression over the columns of participants, in Python or R."""
    return _expression(ast.parse(condition.strip(), mode="eval").body, data, dialect)


def _expression(node: ast.expr, data: Data, dialect: str) -> str:
    python = dialect == "python"

    def of(child: ast.expr) -> str:
        return _expression(child, data, dialect)

    match node:
        case ast.Constant():
            return repr(node.value) if python else _r(node.value)
        case ast.Name(id="true" | "false"):
            return repr(node.id == "true") if python else node.id.upper()
        case ast.List() | ast.Tuple():
            items = ", ".join(map(of, node.elts))
            return f"[{items}]" if python else f"c({items})"
        case ast.BoolOp():
            return "(" + (" & " if isinstance(node.op, ast.And) else " | ").join(map(of, node.values)) + ")"
        case ast.UnaryOp(op=ast.Not()):
            return f"(~{of(node.operand)})" if python else f"(!({of(node.operand)} %in% TRUE))"
        case ast.UnaryOp():
            return f"(-{of(node.operand)})"
        case ast.BinOp():
            return f"({of(node.left)} {_SIGNS[type(node.op)]} {of(node.right)})"
        case ast.Compare():
            values = [node.left, *node.comparators]
            parts = [_compared(of(values[i]), op, of(values[i + 1]), python) for i, op in enumerate(node.ops)]
            known = [f"{of(value)}.notna()" if python else f"!is.na({of(value)})"
                     for value in values if not isinstance(value, ast.Constant | ast.List | ast.Tuple)]  # fmt: skip
            return "(" + " & ".join([*parts, *known]) + ")"
    return _column(node, data, python)


def _compared(left: str, sign: ast.cmpop, right: str, python: bool) -> str:
    if isinstance(sign, ast.In | ast.NotIn):
        inside = f"{left}.isin({right})" if python else f"({left} %in% {right})"
        return inside if isinstance(sign, ast.In) else f"~{inside}" if python else f"!{inside}"
    return f"({left} {_SIGNS[type(sign)]} {right})"


def _column(node: ast.expr, data: Data, python: bool) -> str:
    path = ast.unparse(node).split(".")
    column = next(iter(answer_columns(data, path)), "")
    if not column:
        return "pd.Series(float('nan'), index=p.index)" if python else "rep(NA_real_, nrow(p))"
    text = f"p[{column!r}]" if python else f"p[[{_r(column)}]]"
    is_number = data.kind("participants", column) in ("number", "integer", "boolean")
    return f"number({text})" if is_number else text
