"""The people of a study in oTree's wide format: one row per person, a block of columns per round.

The header is the one that oTree 6 gives its file all_apps_wide for a session of the one app `parley`
(deploy/otree), so that scripts written for one read the other. Columns that only oTree could fill are empty,
and so are those with recruiters' identifiers, which are never exported. Cells are written as oTree
writes them: 1 and 0 for yes and no, nothing for no value, amounts as decimal numbers, line breaks in text
as spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from typing import Any

from exports.columns import Column, Described, Reader, Table, column
from exports.errors import UnknownFormat
from exports.participants import Participant, PlayedMatch, Reading
from exports.sources import StudySource
from exports.times import cut
from plans.checking import matches_of
from studies.models import Study

NAME, FORMAT = "all_apps_wide", "otree"
"""The table, and the name by which the format is requested."""
APP = "parley"


def refuse_collections(reading: Reading) -> None:
    """Raise UnknownFormat for a collection, which has no people."""
    if not isinstance(reading.source, StudySource):
        raise UnknownFormat("oTree's wide format has a row per person, but collections have no participants.")


def wide_table(reading: Reading) -> Table:
    """Return the table of a study; each row is about a `Participant`, in order of arrival."""
    assert isinstance(reading.source, StudySource)
    columns = [own.column(name) for name, own in _PERSON.items()]
    for number in range(1, _rounds_of(reading.source.study) + 1):
        for name, own in _ROUND.items():
            in_round = partial(_read_round, own.reader(name), number)
            columns.append(Column(f"{APP}.{number}.{name}", own.kind, own.meaning, in_round, own.unit))
    return Table(
        NAME,
        "One row per placed participant, in the dataset or not, with the columns of oTree's file of this name. Matches "
        "that are not in the dataset are left out.",
        columns,
    )


def _rounds_of(study: Study) -> int:
    """Return the largest number of matches of an enrolment, at least 1."""
    readers = [version.reader for version in study.versions.all()]
    plans = (reader.plan(cell.factors) for reader in readers for cell in reader.cells)
    return max((matches_of(plan.journey) for plan in plans), default=1)


def _read_round(read: Reader, number: int, person: Participant) -> Any:
    return read(_Round(person, number))


# ---- single values ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Round:
    """A round of a person: the match with this number, from 1, in their enrolment."""

    person: Participant
    number: int

    @property
    def any_match(self) -> PlayedMatch | None:
        """The match, in the dataset or not."""
        matches = self.person.matches
        return matches[self.number - 1] if self.number <= len(matches) else None

    @property
    def match(self) -> PlayedMatch | None:
        """The match, if it is in the dataset with this person."""
        match = self.any_match
        return match if match and not match.reasons and not match.reasons_of(self.person.enrolment) else None

    @property
    def owed(self) -> dict[str, int] | None:
        """The amount owed, by reason, if it is owed in this round."""
        return self.person.owed if self.number == max(len(self.person.matches), 1) else None

    @property
    def ended(self) -> bool:
        """Whether the enrolment ended in this round."""
        return self.owed is not None

    @property
    def role(self) -> str | None:
        known = self.ended or (self.any_match and self.person.owed is not None)
        return self.person.role_in(self.any_match) if known else None

    @property
    def payoff(self) -> float | None:
        payoff = (self.match.match.payoffs or {}).get(self.person.role_in(self.match)) if self.match else None
        return None if payoff is None else float(payoff)

    @property
    def opponents(self) -> str | None:
        match = self.match
        return ", ".join(match.opponents_of(self.person.role_in(match)).values()) if match else None

    @property
    def moved_by(self) -> str | None:
        match = self.match
        return ", ".join(match.moved_for(self.person.role_in(match))) if match else None

    @property
    def id_in_group(self) -> int | None:
        """The person's position, from 1, among the people of the match; None if fewer than two people play."""
        people = self.any_match.people if self.any_match else []
        return people.index(self.person.enrolment) + 1 if len(people) > 1 else None

    @property
    def group(self) -> int:
        """The lowest number among the match's people; 1 if people never play together."""
        return self.person.reading.number_of(self.any_match.people) if self.any_match and self.id_in_group else 1


def _money(cents: dict[str, int] | None) -> float:
    """Return an amount in cents as oTree prints it: 1.5 for 150, 0.0 for nothing."""
    return sum((cents or {}).values()) / 100


def _next_step(person: Participant) -> int:
    visits, cutoff = person.enrolment.visits, person.reading.cutoff
    answered = [visit.position for visit in visits if visit.answered_at is not None and visit.answered_at <= cutoff]
    return max(answered, default=-1) + 2


def _current_page(person: Participant) -> str:
    steps = person.enrolment.steps
    return str(steps[min(_next_step(person), len(steps)) - 1]["kind"])


def _started(person: Participant) -> str:
    arrived_at = cut(person.enrolment.arrived_at, person.reading.times)
    assert arrived_at is not None
    return str(arrived_at.astimezone(UTC).replace(tzinfo=None))


