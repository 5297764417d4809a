"""Shared by the games of GLEE: Alice and Bob, rounds whose number they may not know, and alternating offers.

Source: GLEE, sections 2.1 to 2.3. In games of offers, alice proposes in odd rounds and bob answers; in even rounds the
other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import Field

from games.interface import (
    OBSERVER,
    ON_THE_LAST_PAGE,
    Bars,
    Block,
    Cell,
    Chance,
    Config,
    Fact,
    Facts,
    Form,
    Game,
    MoveData,
    Prospect,
    Question,
    Role,
    Said,
    Table,
    Text,
    Turn,
    View,
)
from games.words import gettext as _
from games.words import gettext_noop, language, worded_property

ALICE, BOB = "alice", "bob"
TITLES = {ALICE: gettext_noop("Alice"), BOB: gettext_noop("Bob")}
KnownRounds = Annotated[int, Field(ge=1)] | None
ABOUT_ROUNDS = "Known to both players. Empty: players are not told that the game ends, and it stops at the cap."
"""What the parameter `rounds` means, which is None if players do not know the number."""
ABOUT_MESSAGES = "Whether an offer may carry a message of up to 2,000 characters."
ABOUT_MESSAGE = gettext_noop("An optional message to the other player.")


def other(role: Role) -> Role:
    """Return the other player's role."""
    return BOB if role == ALICE else ALICE


C = TypeVar("C", bound=Config)
S = TypeVar("S")


class AliceAndBob(Game[C, S], Generic[C, S]):
    """A game of rounds between two players; the configuration's `rounds` is None if they do not know how many."""

    system = "GLEE"
    length_in_rounds: ClassVar[str] = gettext_noop("{rounds} rounds")
    private: ClassVar[Mapping[Role, frozenset[str]]]
    """By role: the parameters that only this player knows, unless information is complete."""

    def roles(self) -> tuple[Role, ...]:
        return (ALICE, BOB)

    def role_title(self, role: Role) -> str:
        return _(TITLES[role])

    def secrets(self, role: Role) -> frozenset[str]:
        """Return the cap and, if information is not complete, what only the other player knows."""
        complete: bool = self.config.complete_information  # type: ignore[attr-defined]
        return frozenset({"cap"}) if complete else self.private[other(role)] | {"cap"}

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {"you": self.role_title(role), "other": self.role_title(other(role)), "rounds": self.known_rounds}

    @property
    def known_rounds(self) -> int | None:
        """The number of rounds; None if the players do not know it."""
        rounds: int | None = self.config.rounds  # type: ignore[attr-defined]
        return rounds

    @cached_property
    def last_round(self) -> int:
        """The last round that can be played, known to the players or not."""
        cap: int = self.config.cap  # type: ignore[attr-defined]
        return cap if self.known_rounds is None else self.known_rounds

    def length(self) -> str:
        rounds = self.known_rounds
        if rounds is None:
            return _("a number of rounds that is not announced")
        return _(self.length_in_rounds).format(rounds=rounds) if rounds > 1 else _("one round")

    def round_fact(self, number: int) -> Fact:
        """Return the round as players see it."""
        rounds = self.known_rounds
        shown = str(number) if rounds is None else _("{number} of {rounds}").format(number=number, rounds=rounds)
        return Fact("round", _("Round"), number, shown)


# ---- alternating offers ------------------------------------------------------------------------

P = TypeVar("P")


@dataclass(frozen=True)
class Offers(Generic[P]):
    """All rounds so far, oldest first; the last one may still be unanswered.

    A proposal has `by`, `message` and `answer`: "accept", "reject", "walk_away", or None while it awaits one.
    """

    proposals: tuple[P, ...] = ()

    def last_if(self, answer: str | None) -> P | None:
        """Return the last proposal if it has this answer."""
        last: Any = self.proposals[-1] if self.proposals else None
        return last if last is not None and last.answer == answer else None

    def made_by(self, role: Role) -> int:
        """Return how many proposals the role has made."""
        proposals: tuple[Any, ...] = self.proposals
        return sum(proposal.by == role for proposal in proposals)

    @property
    def on_table(self) -> P | None:
        """The proposal that awaits an answer, or None."""
        return self.last_if(None)

    @property
    def accepted(self) -> P | None:
        """The accepted proposal, or None."""
        return self.last_if("accept")

    @property
    def walked_away_at(self) -> P | None:
        """The proposal at which a player walked away, or None."""
        return self.last_if("walk_away")


