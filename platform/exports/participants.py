"""The participants of a study and their matches, read from the database as of a cut-off.

Anything that has ended never changes, so everything that ended before the cut-off is read as it was then, however
long reading takes. Anything that ended later counts as still in progress.
"""

from __future__ import annotations

import gc
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from django.db.models import Prefetch, QuerySet

from checks.steps import CHECKS_OF_STEPS
from exports import designs, gate
from exports.alike import mask
from exports.columns import Design, Row
from exports.csvsafe import compact_json
from exports.designs import AskedQuestion, step_label, step_name
from exports.events import LoggedEvent, logs_of
from exports.scrubbing import Scrubber, mentions, texts_in
from exports.shape import Shape
from exports.sources import Source, StudySource
from exports.times import Times
from games import registry
from games.interface import MESSAGE_LIMIT, Game
from games.play import configure, moves_that_count, replay_moves, restore, stages
from helping.models import Message
from llm_agents.agent import is_scripted
from matches.models import ChatLine, Event, Match, Seat
from opponents.agents import Agent
from opponents.models import Call
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow
from plans import pay as rules
from plans.questions import FREE_TEXT, Question
from recruiters.models import Identity
from studies import disclosure
from studies.drawing import open_cells
from studies.endings import earnings_of
from studies.models import Cell, Placement, Version
from surveys.models import Response

CHUNK = 50
HUMAN = "human"

ANONYMOUS_SCRUBBER = Scrubber(generic=True)
"""Scrubber for matches without people, or whose people are not known by name."""


@dataclass(frozen=True)
class Reading:
    """What to read: a study or collection, the cut-off, and the columns of its games."""

    source: Source
    cutoff: datetime
    shape: Shape
    excluded: bool = False
    """Whether the matches and answers of excluded people are also written, with a flag."""
    times: Times = "exact"
    """How exactly points in time are written (`exports.times`)."""

    @property
    def demonstration(self) -> bool:
        """Whether the study itself is a demonstration."""
        return self.source.demonstration

    @property
    def design(self) -> Design:
        """What the columns of the dataset depend on."""
        return Design(self.shape, self.source, self.times)

    def placements(self, *, logs: bool = True) -> QuerySet[Placement]:
        """Return the placements made by the cut-off in order of arrival, with everything that a `Participant` reads.

        Args:
            logs: include the events of their matches, which can also be passed to a `Participant` separately.
        """
        if not isinstance(self.source, StudySource):
            return Placement.objects.none()
        return (
            Placement.objects.filter(version__study=self.source.study, placed_at__lte=self.cutoff)
            .select_related("enrolment__identity", "enrolment__submission")
            .prefetch_related(*_related(logs=logs))
            .order_by("pk")
        )

    @cached_property
    def _keys(self) -> list[int]:
        return list(self.placements(logs=False).values_list("pk", flat=True))

    def number_of(self, people: Sequence[Enrolment]) -> int:
        """Return the number of the first of these people, in order of arrival, from 1."""
        return bisect_right(self._keys, min(person.placement.pk for person in people))

    def expected_matches(self) -> int:
        """Return the number of matches to read, whether in the dataset or not."""
        if isinstance(self.source, StudySource):
            seats = Seat.objects.filter(enrolment__placement__version__study=self.source.study)
            return seats.filter(enrolment__placement__placed_at__lte=self.cutoff).values("match").distinct().count()
        return int(self.source.collection.planned)

    def participants(self, *, first: int | None = None, last: int | None = None) -> Iterator[Participant]:
        """Yield every participant placed by the cut-off, in order of arrival.

        Args:
            first, last: only placements with keys in this range, both ends included.
        """
        query = self.placements(logs=False)
        if last is not None:
            query = query.filter(pk__lte=last)
        last_key = (first or 1) - 1
        while placements := list(query.filter(pk__gt=last_key)[:CHUNK]):
            match_keys = {seat.match_id for placement in placements for seat in placement.enrolment.seats.all()}
            logs = logs_of(match_keys)
            for placement in placements:
                yield Participant(self, placement, logs)
            last_key = placements[-1].pk
            del placements, placement, logs
            gc.collect()  # rows and their relations refer to each other, so nothing else frees them soon


