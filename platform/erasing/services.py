"""Erase a participant: the only place where records are rewritten.

Their identity (recruiter's identifiers, name, link, code) is deleted. A marker replaces what they wrote
everywhere: their messages and answers, other participants' messages that quote or name them, and every prompt
and answer of the models in their matches. The study's downloadable datasets are deleted. All figures stay:
moves, payoffs, metrics, times, costs, amounts owed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

import games.play
from audit import services as audit
from audit.actions import Action
from erasing.traces import Traces
from exports import background, shape
from exports.scrubbing import texts_in
from games import interface
from games.errors import GameError
from gathering.models import Attendance
from matches.models import ChatLine, Event, Match
from opponents.models import Call
from participants.models import Enrolment, new_token
from participants.written_text import with_texts_replaced, written_fields
from payouts.models import LedgerRow
from recruiters.models import Identity, LabCode
from rights.parts import parent_of
from studies.models import Study

log = logging.getLogger(__name__)
ERASED = "[erased]"
KEPT_CALL_FIELDS = frozenset(
    "provider model parameters try_number latency answered_by input_tokens output_tokens request_id stop endpoint "
    "strategy seed prompt_sha256 structured rung attempt streamed first_text refused short "
    "purpose cached_tokens conversation offered answering".split()
)
"""Fields of a call's record that contain nothing of the conversation; all others are replaced."""

KEPT_TOOL_FIELDS = frozenset("size fault kind".split())
"""The same for each tool call in it."""

SHORTEST_NAME = 3
"""Minimum length of a part of a name that is searched for on its own."""

_ATTEMPTS = 3
"""Number of times that erasing is planned if the records change in between."""

SETTLED = (LedgerRow.State.CONFIRMED, LedgerRow.State.WRITTEN_OFF, LedgerRow.State.ELSEWHERE)
"""Ledger states in which Parley pays nothing more."""


class NotPossible(Exception):
    """The participant cannot be erased now; the message tells the user why."""


@dataclass
class ErasureCounts:
    """Numbers of rows rewritten, by kind, and of datasets deleted."""

    enrolments: int = 0
    messages: int = 0
    answers: int = 0
    calls: int = 0
    datasets: int = 0


def enrolments_of(enrolment: Enrolment) -> list[Enrolment]:
    """Return all enrolments of the same person in the same study, as identified by their recruiter."""
    identity = Identity.objects.filter(enrolment=enrolment).first()
    if identity is None or not identity.worker:
        return [enrolment]
    same_person = {"study": identity.study, "recruiter": identity.recruiter, "worker": identity.worker}
    keys = Identity.objects.filter(**same_person).values("enrolment")
    return list(Enrolment.objects.filter(pk__in=keys).order_by("pk"))


def unsettled(enrolment: Enrolment) -> list[LedgerRow]:
    """Return the ledger rows that Parley has yet to pay the participant."""
    rows = LedgerRow.objects.filter(enrolment__in=enrolments_of(enrolment))
    return list(rows.exclude(state__in=SETTLED).order_by("pk"))


def check_erasable(enrolment: Enrolment) -> None:
    """Raise NotPossible if the participant is still taking part, is being paid, or has already been erased."""
    if enrolment.erased_at is not None:
        raise NotPossible(_("This participant has already been erased."))
    enrolments = enrolments_of(enrolment)
    live = Match.objects.filter(seats__enrolment__in=enrolments, status=Match.Status.LIVE)
    if any(not row.ended for row in enrolments) or live.exists():
        raise NotPossible(
            _("This participant is still taking part. They can be erased once their enrolment has ended.")
        )
    if LedgerRow.objects.filter(enrolment__in=enrolments, state=LedgerRow.State.SENT).exists():
        raise NotPossible(
            _("This participant is being paid right now. They can be erased once the payment is settled.")
        )


def erase(*, enrolment: Enrolment, by: User | None, reason: str) -> ErasureCounts:
    """Erase the participant of this enrolment, with all of their enrolments in the study.

    What replaces their text is computed before anything is locked, because games can take seconds to replay.

    Args:
        reason: for the audit log; the participant's name and identifiers are removed from it.

    Raises:
        NotPossible: nothing was changed.
    """
    for _attempt in range(_ATTEMPTS):
        check_erasable(enrolment)
        plan = _plan(_find(enrolment))
        with transaction.atomic():
            enrolments = list(Enrolment.objects.select_for_update().filter(pk__in=_keys(plan.found.enrolments)))
            check_erasable(next(row for row in enrolments if row.pk == enrolment.pk))
            list(Match.objects.select_for_update().filter(pk__in=_keys(plan.found.matches)))
            if _find(enrolment) == plan.found:
                return _carry_out(plan, by=by, reason=reason)
    raise NotPossible(_("The participant's records are changing at the moment. Please try again."))


