"""Estimates of what a study will take and cost, before anyone has played it.

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
from payouts.rules import PayRule, bonus
from studies import texts
from studies.design import WantedCell, cells_wanted
from studies.models import Study

MATCHES, MOVES = 24, 6000
"""Number of matches simulated, and number of moves after which no further match is started, to keep it fast."""
ANNOUNCEMENT_SAMPLE = 2
"""Number of matches simulated for the announced minutes."""
MAX_MOVES = 3000
"""Maximum number of moves in one match."""
PRICED, MOST_PRICED, MEASURED = 2, 8, 5
"""Limits: matches measured per set of models, sets of models measured, and calls of a model in a match."""
WORDS_PER_MINUTE = 200
"""Reading speed (an assumption, like the seconds below)."""
SECONDS_PER_DECISION, SECONDS_PER_PAGE, SECONDS_PER_QUESTION, SECONDS_OF_A_MODEL = 20, 10, 10, 5
LETTERS_PER_TOKEN = 4
ANSWER_TOKENS, REASONED_TOKENS = 60, 400
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
    groups: bool
    decisions: float
    minutes: float
    pay: tuple[Decimal, Decimal, Decimal] | None
    currency: str
    model_calls: float
    model_cost: Decimal | None

    @property
    def in_groups(self) -> bool:
        """Whether participants play with each other."""
        return self.groups

    @property
    def hourly(self) -> Decimal | None:
        """Mean hourly pay at this pace."""
        return self.pay[1] * 60 / Decimal(self.minutes) if self.pay and self.minutes else None

    @property
    def pay_in_all(self) -> Decimal | None:
        return self.pay[1] * self.people if self.pay else None

    @property
    def models_in_all(self) -> Decimal | None:
        return None if self.model_cost is None else self.model_cost * self.matches


@dataclass(frozen=True)
class _Trial:
    """One match played by scripted players.

    Attributes:
        decisions, waiting: of a participant, and the seconds they waited for others.
        pay: of each participant.
        calls, cost: what the models would have needed, if measured.
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
    cells = cells_wanted(study)
    games = [_sample(one, _pay_of(study)) for one in (study, *study.further())]
    trials = [trial for game in games for trial in game[0]]
    amounts = [amount for trial in trials for amount in trial.pay]
    matches = study.session_matches
    decisions = matches * mean(mean(trial.decisions for trial in game) for game, _calls, _cost in games)
    waiting = matches * mean(mean(trial.waiting for trial in game) for game, _calls, _cost in games)
    seconds = decisions * SECONDS_PER_DECISION + waiting + _around(study, cells[0])
    begun = _begun(study, cells)
    costs = [cost for _trials, _calls, cost in games]
    calls = mean(calls for _trials, calls, _cost in games)
    cost = None if None in costs else sum((one for one in costs if one is not None), Decimal(0)) / len(costs)
    return Forecast(
        sampled=len(trials),
        configurations=len({id(cell.config) for cell in cells}),
        cells=len(cells),
        matches=matches * sum(cell.quota for cell in begun),
        people=sum(cell.quota * len(cell.people) for cell in begun),
        groups=any(len(cell.people) > 1 for cell in cells),
        decisions=decisions,
        minutes=seconds / 60,
        pay=(min(amounts), sum(amounts, Decimal(0)) / len(amounts), max(amounts)) if amounts else None,
        currency=study.currency,
        model_calls=calls,
        model_cost=cost,
    )


