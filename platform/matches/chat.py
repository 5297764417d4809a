"""The chat of a match: who may write what to whom now, and what each seat reads of it.

A message is stored before its page is told so, under the page's own key: a page sends it again until it is confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.interface import Said
from games.registry import CONVERSATION
from games.words import in_language
from matches import announce, turns
from matches.absences import is_lost
from matches.models import ChatLine, Match, Seat
from plans.chat import MEDIATOR, Chat

AT_ONCE, WITHIN = 5, timedelta(seconds=5)
"""How many messages a seat may write within this time."""
LONGEST_KEY = 40


class NotWritten(Exception):
    """A message was not stored.

    Attributes:
        wait: seconds after which it can be sent again; None if it must be changed, or the chat is closed.
    """

    def __init__(self, reason: str, wait: float | None = None):
        super().__init__(reason)
        self.wait = wait


# ---- reading ---------------------------------------------------------------------------------------------------


def lines_for(match: Match, reader: str, *, after: int = 0) -> list[ChatLine]:
    """Return the messages after a number that a seat may read; the mediator reads what everyone reads."""
    lines = match.chat_lines.filter(number__gt=after).order_by("number")
    if reader != MEDIATOR:
        return [line for line in lines if line.is_for(reader)]
    everyone = set(match.configured().roles())
    return [line for line in lines if everyone <= {line.sender, *line.readers}]


def name_of(match: Match, chat: Chat, sender: str) -> str:
    """Return how a writer is called in a chat."""
    if sender == MEDIATOR and chat.mediator is not None:
        return chat.mediator.title
    return match.configured().role_title(sender)


def said_to(match: Match, reader: str) -> list[Said]:
    """Return the chat as a model in this seat, or as mediator, reads it."""
    chat = match.chat()
    if chat is None:
        return []
    with in_language(match.language):
        return [Said(_spoken_by(match, chat, line, reader), line.text) for line in lines_for(match, reader)]


def _spoken_by(match: Match, chat: Chat, line: ChatLine, reader: str) -> str:
    name = name_of(match, chat, line.sender)
    if line.sender == reader:
        name = _("{name} (you)").format(name=name)
    if line.to:
        name = _("{name}, only to {other}").format(name=name, other=name_of(match, chat, line.to))
    return name


def panel(match: Match, chat: Chat, role: str, *, after: int = 0) -> dict[str, Any]:
    """Return what a page shows: the `lines` after a number, and what the role may do now.

    `open` says whether it may write, `note` why not or whose turn it is, `left` how many messages it has left,
    `begins` in how many seconds play begins (None: it has begun), and `ready` whether it has said that it is ready
    (None: it is not asked).
    """
    now, begins = timezone.now(), match.begins_at
    reason = _closed(match, chat, now)
    written = match.chat_lines.filter(sender=role).count()
    spent = written >= chat.messages
    note = reason or (_all_written() if spent else (_waits_for_turn(match, chat, role, now) or ("", 0))[0])
    waits = begins is not None and begins > now
    return {
        "lines": [_shown(match, chat, line, role) for line in lines_for(match, role, after=after)],
        "open": not reason and not spent,
        "note": note,
        "left": chat.messages - written,
        "begins": round((begins - now).total_seconds(), 1) if begins and waits else None,
        "ready": role in match.timers["chat"].get("ready", {}) if waits and chat.early else None,
    }


def page(match: Match, role: str) -> dict[str, Any]:
    """Return what the match's page needs for its chat; nothing without one."""
    settings = match.chat()
    if settings is None:
        return {}
    shown = panel(match, settings, role)
    seen = shown["lines"][-1]["number"] if shown["lines"] else 0
    tells = settings.mediator is not None and not match.blind
    return {
        "chat": {**shown, "seen": seen},
        "mediator": _("{name} is a computer program.").format(name=name_of(match, settings, MEDIATOR)) if tells else "",
        "partners": partners(match, settings, role),
        "characters": settings.characters,
    }


def _shown(match: Match, chat: Chat, line: ChatLine, role: str) -> dict[str, Any]:
    own = line.sender == role
    return {
        "number": line.number,
        "name": _("You") if own else name_of(match, chat, line.sender),
        "own": own,
        "to": ""
        if not line.to
        else _("to {name} only").format(name=name_of(match, chat, line.to))
        if own
        else _("to you only"),
        "text": line.text,
        **({"key": line.key} if own else {}),
    }


