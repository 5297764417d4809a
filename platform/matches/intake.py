"""Handle moves that pages send over their socket or plain HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import Field, TypeAdapter, ValidationError

from games.errors import Refused
from games.interface import Form, Game, MoveData, MoveWarning, Role
from games.play import OwnMove, Play, check, plain_move, story
from games.words import number
from matches import forms, services
from matches.change import OnPage
from matches.errors import Stale
from matches.models import Event, Match, Seat

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


def handle_move(seat: Seat, posted: Mapping[str, str], *, shown_at: datetime | None = None) -> dict[str, Any]:
    """Make the move that a page sent.

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

    on_page = OnPage(_time_in_sight(posted.get(forms.SIGHT, "")), _tries(posted.get(forms.TRIES, "")))

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
        )
    except _NeedsConfirmation as needed:
        return {"type": "warning", "form": needed.form, "words": str(needed), "button": needed.button}
    except Stale as stale:
        return _outcome_of_second_answer(seat, answering, posted) or {"type": "stale", "reason": str(stale)}
    except Refused as refused:
        services.note_refusal(match_id=seat.match_id, role=seat.role, answering=answering)
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


def _outcome_of_second_answer(seat: Seat, answering: int, posted: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the outcome of an answer to a question that the participant has already answered; None if they have not.

    The same answer again, from a second press or a page that reconnected, is taken as the first.
    """
    moves = Event.objects.filter(match=seat.match_id, kind="move", role=seat.role, number__gt=answering)
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
    """Stop a legal move that the game warns about, or with a number that can be read in two ways.

    Raises:
        _NeedsConfirmation: until the player confirms the move.
        Refused: the page does not send such a move, or the move is not legal.
    """
    question = _doubt(play, role, form, posted)
    if type(play.game).warning is Game.warning and not question:
        return
    warning = _warning(play, role, move)
    if (question or warning) and not posted.get(forms.CONFIRMED):
        words = " ".join(filter(None, [question, warning.words if warning else ""]))
        raise _NeedsConfirmation(form.name, words, warning.button if warning else "")


def _warning(play: Play, role: Role, move: MoveData) -> MoveWarning | None:
    """Return the game's warning about a legal move that pages may send; None if there is none.

    Raises:
        Refused: the page does not send such a move, or the move is not legal.
    """
    warning = play.game.warning(play.state, role, check(play, role, move)[1])
    if warning is not None and not warning.may_send:
        raise Refused(warning.words)
    return warning


def _doubt(play: Play, role: Role, form: Form, posted: Mapping[str, str]) -> str:
    """Return the question about a number such as "5.000" if it would also be a legal move as 5,000."""
    thousands = forms.with_points_as_thousands(form.model, posted)
    if not thousands:
        return ""
    try:
        _warning(play, role, forms.read(form.model, {**posted, **thousands}))
    except Refused:
        return ""
    typed = [found[0] for name in thousands for found in forms.DOUBTFUL.finditer(posted[name])]
    template = _("You wrote {typed}, which is read as {value}. If you mean {thousands}, write it without a point.")
    return " ".join(
        template.format(typed=text, value=number(float(text)), thousands=number(1000 * float(text))) for text in typed
    )