def _keys(rows: Iterable[Enrolment | Match]) -> list[int]:
    return [row.pk for row in rows]


def _carry_out(plan: _Plan, *, by: User | None, reason: str) -> ErasureCounts:
    enrolments, matches, traces = plan.found.enrolments, plan.found.matches, plan.traces
    study = parent_of(enrolments[0])
    counts = ErasureCounts(enrolments=len(enrolments), answers=_erase_answers(enrolments))
    counts.messages += plan.erase_chat()
    for key, data in plan.rewritten.items():
        Event.objects.filter(pk=key).update(data=data)
        counts.messages += 1
    for match in matches:
        Match.objects.filter(pk=match.pk).update(snapshot=plan.snapshots[match.pk])
        counts.calls += _erase_calls(match, traces)
    for row in enrolments:
        _delete_identity(row)
    if isinstance(study, Study):
        counts.datasets = background.delete_datasets(study)
    details = {"reason": traces.scrub(reason, ERASED), **asdict(counts)}
    for row in enrolments:
        audit.record(action=Action.ERASED, user=by, target=row, of=study, details=details)
    transaction.on_commit(_truncate_journal)
    return counts


def _truncate_journal() -> None:
    """Truncate SQLite's write-ahead log, which still contains what was overwritten."""
    if connection.vendor == "sqlite":
        try:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except OperationalError:
            log.warning("SQLite's write-ahead log is in use: erased text leaves it at the next checkpoint")


# ---- what replaces their text ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """What the database holds of a participant, as far as the plan depends on it.

    Attributes:
        logs: the events of each match by their keys, in order.
        roles: the participant's roles in each match.
        written: what they wrote outside matches.
    """

    enrolments: list[Enrolment]
    matches: list[Match]
    logs: dict[int, dict[int, interface.Event]]
    roles: dict[int, set[str]]
    names: list[str]
    identifiers: list[str]
    written: list[str]


@dataclass(frozen=True)
class _Plan:
    """What replaces a participant's text.

    Attributes:
        rewritten: new data of events by their keys.
        snapshots: new snapshots by match.
    """

    found: _Found
    traces: Traces
    rewritten: dict[int, dict[str, Any]]
    snapshots: dict[int, Mapping[str, Any]]

    def erase_chat(self) -> int:
        """Erase others' chat messages that quote or name the participant; return how many."""
        lines = ChatLine.objects.filter(match__in=self.found.matches)
        found = [line.pk for line in lines.exclude(text=ERASED) if self.traces.occur_in(line.text)]
        return lines.filter(pk__in=found).update(text=ERASED)


def _find(enrolment: Enrolment) -> _Found:
    enrolments = enrolments_of(enrolment)
    matches = list(Match.objects.filter(seats__enrolment__in=enrolments).distinct().order_by("pk"))
    identifiers = [
        text for row in enrolments for text in (row.token, row.completion_code, row.return_to.rpartition("/")[2])
    ]
    for identity in Identity.objects.filter(enrolment__in=enrolments).order_by("pk"):
        identifiers += [identity.worker, identity.proof, *texts_in(identity.details)]
    return _Found(
        enrolments=enrolments,
        matches=matches,
        logs={match.pk: {row.pk: row.as_event() for row in match.events.order_by("number")} for match in matches},
        roles={
            match.pk: set(match.seats.filter(enrolment__in=enrolments).values_list("role", flat=True))
            for match in matches
        },
        names=[
            part
            for row in enrolments
            for part in (row.display_name, *row.display_name.split())
            if len(part) >= SHORTEST_NAME
        ],
        identifiers=identifiers,
        written=[
            text
            for model, fields in written_fields().items()
            for row in model._base_manager.filter(enrolment__in=enrolments).order_by("pk")
            for name in fields
            for text in texts_in(getattr(row, name))
        ],
    )


def _plan(found: _Found) -> _Plan:
    """Compute what replaces the participant's text, and others' text that quotes or names them.

    Raises:
        NotPossible: the rules of one of the games can no longer be read.
    """
    choices = {match.pk: _choices(match) for match in found.matches}
    said = [
        text
        for match in found.matches
        for event in found.logs[match.pk].values()
        if event.kind == "move" and event.data["role"] in found.roles[match.pk]
        for name, text in event.data["move"].items()
        if name not in choices[match.pk] and isinstance(text, str)
    ]
    traces = Traces(names=found.names, identifiers=found.identifiers, texts=[*said, *found.written])
    rewritten: dict[int, dict[str, Any]] = {}
    snapshots = {}
    for match in found.matches:
        log = found.logs[match.pk]
        for key, event in log.items():
            if event.kind == "move":
                is_own = event.data["role"] in found.roles[match.pk]
                move = _without_text(event.data["move"], choices[match.pk], None if is_own else traces)
                if move != event.data["move"]:
                    rewritten[key] = {**event.data, "move": move}
        new_log = [replace(event, data=rewritten.get(key, event.data)) for key, event in log.items()]
        snapshots[match.pk] = _snapshot_of(match, new_log, traces)
    return _Plan(found, traces, rewritten, snapshots)