def partners(match: Match, chat: Chat, role: str) -> list[tuple[str, str]]:
    """Return whom the role may write to: (seat, name), the group first as an empty seat."""
    roles = match.configured().roles()
    group = [("", _("everyone"))] if chat.readers(roles, role) or (chat.mediator and chat.to != "private") else []
    others = [other for other in roles if other != role and chat.readers(roles, role, other)]
    return [*group, *((other, name_of(match, chat, other)) for other in others)]


# ---- writing ---------------------------------------------------------------------------------------------------


def answer(seat: Seat, posted: Mapping[str, Any]) -> dict[str, Any]:
    """Handle what a page sent: {after, key, text, to} or {after, ready}; with neither, it only asks for what is new.

    Returns:
        {"type": "chat", …} as `panel` describes; with "refused", {key, reason, wait}, if the text was not stored.
    """
    match = seat.match
    if posted.get("ready"):
        say_ready(match_id=match.pk, role=seat.role)
    match.refresh_from_db(fields=["status", "timers"])
    chat = match.chat()
    if chat is None:
        return {"type": "chat", "lines": []}
    with in_language(match.language):
        return _answer(seat, match, chat, posted)


def _answer(seat: Seat, match: Match, chat: Chat, posted: Mapping[str, Any]) -> dict[str, Any]:
    refused, key = None, str(posted.get("key", ""))[:LONGEST_KEY]
    if text := str(posted.get("text", "")).strip():
        try:
            write(
                match_id=match.pk,
                sender=seat.role,
                text=text,
                key=key,
                to=str(posted.get("to", "")),
                enrolment_id=seat.enrolment_id,
            )
        except NotWritten as problem:
            refused = {"key": key, "reason": str(problem), "wait": problem.wait}
    after = str(posted.get("after", 0))
    shown = panel(match, chat, seat.role, after=int(after[:9]) if after.isdecimal() else 0)
    return {"type": "chat", **shown, **({"refused": refused} if refused else {})}


@transaction.atomic
def write(
    *, match_id: int, sender: str, text: str, key: str, to: str = "", enrolment_id: int | None = None
) -> ChatLine:
    """Store one message and tell the pages and models that may read it; one with a known key is stored already.

    Args:
        sender: the seat, or the mediator.
        to: the seat that it is for; empty for the group.

    Raises:
        NotWritten
    """
    match = Match.objects.select_for_update().get(pk=match_id)
    if known := match.chat_lines.filter(sender=sender, key=key).first():
        return known
    chat, now = match.chat(), timezone.now()
    if chat is None:
        raise NotWritten(_("This game has no chat."))
    readers = chat.readers(match.configured().roles(), sender, to)
    _refuse(match, chat, sender, text, readers, now)
    newest = match.chat_lines.order_by("-number").values_list("number", flat=True).first() or 0
    line = ChatLine.objects.create(
        match=match,
        number=newest + 1,
        sender=sender,
        enrolment_id=enrolment_id,
        key=key,
        to=to,
        readers=readers,
        text=text,
        after=match.snapshot.get("last", 0),
        at=now,
    )
    announce.chat_when_committed(match, [sender, *readers])
    transaction.on_commit(lambda: queue_models(match))
    return line


@transaction.atomic
def say_ready(*, match_id: int, role: str) -> None:
    """Note that a participant is ready to play; if all are, play begins now, if the chat before it may end early."""
    match, now = Match.objects.select_for_update().get(pk=match_id), timezone.now()
    chat, begins = match.chat(), match.begins_at
    if chat is None or not chat.early or begins is None or match.has_begun(now):
        return
    ready = {**match.timers["chat"].get("ready", {}), role: now.isoformat()}
    about = {**match.timers["chat"], "ready": ready}
    if all(seat in ready or is_lost(match.absences.get(seat, {})) for seat in match.people()):
        about["begun"] = now.isoformat()
        saved = timedelta(seconds=(begins - now).total_seconds())
        match.turns = turns.dump({seat: turn.earlier(saved) for seat, turn in match.open_turns().items()})
        match.deadline = match.deadline and match.deadline - saved
        match.requeue_at = match.requeue_at and now
        announce.chat_when_committed(match, match.people())
    match.timers = {**match.timers, "chat": about}
    match.save(update_fields=["timers", "turns", "deadline", "requeue_at"])


