"""Has judge models label justifications, each text once per judge, within a spending cap."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from django.utils.translation import gettext as _
from pydantic import ConfigDict, Field, create_model

from exports.csvsafe import cell, lines
from games.interface import Form, Json, Move, Said
from games.words import percent
from judging.errors import JudgingError
from judging.models import Judgement
from judging.texts import Justification
from llm_agents.agent import is_model, parse_spec
from llm_agents.errors import AgentError
from llm_agents.judging import Inquiry
from llm_agents.prompting import ABOUT_MARKS, fenced
from opponents.agents import Agent
from opponents.endpoints import current_prices, refresh_if_old
from opponents.judging import Case, Verdict
from opponents.judging import judge as ask
from opponents.listing import retired_problem
from opponents.spending import forget_refusal, refusal_of

AT_ONCE = 8
CHUNK = 40
"""Texts per batch; between batches the cap and the request's status are checked."""
MAX_JUDGES = 2
KeepGoing = Callable[[int], bool]
"""Takes the number of known judgements; returns False to stop."""


@dataclass(frozen=True)
class Rubric:
    """A game's rubric for justifications: a question, and labels with their meaning."""

    question: str
    labels: Mapping[str, str]

    def inquiry(self, text: str) -> Inquiry:
        """Return the question about one text."""
        label_lines = "\n".join(f"- {label}: the player {meaning}." for label, meaning in self.labels.items())
        return Inquiry(
            rules=f"{self.question}\n\n{label_lines}\n\n{ABOUT_MARKS}",
            question=fenced(Said("player", text)),
            form=_form(tuple(self.labels)),
        )

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of everything sent to a judge except the text."""
        return self.inquiry("").sha256


class _Labels(Move):
    model_config = ConfigDict(frozen=True)


@cache
def _form(labels: tuple[str, ...]) -> Form:
    # The endpoint's schema restricts each entry to one of the labels.
    model = create_model(
        "Labels",
        __base__=_Labels,
        labels=(list[Literal[labels]], Field(title="Labels that fit", description="Empty where none does.")),  # type: ignore[valid-type]
    )
    return Form("labels", "Labels", model)


def rubric_of(game: str) -> Rubric | None:
    """Return the rubric in a game's `justifications.py` (QUESTION, LABELS); None if it has none."""
    if find_spec(f"games.{game}.justifications") is None:
        return None
    module = import_module(f"games.{game}.justifications")
    return Rubric(module.QUESTION, module.LABELS)


@dataclass(frozen=True)
class JudgingProgress:
    """The progress of judging.

    Attributes:
        wanted, known: the number of (text, judge) pairs, and how many of them are judged.
        problem: why judging stopped, or what was wrong with the last text that got no labels.
        stopped: whether some texts were not sent to the judge.
    """

    wanted: int
    known: int
    problem: str = ""
    stopped: bool = False


def validate_judges(judges: Sequence[str], cap: Decimal | None) -> list[str]:
    """Return the judges' names after checking them.

    Raises:
        JudgingError: no or too many judges, a duplicate, an unknown model, or a cap without a known price.
    """
    names = [name.strip() for name in judges if name.strip()]
    refresh_if_old(*names)
    if not names or len(names) > MAX_JUDGES:
        raise JudgingError(_("Please name one or two judges."))
    if len(set(names)) < len(names):
        raise JudgingError(_("The second judge must be a different model."))
    for name in names:
        try:
            parse_spec(name)
        except AgentError as error:
            raise JudgingError(str(error)) from None
        if not is_model(name):
            raise JudgingError(_("“{name}” is not a model. A judge must be a model.").format(name=name))
        if problem := retired_problem([name]):
            raise JudgingError(problem)
        if cap is not None and current_prices().of(name) is None:
            message = _(
                "The price of {name} is unknown, so the cap can't be applied. Enter the price at the model's endpoint."
            )
            raise JudgingError(message.format(name=name))
    return names


def judge(
    rubric: Rubric,
    justifications: Sequence[Justification],
    judges: Sequence[str],
    *,
    budget_of: str,
    cap: Decimal | None = None,
    keep_going: KeepGoing = lambda _known_labels: True,
) -> JudgingProgress:
    """Have every judge label the texts it has not labelled yet.

    Args:
        budget_of: the name under which calls are stored; `cap` applies to all of them, including earlier runs.
        keep_going: called between batches.
    """
    texts = {justification.sha256: justification for justification in justifications}
    pairs = [(name, justification) for name in judges for justification in texts.values()]
    known_labels = _known_labels(rubric, pairs)
    unjudged = [
        (name, justification)
        for name, justification in pairs
        if key_of(rubric, name, justification) not in known_labels
    ]
    judged, problem = len(pairs) - len(unjudged), ""
    forget_refusal(budget_of)
    for name in judges:
        remaining = [justification for judge_name, justification in unjudged if judge_name == name]
        for start in range(0, len(remaining), CHUNK):
            if not keep_going(judged):
                return JudgingProgress(len(pairs), judged, problem, stopped=True)
            verdicts = _ask(rubric, name, remaining[start : start + CHUNK], budget_of, cap)
            judged += sum(verdict.answer is not None for verdict in verdicts)
            problem = next((verdict.problem for verdict in verdicts if verdict.problem), problem)
            if refusal := refusal_of(budget_of):
                return JudgingProgress(len(pairs), judged, refusal, stopped=True)
            if len(verdicts) >= AT_ONCE and all(verdict.answer is None for verdict in verdicts):
                return JudgingProgress(len(pairs), judged, problem, stopped=True)
    return JudgingProgress(len(pairs), judged, problem)


