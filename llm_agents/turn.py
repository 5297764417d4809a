"""An open turn that agents are asked about: what they need to know, the calls they make, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from games.interface import Event, MoveData, Role, Said
from games.play import Play, submit
from games.strategies import Purpose, Question
from games.words import gettext as _
from llm_agents import strategies
from llm_agents.agent import AgentSpec
from llm_agents.calling import Attempt, Policy, call
from llm_agents.errors import BadAnswer, NotConfigured
from llm_agents.providers.base import ChatMessage, Completion, Request
from llm_agents.record import CallRecord
from llm_agents.strategies.asking import Asking


@dataclass
class AgentTurn:
    """A role's open turn in a match.

    The code that runs the match overrides `reserve`, `place`, `store`, `note`, `latest` and `still_wanted`. All are
    called in the decision's event loop, one after the other.

    Attributes:
        play: the current play, updated after each note.
        events: the match's log so far.
        template: the study's own instruction text.
        answers: the agent's earlier raw answers, by number of the move event they led to.
        chat: the messages of the match's chat that the role may read.
        on_text: if given, answers are streamed, and this is called with each new piece of text.
        on_retract: called when the pieces since its last call belong to an answer that does not count.
        calls: a record of each call, added as it is made, also when the decision fails.
        notes: moves that leave the turn open and are still to be made.
    """

    play: Play
    role: Role
    _: KW_ONLY
    events: Sequence[Event] = ()
    template: str | None = None
    answers: Mapping[int, str] = field(default_factory=dict)
    chat: Sequence[Said] = ()
    on_text: Callable[[str], None] | None = None
    on_retract: Callable[[], None] | None = None
    calls: list[CallRecord] = field(default_factory=list)
    notes: list[MoveData] = field(default_factory=list)
    _stored: int = 0
    _shown: bool = False

    # ---- for the code that runs the match ----------------------------------------------------------

    async def reserve(self, agent: AgentSpec, request: Request, policy: Policy) -> None:
        """Called before each call of a model: reserve what it may cost.

        Raises:
            AgentError: so much may not be spent.
        """

    def place(self) -> AbstractAsyncContextManager[None]:
        """Return what the turn holds during each call: it waits for a free place if so many may be asked at once."""
        return nullcontext()

    async def store(self, calls: Sequence[CallRecord]) -> None:
        """Store calls as soon as they are made, also those of a decision that fails."""

    async def note(self, move: MoveData) -> Play:
        """Make a move that leaves the role's turn open; return the play after it.

        Raises:
            GameError: it was refused, for example because it was stale.
        """
        play, _events = submit(self.play, self.role, move)
        self.notes.append(move)
        return play

    async def latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        """Return the role's latest stored and answered call of any of these purposes, in an earlier turn."""
        return None

    async def ask_program(self, asked: Asked) -> tuple[MoveData, int, str]:
        """Ask somebody's own program; return its move, the number of its tries, and the move's text.

        Raises:
            NoLegalMove: none of its tries was a legal move.
            ProviderError: it sent nothing in time, or there is no such program.
        """
        raise NotConfigured(_("Programs play on a server only."))

    def still_wanted(self) -> bool:
        """Return False once nobody is waiting any longer for an unavailable endpoint."""
        return True

    # ---- for the agents that are asked -------------------------------------------------------------

    async def store_calls(self) -> None:
        """Store the calls made so far."""
        if unstored := self.calls[self._stored :]:
            await self.store(unstored)
            self._stored += len(unstored)

    async def make_note(self, move: MoveData) -> None:
        """Make a legal move that leaves the turn open.

        Raises:
            GameError
        """
        await self.store_calls()
        self.play = await self.note(move)

    async def recall(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        """Return the role's latest answered call of any of these purposes."""
        if not purposes:
            return None
        made = (record for record in reversed(self.calls) if record.purpose in purposes and record.accepted)
        return next(made, None) or await self.latest(purposes)

    def show(self, piece: str) -> None:
        """Show a piece of an unfinished answer."""
        self._shown = True
        if self.on_text is not None:
            self.on_text(piece)

    def retract(self) -> None:
        """Retract what was shown."""
        if self._shown and self.on_retract is not None:
            self.on_retract()
        self._shown = False


@dataclass(frozen=True)
class Asked:
    """An agent that is asked about a turn; `rung` is 0 for the seat's own, 1 for its first fallback, and so on."""

    turn: AgentTurn
    agent: AgentSpec
    rung: int
    policy: Policy

    def asking(self, question: Question | None = None) -> Asking:
        """Return the wording of a question to it."""
        turn = self.turn
        return strategies.asking(turn.play, turn.role, self.agent.settings, template=turn.template, question=question)

    async def call(
        self,
        request: Request,
        try_number: int,
        *,
        purpose: str = "move",
        messages: Sequence[ChatMessage] | None = None,
        **recorded: Any,
    ) -> Answer:
        """Make one call, after storing the earlier ones and reserving what it may cost.

        Args:
            messages: those that the record contains; None: all of the request.
            recorded: further fields of the record.

        Raises:
            AgentError
        """
        turn, agent = self.turn, self.agent
        recorded |= {"try_number": try_number, "purpose": purpose, **self._how()}
        recorded_messages = request.messages if messages is None else messages
        answers: list[Answer] = []

        def keep(attempt: Attempt) -> None:
            if attempt.completion is not None:
                answers.append(Answer(turn, agent, recorded_messages, attempt, attempt.completion, recorded))
                return
            turn.calls.append(attempt.record(agent, recorded_messages, **recorded))
            turn.retract()

        await turn.store_calls()
        await turn.reserve(agent, request, self.policy)
        async with turn.place():
            await call(agent.kind, request, policy=self.policy, on_attempt=keep)
        return answers[0]

    def _how(self) -> dict[str, Any]:
        """Return how the agent is asked, as fields of a record."""
        turn, settings = self.turn, self.agent.settings
        return {
            "strategy": None if settings.strategy == "plain" else settings.strategy,
            "short": settings.short,
            "prompt_sha256": strategies.prompts_sha256(turn.play.game, settings, turn.template),
            "rung": self.rung,
            "streamed": turn.on_text is not None,
            "answering": turn.play.opened.get(turn.role),
        }


@dataclass(frozen=True)
class Answer:
    """A model's answer, which is recorded once it has been read."""

    turn: AgentTurn
    agent: AgentSpec
    messages: Sequence[ChatMessage]
    attempt: Attempt
    completion: Completion
    recorded: dict[str, Any]

    @property
    def text(self) -> str:
        return self.completion.text

    def record(self, problem: str | None = None, fault: str | None = None, **fields: Any) -> None:
        """Record it, with its problem and the kind of fault."""
        fields = {**self.recorded, **fields, "problem": problem, "fault": fault}
        self.turn.calls.append(self.attempt.record(self.agent, self.messages, **fields))


def corrected(request: Request, answer: str, correction: str) -> Request:
    """Return the request after an answer that was not accepted, with its correction."""
    messages: list[ChatMessage] = [
        {"role": "assistant", "content": answer.strip() or "(no answer)"},
        {"role": "user", "content": correction},
    ]
    return replace(request, messages=[*request.messages, *messages])


def fault_of(error: Exception) -> str:
    """Return the kind of fault of an answer that is not a legal move."""
    return "unreadable" if isinstance(error, BadAnswer) else "illegal"