def _refuse(match: Match, chat: Chat, sender: str, text: str, readers: Sequence[str], now: datetime) -> None:
    if reason := _closed(match, chat, now):
        raise NotWritten(reason)
    if not readers and not (sender != MEDIATOR and chat.mediator and chat.to != "private"):
        raise NotWritten(_("You can't write to this player."))
    if len(text) > chat.characters:
        words = _("Your message has {n} characters; at most {most} are possible.")
        raise NotWritten(words.format(n=len(text), most=chat.characters))
    own = match.chat_lines.filter(sender=sender).order_by("-number")
    if own.count() >= chat.messages:
        raise NotWritten(_all_written())
    if waits := _waits_for_turn(match, chat, sender, now):
        raise NotWritten(*waits)
    if match.collected:
        return
    recent = list(own.filter(at__gt=now - WITHIN).values_list("at", flat=True)[:AT_ONCE])
    if len(recent) == AT_ONCE:
        wait = (recent[-1] + WITHIN - now).total_seconds()
        words = ngettext(
            "That was fast. Your message is kept and will be sent in {n} second.",
            "That was fast. Your message is kept and will be sent in {n} seconds.",
            max(1, round(wait)),
        )
        raise NotWritten(words.format(n=max(1, round(wait))), round(wait + 0.1, 1))


def _all_written() -> str:
    return _("You have written all of your messages.")


def may_write(match: Match, chat: Chat, sender: str) -> bool:
    """Return whether the sender may write now, but for the pace."""
    now, written = timezone.now(), match.chat_lines.filter(sender=sender).count()
    return not _closed(match, chat, now) and written < chat.messages and not _waits_for_turn(match, chat, sender, now)


def _closed(match: Match, chat: Chat, now: datetime) -> str:
    """Return why nobody may write now; empty if the chat is open."""
    if match.status != Match.Status.LIVE:
        is_talk = match.game == CONVERSATION
        return _("The chat is over.") if is_talk else _("The game is over, and so is the chat.")
    if chat.when == "before" and match.begins_at is not None and match.has_begun(now):
        return _("The time for the chat is over.")
    return ""


def turn_of(match: Match, chat: Chat, now: datetime) -> tuple[str, datetime] | None:
    """Return who may write now, in turns, and until when; None if everyone may.

    Turns go around the seats; a player whose time passes is passed over. The mediator may always write.
    """
    if chat.mode == "free" or match.collected:
        return None
    roles = list(match.configured().roles())
    last = match.chat_lines.exclude(sender=MEDIATOR).order_by("-number").first()
    since = last.at if last else match.started_at
    passed = int((now - since).total_seconds() // chat.turn)
    first = roles.index(last.sender) + 1 if last else 0
    return roles[(first + passed) % len(roles)], since + timedelta(seconds=(passed + 1) * chat.turn)


def _waits_for_turn(match: Match, chat: Chat, sender: str, now: datetime) -> tuple[str, float] | None:
    """Return why the sender must wait for others in turns, and how many seconds at most; None if they may write."""
    turn = turn_of(match, chat, now)
    if turn is None or turn[0] == sender or sender == MEDIATOR:
        return None
    words = _("It is the turn of {name} to write.").format(name=name_of(match, chat, turn[0]))
    return words, round((turn[1] - now).total_seconds() + 0.1, 1)


# ---- models ----------------------------------------------------------------------------------------------------


def writers_of(match: Match, *, collected: bool = False) -> list[str]:
    """Return the models that may write: their seats, and the mediator; a collection's only if its driver asks."""
    chat = match.chat()
    if chat is None or match.driven != collected:
        return []
    seats = [role for role, agent in match.agents().items() if agent.is_model]
    mediators = [MEDIATOR] if chat.mediator and "agent" in match.timers["chat"] else []
    return [writer for writer in [*seats, *mediators] if chat.speaking(writer).speaks != "never"]


def queue_models(match: Match) -> None:
    """Let the models that may write look whether they want to."""
    if writers_of(match):
        announce.queue_speaking(match)
