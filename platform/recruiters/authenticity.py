"""Results of recruiters' own authenticity checks of participants' free texts.

A recruiter with such a check keeps the result in a row linked to the enrolment, in a field `authenticity`, and
registers the name of that relation. Flags are exported and change neither pay nor places.
"""

from __future__ import annotations

from participants.models import Enrolment

FLAGS = ("high", "mixed", "low", "unknown")
_relations: list[str] = []


def register(relation: str) -> None:
    """Register a one-to-one relation of `Enrolment` whose rows have a field `authenticity`."""
    if relation not in _relations:
        _relations.append(relation)


def relations() -> tuple[str, ...]:
    """Return the registered relations, for `select_related`."""
    return tuple(_relations)


def flag_of(enrolment: Enrolment) -> str | None:
    """Return the flag of a participant; None if no check reported one."""
    rows = (getattr(enrolment, relation, None) for relation in _relations)
    return next((row.authenticity for row in rows if row is not None and row.authenticity), None)