@dataclass(frozen=True)
class OfferScreen:
    """The parts of a view; `AlternatingOffers` puts them together. Each is a function of (game, …, role).

    Attributes:
        status: (game, state, role) → one sentence on what happens now.
        situation: (game, state, role) → the round and what is at stake.
        offer: (game, proposal, number of the round, role) → a proposal as shown to the player who answers it.
        result: (game, state, role) → how the game ended.
        picture: (game, state, role) → a chart of what may be won.
        answer: (game, proposal, who answered) → the news of an answer.
        terms: (game, proposal, role) → a rejected proposal, as a sentence for the player who made it.
        history_title: of the table of all proposals.
        columns: (game, role) → the titles of `cells`.
        cells: (game, proposal, number of the round, role) → who made it and its terms.
        bars: (game, state, role) → the result as a picture for a role.
    """

    status: Callable[[Any, Any, Role], Text]
    situation: Callable[[Any, Any, Role], Facts]
    offer: Callable[[Any, Any, int, Role], Facts]
    result: Callable[[Any, Any, Role], Facts]
    picture: Callable[[Any, Any, Role], Block]
    answer: Callable[[Any, Any, Role], str]
    terms: Callable[[Any, Any, Role], str]
    history_title: str
    columns: Callable[[Any, Role], tuple[str, ...]]
    cells: Callable[[Any, Any, int, Role], tuple[Cell, ...]]
    bars: Callable[[Any, Any, Role], Bars]


