"""Personal codes: generated, uploaded as CSV (all or nothing), downloaded, and deleted while unused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from participants.states import State
from recruiters.models import Identity, LabCode
from recruiters.uploads import BadFile, Problem, table_of

MOST = 10_000
"""Maximum codes generated or uploaded at once."""
SHORTEST, LONGEST = 6, 40
"""Limits on a code's length; shorter codes could be guessed."""
LONGEST_LABEL = 120
RECRUITER = "codes"
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FORMULA_SIGNS = "=+-@＝＋－＠"
_CHUNK = 500


@dataclass(frozen=True)
class UploadedCode:
    """A code in an uploaded file, with its line number."""

    line: int
    code: str
    label: str = ""


@dataclass(frozen=True)
class ListedCode:
    """A code with the state of the last enrolment it started; "" if unused."""

    code: LabCode
    state: str

    @property
    def used(self) -> bool:
        return bool(self.state)

    @property
    def state_label(self) -> str:
        return str(State(self.state).label) if self.state else ""


def make(*, study: str, number: int, kind: str, expires_at: datetime | None) -> list[LabCode]:
    """Create `number` new codes for the study with this slug."""
    new_codes = (LabCode(study=study, kind=kind, expires_at=expires_at) for _i in range(number))
    return LabCode.objects.bulk_create(new_codes, batch_size=_CHUNK)


# ---- files -------------------------------------------------------------------------------------------------


def read(data: bytes, *, shortest: int = SHORTEST) -> list[UploadedCode]:
    """Return the codes in a CSV file with a column `code` and optionally `label`; any usual delimiter.

    Args:
        shortest: the minimum length of a code.

    Raises:
        BadFile: naming every invalid line.
    """
    table = table_of(data)
    names = table.names
    if not names:
        raise BadFile([Problem(0, _("The file is empty."))])
    if "code" not in names or len(set(names)) < len(names) or set(names) - {"code", "label"}:
        message = _("The first line must name the columns: “code” and optionally “label”, and no others.")
        raise BadFile([Problem(table.header_line, message)])
    codes: list[UploadedCode] = []
    problems: list[Problem] = []
    first_lines: dict[str, int] = {}
    for line, cells in table.rows:
        if len(codes) + len(problems) >= MOST:
            raise BadFile([Problem(line, _("A file can have at most {most} codes.").format(most=f"{MOST:,}"))])
        cells_by_name = dict(zip(names, (cell.strip() for cell in cells), strict=False))
        uploaded = UploadedCode(line, cells_by_name.get("code", ""), cells_by_name.get("label", ""))
        too_many = _("There are more cells than columns.") if any(map(str.strip, cells[len(names) :])) else ""
        reason = too_many or _wrong_code(uploaded.code, shortest) or _wrong_label(uploaded.label)
        first_line = first_lines.setdefault(uploaded.code.casefold(), line)
        if not reason and first_line != line:
            reason = _("Line {line} has the same code.").format(line=first_line)
        if reason:
            problems.append(Problem(line, reason))
        else:
            codes.append(uploaded)
    if not codes and not problems:
        problems = [Problem(0, _("The file contains no codes."))]
    if problems:
        raise BadFile(problems)
    return codes


def add_codes(*, study: str, codes: Sequence[UploadedCode], kind: str, expires_at: datetime | None) -> int:
    """Store all of these codes for the study, or none; return how many.

    Raises:
        BadFile: naming the codes that the study already has.
    """
    stored_codes = {code.casefold() for code in LabCode.objects.filter(study=study).values_list("code", flat=True)}
    problems = [
        Problem(uploaded.line, _("The study already has this code."))
        for uploaded in codes
        if uploaded.code.casefold() in stored_codes
    ]
    if problems:
        raise BadFile(problems)
    rows = [
        LabCode(study=study, code=uploaded.code, label=uploaded.label, kind=kind, expires_at=expires_at)
        for uploaded in codes
    ]
    try:
        with transaction.atomic():
            LabCode.objects.bulk_create(rows, batch_size=_CHUNK)
    except IntegrityError:
        message = _("Someone else just added one of these codes. Please upload the file again.")
        raise BadFile([Problem(0, message)]) from None
    return len(rows)


def _wrong_code(code: str, shortest: int) -> str:
    if not code:
        return _("The code is missing.")
    if code[0] in _FORMULA_SIGNS:
        return _("A code must not start like a spreadsheet formula.")
    if not _CODE.fullmatch(code):
        return _(
            "A code may contain only letters (A–Z), digits, periods, hyphens and underscores, and must start with a "
            "letter or digit."
        )
    if not shortest <= len(code) <= LONGEST:
        return _("A code must have {least} to {most} characters; shorter codes could be guessed.").format(
            least=shortest, most=LONGEST
        )
    return ""


def _wrong_label(label: str) -> str:
    if len(label) > LONGEST_LABEL:
        return _("A label can have at most {most} characters.").format(most=LONGEST_LABEL)
    if not label.isprintable():
        return _("A label must be a single line of text.")
    if label[:1] and label[0] in _FORMULA_SIGNS:
        return _("A label must not start like a spreadsheet formula.")
    return ""


# ---- lists -------------------------------------------------------------------------------------------------


def codes_of(study: str) -> QuerySet[Any]:
    """Return the study's codes, newest first, annotated with `used`."""
    identities = Identity.objects.filter(study=OuterRef("study"), recruiter=RECRUITER, proof=OuterRef("code"))
    return LabCode.objects.filter(study=study).annotate(used=Exists(identities)).order_by("-pk")


def with_states(codes: Iterable[LabCode]) -> Iterator[ListedCode]:
    """Yield each code with the state of the last enrolment it started."""
    iterator = iter(codes)
    while chunk := list(islice(iterator, _CHUNK)):
        identities = Identity.objects.filter(
            study=chunk[0].study, recruiter=RECRUITER, proof__in=[code.code for code in chunk]
        ).order_by("occasion")
        states = dict(identities.values_list("proof", "enrolment__state"))
        yield from (ListedCode(code, states.get(code.code, "")) for code in chunk)


HEADER = ("code", "link", "used", "state", "kind", "expires")


def as_csv(study: str, join_link: str) -> Iterator[Sequence[str]]:
    """Yield the rows of a CSV file of all codes to hand out, without labels and safe to open in a spreadsheet."""
    yield HEADER
    for listed in with_states(codes_of(study).iterator(chunk_size=_CHUNK)):
        code = listed.code
        yield (
            _defused(code.code),
            f"{join_link}?code={code.code}",
            "yes" if listed.used else "no",
            listed.state,
            code.kind,
            code.expires_at.isoformat(timespec="minutes") if code.expires_at else "",
        )


def _defused(text: str) -> str:
    return f"'{text}" if text[:1] and not text[0].isalnum() else text


def delete_unused(*, study: str, codes: Sequence[str] | None) -> int:
    """Delete these codes (None: all) if they are unused; return how many."""
    unused = codes_of(study).filter(used=False)
    if codes is not None:
        unused = unused.filter(code__in=codes)
    with transaction.atomic():
        keys = list(unused.values_list("pk", flat=True))
        for start in range(0, len(keys), _CHUNK):
            codes_of(study).filter(used=False, pk__in=keys[start : start + _CHUNK]).order_by().delete()
    return len(keys)
