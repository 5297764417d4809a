"""The people of a study in oTree's wide format: one row per person, a block of columns per round.

The header is the one that oTree 6 gives its file all_apps_wide for a session of the one app `parley`
(deploy/otree), so that scripts written for one read the other. Columns that only oTree could fill are empty,
and so are those with recruiters' identifiers, which are never exported. Cells are written as oTree
writes them: 1 and 0 for yes and no, nothing for no value, amounts as decimal numbers, line breaks in text
as spaces.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import UTC
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from exports.columns import Column, Kind, Table
from exports.errors import UnknownFormat
from exports.participants import Participant, PlayedMatch, Reading
from exports.sources import StudySource
from exports.times import cut
from plans.checking import matches_of
from studies.models import Placement, Study

NAME, FORMAT = "all_apps_wide", "otree"
"""The table, and the name by which the format is requested."""
APP = "parley"
_HIDDEN = "Empty: it would identify the person."
_UNKNOWN = "Empty: Parley has no equivalent."


def refuse_collections(reading: Reading) -> None:
    """Raise UnknownFormat for a collection, which has no people."""
    if not isinstance(reading.source, StudySource):
        raise UnknownFormat("oTree's wide format has a row per person, but collections have no participants.")


def wide_table(reading: Reading) -> Table:
    """Return the table of a study; each row is about a `Participant`, in order of arrival."""
    source = reading.source
    assert isinstance(source, StudySource)
    numbering = _Numbering(reading.placements(logs=False))
    number = numbering.number_of
    columns = [*_participant(number), *_session(source.study)]
    for round_number in range(1, _rounds_of(source.study) + 1):
        columns += _round(round_number, numbering.number_of, numbering.first_number_of)
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


class _Numbering:
    """Numbers enrolments in order of arrival, from 1."""

    def __init__(self, placements: QuerySet[Placement]):
        self._placements = placements

    @cached_property
    def _keys(self) -> list[int]:
        return list(self._placements.order_by("pk").values_list("pk", flat=True))

    def number_of(self, participant: Participant) -> int:
        return bisect_right(self._keys, participant.placement.pk)

    def first_number_of(self, match: PlayedMatch | None) -> int:
        """Return the lowest number among a match's people; 1 without a match."""
        if match is None:
            return 1
        of_people = self._placements.filter(enrolment__in=match.people)
        return bisect_right(self._keys, min(of_people.values_list("pk", flat=True)))


# ---- the columns, in oTree's order -----------------------------------------------------------------------

Reader = Callable[[Participant], Any]


def _empty(participant: Participant) -> None:
    return None


def _participant(number: Callable[[Participant], int]) -> Iterator[Column]:
    described: list[tuple[str, Kind, str, Reader, str]] = [
        ("id_in_session", "integer", "Number in order of arrival, from 1.", number, ""),
        ("code", "identifier", "Pseudonym, the same in every file.", lambda p: p.enrolment.pseudonym, ""),
        ("label", "identifier", "The pseudonym again.", lambda p: p.enrolment.pseudonym, ""),
        ("_is_bot", "integer", "0: simulated people are never in a dataset.", lambda p: 0, ""),
        ("_index_in_pages", "integer", "The step after the last one answered, from 1.", _next_step, ""),
        ("_max_page_index", "integer", "Number of steps of the enrolment.", lambda p: len(p.enrolment.steps), ""),
        ("_current_app_name", "choice", f"Always {APP}.", lambda p: APP, ""),
        ("_current_page_name", "choice", "The person's current or last step.", _current_page, ""),
        ("time_started_utc", "text", "When the person arrived.", _started, "UTC"),
        ("visited", "integer", "1: everyone with a row arrived.", lambda p: 1, ""),
        ("mturk_worker_id", "identifier", _HIDDEN, _empty, ""),
        ("mturk_assignment_id", "identifier", _HIDDEN, _empty, ""),
        (
            "payoff",
            "number",
            "Total amount owed; 0.0 until the enrolment ends.",
            lambda p: _money(p.owed),
            "the currency",
        ),
    ]
    for name, kind, meaning, read, unit in described:
        yield Column(f"participant.{name}", kind, meaning, read, unit=unit)


def _session(study: Study) -> Iterator[Column]:
    described: list[tuple[str, Kind, str, Reader]] = [
        ("code", "identifier", "Short name of the study.", lambda p: study.slug),
        ("label", "text", "Title of the study.", lambda p: _one_line(p.reading.source.title)),
        ("mturk_HITId", "identifier", _HIDDEN, _empty),
        ("mturk_HITGroupId", "identifier", _HIDDEN, _empty),
        ("comment", "text", _UNKNOWN, _empty),
        ("is_demo", "integer", "1 for a demonstration, otherwise 0.", lambda p: int(p.reading.demonstration)),
        ("config.name", "choice", "The version of the study: v and its number.", lambda p: f"v{p.version.number}"),
        ("config.participation_fee", "number", "0.0: the payoff contains everything owed.", lambda p: 0.0),
        ("config.real_world_currency_per_point", "number", "Empty: payoffs are money, not points.", _empty),
    ]
    for name, kind, meaning, read in described:
        yield Column(f"session.{name}", kind, meaning, read)