def _related(*, logs: bool) -> list[str | Prefetch]:
    matches = Match.objects.defer("snapshot", "turns")
    events = [Prefetch("enrolment__seats__match__events", Event.objects.order_by("number"))] if logs else []
    return [
        "version",
        "cell",
        "enrolment__verdicts",
        "enrolment__surveys",
        "enrolment__page_views",
        "enrolment__behaviour",
        Prefetch("enrolment__help_messages", Message.objects.select_related("match")),
        Prefetch("enrolment__ledger", LedgerRow.objects.order_by("pk")),
        Prefetch("enrolment__seats", Seat.objects.order_by("step")),
        Prefetch("enrolment__seats__match", matches),
        *events,
        Prefetch("enrolment__seats__match__seats", Seat.objects.select_related("enrolment__identity")),
        "enrolment__seats__match__seats__enrolment__verdicts",
        "enrolment__seats__match__seats__enrolment__seats",
    ]


class Participant:
    """One participant's enrolment in the study, as of the cut-off.

    Args:
        logs: logs of the matches by key; if None, each match is queried for its log.
    """

    def __init__(self, reading: Reading, placement: Placement, logs: Mapping[int, list[LoggedEvent]] | None = None):
        self.reading = reading
        self.logs = logs
        self.placement = placement
        self.version: Version = placement.version
        self.cell: Cell | None = placement.cell
        if self.cell is not None:
            self.cell.version = self.version
        self.enrolment: Enrolment = placement.enrolment

    @cached_property
    def facts(self) -> gate.ParticipantFacts:
        return facts_of(self.enrolment, self.reading.cutoff)

    @cached_property
    def ended_at(self) -> datetime | None:
        return _if_by_cutoff(self.enrolment.ended_at, self.reading.cutoff)

    @cached_property
    def unanswered(self) -> list[str]:
        """Kinds of the steps that the participant left open although they completed."""
        return people.unanswered(self.enrolment) if self.facts.state == State.COMPLETED else []

    @property
    def cell_number(self) -> int | None:
        """Number of the cell within the version; None before the draw."""
        return None if self.cell is None else self.cell.number

    @property
    def number(self) -> int:
        """Number in order of arrival, from 1."""
        return self.reading.number_of([self.enrolment])

    @property
    def recruiter(self) -> str | None:
        identity: Identity | None = getattr(self.enrolment, "identity", None)
        return None if identity is None else identity.recruiter

    @cached_property
    def checks(self) -> dict[str, Any]:
        """Results of the checks, by the label of each; without those that were not reached or not asked."""
        results: dict[str, Any] = {}
        verdicts = list(self.enrolment.verdicts.all())
        for check in self.reading.source.checks:
            of_check = (v for v in verdicts if v.check_name == check.name and check.stage in (None, v.stage))
            if (verdict := next(of_check, None)) is not None:
                given = verdict.tries if check.name == "comprehension" else verdict.answered
                results[f"{check.label}_passed"] = verdict.passed
                results[f"{check.label}_tries"] = len(verdict.tries)
                results[f"{check.label}_answered"] = compact_json(given)
        return results

    @cached_property
    def responses(self) -> list[Response]:
        """The pages of questions that were answered; none if the person is not in the dataset."""
        if not self.in_dataset and not self.reading.excluded:
            return []
        return [response for response in self.enrolment.surveys.all() if response.at <= self.reading.cutoff]

    @cached_property
    def help_messages(self) -> list[Row]:
        """What the person and the researchers wrote to each other; nothing if the person is not in the dataset."""
        if not self.in_dataset and not self.reading.excluded:
            return []
        return [
            Row(
                participant=self,
                to=message.audience,
                sending=str(message.sending),
                match=message.match and str(message.match.uid),
                at=message.at,
                text=self.scrubber.text(message.text),
                answered_at=_if_by_cutoff(message.answered_at, self.reading.cutoff),
                read_at=_if_by_cutoff(message.read_at, self.reading.cutoff),
            )
            for message in self.enrolment.help_messages.all()
            if message.at <= self.reading.cutoff
        ]

    @cached_property
    def scrubber(self) -> Scrubber:
        """Removes names, identifiers and the hidden code word from what the person wrote outside matches."""
        person = self.enrolment
        people = {person.pk: person} | {player.pk: player for match in self.matches for player in match.people}
        return Scrubber(
            names=[player.display_name for player in people.values()],
            identifiers=[identifier for player in people.values() for identifier in _identifiers(player)],
            code_words=[person.code_word],
            generic=True,
        )

    @cached_property
    def answers(self) -> dict[str, Any]:
        """Answers by column, with free text scrubbed as in matches."""
        asked = self.reading.source.questions
        return {
            column: _answer(question.kind, value, self.scrubber)
            for response in self.responses
            for question in map(Question.model_validate, response.questions)
            for column, value in _by_column(asked[response.stage, question.name], response.answers.get(question.name))
        }

    @cached_property
    def shown(self) -> dict[str, bool]:
        """Whether each stage with a condition was shown, by its name; without those that were not reached."""
        judged: dict[str, bool] = {}
        for step in self.enrolment.steps:
            if "shown" in step:
                judged.setdefault(designs.as_column(step_name(step)), step["shown"])
        return judged

    @property
    def draw(self) -> Mapping[str, Any]:
        """How the cell was drawn (`studies.drawing`); empty before the draw."""
        return self.placement.draw

    @property
    def open_cells(self) -> dict[int, float]:
        """The cells that could be drawn, by number, each with its probability."""
        return open_cells(self.draw) if self.draw else {}

    @property
    def stratum(self) -> str | None:
        """Earlier answers within which cells fill evenly, as JSON."""
        return mask(self.draw["stratum"]) if self.draw.get("stratum") else None

    @property
    def factors(self) -> dict[str, str]:
        """The levels of the factors between participants; none before the draw."""
        return {} if self.cell is None else {name: mask(level) for name, level in self.cell.factors.items()}

    @cached_property
    def ledger(self) -> list[LedgerRow]:
        return [row for row in self.enrolment.ledger.all() if row.created_at <= self.reading.cutoff]

    @cached_property
    def owed(self) -> dict[str, int] | None:
        """Whole cents by reason: the ledger's or, outside real studies, what it would hold. None while in progress."""
        if self.ended_at is None:
            return None
        if self.version.purpose.has_ledger:
            amounts = {row.reason: row.amount for row in self.ledger}
        else:
            earned = earnings_of(self.enrolment, self.placement.plan)
            amounts = rules.due(self.placement.pay(), ending=self.enrolment.state, **earned.rule_inputs())
        return {reason: int(amount * 100) for reason, amount in amounts.items()}

    @cached_property
    def matches(self) -> list[PlayedMatch]:
        """Matches in which this person had a seat, in order."""
        if self.cell is None:
            return []
        of_cell = Place(
            version=self.version.number,
            cell=self.cell.number,
            cell_kind=mask(designs.kind_of(self.cell)) or None,
            factors=self.factors,
            whole_groups=self.cell.plan.checks.whole_groups,
        )
        logs, played = self.logs, []
        for number, seat in enumerate(self.enrolment.seats.all(), start=1):
            assert seat.step is not None, "every seat of a participant is one of their steps"
            step = self.enrolment.steps[seat.step]
            place = replace(
                of_cell,
                session=number,
                stage=step.get("stage") or None,
                pass_=".".join(map(mask, step.get("passes", ()))) or None,
                repeat=step.get("repeat", 1),
                cluster=self._cluster(seat.step),
                factors={**self.factors, **{name: mask(level) for name, level in designs.levels_at(step).items()}},
            )
            played.append(
                PlayedMatch(self.reading, seat.match, place, None if logs is None else logs.get(seat.match_id, []))
            )
        return played

    def _cluster(self, position: int) -> str | None:
        """Return what a match shares with all others of its cohort, or of its group if that was formed once.

        A group is known by its first match.
        """
        steps = self.enrolment.steps
        if cohort := steps[position].get("cluster"):
            return f"{self.version.number}.{cohort}"
        kept = steps[position - 1].get("keep") if position else None
        if kept is None:
            return None
        seats = self.enrolment.seats.all()
        return next(str(seat.match.uid) for seat in seats if seat.step and steps[seat.step - 1].get("keep") == kept)

    @cached_property
    def in_dataset(self) -> bool:
        """Whether the dataset has a match in which nothing excludes this person's seat."""
        return any(not match.reasons and not match.reasons_of(self.enrolment) for match in self.matches)

    def role_in(self, played: PlayedMatch | None) -> str:
        """Return the person's seat in one of their matches or, without a match, the seat reserved for them."""
        return self.placement.role if played is None else played.role_of(self.enrolment)

    @cached_property
    def person(self) -> str:
        """Pseudonym of the first participation in any study that the recruiter attributes to this person."""
        return self._participations[0]

    @property
    def participations_before(self) -> int:
        """Number of times the person had taken part in any study, including this one, before this enrolment."""
        return self._participations[1]

    @cached_property
    def _participations(self) -> tuple[str, int]:
        identity: Identity | None = getattr(self.enrolment, "identity", None)
        if identity is None or not identity.worker:
            return self.enrolment.pseudonym, 0
        earlier_identities = Identity.objects.filter(
            recruiter=identity.recruiter, worker=identity.worker, pk__lt=identity.pk
        )
        earlier_pseudonyms = list(earlier_identities.order_by("pk").values_list("enrolment__pseudonym", flat=True))
        return (earlier_pseudonyms[0] if earlier_pseudonyms else self.enrolment.pseudonym), len(earlier_pseudonyms)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why the dataset has no data of this person; empty if it has some."""
        if self.in_dataset:
            return ()
        reasons = set(gate.participant_reasons(self.facts))
        for match in self.matches:
            match_reasons = {*match.reasons, *match.reasons_of(self.enrolment)}
            # If the reason why the enrolment ended is known, a game without a result only repeats it.
            reasons |= match_reasons - {"match_not_finished"} if reasons else match_reasons
        return gate.ordered(reasons)

    @cached_property
    def stage(self) -> str:
        finished = any(match.finished for match in self.matches)
        return gate.stage(self.facts, finished=finished, in_dataset=self.in_dataset)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds between showing and answering the steps, by label; without those that were not answered."""
        durations: dict[str, float] = {}
        for visit in self.enrolment.visits:
            if visit.answered_at is not None:
                label = step_label(self.enrolment.steps[visit.position])
                passed = (visit.answered_at - visit.shown_at).total_seconds()
                durations[label] = durations.get(label, 0) + passed
        return {label: round(total, 3) for label, total in durations.items()}

    @property
    def duration(self) -> dict[str, float]:
        """Seconds from arriving to the end of the enrolment; nothing before the end."""
        if self.ended_at is None:
            return {}
        return {"seconds": round((self.ended_at - self.enrolment.arrived_at).total_seconds(), 3)}


