"""Handle moves that pages send over their socket or plain HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.utils import formats, timezone
from django.utils.translation import gettext as _
from pydantic import Field, TypeAdapter, ValidationError

from games.errors import Refused
from games.interface import Form, MoveData, Role, Usual
from games.play import OwnMove, Play, check, plain_move, story
from games.words import spelled
from matches import forms, services
from matches.change import OnPage
from matches.errors import Stale
from matches.models import Event, Match, Seat
from matches.sending import Sender

MAX_AGE = timedelta(days=1)
"""Pages that claim to have kept a move for longer are not believed."""


_Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_Milliseconds = Annotated[int, Field(ge=0, le=MAX_AGE // timedelta(milliseconds=1))]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Try = tuple[_Milliseconds, Annotated[str, Field(max_length=100)], int | _Finite | None]
_ACTIONS = frozenset({"!copy", "!clear", "!undo", "!compare", "!with"})
"""What else than a value of a control a page reports as tried."""
_TRIES = TypeAdapter(Annotated[list[_Try], Field(max_length=200)])
_SIGHT = TypeAdapter(Annotated[dict[_Key, _Milliseconds], Field(max_length=40)])


def handle_move(
    seat: Seat, posted: Mapping[str, str], *, shown_at: datetime | None = None, sender: Sender | None = None
) -> dict[str, Any]:
    """Make the move that a page sent.

    Args:
        sender: the page, if it was not heard just before.

    Raises:
        NotHeard: the page must be heard first; nothing has changed.

    Returns:
        {"type": "taken", last, over} if the move was made, now or, with "again", when it was sent before. Otherwise
        nothing has changed, and it is {"type": "refused", errors} with a reason per field,
        {"type": "stale", reason}, or {"type": "warning", form, words, button}, which asks whether to send the move.
    """
    if posted.get(forms.CONFIRMED, "").endswith(forms.NONE):
        posted = {**posted, posted[forms.CONFIRMED]: "true"}
    try:
        answering = int(posted.get("answering", ""))
    except (TypeError, ValueError):
        return {"type": "stale", "reason": _("This page was out of date. This is the current state of the game.")}

    on_page = OnPage(
        _time_in_sight(posted.get(forms.SIGHT, "")),
        _tries(posted.get(forms.TRIES, "")),
        confirmed=bool(posted.get(forms.CONFIRMED)),
    )

    replaces = posted.get(forms.REPLACES, "")
    replaced = int(replaces[:12]) if replaces.isascii() and replaces.isdecimal() else None

    def read_move(play: Play) -> dict[str, Any]:
        form = forms.form_for(play.forms(seat.role), posted)
        known = _ACTIONS.union(forms.controls(forms.fields_of(form.model)))
        on_page.tries[:] = [tried for tried in on_page.tries if tried[1] in known]
        move = forms.read(form.model, posted)
        _stop_for_questions(play, seat.role, form, move, posted)
        return move

    try:
        result = services.submit_move(
            match_id=seat.match_id,
            role=seat.role,
            answering=answering,
            move=read_move,
            shown_at=shown_at,
            made_at=_time_made(posted.get(forms.AGE, "")),
            on_page=on_page,
            replaces=replaced,
            sender=sender,
        )
    except _NeedsConfirmation as needed:
        services.note_attempt(match_id=seat.match_id, role=seat.role, answering=answering, warned=str(needed))
        return {"type": "warning", "form": needed.form, "words": str(needed), "button": needed.button}
    except Stale as stale:
        return _outcome_of_second_answer(seat, answering, posted, replaced) or {"type": "stale", "reason": str(stale)}
    except Refused as refused:
        services.note_attempt(match_id=seat.match_id, role=seat.role, answering=answering)
        return {"type": "refused", "errors": {refused.field or "": refused.plain}}
    return {"type": "taken", "last": result.last, "over": result.over}


def _time_made(age: str) -> datetime:
    """Return when the participant made a move that is this many milliseconds old; now if the page does not say."""
    milliseconds = int(age[:12]) if age.isascii() and age.isdecimal() else 0
    return timezone.now() - min(timedelta(milliseconds=milliseconds), MAX_AGE)


def _time_in_sight(posted: str) -> dict[str, int] | None:
    """Return the milliseconds that each block was in sight, by its key; None if the page does not say, or nonsense."""
    try:
        return _SIGHT.validate_json(posted) or None
    except ValidationError:
        return None


def _tries(posted: str) -> list[Any]:
    """Return what the participant tried as [milliseconds, name, number or None]; nothing if the page sent nonsense."""
    try:
        return [list(tried) for tried in _TRIES.validate_json(posted)]
    except ValidationError:
        return []


def _outcome_of_second_answer(
    seat: Seat, answering: int, posted: Mapping[str, str], replaced: int | None
) -> dict[str, Any] | None:
    """Return the outcome of an answer to a question that the participant has already answered; None if they have not.

    The same answer again, from a second press or a page that reconnected, is taken as the first.
    """
    moves = Event.objects.filter(match=seat.match_id, kind="move", role=seat.role, number__gt=answering)
    if replaced is not None:
        moves = moves.filter(data__replaces=replaced)
    first = moves.order_by("number").first()
    if first is None or "by" in first.data:
        return None
    match = Match.objects.get(pk=seat.match_id)
    play = match.play()
    own_moves = (entry for entry in story(play, match.log(), seat.role) if isinstance(entry, OwnMove))
    answer = next(own for own in own_moves if own.number == first.number)
    try:
        form = forms.form_for(answer.forms, posted)
        repeated = plain_move(check(answer.before, seat.role, forms.read(form.model, posted))[1])
    except Refused:
        repeated = None
    if repeated != answer.move:
        return {"type": "stale", "reason": _("You have already answered this question. Your first answer counts.")}
    return {"type": "taken", "last": play.last, "over": play.over, "again": True}


class _NeedsConfirmation(Exception):
    """The player must confirm the move first."""

    def __init__(self, form: str, question: str, button: str):
        super().__init__(question)
        self.form = form
        self.button = button or _("Send anyway")


def _stop_for_questions(play: Play, role: Role, form: Form, move: MoveData, posted: Mapping[str, str]) -> None:
    """Stop a legal move that harms its maker, is far from all before, or has a number that can be read in two ways.

    Raises:
        _NeedsConfirmation: until the player confirms the move.
        Refused: the page does not send such a move, or the move is not legal.
    """
    checked = check(play, role, move)[1]
    warning, usual = play.game.warning(play.state, role, checked), play.game.usual(play.state, role)
    if warning is not None and not warning.may_send:
        raise Refused(warning.words)
    if posted.get(forms.CONFIRMED):
        return
    doubted = _doubted(play, role, form, posted, usual)
    asked = {doubt.name for doubt in doubted}
    words = [
        *map(_question, doubted),
        *(_far_off(usual[name], value) for name, value in _numbers(move) if name in usual and name not in asked),
        warning.words if warning else "",
    ]
    if any(words):
        button = warning.button if warning else ""
        if len(doubted) == 1 and not button:
            button = _("Send {value}").format(value=_shown(doubted[0].value))
        raise _NeedsConfirmation(form.name, " ".join(filter(None, words)), button)


def _numbers(move: MoveData) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a move by the name of their control."""
    for name, value in move.items():
        entries = (
            {f"{name}:{key}": part for key, part in value.items()} if isinstance(value, Mapping) else {name: value}
        )
        yield from ((key, part) for key, part in entries.items() if isinstance(part, int | float))


