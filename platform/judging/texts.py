"""Extracts justifications from models' answers, in a collection or a dataset's folder."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from collecting.models import Collection, Item
from judging.errors import JudgingError
from llm_agents.errors import BadAnswer
from llm_agents.parsing import REASONING, around_object, last_object
from matches.models import Match
from opponents.models import Call

SHORTEST = 20
"""Answers with fewer characters contain no justification."""
_DEFUSED = re.compile(r"'(?=[=+\-@＝＋－＠])")
_MARKS = re.compile(r"```\w*\s*|</?(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True)
class Justification:
    """What a model wrote besides its move; `answering` identifies the turn, as in llm_calls.csv."""

    match: uuid.UUID
    role: str
    answering: int
    text: str

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def justification(answer: str, remarks: Mapping[str, Any] | None = None) -> str:
    """Return the reasons in a model's answer: the text around its move and its remarks; empty if there are none.

    Apostrophes that protect spreadsheets from formulas are removed, so that the text of an exported answer equals
    the one in the database.
    """
    try:
        reasoning = last_object(answer).get(REASONING)
    except BadAnswer:
        return ""
    candidates = [around_object(answer), reasoning, *(remarks or {}).values()]
    parts = [_MARKS.sub("", part).strip() for part in candidates if isinstance(part, str)]
    text = _DEFUSED.sub("", "\n".join(part for part in parts if part))
    return text if len(text) >= SHORTEST else ""


def of_collection(collection: Collection) -> Iterator[Justification]:
    """Yield the justifications of a collection's finished matches, in order."""
    finished = Item.objects.filter(collection=collection, match__status=Match.Status.FINISHED).order_by("number")
    for match in finished.values_list("match__uid", flat=True).iterator():
        calls = Call.objects.filter(match_uid=match, purpose="move", outcome=Call.Outcome.MOVE).order_by("pk")
        for call in calls.exclude(answer=None):
            if text := justification(call.answer or "", call.record.get("remarks")):
                yield Justification(match, call.role, call.answering, text)


def of_folder(folder: Path) -> tuple[str, list[Justification]]:
    """Return a dataset's game and its justifications.

    Raises:
        JudgingError: the dataset does not exist, has several games, or has no model calls.
    """
    try:
        games = {row["game"] for row in _rows(folder / "matches.csv")}
        justifications = list(_of_rows(_rows(folder / "llm_calls.csv")))
    except FileNotFoundError as error:
        name = Path(error.filename).name
        message = _("There is no {file} in {folder}. Please use a dataset exported as CSV.")
        raise JudgingError(message.format(file=name, folder=folder)) from None
    except (KeyError, ValueError, csv.Error) as error:
        raise JudgingError(_("The dataset cannot be read: {reason}").format(reason=error)) from None
    if len(games) != 1:
        raise JudgingError(
            _("The dataset has matches of {number} games. Please use one with a single game.").format(number=len(games))
        )
    return games.pop(), justifications


def _rows(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8-sig", newline="") as opened:
        yield from csv.DictReader(opened)


def _of_rows(rows: Iterable[Mapping[str, str]]) -> Iterator[Justification]:
    for row in rows:
        if row["outcome"] != "move" or row.get("purpose", "move") != "move":
            continue
        remarks = json.loads(row.get("remarks") or "{}")
        if text := justification(row["answer"], remarks):
            yield Justification(uuid.UUID(row["match"]), row["role"], int(row["answering"]), text)
