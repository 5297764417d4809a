"""Estimates of what a study will take, before anyone has played it; `studies.costs` says what it will cost.

Scripted players play matches of its own cells, with the game's sparring partner in the participants' seats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import ceil
from statistics import mean
from typing import Any, TypeVar

import games.play
from games import registry
from games.errors import GameError
from games.interface import Event, Game, Role
from games.play import Play
from llm_agents import strategies
from llm_agents.agent import wording
from opponents.agents import Agent, draw_lineup, labels_in
from opponents.endpoints import current_prices, refresh_if_old
from plans.pay import PayRule, bonus
from studies import texts
from studies.models import Study

MAX_MATCHES, MAX_TOTAL_MOVES = 24, 6000
"""Number of matches simulated, and number of moves after which no further match is started, to keep it fast."""
ANNOUNCEMENT_SAMPLE = 2
"""Number of matches simulated for the announced minutes."""
MAX_MOVES = 3000
"""Maximum number of moves in one match."""
MEASURED_PER_SET, MAX_MEASURED_SETS, MAX_MEASURED_CALLS = 2, 8, 5
"""Limits: matches measured per set of models, sets of models measured, and calls of a model in a match."""
WORDS_PER_MINUTE = 200
"""Reading speed (an assumption, like the seconds below)."""
SECONDS_PER_DECISION, SECONDS_PER_PAGE, SECONDS_PER_QUESTION, SECONDS_PER_MODEL_ANSWER = 20, 10, 10, 5
CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS, REASONING_TOKENS = 60, 400
CALLS_WITH_TOOLS = 8
"""Number of calls that a model with tools makes per move (EconEvals, published forecast)."""
MILLION = Decimal(1_000_000)
T = TypeVar("T")


@dataclass(frozen=True)
class Forecast:
    """Means over the simulated matches.

    Attributes:
        sampled: number of simulated matches.
        matches: number of matches the study needs.
        people: number of participants needed; each plays one match or one session.
        decisions: per participant.
        minutes: per participant from the first page to the last, excluding the lobby.
        pay: base and bonus per participant, as (minimum, mean, maximum); None if the pay rule is incomplete.
        model_calls: per match; 0 if no model plays.
        model_cost: US dollars per match; None if a model's price is unknown.
    """

    sampled: int
    configurations: int
    cells: int
    matches: int
    people: int
    decisions: float
    minutes: float
    pay: tuple[Decimal, Decimal, Decimal] | None
    currency: str
    model_calls: float
    model_cost: Decimal | None


@dataclass(frozen=True)
class _SimulatedMatch:
    """One match played by scripted players.

    Attributes:
        decisions, waiting: of a participant, and the seconds they waited for others.
        pay: of each participant.
        calls, cost: estimated for the models, if measured.
    """

    moves: int
    decisions: float
    waiting: float
    pay: tuple[Decimal, ...]
    calls: int = 0
    cost: Decimal | None = None


def forecast(study: Study) -> Forecast:
    """Return the forecast for the study's current settings; nothing is saved and no model is called.

    Raises:
        GameError, AgentError: the study cannot be played.
    """
    refresh_if_old()
    cells = plan_cells(study)
    games = [_sample(game_study, _pay_of(study)) for game_study in (study, *study.other_game_studies())]
    simulated_matches = [simulated for game in games for simulated in game[0]]
    amounts = [amount for simulated in simulated_matches for amount in simulated.pay]
    matches = study.session_matches
    decisions = matches * mean(mean(simulated.decisions for simulated in game) for game, _calls, _cost in games)
    waiting = matches * mean(mean(simulated.waiting for simulated in game) for game, _calls, _cost in games)
    seconds = decisions * SECONDS_PER_DECISION + waiting + _overhead_seconds(study, cells[0])
    starting_cells = _starting_cells(study, cells)
    costs = [cost for _trials, _calls, cost in games]
    calls = mean(calls for _trials, calls, _cost in games)
    cost = None if None in costs else sum((amount for amount in costs if amount is not None), Decimal(0)) / len(costs)
    return Forecast(
        sampled=len(simulated_matches),
        configurations=len({id(cell.config) for cell in cells}),
        cells=len(cells),
        matches=matches * sum(cell.quota for cell in starting_cells),
        people=sum(cell.quota * len(cell.people) for cell in starting_cells),
        decisions=decisions,
        minutes=seconds / 60,
        pay=(min(amounts), sum(amounts, Decimal(0)) / len(amounts), max(amounts)) if amounts else None,
        currency=study.currency,
        model_calls=calls,
        model_cost=cost,
    )


def _sample(study: Study, pay: PayRule | None) -> tuple[list[_SimulatedMatch], float, Decimal | None]:
    """Return simulated matches, and the model calls and cost per match from `_mean_model_use`."""
    cells, agents = plan_cells(study), study.agents_by_label()
    simulated_matches: list[_SimulatedMatch] = []
    measured: dict[tuple[str, ...], list[_SimulatedMatch]] = {}
    sampled = _evenly_spaced(cells, MAX_MATCHES)
    repetitions = max(1, MAX_MATCHES // len(sampled))
    for seed, cell in product(range(repetitions), sampled):
        if sum(simulated.moves for simulated in simulated_matches) < MAX_TOTAL_MOVES:
            models = _models(cell, agents)
            previous = measured.setdefault(models, [])
            is_measured = bool(models) and len(previous) < MEASURED_PER_SET and len(measured) <= MAX_MEASURED_SETS
            simulated_matches.append(_simulate(study, cell, agents, pay, seed, measured=is_measured))
            if is_measured or not models:
                previous.append(simulated_matches[-1])
    return simulated_matches, *_mean_model_use(cells, agents, measured)


def _starting_cells(study: Study, cells: Sequence[PlannedCell]) -> Sequence[PlannedCell]:
    """Return the cells in which participants begin: with a fixed order, those of the first configuration."""
    if study.session_matches == 1 or study.session_order != "fixed" or study.session_games:
        return cells
    return [cell for cell in cells if cell.config == cells[0].config]


def minutes_of(study: Study) -> int | None:
    """Return the announced duration in minutes, rounded up; None if nothing can be played.

    Plays one match in each of a few cells, so that launching a study stays quick.
    """
    try:
        cells = plan_cells(study)
        simulated_matches = [
            [
                _simulate(game_study, cell, game_study.agents_by_label(), None, 0, measured=False)
                for cell in _evenly_spaced(plan_cells(game_study), ANNOUNCEMENT_SAMPLE)
            ]
            for game_study in (study, *study.other_game_studies())
        ]
    except (GameError, ValueError, LookupError):
        return None
    seconds = mean(
        mean(simulated.decisions * SECONDS_PER_DECISION + simulated.waiting for simulated in game)
        for game in simulated_matches
    )
    minutes = ceil((study.session_matches * seconds + _overhead_seconds(study, cells[0])) / 60)
    return minutes if minutes <= 10 else 5 * ceil(minutes / 5)


def _models(cell: PlannedCell, agents: Mapping[str, Agent]) -> tuple[str, ...]:
    """Return the models that may play in a cell, by label."""
    return tuple(label for label in labels_in(cell.seats) if not agents[label].scripted)


def _mean_model_use(
    cells: Sequence[PlannedCell],
    agents: Mapping[str, Agent],
    measured: Mapping[tuple[str, ...], Sequence[_SimulatedMatch]],
) -> tuple[float, Decimal | None]:
    """Return mean calls and cost per match over all cells; cells not simulated count as the mean of the others."""
    matches: dict[tuple[str, ...], int] = {}
    for cell in cells:
        models = _models(cell, agents)
        if measured.get(models):
            matches[models] = matches.get(models, 0) + cell.quota
    total = sum(matches.values())
    if not total or not any(matches):
        return 0.0, Decimal(0)
    calls, cost, all_priced = 0.0, Decimal(0), True
    for models, quota in matches.items():
        if models:
            costs = [simulated.cost for simulated in measured[models]]
            calls += mean(simulated.calls for simulated in measured[models]) * quota
            all_priced = all_priced and None not in costs
            cost += sum((item for item in costs if item is not None), Decimal(0)) / len(costs) * quota
    return calls / total, cost / total if all_priced else None


def _pay_of(study: Study) -> PayRule | None:
    try:
        return study.pay()
    except (ValueError, TypeError):
        return None


def _evenly_spaced(items: Sequence[T], maximum: int) -> list[T]:
    """Return at most `maximum` of the items, evenly spaced."""
    if len(items) <= maximum:
        return list(items)
    return [items[i * len(items) // maximum] for i in range(maximum)]


def _simulate(
    study: Study, cell: PlannedCell, agents: Mapping[str, Agent], pay: PayRule | None, seed: int, *, measured: bool
) -> _SimulatedMatch:
    """Simulate a match in the cell, counting its models' calls if `measured`."""
    game = games.play.configure(registry.get(study.game), cell.config, amounts=study.amounts)
    agents_by_role = {role: agents[label] for role, label in draw_lineup(cell.seats, seed).items()}
    play, opening = games.play.start(game, seed)
    log = list(opening)
    people = dict.fromkeys(cell.people, 0)
    waiting = moves = 0.0
    turns: dict[Role, list[tuple[Play, int]]] = {
        role: [] for role, agent in agents_by_role.items() if not agent.scripted
    }
    while not play.over and moves < MAX_MOVES:
        deciding_roles = play.waiting_for()
        waiting += _waiting_seconds(deciding_roles, people, agents_by_role)
        for role in deciding_roles:
            if role not in play.waiting_for():
                continue
            if role in people:
                people[role] += 1
            elif role in turns:
                turns[role].append((play, len(log)))
            script = script_of(game, agents_by_role.get(role))
            play, new_events = games.play.submit(play, role, games.play.script_move(play, role, script))
            log += new_events
            moves += 1
    costs = [
        _cost(study, agents_by_role[role], role, role_turns, log)
        for role, role_turns in turns.items()
        if measured and role_turns
    ]
    return _SimulatedMatch(
        moves=int(moves),
        decisions=mean(people.values()),
        waiting=waiting / len(people),
        pay=_pay_amounts(play, game, cell, pay),
        calls=sum(
            len(role_turns) * _calls_per_turn(game, role, agents_by_role[role]) for role, role_turns in turns.items()
        )
        if measured
        else 0,
        cost=None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
    )