class AlternatingOffers(AliceAndBob[C, S], Generic[C, S]):
    """A game in which a player proposes and the other one answers, until they agree, one leaves, or rounds run out."""

    length_in_rounds = gettext_noop("up to {rounds} rounds")
    screen: ClassVar[OfferScreen]

    @property
    def may_walk_away(self) -> bool:
        """Whether an answer may also be to end the game."""
        return False

    @worded_property
    def offer_forms(self) -> Mapping[Role, Form]:
        """The form for each role's proposals."""
        raise NotImplementedError

    @worded_property
    def answer_form(self) -> Form:
        """The form for answers, whose only field is `decision`."""
        raise NotImplementedError

    def proposal(self, role: Role, move: Any) -> Any:
        """Return the proposal that a move makes."""
        raise NotImplementedError

    def first_proposal(self, role: Role) -> MoveData:
        """Return the proposal of a player who does not make one."""
        raise NotImplementedError

    def default(self, state: Any, role: Role) -> MoveData:
        """Return a rejection, or a proposal."""
        return {"decision": "reject"} if state.on_table else self.first_proposal(role)

    def progress(self, state: Any) -> tuple[float, float]:
        """Return the moves made, of two in each of the most rounds: an offer and its answer."""
        return 2 * len(state.proposals) - (state.on_table is not None), 2 * self.last_round

    def ends_with(self, number: int) -> bool:
        """Return whether round `number` is the last one, as far as the players know."""
        return number == self.known_rounds

    def round_of(self, state: Any) -> int:
        """Return the current round, from 1; when the game is over, the last one played."""
        rounds_played = len(state.proposals)
        return max(rounds_played, 1) if state.on_table or self.is_over(state) else rounds_played + 1

    def is_over(self, state: Any) -> bool:
        answer = state.proposals[-1].answer if state.proposals else "reject"
        return answer is not None and (answer != "reject" or len(state.proposals) >= self.last_round)

    def turn(self, state: Any) -> Turn | None:
        if offer := state.on_table:
            return Turn({other(offer.by): (self.answer_form,)})
        if self.is_over(state):
            return None
        proposer = BOB if len(state.proposals) % 2 else ALICE
        return Turn({proposer: (self.offer_forms[proposer],)})

    def apply(self, state: Any, moves: Mapping[Role, Any], chance: Chance) -> Any:
        ((role, move),) = moves.items()
        if state.on_table:
            return self._answered(state, move.decision)
        return replace(state, proposals=(*state.proposals, self.proposal(role, move)))

    def _answered(self, state: Any, answer: str) -> Any:
        """Return the state after this answer to the proposal on the table."""
        return replace(state, proposals=(*state.proposals[:-1], replace(state.on_table, answer=answer)))

    def prospects(self, state: Any, role: Role) -> tuple[Prospect, ...]:
        """Return what the game earns without an agreement, or as it ended; and what the answers to a proposal would."""
        earned, over = self.payoffs(state)[role], self.is_over(state)
        so_far = self.prospect(
            _("For this game") if over else _("Without an agreement"), role, earned, unknown=_(ON_THE_LAST_PAGE)
        )
        if state.on_table is None or state.on_table.by == role:
            return (so_far,)
        answers = {"accept": _("If you accept"), "reject": _("If you reject"), "walk_away": _("If you walk away")}
        return (
            so_far,
            *(
                self.prospect(words, role, self.payoffs(self._answered(state, answer))[role], answer)
                for answer, words in answers.items()
                if answer == "accept"
                or (self.ends_with(len(state.proposals)) if answer == "reject" else self.may_walk_away)
            ),
        )

    def ends(self, state: Any, role: Role, move: Any) -> bool:
        """Return whether it accepts, walks away, or rejects an offer that both players know to be the last."""
        if state.on_table is None:
            return False
        return move.decision != "reject" or self.ends_with(len(state.proposals))

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        return [(index // 2 + 1, "answer" if index % 2 else "offer") for index in range(len(moves))]

    def ended_how(self, moves: Sequence[tuple[Role, MoveData]]) -> str:
        how = {"accept": "accepted", "walk_away": "walked away"}.get(moves[-1][1].get("decision", ""))
        return how or ("cap" if self.known_rounds is None else "last round")

    # ---- what players see --------------------------------------------------------------------------

    @property
    def messages_allowed(self) -> bool:
        """Whether proposals may have messages."""
        allowed: bool = self.config.messages_allowed  # type: ignore[attr-defined]
        return allowed

    def players_write(self) -> bool:
        return self.messages_allowed

    def text_variables(self, role: Role) -> dict[str, Any]:
        begins = {"messages_allowed": self.messages_allowed, "you_begin": role == ALICE}
        return {**super().text_variables(role), **begins}

    def view(self, state: Any, role: Role) -> View:
        screen, over = self.screen, self.is_over(state)
        blocks: list[Block] = [screen.status(self, state, role)]
        answered = [proposal for proposal in state.proposals[-2:] if proposal.answer is not None]
        if answered and answered[-1].by == role and not over:
            news = screen.answer(self, answered[-1], other(role)), screen.terms(self, answered[-1], role)
            blocks.append(Text("news", " ".join(news), tone="notice"))
        blocks.append(screen.situation(self, state, role))
        if over:
            blocks.append(screen.result(self, state, role))
        elif state.on_table and state.on_table.by != role:
            blocks.append(screen.offer(self, state.on_table, len(state.proposals), role))
        return (*blocks, screen.picture(self, state, role), self._history(state, role))

    def notices(self, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> View:
        """Return what `role` has just learnt: a new offer, an answer to its own offer, the next round or the end."""
        ((mover, _move),) = moves.items()
        if after.on_table:
            return () if mover == role else (self.screen.offer(self, after.on_table, len(after.proposals), role),)
        over = self.is_over(after)
        next_block = (self.screen.result if over else self.screen.situation)(self, after, role)
        if mover == role:
            return (next_block,)
        return (Text("answer", self.screen.answer(self, after.proposals[-1], mover)), next_block)

    def result_bars(self, state: Any, role: Role) -> Bars | None:
        return None if role == OBSERVER else self.screen.bars(self, state, role)

    def _history(self, state: Any, role: Role) -> Table:
        """Return the finished rounds, and the role's own offer if it awaits an answer."""
        proposals = [proposal for proposal in state.proposals if proposal.answer is not None or proposal.by == role]
        columns = (
            _("Round"),
            *self.screen.columns(self, role),
            _("Answer"),
            *([_("Message")] if self.messages_allowed else []),
        )
        read_in = language()
        rows = tuple(_row(self, proposal, number, role, read_in) for number, proposal in enumerate(proposals, start=1))
        return Table("history", _(self.screen.history_title), columns, rows)


ANSWERS = {
    "accept": gettext_noop("accepted"),
    "reject": gettext_noop("rejected"),
    "walk_away": gettext_noop("walked away"),
    None: gettext_noop("waiting"),
}


@lru_cache(maxsize=8192)
def _row(game: AlternatingOffers[Any, Any], proposal: Any, number: int, role: Role, _language: str) -> tuple[Cell, ...]:
    """Return a round as a row of the history, which is shown again after every later move."""
    proposer = game.role_title(proposal.by)
    cells = (
        number,
        _("You") if proposal.by == role else proposer,
        *game.screen.cells(game, proposal, number, role),
        _(ANSWERS[proposal.answer]),
    )
    message = Said(proposer, proposal.message) if proposal.message else None
    return (*cells, message) if game.messages_allowed else cells


# ---- the question after the game ---------------------------------------------------------------

MULTIPLES = (0.25, 0.5, 2.0, 4.0)
"""Wrong answers, as multiples of the correct one (GLEE, Appendix E)."""


def amount_question(
    key: str,
    prompt: str,
    amount: float,
    shown: Callable[[float], str],
    spare: Sequence[float],
    *,
    seed: str,
    explanation: str,
) -> Question:
    """Return a question with four amounts as options that depend only on the correct one.

    Args:
        shown: how an amount is written.
        spare: multiples for amounts so small that the usual ones look the same.
        explanation: with the amount as {amount}.
        seed: of the multiple that is left out. It differs from amount to amount; otherwise the correct answer would
            have a fixed position.
    """
    multiples = Random(f"{seed}/{amount!r}").sample(MULTIPLES, len(MULTIPLES))
    options = {shown(amount): amount}
    for multiple in (*multiples, *spare):
        if len(options) < 4:
            options.setdefault(shown(amount * multiple), amount * multiple)
    ordered = tuple(sorted(options, key=lambda option: options[option]))
    return Question(key, prompt, ordered, shown(amount), explanation.format(amount=shown(amount)))