def _sample(study: Study, pay: PayRule | None) -> tuple[list[_Trial], float, Decimal | None]:
    """Return simulated matches, and the model calls and cost per match from `_of_models`."""
    cells, agents = cells_wanted(study), study.agents_by_label()
    trials: list[_Trial] = []
    measured: dict[tuple[str, ...], list[_Trial]] = {}
    sampled = _spread(cells, MATCHES)
    each = max(1, MATCHES // len(sampled))
    for seed, cell in product(range(each), sampled):
        if sum(trial.moves for trial in trials) < MOVES:
            models = _models(cell, agents)
            known = measured.setdefault(models, [])
            costs = bool(models) and len(known) < PRICED and len(measured) <= MOST_PRICED
            trials.append(_trial(study, cell, agents, pay, seed, measured=costs))
            if costs or not models:
                known.append(trials[-1])
    return trials, *_of_models(cells, agents, measured)


def _begun(study: Study, cells: Sequence[WantedCell]) -> Sequence[WantedCell]:
    """Return the cells in which participants begin: with a fixed order, those of the first configuration."""
    if study.session_matches == 1 or study.session_order != "fixed" or study.session_games:
        return cells
    return [cell for cell in cells if cell.config == cells[0].config]


def minutes_of(study: Study) -> int | None:
    """Return the announced duration in minutes, rounded up; None if nothing can be played.

    Plays one match in each of a few cells, so that launching a study stays quick.
    """
    try:
        cells = cells_wanted(study)
        trials = [
            [
                _trial(one, cell, one.agents_by_label(), None, 0, measured=False)
                for cell in _spread(cells_wanted(one), ANNOUNCEMENT_SAMPLE)
            ]
            for one in (study, *study.further())
        ]
    except (GameError, ValueError, LookupError):
        return None
    seconds = mean(mean(trial.decisions * SECONDS_PER_DECISION + trial.waiting for trial in game) for game in trials)
    minutes = ceil((study.session_matches * seconds + _around(study, cells[0])) / 60)
    return minutes if minutes <= 10 else 5 * ceil(minutes / 5)


def _models(cell: WantedCell, agents: Mapping[str, Agent]) -> tuple[str, ...]:
    """Return the models that may play in a cell, by label."""
    return tuple(label for label in labels_in(cell.seats) if not agents[label].scripted)


def _of_models(
    cells: Sequence[WantedCell], agents: Mapping[str, Agent], measured: Mapping[tuple[str, ...], Sequence[_Trial]]
) -> tuple[float, Decimal | None]:
    """Return mean calls and cost per match over all cells; cells not simulated count as the mean of the others."""
    matches: dict[tuple[str, ...], int] = {}
    for cell in cells:
        models = _models(cell, agents)
        if measured.get(models):
            matches[models] = matches.get(models, 0) + cell.quota
    in_all = sum(matches.values())
    if not in_all or not any(matches):
        return 0.0, Decimal(0)
    calls, cost, known = 0.0, Decimal(0), True
    for models, wanted in matches.items():
        if models:
            costs = [trial.cost for trial in measured[models]]
            calls += mean(trial.calls for trial in measured[models]) * wanted
            known = known and None not in costs
            cost += sum((one for one in costs if one is not None), Decimal(0)) / len(costs) * wanted
    return calls / in_all, cost / in_all if known else None


def _pay_of(study: Study) -> PayRule | None:
    try:
        return study.pay()
    except (ValueError, TypeError):
        return None


def _spread(things: Sequence[T], most: int) -> list[T]:
    """Return at most `most` of the items, evenly spread over all."""
    if len(things) <= most:
        return list(things)
    return [things[i * len(things) // most] for i in range(most)]


def _trial(
    study: Study, cell: WantedCell, agents: Mapping[str, Agent], pay: PayRule | None, seed: int, *, measured: bool
) -> _Trial:
    """Simulate a match in the cell, counting its models' calls if `measured`."""
    game = games.play.configure(registry.get(study.game), cell.config, amounts=study.amounts)
    seated = {role: agents[label] for role, label in draw_lineup(cell.seats, seed).items()}
    play, opening = games.play.start(game, seed)
    log = list(opening)
    people = dict.fromkeys(cell.people, 0)
    waiting = moves = 0.0
    asked: dict[Role, list[tuple[Play, int]]] = {role: [] for role, agent in seated.items() if not agent.scripted}
    while not play.over and moves < MAX_MOVES:
        turn = play.waiting_for()
        waiting += _waits(turn, people, seated)
        for role in turn:
            if role not in play.waiting_for():
                continue
            if role in people:
                people[role] += 1
            elif role in asked:
                asked[role].append((play, len(log)))
            script = _script(game, seated.get(role))
            play, made = games.play.submit(play, role, games.play.script_move(play, role, script))
            log += made
            moves += 1
    costs = [_cost(study, seated[role], role, moments, log) for role, moments in asked.items() if measured and moments]
    return _Trial(
        moves=int(moves),
        decisions=mean(people.values()),
        waiting=waiting / len(people),
        pay=_paid(play, game, cell, pay),
        calls=sum(len(moments) * _calls_in_a_turn(game, role, seated[role]) for role, moments in asked.items())
        if measured
        else 0,
        cost=None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
    )


def _script(game: Game[Any, Any], agent: Agent | None) -> str:
    """Return the script that moves for a participant (None), for a scripted agent, or in place of a model."""
    if agent is None:
        return game.default_script
    return agent.spec.removeprefix("script:") if agent.scripted else agent.settings.script or game.default_script


def _waits(turn: Sequence[Role], people: Collection[Role], seated: Mapping[Role, Agent]) -> float:
    """Return the total seconds that participants wait while these roles decide at the same time."""
    seconds = {
        role: (0 if seated[role].scripted else SECONDS_OF_A_MODEL) + seated[role].delay
        if role in seated
        else SECONDS_PER_DECISION
        for role in turn
    }
    longest = max(seconds.values())
    return sum(longest - (seconds[role] if role in turn else 0) for role in people)


def _cost(
    study: Study, agent: Agent, role: Role, asked: Sequence[tuple[Play, int]], log: Sequence[Event]
) -> Decimal | None:
    """Return the US dollars for a model `asked` at these moments; None if its price is unknown.

    Args:
        asked: the play, and the number of log events at that moment.
    """
    price = current_prices().of(agent.spec)
    if price is None:
        return None
    spec = agent.settings.spec(agent.spec)
    worded = wording(spec, template=study.instructions or None, prompts=agent.settings.prompts)
    letters = [
        sum(len(message["content"]) for message in strategies.messages(play, role, log[:events], **worded))
        for play, events in _spread(asked, MEASURED)
    ]
    game = asked[0][0].game
    calls = len(asked) * _calls_in_a_turn(game, role, agent)
    tokens = int(mean(letters) * calls / LETTERS_PER_TOKEN) if letters else 0
    answer = REASONED_TOKENS if strategies.called(spec.strategy, game).reasons else ANSWER_TOKENS
    return (price.input * tokens + price.output * answer * calls) / MILLION


def _calls_in_a_turn(game: Game[Any, Any], role: Role, agent: Agent) -> int:
    """Return the number of calls per move: from the strategy's modules, or EconEvals' rule for models with tools."""
    strategy = agent.settings.spec(agent.spec).strategy
    if strategies.layout_of(game, role, strategy) == "tools":
        return CALLS_WITH_TOOLS
    return 1 + len(strategies.called(strategy, game).modules)


def _paid(play: Play, game: Game[Any, Any], cell: WantedCell, pay: PayRule | None) -> tuple[Decimal, ...]:
    payoffs: Mapping[Role, float] | None = play.payoffs() if play.over else None
    if pay is None or payoffs is None:
        return ()
    rule = pay if cell.average is None else pay.model_copy(update={"announced_average": cell.average})
    return tuple(
        rule.base + bonus(rule, payoff=payoffs[role], share=game.pay_share(play.state, role)) for role in cell.people
    )


def _around(study: Study, cell: WantedCell) -> float:
    """Return the seconds a participant needs before and after the match."""
    game = games.play.configure(registry.get(study.game), cell.config, amounts=study.amounts)
    try:
        read = [
            study.consent or texts.default_consent(study),
            game.instructions(cell.people[0], study.instructions or None),
        ]
    except (GameError, ValueError):
        read = []
    words = sum(len(text.split()) for text in read)
    questions = len(game.quiz(cell.people[0])) if study.asks_quiz else 0
    questions += len(study.survey_before or ()) + len(study.survey_after or ())
    return words * 60 / WORDS_PER_MINUTE + 4 * SECONDS_PER_PAGE + questions * SECONDS_PER_QUESTION