def _far_off(usual: Usual, value: float) -> str:
    """Return a sentence about a number that is not in line with what is usual; empty if it is."""
    if usual.contains(value):
        return ""
    words = (
        _("{number} is at least ten times {what} ({usual}).")
        if value > usual.value
        else _("{number} is at most a tenth of {what} ({usual}).")
    )
    return words.format(number=_shown(value), what=usual.what, usual=_shown(usual.value))


def _doubted(
    play: Play, role: Role, form: Form, posted: Mapping[str, str], usual: Mapping[str, Usual]
) -> list[forms.Doubt]:
    """Return the numbers that may have been meant in another way: a legal one, no less in line with the usual."""
    found = []
    for doubt in forms.doubts(form.model, posted):
        compared = usual.get(doubt.name)
        clear = compared is not None and compared.contains(doubt.value) and not compared.contains(doubt.other)
        if doubt.is_foreign or not clear:
            found.append(doubt)
    alternative = [doubt for doubt in found if not doubt.is_foreign]
    if alternative and not _may_be_sent(play, role, forms.read(form.model, forms.otherwise(posted, alternative))):
        return [doubt for doubt in found if doubt.is_foreign]
    return found


def _may_be_sent(play: Play, role: Role, move: MoveData) -> bool:
    try:
        warning = play.game.warning(play.state, role, check(play, role, move)[1])
    except Refused:
        return False
    return warning is None or warning.may_send


def _question(doubt: forms.Doubt) -> str:
    """Return the number as it is read, in words, and how to write the other one."""
    words = _("You wrote {typed}, which is read as {value} ({spelled}).")
    if not doubt.is_foreign:
        words += " " + _("If you mean {other} ({other_spelled}), write {plain}.")
    return words.format(
        typed=doubt.typed,
        value=_shown(doubt.value),
        spelled=spelled(doubt.value),
        other=_shown(doubt.other),
        other_spelled=spelled(doubt.other),
        plain=forms.typed(doubt.other),
    )


def _shown(value: float) -> str:
    return formats.number_format(f"{value:.15g}", use_l10n=True, force_grouping=True)
