"""The planned analysis of a launched study: frozen at the first launch, with every later change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.interface import Json
from matches.models import Match
from plans.analysis import Analysis
from plans.canonical import canonical_json
from studies.models import LogEntry, Placement, Study, Version

PATH = "analysis"
"""Of its entries in the log of changes."""


@dataclass(frozen=True)
class Change:
    """A change after the first launch.

    Attributes:
        hypothesis: its name; empty for the planned sample.
        fields: of what changed or was removed, each with its value before and after.
        ended: how many participants and matches had ended.
    """

    at: datetime
    hypothesis: str
    what: Literal["added", "changed", "removed"]
    fields: Mapping[str, tuple[Json, Json]] = field(default_factory=dict)
    ended: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        name = self.hypothesis or _("the sample")
        done = {
            "added": _("{name} was added"),
            "changed": _("{name} was changed ({fields})"),
            "removed": _("{name} was removed"),
        }[self.what]
        fields = "; ".join(f"{key}: {_shown(old)} → {_shown(new)}" for key, (old, new) in self.fields.items())
        return _("{at}: {what} after {number} had ended.").format(
            at=f"{self.at:%Y-%m-%d %H:%M} UTC", what=done.format(name=name, fields=fields), number=counted(self.ended)
        )


@dataclass(frozen=True)
class FrozenAnalysis:
    """The planned analysis as now in force.

    Attributes:
        version: the one that the first launch made.
    """

    version: Version
    analysis: Analysis
    changes: tuple[Change, ...]

    def as_data(self) -> dict[str, Any]:
        """Return what a dataset's manifest says, with points in time."""
        written = self.analysis.model_dump(mode="json")
        return {
            "frozen_at": self.version.launched_at,
            "version": self.version.sha256,
            "version_number": self.version.number,
            **written,
            "changes": [
                {
                    "at": change.at,
                    "hypothesis": change.hypothesis,
                    "what": change.what,
                    "fields": {name: list(values) for name, values in change.fields.items()},
                    "ended": dict(change.ended),
                }
                for change in self.changes
            ],
        }


def frozen_analysis(study: Study) -> FrozenAnalysis | None:
    """Return the planned analysis; None if nothing was launched, or no hypothesis was ever planned."""
    version = study.versions.order_by("number").first()
    entries = list(study.changes.filter(path=PATH).order_by("pk"))
    states = [Analysis.model_validate(entry.after or {}) for entry in entries]
    if version is None or not any(state.hypotheses for state in states):
        return None
    steps = zip(pairwise(states), entries[1:], strict=True)
    changes = [change for (before, after), entry in steps for change in _changes(before, after, entry)]
    return FrozenAnalysis(version, states[-1], tuple(changes))


def ended_in(study: Study) -> dict[str, int]:
    """Return how many of the study's participants and matches have ended."""
    matches = Match.objects.filter(seats__enrolment__placement__version__study=study).exclude(ended_at=None)
    participants = Placement.objects.filter(version__study=study).exclude(enrolment__ended_at=None)
    return {"participants": participants.count(), "matches": matches.distinct().count()}


def counted(ended: Mapping[str, int]) -> str:
    """Return numbers of participants and matches in words."""
    people, matches = ended["participants"], ended["matches"]
    return _("{participants} and {matches}").format(
        participants=ngettext("{number} participant", "{number} participants", people).format(number=f"{people:,}"),
        matches=ngettext("{number} match", "{number} matches", matches).format(number=f"{matches:,}"),
    )


def _changes(before: Analysis, after: Analysis, entry: LogEntry) -> Iterator[Change]:
    old, new = _parts(before), _parts(after)
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name, {}), new.get(name, {})
        what: Any = "added" if not was else "removed" if not now else "changed"
        fields = {} if not was else {key: (value, now.get(key)) for key, value in was.items() if value != now.get(key)}
        if fields or not was:
            yield Change(entry.at, name, what, fields, entry.ended or {"participants": 0, "matches": 0})


def _shown(value: Json) -> str:
    return value or "–" if isinstance(value, str) else canonical_json(value)


def _parts(analysis: Analysis) -> dict[str, dict[str, Json]]:
    """Return the hypotheses by name, and the sample under the empty name."""
    written = analysis.model_dump(mode="json")
    return {"": written["sample"], **{each["name"]: each for each in written["hypotheses"]}}