def _without_text(move: Mapping[str, Any], choices: Collection[str], traces: Traces | None) -> dict[str, Any]:
    """Return a move without free text or, with `traces`, without text that quotes or names the participant."""
    return {
        name: value
        if name in choices
        else with_texts_replaced(value, ERASED)
        if traces is None
        else traces.without(value, ERASED)
        for name, value in move.items()
    }


def _choices(match: Match) -> frozenset[str]:
    """Return the fields of moves whose values are the game's own words.

    Raises:
        NotPossible: without the rules, free text cannot be distinguished from moves.
    """
    try:
        return shape.of_configurations([(match.game, match.config)]).choices
    except GameError as error:
        raise NotPossible(_("One of their games can no longer be read: {reason}").format(reason=error)) from None


def _snapshot_of(match: Match, log: Sequence[interface.Event], traces: Traces) -> Mapping[str, Any]:
    """Return a new snapshot from the log; if the rules have changed since, the old one without their text."""
    try:
        return games.play.snapshot(games.play.replay_events(match.configured(), log))
    except GameError:
        return traces.without(match.snapshot, ERASED)


# ---- rewriting ---------------------------------------------------------------------------------------


def _erase_answers(enrolments: list[Enrolment]) -> int:
    """Erase what the participant wrote outside matches; return how many rows were changed."""
    rewritten = 0
    for model, fields in written_fields().items():
        for row in model._base_manager.filter(enrolment__in=enrolments):
            model._base_manager.filter(pk=row.pk).update(
                **{name: with_texts_replaced(getattr(row, name), ERASED) for name in fields}
            )
            rewritten += 1
    return rewritten


def _erase_calls(match: Match, traces: Traces) -> int:
    """Erase all prompts and answers of the match's models except the system's own texts."""
    rewritten = 0
    for call in Call.objects.filter(match_uid=match.uid).iterator(chunk_size=100):
        record = {
            name: traces.without(value, ERASED) if name in KEPT_CALL_FIELDS else with_texts_replaced(value, ERASED)
            for name, value in call.record.items()
            if name not in ("messages", "tools")
        }
        offered = call.record.get("offered", ())
        record["tools"] = [_erase_tool(tool, offered, traces) for tool in call.record.get("tools", ())]
        record["messages"] = [_erase_message(message, traces) for message in call.record.get("messages", [])]
        Call.objects.filter(pk=call.pk).update(record=record, answer=record.get("answer"))
        rewritten += 1
    return rewritten


def _erase_tool(tool: Mapping[str, Any], offered: Collection[str], traces: Traces) -> dict[str, Any]:
    """Return a tool call without its arguments and answer; an unknown tool name is text from the model too."""
    kept_fields = {*KEPT_TOOL_FIELDS, *(["name"] if tool.get("name") in offered else [])}
    return {
        name: traces.without(value, ERASED) if name in kept_fields else with_texts_replaced(value, ERASED)
        for name, value in tool.items()
    }


def _erase_message(message: Mapping[str, Any], traces: Traces) -> dict[str, Any]:
    if message.get("role") == "system":
        return traces.without(dict(message), ERASED)
    return {name: value if name == "role" else with_texts_replaced(value, ERASED) for name, value in message.items()}


def _delete_identity(enrolment: Enrolment) -> None:
    """Delete the identity: the recruiter's identifiers, name, link, return address, codes and seat."""
    identity = Identity.objects.filter(enrolment=enrolment).first()
    if identity is not None:
        codes = [identity.proof, identity.worker, str(identity.details.get("person", ""))]
        LabCode.objects.filter(study=identity.study, code__in=codes).delete()
        identity.delete()
    attended = {"label": "", "lab_code": None, "key": f"erased {enrolment.pk}", "token": new_token()}
    Attendance.objects.filter(enrolment=enrolment).update(**attended)
    steps = [
        {**step, "typed": with_texts_replaced(step["typed"], ERASED)} if "typed" in step else step
        for step in enrolment.steps
    ]
    Enrolment.objects.filter(pk=enrolment.pk).update(
        steps=steps,
        display_name="",
        token=new_token(),
        completion_code="",
        return_to="",
        refusal=None,
        erased_at=timezone.now(),
    )
