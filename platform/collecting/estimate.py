"""What a collection's model calls will take and cost, before it starts.

Scripted players play a sample of its matches in place of the models. Tokens per call are those of the same model's
earlier calls in the same game, if there are any.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import games.play
from collecting import planning
from collecting.models import Collection
from games import registry
from games.interface import Role
from games.play import Play
from llm_agents.pricing import MILLION
from matches.models import Match
from opponents.agents import Agent
from opponents.models import Call
from studies.forecast import MAX_MOVES, MAX_TOTAL_MOVES, ModelUse, model_use, script_of

SAMPLE = 12
EARLIER_CALLS = 200
"""Number of a model's latest calls from which its tokens are taken."""


@dataclass(frozen=True)
class Estimate:
    """Sums over all planned matches; the dollars are None if a price is unknown.

    Attributes:
        read, written: tokens of all calls.
        expected: US dollars if every answer is a legal move.
        at_most: if every move takes all its tries, and every answer is as long as possible; the budget, if lower.
        from_earlier_calls: whether the tokens of all models are those of earlier calls.
        largest_call: the most that one call can cost, as far as prices are known.
    """

    calls: int
    read: int
    written: int
    expected: Decimal | None
    at_most: Decimal | None
    from_earlier_calls: bool
    largest_call: Decimal

    def as_line(self) -> str:
        """Return one line for a terminal."""
        line = f"expected: {self.calls:,} model calls, {self.read:,} tokens read and {self.written:,} written; "
        if self.expected is None or self.at_most is None:
            return f"{line}price unknown"
        return f"{line}about ${self.expected:,.2f}, at most ${self.at_most:,.2f}"


def estimate_of(collection: Collection) -> Estimate | None:
    """Return the estimate for the planned matches; None if no model plays.

    Raises:
        GameError: a match cannot be played by scripts.
    """
    if not planning.models_of(planning.agents_in(collection).values()):
        return None
    prices = planning.prices(collection)
    earlier: dict[str, tuple[float, float] | None] = {}
    calls = sampled = moves = 0
    read = written = 0.0
    expected = at_most = largest_call = Decimal(0)
    all_priced = True
    for number in range(1, collection.planned + 1, max(1, collection.planned // SAMPLE)):
        if moves >= MAX_TOTAL_MOVES:
            break
        match_moves, uses = _uses(collection, number)
        moves, sampled = moves + match_moves, sampled + 1
        for agent, use in uses:
            if agent.spec not in earlier:
                earlier[agent.spec] = _tokens_per_call(collection.game, agent.spec)
            tokens = earlier[agent.spec] or (use.read / use.calls, use.written / use.calls)
            calls, read, written = calls + use.calls, read + use.calls * tokens[0], written + use.calls * tokens[1]
            price = prices.of(agent.spec)
            if price is None:
                all_priced = False
                continue
            largest = prices.largest_of(agent.spec, size=use.longest, max_tokens=agent.settings.max_tokens) or Decimal(
                0
            )
            largest_call = max(largest_call, largest)
            per_call = (price.input * Decimal(tokens[0]) + price.output * Decimal(tokens[1])) / MILLION
            expected += per_call * use.calls
            at_most += largest * use.calls * (1 + agent.settings.tries_after_first)
    factor = Decimal(collection.planned) / sampled
    highest = at_most * factor if collection.budget is None else min(at_most * factor, collection.budget)
    return Estimate(
        calls=round(calls * factor),
        read=round(Decimal(read) * factor),
        written=round(Decimal(written) * factor),
        expected=expected * factor if all_priced else None,
        at_most=highest if all_priced else None,
        from_earlier_calls=None not in earlier.values(),
        largest_call=largest_call,
    )


def _uses(collection: Collection, number: int) -> tuple[int, list[tuple[Agent, ModelUse]]]:
    """Return the number of moves of a match played by scripts, and each model's use in it."""
    planned = planning.planned_match(collection, number)
    game = games.play.configure(registry.get(collection.game), planned.config)
    agents = {
        role: Agent(spec=player.agent, delay=player.delay, settings=player.settings)
        for role, player in planned.players.items()
    }
    play, opening = games.play.start(game, planned.seed)
    log, moves = list(opening), 0
    turns: dict[Role, list[tuple[Play, int]]] = {role: [] for role, agent in agents.items() if not agent.scripted}
    while not play.over and moves < MAX_MOVES:
        for role in play.waiting_for():
            if role not in play.waiting_for():
                continue
            if role in turns:
                turns[role].append((play, len(log)))
            play, events = games.play.submit(
                play, role, games.play.script_move(play, role, script_of(game, agents[role]))
            )
            log += events
            moves += 1
    template = planned.instructions if planned.edited else None
    return moves, [
        (agents[role], model_use(agents[role], role, role_turns, log, template=template))
        for role, role_turns in turns.items()
        if role_turns
    ]


def _tokens_per_call(game: str, spec: str) -> tuple[float, float] | None:
    """Return mean tokens read and written per call of a model in earlier matches of a game; None without calls."""
    endpoint, _colon, model = spec.partition(":")
    calls = Call.objects.filter(endpoint=endpoint, model=model, cost__isnull=False).exclude(purpose="judge")
    latest = calls.filter(match_uid__in=Match.objects.filter(game=game).values("uid")).order_by("-pk")[:EARLIER_CALLS]
    rows = list(latest.values_list("record__input_tokens", "record__output_tokens"))
    counted = [(read, written) for read, written in rows if read is not None and written is not None]
    if not counted:
        return None
    return sum(read for read, _w in counted) / len(counted), sum(written for _r, written in counted) / len(counted)
