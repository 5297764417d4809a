"""Results of Prolific's authenticity check of free texts, imported from a file.

Prolific runs the check in other survey tools and shows the result on its own pages; according to its documentation
(read on 2026-11-22), its API does not report it. If a submission does report a result, it is stored
(`reported_flag`). Flags have no automatic effect: they change neither pay nor the dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from marketplaces.prolific.links import KIND
from marketplaces.prolific.models import Authenticity, Publication, Submission
from recruiters.models import Identity
from recruiters.uploads import BadFile, Problem, rows_of, text_of

SUBMISSION = ("submission id", "submission_id", "session_id")
WORKER = ("participant id", "participant_id", "prolific_pid")
FLAG = ("authenticity", "authenticity check", "authenticity_check")
_WORDS = {
    "high": Authenticity.HIGH, "authentic": Authenticity.HIGH, "mixed": Authenticity.MIXED, "low": Authenticity.LOW,
    "inauthentic": Authenticity.LOW, "": Authenticity.UNKNOWN, "not checked": Authenticity.UNKNOWN,
}  # fmt: skip


def reported_flag(submission: Mapping[str, Any]) -> str | None:
    """Return the result that a submission itself reports; None if it reports none that is known."""
    found = next((submission[name] for name in FLAG if isinstance(submission.get(name), str)), None)
    return _WORDS.get(found.strip().casefold()) if found else None


def import_flags(publication: Publication, data: bytes) -> dict[str, int]:
    """Store the flags of a CSV file, by submission or by participant; return how many were `taken` and how many are
    `unknown`.

    Raises:
        BadFile: nothing was stored.
    """
    rows = rows_of(text_of(data))
    first, header = next(rows, (0, []))
    names = [name.strip().casefold() for name in header]
    who = next((names.index(name) for name in (*SUBMISSION, *WORKER) if name in names), None)
    what = next((names.index(name) for name in FLAG if name in names), None)
    if who is None or what is None:
        says = _("The first line must name a column “Submission id” or “Participant id”, and “Authenticity”.")
        raise BadFile([Problem(first, says)])
    by_submission = names[who] in SUBMISSION
    flags: dict[str, str] = {}
    problems = []
    for line, cells in rows:
        key, word = (cells[at].strip() if len(cells) > at else "" for at in (who, what))
        if not key:
            continue
        flag = _WORDS.get(word.casefold())
        if flag is None:
            problems.append(Problem(line, _("“{word}” is not high, mixed or low.").format(word=word[:20])))
        elif flags.setdefault(key, flag) != flag:
            problems.append(Problem(line, _("The same ID appears above with another flag.")))
    if problems:
        raise BadFile(problems)
    return _store(publication, flags, by_submission=by_submission)


def _store(publication: Publication, flags: Mapping[str, str], *, by_submission: bool) -> dict[str, int]:
    taken, known = 0, set()
    for one in Identity.objects.filter(study=publication.study.slug, recruiter=KIND):
        key = one.details.get("SESSION_ID", "") if by_submission else one.worker
        if key in flags:
            known.add(key)
            taken += Submission.objects.filter(publication=publication, enrolment=one.enrolment_id).update(
                authenticity=flags[key]
            )
    return {"taken": taken, "unknown": len(set(flags) - known)}


def counted(publication: Publication) -> list[tuple[Any, int]]:
    """Return how many participants have each flag, excluding those without a reported result."""
    found = Counter(publication.submissions.exclude(authenticity="").values_list("authenticity", flat=True))
    return [(flag.label, found[flag]) for flag in Authenticity if found[flag]]
