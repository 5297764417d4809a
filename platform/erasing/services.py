"""Erase a participant: the only place where records are rewritten.

Their identity (recruiter's identifiers, name, link, code) is deleted. A marker replaces what they wrote
everywhere: their messages and answers, other participants' messages that quote or name them, and every prompt
and answer of the models in their matches. The study's downloadable datasets are deleted. All figures stay:
moves, payoffs, metrics, times, costs, amounts owed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
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
from games.errors import GameError
from matches.models import Event, Match
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


@transaction.atomic
def erase(*, enrolment: Enrolment, by: User | None, reason: str) -> ErasureCounts:
    """Erase the participant of this enrolment, with all of their enrolments in the study.

    Args:
        reason: for the audit log; the participant's name and identifiers are removed from it.

    Raises:
        NotPossible: nothing was changed.
    """
    study = parent_of(enrolment)
    locked = Enrolment.objects.select_for_update().filter(pk__in=[row.pk for row in enrolments_of(enrolment)])
    enrolments = list(locked.order_by("pk"))
    check_erasable(next(row for row in enrolments if row.pk == enrolment.pk))
    matches = list(Match.objects.select_for_update().filter(pk__in=_matches_of(enrolments)).order_by("pk"))
    traces = _traces_of(enrolments, matches)
    counts = ErasureCounts(enrolments=len(enrolments), answers=_erase_answers(enrolments))
    for match in matches:
        counts.messages += _erase_messages(match, enrolments, traces)
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


def _matches_of(enrolments: list[Enrolment]) -> Any:
    return Match.objects.filter(seats__enrolment__in=enrolments).values("pk")


def _traces_of(enrolments: list[Enrolment], matches: list[Match]) -> Traces:
    identifiers = [
        text
        for enrolment in enrolments
        for text in (enrolment.token, enrolment.completion_code, enrolment.return_to.rpartition("/")[2])
    ]
    for identity in Identity.objects.filter(enrolment__in=enrolments):
        identifiers += [identity.worker, identity.proof, *texts_in(identity.details)]
    texts = []
    for match in matches:
        choices = _choices(match)
        for event in _moves(match, _roles(match, enrolments)):
            texts += [
                text for name, text in event.data["move"].items() if name not in choices and isinstance(text, str)
            ]
    for model, fields in written_fields().items():
        for row in model._base_manager.filter(enrolment__in=enrolments):
            texts += [text for name in fields for text in texts_in(getattr(row, name))]
    names = [
        part
        for enrolment in enrolments
        for part in (enrolment.display_name, *enrolment.display_name.split())
        if len(part) >= SHORTEST_NAME
    ]
    return Traces(names=names, identifiers=identifiers, texts=texts)


def _roles(match: Match, enrolments: list[Enrolment]) -> set[str]:
    return set(match.seats.filter(enrolment__in=enrolments).values_list("role", flat=True))


def _moves(match: Match, roles: set[str] | None = None) -> list[Event]:
    moves = match.events.filter(kind="move").order_by("number")
    return list(moves if roles is None else moves.filter(role__in=roles))


def _choices(match: Match) -> frozenset[str]:
    """Return the fields of moves whose values are the game's own words.

    Raises:
        NotPossible: without the rules, free text cannot be distinguished from moves.
    """
    try:
        return shape.of_configurations([(match.game, match.config)]).choices
    except GameError as error:
        raise NotPossible(_("One of their games can no longer be read: {reason}").format(reason=error)) from None


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


def _erase_messages(match: Match, enrolments: list[Enrolment], traces: Traces) -> int:
    """Erase the participant's free text in the log and others' text that quotes or names them; update the snapshot."""
    roles, choices = _roles(match, enrolments), _choices(match)
    rewritten = 0
    for event in _moves(match):
        is_own = event.role in roles
        move = {
            name: value
            if name in choices
            else with_texts_replaced(value, ERASED)
            if is_own
            else traces.without(value, ERASED)
            for name, value in event.data["move"].items()
        }
        if move != event.data["move"]:
            Event.objects.filter(pk=event.pk).update(data={**event.data, "move": move})
            rewritten += 1
    Match.objects.filter(pk=match.pk).update(snapshot=_snapshot_of(match, traces))
    return rewritten


def _snapshot_of(match: Match, traces: Traces) -> Mapping[str, Any]:
    """Return a new snapshot from the log; if the rules have changed since, the old one without their text."""
    try:
        log = [event.as_event() for event in match.events.order_by("number")]
        return games.play.snapshot(games.play.replay_events(match.configured(), log))
    except GameError:
        return traces.without(match.snapshot, ERASED)


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
    """Delete the identity: the recruiter's identifiers, name, link, return address and codes."""
    identity = Identity.objects.filter(enrolment=enrolment).first()
    if identity is not None:
        codes = [identity.proof, identity.worker, str(identity.details.get("person", ""))]
        LabCode.objects.filter(study=identity.study, code__in=codes).delete()
        identity.delete()
    Enrolment.objects.filter(pk=enrolment.pk).update(
        display_name="", token=new_token(), completion_code="", return_to="", refusal=None, erased_at=timezone.now()
    )
