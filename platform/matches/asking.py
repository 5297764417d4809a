"""How an agent answers a turn: read the question, let it decide, store its calls.

Live matches (`matches.agents`) and collections (`collecting.driver`) differ in who holds the turn and how costs
are counted. The questions to an agent, its tries and its fallbacks are the same and are defined here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from django.db import transaction

from games.interface import MoveData, Role
from games.play import Play, turn_in
from games.strategies import Purpose
from games.words import in_language, language
from llm_agents import strategies
from llm_agents.agent import AgentSpec, is_model
from llm_agents.calling import Policy
from llm_agents.deciding import Decision, decide
from llm_agents.pricing import PriceList
from llm_agents.providers.base import Request
from llm_agents.record import CallRecord
from llm_agents.turn import AgentTurn, Asked
from matches import programs, services
from matches.chat import said_to
from matches.models import Match
from matches.writers import Writers
from opponents.agents import Agent
from opponents.services import latest_call, mark_played, raw_answers, record_calls
from opponents.spending import Caps, Payer, release, reserve, reserve_when_free

T = TypeVar("T")
ALLOWED_SECONDS = 1.0
"""How long calls of unknown price, which count as free, go on after a limit was last found not to be reached."""


@dataclass(frozen=True)
class Host:
    """The code that runs the match: its database threads, prices and callbacks.

    Attributes:
        writers: the threads that access the database.
        prices: returns the prices of calls.
        budget: returns the limit on what the match's budget may cost, in US dollars; None: no limit but the agents'.
        on_calls: called with new calls in the transaction that stores them.
        on_note: called in a note's transaction with the number under which the turn continues.
        still_wanted: returns False once nobody waits for an unavailable endpoint any longer.
        place: what an agent of the match holds while it is asked; it waits for a free one.
        allowed: until when calls of unknown price may be made without looking, by their limits.
    """

    writers: Writers
    prices: Callable[[], PriceList]
    budget: Callable[[], Decimal | None] = lambda: None
    on_calls: Callable[[Sequence[CallRecord]], None] | None = None
    on_note: Callable[[int], None] | None = None
    still_wanted: Callable[[], bool] = lambda: True
    place: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    allowed: dict[Caps, float] = field(default_factory=dict)

    def caps(self, caps: Caps) -> Caps:
        """Return an agent's limits, with that of the match's budget."""
        budget = self.budget()
        return caps if budget is None else replace(caps, per_study=min(budget, caps.per_study or budget))

    @transaction.atomic(savepoint=False)
    def record(self, calls: Sequence[CallRecord], match: Match, **turn: Any) -> int | None:
        """Store calls (`opponents.services.record_calls`)."""
        if self.on_calls is not None:
            self.on_calls(calls)
        return record_calls(calls=calls, match_uid=match.uid, budget_of=match.budget_of, prices=self.prices(), **turn)


@dataclass
class Question(AgentTurn):
    """A question to an agent at an open turn, with its calls.

    Attributes:
        events: the match's log so far, if the question uses it.
        stored_with_move: whether the calls up to the answer that is the move are stored by `move`, at once after it.
        played_call: key of the stored call whose answer is the move; None if no model's is.
    """

    match: Match
    agent: Agent
    host: Host
    stored_with_move: bool = False
    played_call: int | None = field(default=None, init=False)
    _kept: list[CallRecord] = field(default_factory=list, init=False)
    _reserved_for: Payer | None = field(default=None, init=False)

    @property
    def answering(self) -> int:
        """The number of the event that opened the turn, or of the note after which it continued."""
        return self.play.opened[self.role]

    async def decide(self) -> Decision:
        """Return the decision of the agent or its fallback; calls are stored even if it fails.

        With `stored_with_move`, `settle` must follow.

        Raises:
            AgentError, GameError: the agent and its fallbacks gave no move.
        """
        settings = self.agent.settings
        try:
            with in_language(self.match.language):
                return await decide(settings.spec(self.agent.spec), self, seconds=settings.limit_seconds)
        except BaseException:
            await self.store_calls()
            await self._store_kept()
            raise
        finally:
            await self.store_calls()
            if self._reserved_for is not None and not self._kept:
                await self.host.writers.retry(release, self._reserved_for)

    async def settle(self, moving: Callable[[], T]) -> T:
        """Make the move in a transaction that calls `move`; store the calls alone if it fails."""
        try:
            result = await self.host.writers.retry(moving)
        except Exception:
            await self._store_kept()
            raise
        self._kept.clear()
        return result

    @transaction.atomic(savepoint=False)
    def move(self, decision: Decision) -> services.MoveResult:
        """Make the move, and store its call or mark it as played, in one transaction.

        Raises:
            Stale, Refused: nothing was changed.
        """
        if self._kept:
            self._record(self._kept, played=True)
        result = services.move_in_transaction(
            match_id=self.match.pk, role=self.role, answering=self.answering, move=decision.move, by=decision.by
        )
        if self.played_call is not None:
            mark_played(self.played_call)
        return result

    # ---- for the decision ----------------------------------------------------------------------

    async def reserve(self, agent: AgentSpec, request: Request, policy: Policy) -> None:
        """Reserve what the call may cost, waiting while other calls occupy what is left.

        Raises:
            CapReached
        """
        caps = self.host.caps(self.agent.settings.caps())
        price = self.host.prices().largest(str(agent), request)
        may_look_later = not price and caps.per_match is None
        if may_look_later and time.monotonic() < self.host.allowed.get(caps, 0.0):
            return
        payer = Payer(self.match.uid, self.role, self.answering, self.match.budget_of)
        reserving = partial(self.host.writers.retry, reserve, price, caps=caps, payer=payer, seconds=policy.longest())
        if await reserve_when_free(reserving, seconds=policy.remaining(), still_wanted=self.still_wanted):
            self._reserved_for = payer
        if may_look_later:
            self.host.allowed[caps] = time.monotonic() + ALLOWED_SECONDS

    async def store(self, calls: Sequence[CallRecord]) -> None:
        """Store calls. The answer that becomes the move is marked as played only by `move`."""
        self._kept += calls
        if not (self.stored_with_move and calls[-1].accepted and calls[-1].purpose == "move"):
            await self._store_kept()

    async def _store_kept(self) -> None:
        if self._kept:
            played_call = await self.host.writers.retry(self._record, self._kept, played=False)
            self._kept, self._reserved_for = [], None
            self.played_call = played_call or self.played_call

    def _record(self, calls: Sequence[CallRecord], *, played: bool) -> int | None:
        turn = {"role": self.role, "answering": self.answering, "payer": self._reserved_for}
        return self.host.record(calls, self.match, played=played, **turn)

    async def note(self, move: MoveData) -> Play:
        """Make a move that leaves the turn open.

        Raises:
            Stale, Refused: nothing was changed.
        """
        return await self.host.writers.retry(self._note, move)

    @transaction.atomic
    def _note(self, move: MoveData) -> Play:
        with in_language(self.match.language):
            play = services.move_in_transaction(
                match_id=self.match.pk, role=self.role, answering=self.answering, move=move
            ).play
        if self.host.on_note is not None:
            self.host.on_note(play.opened[self.role])
        return play

    async def latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        """Return the role's latest answered call of these purposes in this match."""
        return await self.host.writers.retry(latest_call, self.match.uid, self.role, purposes)

    async def ask_program(self, asked: Asked) -> tuple[MoveData, int, str]:
        async with self.place():
            return await programs.ask(self, asked, self.match.uid, self.host.writers)

    def place(self) -> AbstractAsyncContextManager[None]:
        return self.host.place()

    def still_wanted(self) -> bool:
        return self.host.still_wanted()


