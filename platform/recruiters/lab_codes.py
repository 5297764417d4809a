"""Lists of personal codes: made here or brought as a CSV file, as a whole or not at all; taken away, deleted unused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from participants.states import State
from recruiters.models import Identity, LabCode
from recruiters.uploads import BadFile, Problem, rows_of, text_of

MOST = 10_000
"""Codes that are made or brought at once."""
SHORTEST, LONGEST = 6, 40
"""Characters of a code; shorter ones could be guessed by trying."""
LONGEST_LABEL = 120
RECRUITER = "codes"
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FORMULA_SIGNS = "=+-@＝＋－＠"
_CHUNK = 500


@dataclass(frozen=True)
class Brought:
    """A code of a file, with the line it stands in."""

    line: int
    code: str
    label: str = ""


@dataclass(frozen=True)
class Listed:
    """A code and what became of it: `state` is that of the way begun last with it, "" of one that was not used."""

    code: LabCode
    state: str

    @property
    def used(self) -> bool:
        return bool(self.state)

    @property
    def state_label(self) -> str:
        return str(State(self.state).label) if self.state else ""


def make(*, study: str, number: int, kind: str, expires_at: datetime | None) -> list[LabCode]:
    """So many new codes for the study of this short name."""
    made = (LabCode(study=study, kind=kind, expires_at=expires_at) for _i in range(number))
    return LabCode.objects.bulk_create(made, batch_size=_CHUNK)


# ---- files -------------------------------------------------------------------------------------------------


def read(data: bytes, *, shortest: int = SHORTEST) -> list[Brought]:
    """The codes in a CSV file: a column `code`, and perhaps `label`; separated by commas, semicolons or tabs.

    Args:
        shortest: characters that a code has at least.

    Raises:
        BadFile: naming every line that cannot be taken.
    """
    rows = rows_of(text_of(data))
    first, header = next(rows, (0, []))
    if header and header[0].strip().casefold().startswith("sep="):
        first, header = next(rows, (0, []))
    names = [name.strip().casefold() for name in header]
    if not names:
        raise BadFile([Problem(0, _("The file is empty."))])
    if "code" not in names or len(set(names)) < len(names) or set(names) - {"code", "label"}:
        says = _("The first line has to name the columns: “code” and, if you like, “label”, and no others.")
        raise BadFile([Problem(first, says)])
    found, problems = [], []
    seen: dict[str, int] = {}
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(found) + len(problems) >= MOST:
            raise BadFile([Problem(line, _("{most} codes are the most in one file.").format(most=f"{MOST:,}"))])
        given = dict(zip(names, (cell.strip() for cell in cells), strict=False))
        brought = Brought(line, given.get("code", ""), given.get("label", ""))
        reason = _more_cells(cells, names) or _wrong_code(brought.code, shortest) or _wrong_label(brought.label)
        before = seen.setdefault(brought.code.casefold(), line)
        if not reason and before != line:
            reason = _("The same code stands in line {line} already.").format(line=before)
        if reason:
            problems.append(Problem(line, reason))
        else:
            found.append(brought)
    if not found and not problems:
        problems = [Problem(0, _("There is no code in the file."))]
    if problems:
        raise BadFile(problems)
    return found


def take_in(*, study: str, brought: Sequence[Brought], kind: str, expires_at: datetime | None) -> int:
    """Keep all of these codes for the study, or none; returns how many.

    Raises:
        BadFile: naming those that the study has already.
    """
    there = {code.casefold() for code in LabCode.objects.filter(study=study).values_list("code", flat=True)}
    known = [
        Problem(one.line, _("The study has this code already.")) for one in brought if one.code.casefold() in there
    ]
    if known:
        raise BadFile(known)
    rows = [LabCode(study=study, code=one.code, label=one.label, kind=kind, expires_at=expires_at) for one in brought]
    try:
        with transaction.atomic():
            LabCode.objects.bulk_create(rows, batch_size=_CHUNK)
    except IntegrityError:
        says = _("Somebody else has just added one of these codes. Please upload the file again.")
        raise BadFile([Problem(0, says)]) from None
    return len(rows)


def _more_cells(cells: Sequence[str], names: Sequence[str]) -> str:
    if any(cell.strip() for cell in cells[len(names) :]):
        return _("There are more cells than columns.")
    return ""


def _wrong_code(code: str, shortest: int) -> str:
    if not code:
        return _("The code is missing.")
    if code[0] in _FORMULA_SIGNS:
        return _("A code must not begin like a formula of a spreadsheet.")
    if not _CODE.fullmatch(code):
        return _(
            "A code has only the letters A to Z, digits, points, hyphens and underscores, and begins with none of "
            "these signs."
        )
    if not shortest <= len(code) <= LONGEST:
        return _("A code has {least} to {most} characters; shorter ones could be guessed.").format(
            least=shortest, most=LONGEST
        )
    return ""


def _wrong_label(label: str) -> str:
    if len(label) > LONGEST_LABEL:
        return _("A label has at most {most} characters.").format(most=LONGEST_LABEL)
    if not label.isprintable():
        return _("A label is one line of text.")
    if label[:1] and label[0] in _FORMULA_SIGNS:
        return _("A label must not begin like a formula of a spreadsheet.")
    return ""


# ---- lists -------------------------------------------------------------------------------------------------


def codes_of(study: str) -> QuerySet[LabCode]:
    """The codes of a study, newest first, each with whether it is `used`."""
    ways = Identity.objects.filter(study=OuterRef("study"), recruiter=RECRUITER, proof=OuterRef("code"))
    return LabCode.objects.filter(study=study).annotate(used=Exists(ways)).order_by("-pk")


def with_states(codes: Iterable[LabCode]) -> Iterator[Listed]:
    """Each code with the state of the way that was begun last with it."""
    rest = iter(codes)
    while chunk := list(islice(rest, _CHUNK)):
        ways = Identity.objects.filter(
            study=chunk[0].study, recruiter=RECRUITER, proof__in=[code.code for code in chunk]
        ).order_by("occasion")
        states = dict(ways.values_list("proof", "enrolment__state"))
        yield from (Listed(code, states.get(code.code, "")) for code in chunk)


HEADER = ("code", "link", "used", "state", "kind", "expires")


def as_csv(study: str, join_link: str) -> Iterator[Sequence[str]]:
    """The lines of a file of all codes, for handing out: no label, and nothing that a spreadsheet would compute."""
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
    """Delete these codes (None: all) as far as nobody has begun with them; returns how many."""
    unused = codes_of(study).filter(used=False)
    if codes is not None:
        unused = unused.filter(code__in=codes)
    with transaction.atomic():
        keys = list(unused.values_list("pk", flat=True))
        for start in range(0, len(keys), _CHUNK):
            codes_of(study).filter(used=False, pk__in=keys[start : start + _CHUNK]).order_by().delete()
    return len(keys)