def script_of(game: Game[Any, Any], agent: Agent | None) -> str:
    """Return the script that moves for a participant (None), for a scripted agent, or in place of a model."""
    if agent is None:
        return game.default_script
    return agent.spec.removeprefix("script:") if agent.scripted else agent.settings.script or game.default_script


def _waiting_seconds(
    deciding_roles: Sequence[Role], people: Collection[Role], agents_by_role: Mapping[Role, Agent]
) -> float:
    """Return the total seconds that participants wait while these roles decide at the same time."""
    seconds = {
        role: (0 if agents_by_role[role].scripted else SECONDS_PER_MODEL_ANSWER) + agents_by_role[role].delay
        if role in agents_by_role
        else SECONDS_PER_DECISION
        for role in deciding_roles
    }
    longest = max(seconds.values())
    return sum(longest - (seconds[role] if role in deciding_roles else 0) for role in people)


def _cost(
    study: Study, agent: Agent, role: Role, turns: Sequence[tuple[Play, int]], log: Sequence[Event]
) -> Decimal | None:
    """Return the cost of a model's calls at these turns, in US dollars; None if its price is unknown.

    Args:
        turns: the play, and the number of log events, at each turn.
    """
    price = current_prices().of(agent.spec)
    if price is None:
        return None
    use = model_use(agent, role, turns, log, template=study.instructions or None)
    return (price.input * use.read + price.output * use.written) / MILLION