def _title(person: Participant) -> str:
    """Return the study's title with each line break as a space, as oTree does."""
    return person.reading.source.title.replace("\r", " ").replace("\n", " ")


def _nothing(_row: Any) -> None:
    return None


# ---- the columns, in oTree's order -------------------------------------------------------------------------

_HIDDEN = column.identifier("Empty: it would identify the person.", of=_nothing)

_PERSON: Mapping[str, Described] = {
    "participant.id_in_session": column.integer("Number in order of arrival, from 1.", of="number"),
    "participant.code": column.identifier("Pseudonym, the same in every file.", of="enrolment.pseudonym"),
    "participant.label": column.identifier("The pseudonym again.", of="enrolment.pseudonym"),
    "participant._is_bot": column.integer("0: simulated people are never in a dataset.", of=lambda p: 0),
    "participant._index_in_pages": column.integer("The step after the last one answered, from 1.", of=_next_step),
    "participant._max_page_index": column.integer(
        "Number of steps of the enrolment.", of=lambda p: len(p.enrolment.steps)
    ),
    "participant._current_app_name": column.choice(f"Always {APP}.", of=lambda p: APP),
    "participant._current_page_name": column.choice("The person's current or last step.", of=_current_page),
    "participant.time_started_utc": column.text("When the person arrived.", "UTC", of=_started),
    "participant.visited": column.integer("1: everyone with a row arrived.", of=lambda p: 1),
    "participant.mturk_worker_id": _HIDDEN,
    "participant.mturk_assignment_id": _HIDDEN,
    "participant.payoff": column.number(
        "Total amount owed; 0.0 until the enrolment ends.", "the currency", of=lambda p: _money(p.owed)
    ),
    "session.code": column.identifier("Short name of the study.", of="reading.source.slug"),
    "session.label": column.text("Title of the study.", of=_title),
    "session.mturk_HITId": _HIDDEN,
    "session.mturk_HITGroupId": _HIDDEN,
    "session.comment": column.text("Empty: Parley has no equivalent.", of=_nothing),
    "session.is_demo": column.integer("1 for a demonstration, otherwise 0.", of=lambda p: int(p.reading.demonstration)),
    "session.config.name": column.choice(
        "The version of the study: v and its number.", of=lambda p: f"v{p.version.number}"
    ),
    "session.config.participation_fee": column.number("0.0: the payoff contains everything owed.", of=lambda p: 0.0),
    "session.config.real_world_currency_per_point": column.number("Empty: payoffs are money, not points.", of=_nothing),
}
"""Of a `Participant`."""

_ROUND: Mapping[str, Described] = {
    "player.id_in_group": column.integer(
        "Position among the people of the match, from 1; participant.id_in_session if people never play together.",
        of=lambda r: r.id_in_group or r.person.number,
    ),
    "player.role": column.text("Empty: the role is in parley_role.", of=_nothing),
    "player.payoff": column.number("Amount owed for this round.", "the currency", of=lambda r: _money(r.owed)),
    "player.parley_participant": column.identifier(
        "Pseudonym, to join the file with oTree's own and with participants.csv.", of="person.enrolment.pseudonym"
    ),
    "player.parley_cell": column.integer("Number of the person's cell.", of="person.cell_number"),
    "player.parley_ending": column.choice(
        "Ending of the enrolment, a state as in participants.csv; empty until it ends.",
        of=lambda r: str(r.person.enrolment.state) if r.ended else None,
    ),
    "player.parley_role": column.choice(
        "The role in that match, or the reserved one; empty until the enrolment ends.", of="role"
    ),
    "player.parley_match": column.identifier(
        "The match, if it is in the dataset.", of=lambda r: match.uid if (match := r.match) else None
    ),
    "player.parley_opponent": column.text(
        "Who took the other seats, with commas: human, or the study's label for the agent.", of="opponents"
    ),
    "player.parley_moved_by": column.text(
        "Who moved in the person's place, with commas: clock, or an agent; empty if no one did.", of="moved_by"
    ),
    "player.parley_payoff": column.number("Payoff of that match.", "the game's money", of="payoff"),
    "player.parley_base_cents": column.integer(
        "Base.", "cents", of=lambda r: r.owed.get("base", 0) if r.ended else None
    ),
    "player.parley_bonus_cents": column.integer(
        "Bonus.", "cents", of=lambda r: r.owed.get("bonus", 0) if r.ended else None
    ),
    "player.parley_currency": column.choice(
        "Currency, ISO 4217.", of=lambda r: r.person.placement.pay().currency if r.ended else None
    ),
    "group.id_in_subsession": column.integer(
        "participant.id_in_session of the first of the match's people; 1 if people never play together.", of="group"
    ),
    "subsession.round_number": column.integer("Number of the round.", of="number"),
}
"""Of a `_Round`; the columns' names begin with the app and the round's number."""
