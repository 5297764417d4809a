"""Handle moves that pages send over their socket or plain HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from games.errors import Refused
from games.interface import Form, Game, MoveData, Role
from games.play import Play, check
from games.words import number
from matches import forms, services
from matches.errors import Stale
from matches.models import Seat


def handle_move(seat: Seat, posted: Mapping[str, str], *, shown_at: datetime | None = None) -> dict[str, Any]:
    """Make the move that a page sent.

    Returns:
        {"type": "taken", last, over} if the move was made. Otherwise nothing has changed, and it is
        {"type": "refused", errors} with a reason per field, {"type": "stale", reason}, or
        {"type": "warning", form, words}, which asks whether to send the move anyway.
    """
    try:
        answering = int(posted.get("answering", ""))
    except (TypeError, ValueError):
        return {"type": "stale", "reason": _("This page was out of date. This is the current state of the game.")}

    def read_move(play: Play) -> dict[str, Any]:
        form = forms.form_for(play.forms(seat.role), posted)
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
            made_at=timezone.now(),
        )
    except _NeedsConfirmation as needed:
        return {"type": "warning", "form": needed.form, "words": str(needed)}
    except Stale as stale:
        return {"type": "stale", "reason": str(stale)}
    except Refused as refused:
        services.note_refusal(match_id=seat.match_id, role=seat.role, answering=answering)
        return {"type": "refused", "errors": {refused.field or "": refused.plain}}
    return {"type": "taken", "last": result.last, "over": result.over}


class _NeedsConfirmation(Exception):
    """The player must confirm the move first."""

    def __init__(self, form: str, question: str):
        super().__init__(question)
        self.form = form


def _stop_for_questions(play: Play, role: Role, form: Form, move: MoveData, posted: Mapping[str, str]) -> None:
    """Stop a legal move that the game warns about, or with a number that can be read in two ways.

    Raises:
        _NeedsConfirmation: until the player confirms the move.
        Refused: the page does not send such a move, or the move is not legal.
    """
    question = _doubt(play, role, form, posted)
    if type(play.game).warning is Game.warning and not question:
        return
    words = " ".join(filter(None, [question, _warning(play, role, move)]))
    if words and not posted.get(forms.CONFIRMED):
        raise _NeedsConfirmation(form.name, words)


def _warning(play: Play, role: Role, move: MoveData) -> str:
    """Return the game's warning about a legal move that pages may send; empty if there is none.

    Raises:
        Refused: the page does not send such a move, or the move is not legal.
    """
    warning = play.game.warning(play.state, role, check(play, role, move)[1])
    if warning is not None and not warning.may_send:
        raise Refused(warning.words)
    return warning.words if warning is not None else ""


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
