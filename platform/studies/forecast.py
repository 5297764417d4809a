"""What a study is likely to take and cost, before anybody has played it.

Matches of its own configurations are played here by scripted players, people's roles by the game's
sparring partner. The seconds and words below are assumptions, named wherever the figures are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from statistics import mean
from typing import Any, TypeVar

import games.play
from games import registry
from games.errors import GameError
from games.interface import Event, Game, Role
from games.play import Play
from llm_agents import strategies
from llm_agents.agent import AgentSpec, wording
from llm_agents.parsing import CHAIN_OF_THOUGHT
from matches.agent_settings import AgentSettings, settings_of
from opponents.endpoints import prices_now, refresh_if_old
from payouts.rules import PayRule, bonus
from studies import texts
from studies.design import WantedCell, cells_wanted
from studies.models import Study

MATCHES, MOVES = 24, 6000
"""Matches played in all, and moves after which no further one is begun: somebody waits for the answer."""
MOST_MOVES = 3000
"""Moves of one match."""
PRICED, MEASURED = 2, 5
"""Matches whose model calls are measured, and the calls of each that are, spread over its length."""
WORDS_PER_MINUTE = 200
"""How fast people read (an assumption, like the seconds below)."""
SECONDS_PER_DECISION, SECONDS_PER_PAGE, SECONDS_PER_QUESTION, SECONDS_OF_A_MODEL = 20, 10, 10, 5
LETTERS_PER_TOKEN = 4
ANSWER_TOKENS, REASONED_TOKENS = 60, 400
MILLION = Decimal(1_000_000)
T = TypeVar("T")


@dataclass(frozen=True)
class Forecast:
    """Means over the matches that were played.

    Attributes:
        sampled: how many matches that were.
        people: how many people the study wants in all; each of them plays one match.
        decisions: of a person in a match.
        minutes: of a person from the first page to the last.
        pay: base and bonus of a person, as (least, mean, most); None where the pay rule is not complete.
        model_calls: of a match; 0 where no model plays.
        model_cost: US dollars of a match; None where the model's price is not known.
    """

    sampled: int
    configurations: int
    cells: int
    people: int
    decisions: float
    minutes: float
    pay: tuple[Decimal, Decimal, Decimal] | None
    currency: str
    model_calls: float
    model_cost: Decimal | None

    @property
    def hourly(self) -> Decimal | None:
        """Mean pay for an hour at this pace."""
        return self.pay[1] * 60 / Decimal(self.minutes) if self.pay and self.minutes else None

    @property
    def pay_in_all(self) -> Decimal | None:
        return self.pay[1] * self.people if self.pay else None

    @property
    def models_in_all(self) -> Decimal | None:
        return None if self.model_cost is None else self.model_cost * self.people


@dataclass(frozen=True)
class _Trial:
    """One match of a person against the opponent."""

    decisions: int
    others: int
    pay: Decimal | None
    calls: int
    cost: Decimal | None


def forecast(study: Study) -> Forecast:
    """What the study as it stands would take; nothing is saved and no model is asked.

    Raises:
        GameError, AgentError: the study could not be played.
    """
    refresh_if_old()
    cells = cells_wanted(study)
    settings = settings_of(study.asking)
    agent = settings.spec(study.agent)
    pay = _pay_of(study)
    trials = []
    sampled = _spread(cells, MATCHES)
    each = max(1, MATCHES // len(sampled))
    every = max(1, len(sampled) * each // PRICED)
    for seed, cell in product(range(each), sampled):
        if sum(trial.decisions + trial.others for trial in trials) < MOVES:
            game = games.play.configure(registry.get(study.game), cell.config)
            measured = not agent.scripted and len(trials) % every == 0
            trials.append(_trial(study, game, cell, agent, settings, pay, seed, measured=measured))
    priced = [trial for trial in trials if trial.calls]
    amounts = [trial.pay for trial in trials if trial.pay is not None]
    costs = [trial.cost for trial in priced if trial.cost is not None]
    decisions = mean(trial.decisions for trial in trials)
    waiting = mean(trial.others for trial in trials) * (
        study.agent_delay if agent.scripted else SECONDS_OF_A_MODEL + study.agent_delay
    )
    return Forecast(
        sampled=len(trials),
        configurations=len({id(cell.config) for cell in cells}),
        cells=len(cells),
        people=sum(cell.quota for cell in cells),
        decisions=decisions,
        minutes=(decisions * SECONDS_PER_DECISION + waiting + _around(study, cells[0])) / 60,
        pay=(min(amounts), sum(amounts, Decimal(0)) / len(amounts), max(amounts)) if amounts else None,
        currency=study.currency,
        model_calls=mean(trial.calls for trial in priced) if priced else 0.0,
        model_cost=_mean_cost(priced, costs),
    )


def _mean_cost(priced: Sequence[_Trial], costs: Sequence[Decimal]) -> Decimal | None:
    if not priced:
        return Decimal(0)
    return sum(costs, Decimal(0)) / len(costs) if len(costs) == len(priced) else None


def _pay_of(study: Study) -> PayRule | None:
    try:
        return study.pay()
    except (ValueError, TypeError):
        return None


def _spread(things: Sequence[T], most: int) -> list[T]:
    """At most so many of them, evenly taken from all."""
    if len(things) <= most:
        return list(things)
    return [things[i * len(things) // most] for i in range(most)]


def _trial(
    study: Study,
    game: Game[Any, Any],
    cell: WantedCell,
    agent: AgentSpec,
    settings: AgentSettings,
    pay: PayRule | None,
    seed: int,
    *,
    measured: bool,
) -> _Trial:
    """A match in the cell, with the calls that its models would need where they are `measured`."""
    stand_in = settings.script or game.sparring
    scripts = {role: game.sparring if role == cell.role else agent.name for role in game.roles()}
    if not agent.scripted:
        scripts |= {role: stand_in for role in game.roles() if role != cell.role}
    play, opening = games.play.start(game, seed)
    log = list(opening)
    decisions = 0
    asked: list[tuple[Play, Role, int]] = []
    for _move in range(MOST_MOVES):
        if play.over:
            break
        role = play.waiting_for()[0]
        if role == cell.role:
            decisions += 1
        else:
            asked.append((play, role, len(log)))
        play, made = games.play.submit(play, role, games.play.script_move(play, role, scripts[role]))
        log += made
    return _Trial(
        decisions=decisions,
        others=len(asked),
        pay=_paid(play, game, cell, pay),
        calls=len(asked) if measured else 0,
        cost=_cost(study, agent, asked, log) if measured else None,
    )


def _cost(
    study: Study, agent: AgentSpec, asked: Sequence[tuple[Play, Role, int]], log: Sequence[Event]
) -> Decimal | None:
    """US dollars of a match whose model was `asked` at these moments; None where its price is not known.

    Args:
        asked: the play, the role, and how many events of the log there were then.
    """
    price = prices_now().of(study.agent)
    if price is None:
        return None
    worded = wording(agent, template=study.instructions or None, prompts=settings_of(study.asking).prompts)
    letters = [
        sum(len(message["content"]) for message in strategies.messages(play, role, log[:events], **worded))
        for play, role, events in _spread(asked, MEASURED)
    ]
    tokens = int(mean(letters) * len(asked) / LETTERS_PER_TOKEN) if letters else 0
    answer = REASONED_TOKENS if agent.strategy == CHAIN_OF_THOUGHT else ANSWER_TOKENS
    return (price.input * tokens + price.output * answer * len(asked)) / MILLION


def _paid(play: Play, game: Game[Any, Any], cell: WantedCell, pay: PayRule | None) -> Decimal | None:
    payoffs: Mapping[Role, float] | None = play.payoffs() if play.over else None
    if pay is None or payoffs is None:
        return None
    rule = pay if cell.average is None else pay.model_copy(update={"announced_average": cell.average})
    payoff = payoffs[cell.role]
    return rule.base + bonus(rule, payoff=payoff, share=game.bonus_share(cell.role, payoff))


def _around(study: Study, cell: WantedCell) -> float:
    """Seconds that a person needs before and after the match."""
    game = games.play.configure(registry.get(study.game), cell.config)
    try:
        read = [study.consent or texts.default_consent(study), game.instructions(cell.role, study.instructions or None)]
    except (GameError, ValueError):
        read = []
    words = sum(len(text.split()) for text in read)
    questions = len(game.quiz(cell.role)) if study.asks_quiz else 0
    questions += len(study.survey_before or ()) + len(study.survey_after or ())
    return words * 60 / WORDS_PER_MINUTE + 4 * SECONDS_PER_PAGE + questions * SECONDS_PER_QUESTION
