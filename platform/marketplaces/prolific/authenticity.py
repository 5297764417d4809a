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

from marketplaces.models import Offer, Submission
from marketplaces.prolific.terms import KIND
from recruiters.models import Identity
from recruiters.uploads import BadFile, Problem, table_of

SUBMISSION_COLUMNS = ("submission id", "submission_id", "session_id")
WORKER_COLUMNS = ("participant id", "participant_id", "prolific_pid")
FLAG_COLUMNS = ("authenticity", "authenticity check", "authenticity_check")
Authenticity = Submission.Authenticity
_FLAGS = {
    "high": Authenticity.HIGH, "authentic": Authenticity.HIGH, "mixed": Authenticity.MIXED, "low": Authenticity.LOW,
    "inauthentic": Authenticity.LOW, "": Authenticity.UNKNOWN, "not checked": Authenticity.UNKNOWN,
}  # fmt: skip


def reported_flag(submission: Mapping[str, Any]) -> str | None:
    """Return the result that a submission itself reports; None if it reports none that is known."""
    text = next((submission[name] for name in FLAG_COLUMNS if isinstance(submission.get(name), str)), None)
    return _FLAGS.get(text.strip().casefold()) if text else None


def import_flags(publication: Offer, data: bytes) -> dict[str, int]:
    """Store the flags of a CSV file, by submission or by participant; return how many were `taken` and how many are
    `unknown`.

    Raises:
        BadFile: nothing was stored.
    """
    table = table_of(data)
    names = table.names
    id_column = next((names.index(name) for name in (*SUBMISSION_COLUMNS, *WORKER_COLUMNS) if name in names), None)
    flag_column = next((names.index(name) for name in FLAG_COLUMNS if name in names), None)
    if id_column is None or flag_column is None:
        message = _("The first line must name a column “Submission id” or “Participant id”, and “Authenticity”.")
        raise BadFile([Problem(table.header_line, message)])
    by_submission = names[id_column] in SUBMISSION_COLUMNS
    flags: dict[str, str] = {}
    problems = []
    for line, cells in table.rows:
        key, entry = (cells[column].strip() if len(cells) > column else "" for column in (id_column, flag_column))
        if not key:
            continue
        flag = _FLAGS.get(entry.casefold())
        if flag is None:
            problems.append(Problem(line, _("“{word}” is not high, mixed or low.").format(word=entry[:20])))
        elif flags.setdefault(key, flag) != flag:
            problems.append(Problem(line, _("The same ID appears above with another flag.")))
    if problems:
        raise BadFile(problems)
    return _store(publication, flags, by_submission=by_submission)


def _store(publication: Offer, flags: Mapping[str, str], *, by_submission: bool) -> dict[str, int]:
    imported, matched = 0, set()
    for identity in Identity.objects.filter(study=publication.study.slug, recruiter=KIND):
        key = identity.details.get("SESSION_ID", "") if by_submission else identity.worker
        if key in flags:
            matched.add(key)
            imported += Submission.objects.filter(study=publication.study, enrolment=identity.enrolment_id).update(
                authenticity=flags[key]
            )
    return {"taken": imported, "unknown": len(set(flags) - matched)}


def flag_counts(publication: Offer) -> list[tuple[Any, int]]:
    """Return how many participants have each flag, excluding those without a reported result."""
    counts = Counter(publication.study.submissions.exclude(authenticity="").values_list("authenticity", flat=True))
    return [(flag.label, counts[flag]) for flag in Authenticity if counts[flag]]