def reads_database(match: Match, play: Play, role: Role, agent: Agent) -> bool:
    """Return whether `question_for` reads the database."""
    return _uses_log(match, play, role, agent) or (agent.is_model and match.chat() is not None)


def _uses_log(match: Match, play: Play, role: Role, agent: Agent) -> bool:
    return _answers_matter(play, role, agent) or match.paced or agent.settings.appears == "delayed"


def _answers_matter(play: Play, role: Role, agent: Agent) -> bool:
    return is_model(agent.spec) and strategies.reads_the_log(play.game, role, agent.settings.strategy)


def question_for(
    match: Match, play: Play, role: Role, agent: Agent, host: Host, *, template: str | None = None
) -> Question:
    """Return the current question to an agent, with the log and the agent's earlier answers if it uses them.

    Raises:
        BadAgent: there is no such agent.
    """
    if match.language != language():
        with in_language(match.language):
            play = replace(play, turn=turn_in(play.game, play.state))
    question = Question(play, role, match, agent, host, template=template)
    if agent.is_model:
        question.chat = said_to(match, role)
    if _uses_log(match, play, role, agent):
        question.events = match.log()
    if _answers_matter(play, role, agent):
        question.answers = _earlier_answers(question)
    return question


def _earlier_answers(question: Question) -> dict[int, str]:
    moves = [e.number for e in question.events if e.kind == "move" and e.data["role"] == question.role]
    answers = {}
    for answering, raw in raw_answers(question.match.uid, question.role) if moves else ():
        number = next((move for move in moves if move > answering), None)
        if number is not None:
            answers[number] = raw
    return answers
