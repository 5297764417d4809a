"""Models that write in a chat: asked after messages that they may read, in the worker, one call at a time for each.

A model that fails stays silent; play never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from random import Random

from django.db.models import Max

from games.words import gettext as _
from games.words import in_language
from llm_agents import prompting, strategies, talking
from llm_agents.calling import Policy
from llm_agents.errors import AgentError
from llm_agents.providers.base import ChatMessage, Request
from llm_agents.record import CallRecord
from matches import chat, leases
from matches.asking import Host
from matches.channels import background_loop
from matches.disclosing import listed
from matches.models import ChatLine, Match
from matches.pacing import human_delay
from matches.writers import Writers
from opponents.agents import Agent
from opponents.endpoints import current_prices, refresh_if_old
from opponents.models import Call
from opponents.spending import CapReached, Payer, reserve, reserve_when_free
from plans.chat import MEDIATOR, Chat

LEASED_AS = 2_000_000_000
"""What a lease on a model's place in a chat names instead of an event."""
LONGEST_TYPING = 60.0
log = logging.getLogger(__name__)
_writers = Writers("chat-writer", 2)


@dataclass(frozen=True)
class _Moment:
    """What a model knows when it is asked whether it writes.

    Attributes:
        newest: the newest message that it may read; None if there is none.
        to: the seat that its message is for; empty for the group.
        key: of its message.
    """

    match: Match
    settings: Chat
    agent: Agent
    newest: ChatLine | None
    messages: list[ChatMessage]
    to: str
    key: str

    @property
    def number(self) -> int:
        return self.newest.number if self.newest else 0


def begin(match_id: int) -> list[Future[None]]:
    """Let every model of a match that has something to answer write; return what is done when each is."""
    match, begun = Match.objects.get(pk=match_id), []
    for writer in chat.writers_of(match):
        refresh_if_old(*_agent(match, writer).specs)
        lease = leases.take(match_id=match_id, role=writer, answering=LEASED_AS)
        if lease is not None:
            begun.append(asyncio.run_coroutine_threadsafe(_speak(match_id, writer, lease), background_loop()))
    return begun


async def _speak(match_id: int, writer: str, lease: leases.Lease) -> None:
    """Ask the model as long as there is a message that it has not been asked about."""
    works = True
    try:
        while works and (moment := await _writers.do(_moment, match_id, writer)) is not None:
            works = await _ask(moment, writer, Host(_writers, prices=current_prices))
    except Exception:
        works = False
        log.exception("the chat of %s in match %s failed", writer, match_id)
    finally:
        await _writers.retry(leases.give_back, lease)
    # A message that came just before the lease was given back has found it taken.
    if works and await _writers.do(_moment, match_id, writer) is not None:
        await _writers.do(begin, match_id)


async def _ask(moment: _Moment, writer: str, host: Host) -> bool:
    """Ask for one message and store it; return False if the model failed.

    Raises:
        CapReached: not even another match could ask.
    """
    match, agent, started_at = moment.match, moment.agent, time.monotonic()
    payer = Payer(match.uid, f"chat {writer}"[:40], moment.number, match.budget_of)

    async def hold(request: Request, policy: Policy) -> None:
        price, caps = host.prices().largest(agent.spec, request), host.caps(agent.settings.caps())
        reserving = partial(host.writers.retry, reserve, price, caps=caps, payer=payer, seconds=policy.longest())
        await reserve_when_free(reserving, seconds=policy.longest(), still_wanted=host.still_wanted)

    async def keep(call: CallRecord) -> None:
        await host.writers.retry(partial(host.record, [call]), match, role=writer, answering=moment.number, payer=payer)

    try:
        text = await talking.message(
            agent.settings.spec(agent.spec),
            moment.messages,
            characters=moment.settings.characters,
            keep=keep,
            reserve=hold,
            place=host.place,
        )
    except AgentError as failure:
        if match.collected and isinstance(failure, CapReached) and failure.kind != "match":
            raise
        log.warning("%s stays silent in match %s: %s", agent.spec, match.pk, type(failure).__name__)
        return False
    if text:
        await asyncio.sleep(_typing_seconds(moment, writer, text) - (time.monotonic() - started_at))
        await host.writers.retry(_store, moment, writer, text)
    return True


def _store(moment: _Moment, writer: str, text: str) -> None:
    try:
        chat.write(match_id=moment.match.pk, sender=writer, text=text, key=moment.key, to=moment.to)
    except chat.NotWritten as problem:
        log.info("the message of %s in match %s came too late: %s", writer, moment.match.pk, problem)


# ---- collections -----------------------------------------------------------------------------------------------


async def speak_in_turns(match_id: int, host: Host) -> None:
    """Let the models of a match without people write now: before play in rounds until nobody writes, later one round.

    What was stored before an interruption stays; after it, a model that had stayed silent may be asked again.

    Raises:
        CapReached: no more may be spent for now, but by this match alone.
    """
    slot, last_written = 0, -1
    while host.still_wanted():
        slots, rounds, written = await host.writers.retry(_slots, match_id)
        if written:
            slot, last_written = max(slot, written[-1] + 1), written[-1]
        if slot >= len(slots) * rounds or slot - last_written > len(slots):
            return
        writer, to = slots[slot % len(slots)]
        moment = await host.writers.retry(_moment_of_slot, match_id, writer, to, slot)
        if moment is not None:
            await _ask(moment, writer, host)
        slot += 1


