"""What a program's chats show, and the messages that it writes."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from api.errors import InvalidRequest, NotFound, Slowed
from api.seating import seat_id, storable
from games.words import in_language
from llm_agents.agent import PROGRAM
from matches import chat
from matches.models import Match, Seat
from programs import tokens
from programs.models import Program


def newest(program: Program) -> dict[int, int | None]:
    """Return the newest message's number in each chat of a live match with the program, by seat; None if empty."""
    seats = Seat.objects.filter(agent=f"{PROGRAM}:{program.name}", match__status=Match.Status.LIVE)
    chats = seats.filter(match__timers__has_key="chat").exclude(match__purpose=Match.Purpose.COLLECTION)
    return dict(chats.annotate(newest=Max("match__chat_lines__number")).values_list("pk", "newest").order_by("pk"))


def shown(program: Program, seat_key: int) -> dict[str, Any]:
    """Return a chat as its program sees it: what a person in its seat would see, as plain data."""
    seat = Seat.objects.select_related("match").get(pk=seat_key)
    match, settings = seat.match, seat.match.chat()
    assert settings is not None
    with in_language(match.language):
        panel = chat.panel(match, settings, seat.role)
        partners = chat.partners(match, settings, seat.role)
    return {
        "token": tokens.token_of_chat(program, seat.pk),
        "seat": seat_id(match.uid, seat.role),
        "game": match.game,
        "role": seat.role,
        "lines": [{name: line[name] for name in ("number", "name", "own", "to", "text")} for line in panel["lines"]],
        "partners": [{"seat": partner, "name": name} for partner, name in partners],
        "characters": settings.characters,
        **{name: panel[name] for name in ("open", "note", "left", "begins")},
    }


def say(token: str, text: str, *, to: str = "", key: str = "") -> dict[str, Any]:
    """Store a message; one with a key that was stored before changes nothing.

    Raises:
        NotFound: the token opens no chat.
        Slowed: it can be sent again later; nothing was stored.
        InvalidRequest: it cannot be sent.
    """
    found = tokens.chat_with(token)
    seat = None if found is None else Seat.objects.filter(pk=found[1], agent=f"{PROGRAM}:{found[0].name}").first()
    if seat is None:
        raise NotFound(_("This token opens no chat."))
    if not (text := storable(text).strip()):
        raise InvalidRequest(_("The message is empty."))
    key = storable(key)[: chat.LONGEST_KEY] or uuid.uuid4().hex
    try:
        line = chat.write(match_id=seat.match_id, sender=seat.role, text=text, key=key, to=storable(to))
    except chat.NotWritten as problem:
        if problem.wait is None:
            raise InvalidRequest(str(problem)) from None
        words = _("This was too fast or out of turn. Send it again in {n} seconds.")
        raise Slowed(words.format(n=problem.wait), wait=problem.wait) from None
    return {"number": line.number}
