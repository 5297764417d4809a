"""A model's message in a chat: what it reads before it may write one, and the call that gives it.

What others wrote is fenced as their words. A model answers with its message, or with one word to stay silent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from games.interface import Said
from games.words import gettext as _
from games.words import gettext_noop
from llm_agents.agent import AgentSpec
from llm_agents.calling import Attempt, Policy, call
from llm_agents.prompting import ABOUT_MARKS, fenced
from llm_agents.providers.base import ChatMessage, Request
from llm_agents.record import CallRecord

CHAT = "chat"
"""Purpose of a call for a message; its `answering` is the number of the message that it follows, 0 for the first."""
SILENT = "SILENT"
_TASK = gettext_noop(
    "You may now write one message of at most {characters} characters to {readers}. Write it as people write in a "
    "chat, without a name in front. Answer with nothing but the message, or with the single word {silent} to write "
    "nothing."
)


def transcript(lines: Sequence[Said]) -> str:
    """Return a chat as a model reads it, oldest message first; empty without messages."""
    if not lines:
        return ""
    return "\n".join([_("The chat beside the game, oldest message first:"), *map(fenced, lines)])


def after_chat(messages: list[ChatMessage], lines: Sequence[Said]) -> list[ChatMessage]:
    """Return the messages of a question with the chat so far at the end of the last one."""
    if not lines:
        return messages
    *earlier, last = messages
    return [*earlier, {**last, "content": f"{last['content']}\n\n{transcript(lines)}\n\n{_(ABOUT_MARKS)}"}]


def messages(*, system: str, known: str, lines: Sequence[Said], readers: str, characters: int) -> list[ChatMessage]:
    """Return what a model is sent that may write in a chat.

    Args:
        system: the rules and the study's own prompt.
        known: what its seat knows of the game now; empty for a mediator.
        lines: the messages that it may read.
        readers: who will read its message.
    """
    task = _(_TASK).format(characters=characters, readers=readers, silent=SILENT)
    chat = transcript(lines) or _("Nobody has written in the chat yet.")
    question = "\n\n".join(part for part in (known, chat, task) if part)
    return [{"role": "system", "content": f"{system}\n\n{_(ABOUT_MARKS)}"}, {"role": "user", "content": question}]


async def message(
    agent: AgentSpec,
    request_messages: list[ChatMessage],
    *,
    characters: int,
    keep: Callable[[CallRecord], Awaitable[None]],
    reserve: Callable[[Request, Policy], Awaitable[None]],
    place: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> str:
    """Return the model's message, cut to the longest; empty if it stays silent.

    Args:
        keep: called with every call after it was made, failed ones included.
        reserve: called before the call to reserve what it may cost.
        place: what is held during the call.

    Raises:
        AgentError: there was no answer, or so much may not be spent.
    """
    policy = Policy(agent.settings.call_seconds, agent.settings.retries)
    request = Request(agent.name, request_messages, agent.parameters)
    attempts: list[Attempt] = []
    await reserve(request, policy)
    try:
        async with place():
            completion = await call(agent.kind, request, policy=policy, on_attempt=attempts.append)
    finally:
        for attempt in attempts:
            await keep(attempt.record(agent, request_messages, try_number=1, purpose=CHAT))
    text = completion.text.rpartition("</think>")[2].strip().strip('"').strip()
    return "" if text.strip(".").upper() == SILENT else text[:characters].rstrip()