@dataclass(frozen=True)
class ModelUse:
    """Estimated calls of a model in a match, and the tokens that it reads and writes.

    Attributes:
        longest: characters of the longest prompt.
    """

    calls: int
    read: int
    written: int
    longest: int


def model_use(
    agent: Agent, role: Role, turns: Sequence[tuple[Play, int]], log: Sequence[Event], *, template: str | None = None
) -> ModelUse:
    """Return a model's estimated use at these turns.

    Args:
        turns: the play, and the number of log events, at each turn.
        template: edited instructions.
    """
    spec = agent.settings.spec(agent.spec)
    wording_options = wording(spec, template=template, prompts=agent.settings.prompts)
    characters = [
        sum(
            len(message["content"]) for message in strategies.messages(play, role, log[:event_count], **wording_options)
        )
        for play, event_count in _evenly_spaced(turns, MAX_MEASURED_CALLS)
    ]
    game = turns[0][0].game
    calls = len(turns) * _calls_per_turn(game, role, agent)
    answer = REASONING_TOKENS if strategies.strategy_named(spec.strategy, game).reasons else ANSWER_TOKENS
    return ModelUse(
        calls=calls,
        read=int(mean(characters) * calls / CHARACTERS_PER_TOKEN),
        written=answer * calls,
        longest=max(characters),
    )


def _calls_per_turn(game: Game[Any, Any], role: Role, agent: Agent) -> int:
    """Return the number of calls per move: from the strategy's modules, or EconEvals' rule for models with tools."""
    strategy = agent.settings.spec(agent.spec).strategy
    if strategies.layout_of(game, role, strategy) == "tools":
        return CALLS_WITH_TOOLS
    return 1 + len(strategies.strategy_named(strategy, game).modules)


def _pay_amounts(play: Play, game: Game[Any, Any], cell: PlannedCell, pay: PayRule | None) -> tuple[Decimal, ...]:
    payoffs: Mapping[Role, float] | None = play.payoffs() if play.over else None
    if pay is None or payoffs is None:
        return ()
    rule = pay if cell.average is None else pay.model_copy(update={"announced_average": cell.average})
    return tuple(
        rule.base + bonus(rule, payoff=payoffs[role], share=game.pay_share(play.state, role)) for role in cell.people
    )


def _overhead_seconds(study: Study, cell: PlannedCell) -> float:
    """Return the seconds a participant needs before and after the match."""
    game = games.play.configure(registry.get(study.game), cell.config, amounts=study.amounts)
    try:
        texts_read = [
            study.consent or texts.default_consent(study),
            game.instructions(cell.people[0], study.instructions or None),
        ]
    except (GameError, ValueError):
        texts_read = []
    words = sum(len(text.split()) for text in texts_read)
    questions = len(game.quiz(cell.people[0])) if study.asks_quiz else 0
    questions += len(study.survey_before or ()) + len(study.survey_after or ())
    return words * 60 / WORDS_PER_MINUTE + 4 * SECONDS_PER_PAGE + questions * SECONDS_PER_QUESTION