def _ask(
    rubric: Rubric, name: str, texts: Sequence[Justification], budget_of: str, cap: Decimal | None
) -> list[Verdict]:
    cases = {
        id(case): (case, justification)
        for justification in texts
        for case in [
            Case(rubric.inquiry(justification.text), justification.match, justification.role, justification.answering)
        ]
    }

    def store_verdict(verdict: Verdict) -> None:
        if verdict.answer is None:
            return
        _case, justification = cases[id(verdict.case)]
        chosen = verdict.answer.model_dump()["labels"]
        Judgement.objects.get_or_create(
            key=key_of(rubric, name, justification),
            defaults={
                "judge": name,
                "prompt_sha256": rubric.sha256,
                "text_sha256": justification.sha256,
                "labels": [label for label in rubric.labels if label in chosen],
            },
        )

    settings = {"structured": True, **({} if cap is None else {"cap_study": float(cap)})}
    agent = Agent.model_validate({"spec": name, "settings": settings})
    return ask(
        agent, [case for case, _one in cases.values()], budget_of=budget_of, on_verdict=store_verdict, at_once=AT_ONCE
    )


def key_of(rubric: Rubric, judge_name: str, justification: Justification) -> str:
    """Return the key of a judgement, derived from judge, prompt and text."""
    return hashlib.sha256(f"{judge_name}\n{rubric.sha256}\n{justification.sha256}".encode()).hexdigest()


def _known_labels(rubric: Rubric, pairs: Iterable[tuple[str, Justification]]) -> Mapping[str, list[str]]:
    """Return the labels already known, by key."""
    keys = [key_of(rubric, name, justification) for name, justification in pairs]
    labels_by_key: dict[str, list[str]] = {}
    for start in range(0, len(keys), 500):
        rows = Judgement.objects.filter(key__in=keys[start : start + 500])
        labels_by_key |= dict(rows.values_list("key", "labels"))
    return labels_by_key


# ---- results -------------------------------------------------------------------------------------------

KEY_COLUMNS = ("match", "role", "answering", "judge_number", "judge", "prompt_sha256", "text_sha256")


def table(rubric: Rubric, justifications: Sequence[Justification], judges: Sequence[str]) -> list[dict[str, Json]]:
    """Return one row per justification and judge: the `KEY_COLUMNS` and a boolean `label_<key>` per label."""
    labels_by_key = _known_labels(
        rubric, [(name, justification) for name in judges for justification in justifications]
    )
    rows: list[dict[str, Json]] = []
    for justification in justifications:
        for number, name in enumerate(judges, start=1):
            labels = labels_by_key.get(key_of(rubric, name, justification))
            if labels is None:
                continue
            key_values = (
                str(justification.match),
                justification.role,
                justification.answering,
                number,
                name,
                rubric.sha256,
                justification.sha256,
            )
            rows.append(
                {
                    **dict(zip(KEY_COLUMNS, key_values, strict=True)),
                    **{f"label_{label}": label in labels for label in rubric.labels},
                }
            )
    return rows


@dataclass(frozen=True)
class Share:
    """How often each judge gave one label, and how far two judges agree beyond chance."""

    label: str
    meaning: str
    shares: tuple[float | None, ...]
    kappa: float | None
    note: str = ""

    @property
    def percentages(self) -> list[str]:
        """The shares as percentages for display."""
        return ["–" if share is None else percent(round(share, 3)) for share in self.shares]


def shares(rubric: Rubric, rows: Sequence[Mapping[str, Any]], judges: Sequence[str]) -> list[Share]:
    """Return each label's share, and Cohen's κ over the distinct texts that both judges labelled."""
    from analysis.toolbox import kappa

    by_judge = {name: [row for row in rows if row["judge"] == name] for name in judges}
    rows_by_text = [{row["text_sha256"]: row for row in by_judge[name]} for name in judges]
    shared_texts = (
        [text for text in rows_by_text[0] if all(text in labelled for labelled in rows_by_text)]
        if len(judges) > 1
        else []
    )
    result = []
    for label, meaning in rubric.labels.items():
        column = f"label_{label}"
        agreement: Mapping[str, Any] = {"estimate": None}
        if shared_texts:
            agreement = kappa(
                [rows_by_text[0][text][column] for text in shared_texts],
                [rows_by_text[1][text][column] for text in shared_texts],
            )
        label_shares = tuple(
            sum(row[column] for row in of_judge) / len(of_judge) if of_judge else None for of_judge in by_judge.values()
        )
        result.append(Share(label, meaning, label_shares, agreement["estimate"], str(agreement.get("note", ""))))
    return result


def summary(rubric: Rubric, rows: Sequence[Mapping[str, Any]], judges: Sequence[str]) -> str:
    """Return the shares and agreements as JSON, for a file next to the table."""
    labels = [
        {"label": share.label, "shares": dict(zip(judges, share.shares, strict=True)), "kappa": share.kappa}
        | ({"note": share.note} if share.note else {})
        for share in shares(rubric, rows, judges)
    ]
    content = {"judges": list(judges), "prompt_sha256": rubric.sha256, "rows": len(rows), "labels": labels}
    return json.dumps(content, indent=2) + "\n"


def as_csv(rubric: Rubric, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the table as a CSV file in the datasets' format."""
    header = [*KEY_COLUMNS, *(f"label_{label}" for label in rubric.labels)]
    return lines([header, *([cell(row[name]) for name in header] for row in rows)])
