"""Models as judges: questions outside matches, whose calls are recorded, priced and capped like players' calls."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from asgiref.sync import async_to_sync, sync_to_async
from django.db import transaction

from games.interface import Move
from llm_agents.calling import Policy
from llm_agents.errors import AgentError
from llm_agents.judging import Inquiry, inquire
from llm_agents.providers.base import Request
from llm_agents.record import CallRecord
from opponents.agents import Agent
from opponents.endpoints import current_prices, refresh_if_old
from opponents.services import record_calls
from opponents.spending import Payer, release, reserve, reserve_when_free


@dataclass(frozen=True)
class Case:
    """One question about what a seat did.

    Attributes:
        match_uid, role, answering: the match, seat and event of the judged text; calls are recorded with them.
    """

    inquiry: Inquiry
    match_uid: uuid.UUID
    role: str
    answering: int = 0


@dataclass(frozen=True)
class Verdict:
    """The result: an answer, or why there is none."""

    case: Case
    answer: Move | None = None
    problem: str = ""


def judge(
    agent: Agent,
    cases: Sequence[Case],
    *,
    budget_of: str,
    on_verdict: Callable[[Verdict], None] | None = None,
    at_once: int = 8,
) -> list[Verdict]:
    """Ask a model about each case, `at_once` at a time.

    The agent's settings determine how it is asked, its timeouts and retries, and the spending limit on all calls
    labelled `budget_of` (`cap_study`). The verdict on a case skipped because of the limit says so.

    Args:
        budget_of: the budget's label; it may differ from the match's, so that limits on play are not affected.
        on_verdict: called with each verdict in the transaction that records its accepted call, so that either
            both are saved or neither is.
    """
    refresh_if_old(agent.spec)
    return async_to_sync(_judge)(agent, cases, budget_of, on_verdict, at_once)


async def _judge(
    agent: Agent,
    cases: Sequence[Case],
    budget_of: str,
    on_verdict: Callable[[Verdict], None] | None,
    at_once: int,
) -> list[Verdict]:
    slots = asyncio.Semaphore(at_once)
    judging = _Judge(agent, budget_of, on_verdict)

    async def ask(case: Case) -> Verdict:
        async with slots:
            return await judging.verdict(case)

    return list(await asyncio.gather(*(ask(case) for case in cases)))


class _Judge:
    def __init__(self, agent: Agent, budget_of: str, on_verdict: Callable[[Verdict], None] | None):
        self._agent, self._budget_of, self._on_verdict = agent, budget_of, on_verdict

    async def verdict(self, case: Case) -> Verdict:
        """Return the verdict; a model's failure is recorded in it, not raised."""
        settings, accepted = self._agent.settings, list[CallRecord]()

        async def keep(call: CallRecord) -> None:
            if call.accepted:
                accepted.append(call)
            else:
                await sync_to_async(self._record)(case, call)

        try:
            answer = await inquire(
                settings.spec(self._agent.spec),
                case.inquiry,
                keep=keep,
                reserve=partial(self._reserve, case),
            )
            verdict = Verdict(case, answer)
        except AgentError as failure:
            verdict = Verdict(case, problem=str(failure))
        await sync_to_async(self._finish)(verdict, accepted)
        return verdict

    async def _reserve(self, case: Case, request: Request, policy: Policy) -> None:
        reserving = partial(
            sync_to_async(reserve),
            current_prices().largest(self._agent.spec, request),
            caps=self._agent.settings.caps(),
            payer=self._payer(case),
            seconds=policy.longest(),
        )
        await reserve_when_free(reserving, seconds=policy.longest())

    def _payer(self, case: Case) -> Payer:
        return Payer(case.match_uid, case.role, case.answering, self._budget_of)

    @transaction.atomic
    def _finish(self, verdict: Verdict, calls: Sequence[CallRecord]) -> None:
        for call in calls:
            self._record(verdict.case, call)
        release(self._payer(verdict.case))
        if self._on_verdict is not None:
            self._on_verdict(verdict)

    def _record(self, case: Case, call: CallRecord) -> None:
        record_calls(
            match_uid=case.match_uid,
            role=case.role,
            answering=case.answering,
            calls=[call],
            prices=current_prices(),
            budget_of=self._budget_of,
            payer=self._payer(case),
        )