@dataclass(frozen=True)
class Place:
    """The position of a match in its source, as its transcript and the table of matches have it (`derived.Matches`).

    Attributes:
        pass_: the key `pass` of the transcript.
        unverified: why an imported game breaks our rules, with names.
        names: display names of people in an imported game.
        whole_groups: whether excluding one person excludes the match.
    """

    version: int
    cell: int | None = None
    cell_kind: str | None = None
    factors: Mapping[str, str] = field(default_factory=dict)
    session: int | None = None
    stage: str | None = None
    pass_: str | None = None
    repeat: int | None = None
    cluster: str | None = None
    repetition: int | None = None
    environment: str | None = None
    name: str | None = None
    unverified: str = ""
    names: tuple[str, ...] = ()
    whole_groups: bool = False


class SeatValues(NamedTuple):
    """A seat of a match without people, at a tenth of the cost of the model object."""

    role: str
    agent: str
    label: str = ""
    settings: Any = None
    delay: float = 0
    fills_in: bool = False
    left_at: None = None
    enrolment: None = None


class PlayedMatch:
    """One match with its log, scrubbed of everything that identifies its people.

    Args:
        log: the match's events in order; if None, the match is queried.
        seats: the seats and who sat in them; if None, the match is queried.
    """

    def __init__(
        self,
        reading: Reading,
        match: Match,
        place: Place,
        log: Sequence[LoggedEvent | Event] | None = None,
        seats: Iterable[Seat | SeatValues] | None = None,
    ):
        self.reading = reading
        self.match = match
        self.place = place
        self.uid = str(match.uid)
        self._log = log
        role_order = list(reading.shape.roles)
        ordered_seats = sorted(
            match.seats.all() if seats is None else seats, key=lambda seat: role_order.index(seat.role)
        )
        self.seats: dict[str, Seat | SeatValues] = {seat.role: seat for seat in ordered_seats}

    @cached_property
    def people(self) -> list[Enrolment]:
        return [seat.enrolment for seat in self.seats.values() if seat.enrolment is not None]

    @cached_property
    def finished(self) -> bool:
        return (
            self.match.status == Match.Status.FINISHED
            and _if_by_cutoff(self.match.ended_at, self.reading.cutoff) is not None
        )

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why this match is not in the dataset; empty if it is.

        One person in the dataset is enough to include the match, unless the study keeps whole groups only.
        """
        played_for_agents = frozenset(
            by for role, movers in self._moved_for.items() if self.seats[role].enrolment is None for by in movers
        )
        reasons = set(
            gate.match_reasons(
                finished=self.finished,
                purpose=self.match.purpose,
                of_study=self.reading.source.purpose,
                moved_for_others=played_for_agents,
            )
        )
        of_people = [self.reasons_of(person) for person in self.people]
        if of_people and all(of_people):
            reasons = reasons.union(*of_people)
        elif any(of_people) and self.place.whole_groups:
            reasons.add("partner_excluded")
        return gate.ordered(reasons)

    def role_of(self, person: Enrolment) -> str:
        """Return the seat that this person has or had in the match."""
        return next(role for role, seat in self.seats.items() if seat.enrolment == person)

    def reasons_of(self, person: Enrolment) -> frozenset[str]:
        """Return why this person's seat is not in the dataset, considering only their own enrolment and moves."""
        role = self.role_of(person)
        return gate.participant_reasons(facts_of(person, self.reading.cutoff)) | gate.substitution_reasons(
            self._moved_for[role]
        )

    def seat_reasons(self, role: str) -> tuple[str, ...]:
        """Return why a seat is not in the dataset; empty if it is."""
        person = self.seats[role].enrolment
        person_reasons = frozenset() if person is None else self.reasons_of(person)
        return gate.ordered({*self.reasons, *person_reasons})

    @cached_property
    def _moved_for(self) -> Mapping[str, frozenset[str]]:
        """Who made moves in each role's place that are not data; empty if the match has no result."""
        movers: dict[str, set[str]] = {role: set() for role in self.seats}
        for event in self.log if self.finished else ():
            if by := event.data.get("by"):
                movers[event.data["role"]].add(by)
        counted = self.reading.source.counted
        return {
            role: frozenset(role_movers - counted if self.seats[role].enrolment is None else role_movers)
            for role, role_movers in movers.items()
        }

    def disclosure_to(self, role: str) -> Mapping[str, Any]:
        """Return what this seat's person was told about the others: {others, told, words, at}; empty for an agent."""
        person = self.seats[role].enrolment
        if person is None or not (disclosed := disclosure.recorded_disclosure(person)):
            return {}
        consent_times = [visit.answered_at for visit in person.visits if visit.kind == "consent" and visit.answered_at]
        return {**disclosed, "at": consent_times[0] if consent_times else None}

    @property
    def exported(self) -> bool:
        """Whether the dataset holds this match, as included or flagged as excluded."""
        return not self.reasons or (self.reading.excluded and self.ended)

    @cached_property
    def ended(self) -> bool:
        """Whether the match had ended by the cut-off, with a result or without."""
        return _if_by_cutoff(self.match.ended_at, self.reading.cutoff) is not None or self.imported

    @cached_property
    def ended_how(self) -> str:
        """How the match ended under its rules, or the state that ended it early."""
        if not self.finished:
            return str(self.match.ending)
        return self.game.ended_how(self._moves) or "finished"

    @cached_property
    def game(self) -> Game[Any, Any]:
        """The game with its configuration."""
        return configure(registry.get(self.match.game), self.match.config)

    @property
    def _moves(self) -> list[tuple[str, Any]]:
        return [(row.data["role"], row.data["move"]) for row in moves_that_count(self.log)]

    @cached_property
    def stages(self) -> Sequence[tuple[int | None, str | None]]:
        """Round and phase of each move."""
        return stages(self.game, self.match.seed, self._moves)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The game's rows of this match, with free text scrubbed; none if the match has no result."""
        if not self.game.Record.model_fields or not self.finished:
            return []
        # Imported matches are stored without a snapshot.
        if self.match.snapshot:
            play = restore(self.game, self.match.snapshot)
        else:
            play, _events = replay_moves(self.game, self.match.seed, self._moves)
        rows = play.records()
        for name, column in self.reading.shape.records.items():
            if column.kind in ("text", "data"):
                for row in rows:
                    if isinstance(text := row.get(name), str):
                        row[name] = self.scrubber.text(text)
        return rows

    @cached_property
    def illegal_attempts(self) -> Mapping[int, int]:
        """Number of illegal answers by the model before each move, by the number of the move's event."""
        if not self.reading.source.asks_models:
            return {}
        attempts: dict[int, int] = {}
        moves = [(row.number, row.data["role"]) for row in self.log if row.kind == "move"]
        rule_breaks = Call.objects.filter(match_uid=self.match.uid, outcome=Call.Outcome.RULE_BREAK)
        for asked_role, answering in rule_breaks.values_list("role", "answering"):
            later_moves = (number for number, role in moves if role == asked_role and number > answering)
            if (number := next(later_moves, None)) is not None:
                attempts[number] = attempts.get(number, 0) + 1
        return attempts

    def is_first_participant(self, person: Enrolment) -> bool:
        """Return whether this person is the first of the match's people; the match is written along with their row."""
        return person.pk == min(player.pk for player in self.people)

    @cached_property
    def log(self) -> Sequence[LoggedEvent | Event]:
        return sorted(self.match.events.all(), key=lambda event: event.number) if self._log is None else self._log

    @cached_property
    def chat(self) -> list[ChatLine]:
        """The messages in the chat beside the game by the cut-off, in order."""
        if not self.reading.source.chats:
            return []
        return list(self.match.chat_lines.filter(at__lte=self.reading.cutoff).order_by("number"))

    @property
    def mediator(self) -> str:
        """The specification of the chat's mediator; empty without one."""
        return str(self.match.timers.get("chat", {}).get("agent", {}).get("spec", ""))

    @cached_property
    def scrubber(self) -> Scrubber:
        """Scrubber that removes names, identifiers and, if someone wrote them, the hidden code words."""
        if not self.people and not self.place.names:
            return ANONYMOUS_SCRUBBER
        own_words = [text for event in self.log if event.kind == "move" for text in texts_in(event.data["move"])]
        own_words += [line.text for line in self.chat]
        identifiers = [identifier for person in self.people for identifier in _identifiers(person)]
        return Scrubber(
            names=[*self.place.names, *(person.display_name for person in self.people)],
            identifiers=identifiers,
            code_words=[person.code_word for person in self.people if mentions(own_words, person.code_word)],
            generic=True,
        )

    @cached_property
    def unverified(self) -> str | None:
        """Why an imported game breaks our rules, with names and identifiers replaced."""
        return self.scrubber.text(self.place.unverified) or None

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The log in the flat form used in files, with free text scrubbed."""
        moves = {decision.row.number: decision.move for decision in self.decisions}

        def scrubbed(event: LoggedEvent | Event) -> dict[str, Any]:
            if event.kind != "move":
                return event.data
            return {**event.data, "move": moves[event.number] if event.number in moves else self._scrubbed(event)}

        return [{"number": event.number, "kind": event.kind, **scrubbed(event)} for event in self.log]

    def _scrubbed(self, event: LoggedEvent | Event) -> dict[str, Any]:
        return self.scrubber.move(event.data["move"], choices=self.reading.shape.choices, limit=MESSAGE_LIMIT)

    def seconds_left_open(self, role: str) -> float | None:
        """Return how many seconds the turn that ended the match early was open; None if it was another role's."""
        end = self.log[-1] if self.log else None
        if end is None or end.kind != "abandoned" or end.data.get("role") != role:
            return None
        since = end.shown_at or end.asked_at
        return round((end.at - since).total_seconds(), 3) if since else None

    def player(self, role: str) -> str:
        """Return "human" or the agent's specification."""
        return self.seats[role].agent or HUMAN

    def label(self, role: str) -> str:
        """Return "human" or the study's or collection's label for the agent."""
        return self.seats[role].label or self.player(role)

    def opponents_of(self, role: str) -> dict[str, str]:
        """Return who took each other seat, as `label` names them."""
        return {other: self.label(other) for other in self.seats if other != role}

    def moved_for(self, role: str) -> list[str]:
        """Return who moved in the role's place: "clock", or an agent's specification."""
        return sorted({decision.by for decision in self.decisions if decision.role == role and decision.by})

    def agent_hash(self, role: str) -> str | None:
        """Return 12 hexadecimal digits that hash everything that changes the agent's behaviour; None for a person."""
        seat = self.seats[role]
        return _agent_hash(seat.agent, seat.delay, compact_json(seat.settings or {})) if seat.agent else None

    def information(self, role: str) -> str | None:
        """Return what the seat was told: "published" or "explained"; None for a script."""
        seat = self.seats[role]
        if seat.agent and is_scripted(seat.agent):
            return None
        return str((seat.settings or {}).get("information", "explained"))

    @cached_property
    def imported(self) -> bool:
        return self.match.purpose == Match.Purpose.IMPORTED

    @property
    def started_at(self) -> datetime | None:
        """When the match was opened; unknown for imported matches."""
        return None if self.imported else self.match.started_at

    @property
    def ended_at(self) -> datetime | None:
        """When the last move was made; unknown for imported matches."""
        return None if self.imported else self.match.ended_at

    @cached_property
    def decisions(self) -> list[Decision]:
        made = []
        for number, row in enumerate(moves_that_count(self.log), start=1):
            move = self._scrubbed(row)
            since = row.shown_at or row.asked_at
            seconds = round((row.at - since).total_seconds(), 3) if since else None
            made.append(Decision(number, row, row.data["role"], row.data.get("by"), move, seconds))
        return made

    @cached_property
    def messages(self) -> list[Decision]:
        """Decisions with a message."""
        return [decision for decision in self.decisions if decision.message is not None]


