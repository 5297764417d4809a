"""What a page sends as a move, over whichever wire it came."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from games.errors import Refused
from games.play import Play
from matches import forms, services
from matches.errors import Stale
from matches.models import Seat


def take(seat: Seat, posted: Mapping[str, str], *, shown_at: datetime | None = None) -> dict[str, Any]:
    """Take what a page sent as a move.

    Returns {"type": "taken", last, over}, or {"type": "refused", errors} with a reason per field, or
    {"type": "stale", reason}: then nothing has changed.
    """
    try:
        answering = int(posted.get("answering", ""))
    except (TypeError, ValueError):
        return {"type": "stale", "reason": _("This page is out of date; here is where the game stands.")}

    def chosen(play: Play) -> dict[str, Any]:
        return forms.read(forms.form_for(play.forms(seat.role), posted).model, posted)

    try:
        taken = services.submit_move(
            match_id=seat.match_id, role=seat.role, answering=answering, move=chosen, shown_at=shown_at
        )
    except Stale as stale:
        return {"type": "stale", "reason": str(stale)}
    except Refused as refused:
        return {"type": "refused", "errors": {refused.field or "": refused.plain}}
    return {"type": "taken", "last": taken.last, "over": taken.over}
