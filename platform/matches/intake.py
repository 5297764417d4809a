"""What a page sends as a move, over whichever wire it came."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from games.errors import Refused
from games.interface import Form, Game, MoveData, Role
from games.play import Play, check
from matches import forms, services
from matches.errors import Stale
from matches.models import Seat


def take(seat: Seat, posted: Mapping[str, str], *, shown_at: datetime | None = None) -> dict[str, Any]:
    """Take what a page sent as a move.

    Returns {"type": "taken", last, over}, or {"type": "refused", errors} with a reason per field, or
    {"type": "stale", reason} or {"type": "doubt", form, words}, which asks whether to send the move anyway: then
    nothing has changed.
    """
    try:
        answering = int(posted.get("answering", ""))
    except (TypeError, ValueError):
        return {"type": "stale", "reason": _("This page is out of date; here is where the game stands.")}

    def chosen(play: Play) -> dict[str, Any]:
        form = forms.form_for(play.forms(seat.role), posted)
        move = forms.read(form.model, posted)
        _hesitate(play, seat.role, form, move, sure=bool(posted.get(forms.SURE)))
        return move

    try:
        taken = services.submit_move(
            match_id=seat.match_id, role=seat.role, answering=answering, move=chosen, shown_at=shown_at
        )
    except _Doubted as doubted:
        return {"type": "doubt", "form": doubted.form, "words": str(doubted)}
    except Stale as stale:
        return {"type": "stale", "reason": str(stale)}
    except Refused as refused:
        services.note_refusal(match_id=seat.match_id, role=seat.role, answering=answering)
        return {"type": "refused", "errors": {refused.field or "": refused.plain}}
    return {"type": "taken", "last": taken.last, "over": taken.over}


class _Doubted(Exception):
    """The player should be asked whether the move is meant."""

    def __init__(self, form: str, words: str):
        super().__init__(words)
        self.form = form


def _hesitate(play: Play, role: Role, form: Form, move: MoveData, *, sure: bool) -> None:
    """Stop a legal move that the game doubts.

    Raises:
        _Doubted: until the player is sure.
        Refused: the page does not send such a move, or the move is not legal.
    """
    if type(play.game).doubt is Game.doubt:
        return
    doubt = play.game.doubt(play.state, role, check(play, role, move)[1])
    if doubt is not None and not doubt.may_send:
        raise Refused(doubt.words)
    if doubt is not None and not sure:
        raise _Doubted(form.name, doubt.words)