def _round(
    number: int, id_of: Callable[[Participant], int], first_number_of: Callable[[PlayedMatch | None], int]
) -> Iterator[Column]:
    def owed(participant: Participant) -> dict[str, int] | None:
        """Return the amount owed if it is owed in this round, else None."""
        return participant.owed if number == max(len(participant.matches), 1) else None

    def at_end(read: Reader) -> Reader:
        return lambda participant: read(participant) if owed(participant) is not None else None

    def match(participant: Participant) -> PlayedMatch | None:
        played = _match_in_round(participant, number)
        included = played is not None and not played.reasons and not played.reasons_of(participant.enrolment)
        return played if included else None

    def role(participant: Participant) -> str | None:
        own_match = _match_in_round(participant, number)
        return (
            participant.role_in(own_match)
            if owed(participant) is not None or (own_match and participant.owed is not None)
            else None
        )

    def payoff(participant: Participant) -> float | None:
        included_match = match(participant)
        match_payoff = (
            (included_match.match.payoffs or {}).get(participant.role_in(included_match)) if included_match else None
        )
        return None if match_payoff is None else float(match_payoff)

    described: list[tuple[str, Kind, str, Reader, str]] = [
        (
            "player.id_in_group",
            "integer",
            "Position among the people of the match, from 1; participant.id_in_session if people never play together.",
            lambda p: _id_in_group(p, number) or id_of(p),
            "",
        ),
        ("player.role", "text", "Empty: the role is in parley_role.", _empty, ""),
        ("player.payoff", "number", "Amount owed for this round.", lambda p: _money(owed(p)), "the currency"),
        (
            "player.parley_participant",
            "identifier",
            "Pseudonym, to join the file with oTree's own and with participants.csv.",
            lambda p: p.enrolment.pseudonym,
            "",
        ),
        ("player.parley_cell", "integer", "Number of the person's cell.", lambda p: p.cell and p.cell.number, ""),
        (
            "player.parley_ending",
            "choice",
            "Ending of the enrolment, a state as in participants.csv; empty until it ends.",
            at_end(lambda p: str(p.enrolment.state)),
            "",
        ),
        (
            "player.parley_role",
            "choice",
            "The role in that match, or the reserved one; empty until the enrolment ends.",
            role,
            "",
        ),
        (
            "player.parley_match",
            "identifier",
            "The match, if it is in the dataset.",
            lambda p: own_match.uid if (own_match := match(p)) else None,
            "",
        ),
        (
            "player.parley_opponent",
            "text",
            "Who took the other seats, with commas: human, or the study's label for the agent.",
            lambda p: (
                ", ".join(own_match.opponents_of(p.role_in(own_match)).values()) if (own_match := match(p)) else None
            ),
            "",
        ),
        (
            "player.parley_moved_by",
            "text",
            "Who moved in the person's place, with commas: clock, or an agent; empty if no one did.",
            lambda p: ", ".join(own_match.moved_for(p.role_in(own_match))) if (own_match := match(p)) else None,
            "",
        ),
        ("player.parley_payoff", "number", "Payoff of that match.", payoff, "the game's money"),
        ("player.parley_base_cents", "integer", "Base.", at_end(lambda p: (p.owed or {}).get("base", 0)), "cents"),
        ("player.parley_bonus_cents", "integer", "Bonus.", at_end(lambda p: (p.owed or {}).get("bonus", 0)), "cents"),
        ("player.parley_currency", "choice", "Currency, ISO 4217.", at_end(lambda p: p.placement.pay().currency), ""),
        (
            "group.id_in_subsession",
            "integer",
            "participant.id_in_session of the first of the match's people; 1 if people never play together.",
            lambda p: first_number_of(_match_in_round(p, number)) if _id_in_group(p, number) else 1,
            "",
        ),
        ("subsession.round_number", "integer", "Number of the round.", lambda p: number, ""),
    ]
    for name, kind, meaning, read, unit in described:
        yield Column(f"{APP}.{number}.{name}", kind, meaning, read, unit=unit)


# ---- single values ---------------------------------------------------------------------------------------


def _match_in_round(participant: Participant, number: int) -> PlayedMatch | None:
    return participant.matches[number - 1] if number <= len(participant.matches) else None


def _id_in_group(participant: Participant, number: int) -> int | None:
    """Return a person's position, from 1, among the people of the match; None if fewer than two people play."""
    match = _match_in_round(participant, number)
    if match is None or len(match.people) < 2:
        return None
    return [person.pk for person in match.people].index(participant.enrolment.pk) + 1


def _money(cents: dict[str, int] | None) -> float:
    """Return an amount in cents as oTree prints it: 1.5 for 150, 0.0 for nothing."""
    return sum((cents or {}).values()) / 100


def _one_line(text: str) -> str:
    """Return `text` with each line break as a space, as oTree does."""
    return text.replace("\r", " ").replace("\n", " ")


def _next_step(participant: Participant) -> int:
    answered = [visit.position for visit in participant.enrolment.visits.all() if _answered(participant, visit)]
    return max(answered, default=-1) + 2


def _answered(participant: Participant, visit: Any) -> bool:
    return visit.answered_at is not None and visit.answered_at <= participant.reading.cutoff


def _current_page(participant: Participant) -> str:
    steps = participant.enrolment.steps
    return str(steps[min(_next_step(participant), len(steps)) - 1]["kind"])


def _started(participant: Participant) -> str:
    arrived_at = cut(participant.enrolment.arrived_at, participant.reading.times)
    assert arrived_at is not None
    return str(arrived_at.astimezone(UTC).replace(tzinfo=None))