class Decision(NamedTuple):
    """One move of a match.

    Attributes:
        move_number: its number within the match, from 1.
        by: who moved in the role's place; None if it was the role's player.
        seconds: from showing the question (for agents: from asking it) to the answer.
    """

    move_number: int
    row: LoggedEvent | Event
    role: str
    by: str | None
    move: dict[str, Any]
    seconds: float | None

    @property
    def message(self) -> str | None:
        return self.move.get("message")


def facts_of(enrolment: Enrolment, cutoff: datetime) -> gate.ParticipantFacts:
    """Return what the gate must know about a participant."""
    ended_after_cutoff = enrolment.ended and _if_by_cutoff(enrolment.ended_at, cutoff) is None
    deciding = [verdict for verdict in enrolment.verdicts.all() if verdict.decides]
    answered = {(verdict.check_name, verdict.stage) for verdict in deciding}
    asked = {
        (CHECKS_OF_STEPS[step["kind"]], step_name(step))
        for step in enrolment.steps
        if step["kind"] in ("instructions", "quiz") and step.get("shown", True)
        if step["kind"] == "quiz" or step.get("code_word")
    }
    missing = {check for check, _stage in asked - answered}
    failed = {verdict.check_name for verdict in deciding if not verdict.passed}
    return gate.ParticipantFacts(
        state=gate.IN_PROGRESS if ended_after_cutoff else str(enrolment.state),
        checks_asked=frozenset(check for check, _stage in asked),
        verdicts={check: check not in failed for check, _stage in answered if check in failed or check not in missing},
        steps_answered=frozenset(visit.kind for visit in enrolment.visits if visit.answered_at),
        began=any(True for _seat in enrolment.seats.all()),
    )