def _slots(match_id: int) -> tuple[list[tuple[str, str]], int, list[int]]:
    """Return who may write to whom in one round, how many rounds there are now, and which slots have a message."""
    match = Match.objects.get(pk=match_id)
    settings, roles = match.chat(), match.configured().roles()
    if settings is None:
        return [], 0, []
    begun = match.events.filter(kind="move").exists()
    rounds = settings.messages if settings.when != "during" and not begun else int(settings.when != "before")
    slots = [
        (writer, to)
        for writer in chat.writers_of(match, collected=True)
        for to in (["", *roles] if writer != MEDIATOR else [""])
        if settings.readers(roles, writer, to)
    ]
    prefix = f"{match.snapshot['last']}/"
    keys = match.chat_lines.filter(key__startswith=prefix).order_by("number").values_list("key", flat=True)
    return slots, rounds, [int(key.removeprefix(prefix)) for key in keys]


def _moment_of_slot(match_id: int, writer: str, to: str, slot: int) -> _Moment | None:
    match = Match.objects.get(pk=match_id)
    settings = match.chat()
    if settings is None or not chat.may_write(match, settings, writer):
        return None
    with in_language(match.language):
        key = f"{match.snapshot['last']}/{slot}"
        return _moment_with(match, settings, writer, to, chat.lines_for(match, writer), key)


def _moment(match_id: int, writer: str) -> _Moment | None:
    """Return the moment at which the model is to be asked now; None if there is nothing to ask."""
    match = Match.objects.get(pk=match_id)
    with in_language(match.language):
        return _moment_in(match, writer)


def _moment_in(match: Match, writer: str) -> _Moment | None:
    settings = match.chat()
    if settings is None or writer not in chat.writers_of(match) or not chat.may_write(match, settings, writer):
        return None
    lines, speaking = chat.lines_for(match, writer), settings.speaking(writer)
    calls = Call.objects.filter(match_uid=match.uid, role=writer, purpose=talking.CHAT)
    asked = calls.aggregate(newest=Max("answering", default=-1))["newest"]
    newest = lines[-1] if lines else None
    if asked >= (newest.number if newest else 0):
        return None
    name = chat.name_of(match, settings, writer).casefold()
    unread = [line for line in lines if line.number > asked and line.sender != writer]
    if speaking.speaks == "addressed" and settings.mode == "free":
        unread = [line for line in unread if line.to == writer or name in line.text.casefold()]
    if settings.mode == "free" and not unread and (lines or not speaking.opens):
        return None
    to = unread[-1].sender if unread and unread[-1].to else ""
    return _moment_with(match, settings, writer, to, lines)


def _moment_with(
    match: Match, settings: Chat, writer: str, to: str, lines: list[ChatLine], key: str = ""
) -> _Moment | None:
    readers, speaking = settings.readers(match.configured().roles(), writer, to), settings.speaking(writer)
    if not readers:
        return None
    newest = lines[-1] if lines else None
    agent = _agent(match, writer)
    names = listed([chat.name_of(match, settings, reader) for reader in readers])
    messages = talking.messages(
        system=_system(match, agent, writer, speaking.prompt),
        known=_known(match, writer),
        lines=chat.said_to(match, writer),
        readers=names,
        characters=settings.characters,
    )
    return _Moment(match, settings, agent, newest, messages, to, key or f"after {newest.number if newest else 0}")


def _agent(match: Match, writer: str) -> Agent:
    return Agent.model_validate(match.timers["chat"]["agent"]) if writer == MEDIATOR else match.agents()[writer]


def _system(match: Match, agent: Agent, writer: str, prompt: str) -> str:
    """Return the study's prompt, for a seat after the rules as it is told them for its moves."""
    if writer == MEDIATOR:
        chat_settings = match.chat()
        title = chat_settings.mediator.title if chat_settings and chat_settings.mediator else MEDIATOR
        about = _("You are {name} in a chat of people and programs who play a game. You have no seat in it yourself.")
        about = about.format(name=title)
        return f"{about}\n\n{prompt}".strip()
    asking = strategies.asking(match.play(), writer, agent.settings, template=match.template_for(agent))
    return f"{asking.system()}\n\n{prompt}".strip()


def _known(match: Match, writer: str) -> str:
    return "" if writer == MEDIATOR else f"{_('What you know now:')}\n\n{prompting.render(match.play().view(writer))}"


def _typing_seconds(moment: _Moment, writer: str, text: str) -> float:
    """Return the seconds from being asked until the message appears."""
    speaking = moment.settings.speaking(writer)
    if moment.match.paced:
        rng = Random(f"{moment.match.seed}/{writer}/{moment.number}/chat")
        return human_delay({"message": text}, moment.newest.text if moment.newest else None, rng)
    return min(LONGEST_TYPING, len(text) / speaking.typing) if speaking.typing else 0.0
