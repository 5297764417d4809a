"""Judging a text: one question to a model outside a match, answered by filling in a form.

The form's schema is enforced where the endpoint supports it (label choices are its `Literal`s), and the
answer is always checked against the form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from games.errors import Refused
from games.interface import Form, Move
from games.play import filled_in
from llm_agents import parsing, prompting
from llm_agents.agent import AgentSpec
from llm_agents.calling import Attempt, Policy, call
from llm_agents.errors import BadAnswer, NoLegalMove
from llm_agents.providers.base import ChatMessage, Request
from llm_agents.record import CallRecord
from llm_agents.replaying import JUDGE
from llm_agents.turn import corrected, fault_of


@dataclass(frozen=True)
class Inquiry:
    """A question to a judge.

    Attributes:
        rules: the judge's instructions.
        question: what it is asked; other people's text in it is fenced by `prompting.fenced`.
        form: the form that the answer fills in.
    """

    rules: str
    question: str
    form: Form

    @property
    def messages(self) -> list[ChatMessage]:
        keys = prompting.worded_fields(prompting.json_schema(self.form.model))
        prompt = "\n\n".join([self.question, keys, f"{prompting.ANSWER}."])
        return [{"role": "system", "content": self.rules}, {"role": "user", "content": prompt}]

    @property
    def sha256(self) -> str:
        """Return the hash of the text and form, which identifies a judged text."""
        return hashlib.sha256(json.dumps(self.messages).encode()).hexdigest()


async def inquire(
    agent: AgentSpec,
    inquiry: Inquiry,
    *,
    keep: Callable[[CallRecord], Awaitable[None]],
    reserve: Callable[[Request, Policy], Awaitable[None]],
) -> Move:
    """Return the form as the model filled it in; correct the model and ask again if needed.

    Args:
        keep: called with every call as soon as it is made, failed ones included.
        reserve: called before each call to reserve what it may cost; raises an AgentError if that may not be spent.

    Raises:
        NoLegalMove: none of its answers fills in the form.
        ProviderError: there was no answer.
    """
    settings = agent.settings
    policy = Policy(settings.call_seconds, settings.retries)
    schema = parsing.schema_of([inquiry.form]) if settings.structured else None
    request = Request(agent.name, inquiry.messages, agent.parameters, schema=schema)
    for number in range(1, settings.tries_after_first + 2):
        common = {"try_number": number, "prompt_sha256": inquiry.sha256, "purpose": JUDGE}
        await reserve(request, policy)
        attempts: list[Attempt] = []
        try:
            completion = await call(agent.kind, request, policy=policy, on_attempt=attempts.append)
        finally:
            for failed in [attempt for attempt in attempts if attempt.error]:
                await keep(failed.record(agent, request.messages, **common))
        try:
            filled = filled_in(inquiry.form, parsing.read_move(completion.text, [inquiry.form]))
        except (BadAnswer, Refused) as error:
            problem = str(error)
            common |= {"problem": problem, "fault": fault_of(error)}
            await keep(attempts[-1].record(agent, request.messages, **common))
        else:
            await keep(attempts[-1].record(agent, request.messages, **common))
            return filled
        request = corrected(request, completion.text, prompting.correction(problem))
    raise NoLegalMove(problem)