@lru_cache(maxsize=4096)
def _agent_hash(spec: str, delay: float, settings: str) -> str:
    return Agent(spec=spec, delay=delay, settings=json.loads(settings)).hash


def _if_by_cutoff(moment: datetime | None, cutoff: datetime) -> datetime | None:
    return moment if moment is not None and moment <= cutoff else None


def _by_column(asked: AskedQuestion, answer: Any) -> Iterator[tuple[str, Any]]:
    given = answer or {}
    question = asked.question
    values = [given.get(row.name) for row in question.rows] if question.kind == "matrix" else [answer]
    return zip(asked.columns, values, strict=True)


def _answer(kind: str, answer: Any, scrubber: Scrubber) -> Any:
    """Return an answer as exported: free text scrubbed, options in the codebook's words."""
    if isinstance(answer, list):
        return "; ".join(map(mask, answer))
    if not isinstance(answer, str):
        return answer
    return scrubber.text(answer) if kind in FREE_TEXT else mask(answer)


def _identifiers(person: Enrolment) -> list[str]:
    """Return everything that identifies a person to the recruiter or this site; none of it may be exported."""
    identifiers = [person.token, person.completion_code, person.return_to, person.return_to.rpartition("/")[2]]
    identity: Identity | None = getattr(person, "identity", None)
    if identity is not None:
        identifiers += [identity.worker, identity.proof, *texts_in(identity.details)]
    return identifiers
