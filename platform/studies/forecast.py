"""What a study or a collection will take, before anyone has played it: the one forecast that every page shows.

Scripted players play some of its matches, with the game's sparring partner in the participants' seats. Tokens per
call are those of the same model's earlier calls in the same game, if there are any. Only prices, and the fees and
measured costs that `studies.costs` adds, are not in the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from math import ceil
from statistics import mean

from games import registry
from games.errors import GameError
from games.play import configure
from llm_agents.errors import AgentError
from llm_agents.pricing import MILLION, PriceList
from llm_agents.talking import CHAT
from matches.models import Match
from opponents.agents import Agent
from opponents.endpoints import current_prices, refresh_if_old
from opponents.models import Call
from plans.chat import frozen
from plans.factors import MAX_CELLS
from plans.pay import Pay, PayRule, cents, highest_bonus
from plans.plan import Document, Plan
from plans.reading import READERS, BadPlan, PlannedCell, Reader, reader_of
from plans.seats import fitted
from plans.stages import DEFAULT_TEXT, Block, Consent, Debriefing, Game, Page, Stage, walk
from studies.models import agents_of
from studies.simulating import SECONDS_PER_DECISION, ModelUse, Setting, Simulated, mean_of, simulated, some_of

MAX_FORECAST = 500
"""Number of cells with figures of their own; of more, a random sample."""
MAX_MATCHES, MAX_TOTAL_MOVES = 24, 6000
"""Number of matches simulated, and number of moves after which no further match is started, to keep it fast."""
MEASURED_PER_SET, MAX_MEASURED_SETS = 2, 8
"""Limits: matches measured per set of models in a game, and sets of models measured."""
MEASURED_FOR_MINUTES = 2
"""Number of cells from which the announced minutes are taken."""
WORDS_PER_MINUTE = 200
"""Reading speed (an assumption, like the seconds below)."""
SECONDS_PER_PAGE, SECONDS_PER_QUESTION = 10, 10
CONSENT_WORDS = 330
"""Length of Parley's own consent text."""
EARLIER_CALLS = 200
"""Number of a model's latest calls from which its tokens are taken."""


@dataclass(frozen=True)
class ModelCosts:
    """What model calls take and cost, in all matches together; US dollars, None if a price is unknown.

    Attributes:
        read, written: tokens of all calls.
        expected: if every answer is a legal move.
        at_most: if every move takes all its tries, and every answer is as long as possible.
        from_earlier_calls: whether the tokens of all models are those of earlier calls.
        largest_call: the most that one call can cost, as far as prices are known.
    """

    calls: int = 0
    read: int = 0
    written: int = 0
    expected: Decimal | None = Decimal(0)
    at_most: Decimal | None = Decimal(0)
    from_earlier_calls: bool = False
    largest_call: Decimal = Decimal(0)

    def as_line(self) -> str:
        """Return one line for a terminal."""
        line = f"expected: {self.calls:,} model calls, {self.read:,} tokens read and {self.written:,} written; "
        if self.expected is None or self.at_most is None:
            return f"{line}price unknown"
        return f"{line}about ${self.expected:,.2f}, at most ${self.at_most:,.2f}"


@dataclass(frozen=True)
class CellForecast:
    """What one cell takes.

    Attributes:
        people: participants per group.
        minutes: from the first page to the last, excluding the lobby.
        base, average: base pay, and the announced average bonus.
    """

    number: int
    factors: Mapping[str, str]
    quota: int
    people: int
    minutes: float
    base: Decimal
    average: Decimal

    @property
    def places(self) -> int:
        return self.quota * self.people

    @property
    def pay(self) -> Decimal:
        """Expected pay per participant."""
        return self.base + self.average

    @property
    def hourly(self) -> Decimal:
        """Expected pay per hour."""
        return cents(self.pay * 60 / Decimal(repr(self.minutes)))


@dataclass(frozen=True)
class Forecast:
    """What a study takes.

    Attributes:
        cells: all, or a sample of `MAX_FORECAST`.
        number: of all cells; `quota` is theirs together.
        models: of all model calls.
    """

    cells: tuple[CellForecast, ...]
    number: int
    quota: int
    models: ModelCosts

    @property
    def places(self) -> int:
        """Participants that the study needs."""
        quota = sum(cell.quota for cell in self.cells)
        return round(sum(cell.places for cell in self.cells) * self.quota / quota) if quota else 0


def forecast(document: Document | Reader) -> Forecast:
    """Return what a study of this plan takes; nothing is saved and no model is called.

    Raises:
        BadPlan, GameError, AgentError: the plan cannot be read or played.
    """
    refresh_if_old()
    reader = reader_of(document)
    cells = cells_of(reader, MAX_FORECAST)
    sample = _Sample(cells)
    quota = sum(cell.quota for cell in reader.cells)
    figures = tuple(cell.figures(sample) for cell in cells)
    return Forecast(
        cells=figures,
        number=len(reader.cells),
        quota=quota,
        models=sample.models(cells, quota),
    )


def minutes_of(document: Document | Reader) -> int | None:
    """Return the duration that participants are told, in minutes, rounded up; None if nothing can be played.

    Plays one match of each game in a few cells, so that launching a study stays quick.
    """
    try:
        cells = cells_of(document, MEASURED_FOR_MINUTES)
        minutes = ceil(mean(cell.seconds(_one_match) for cell in cells) / 60)
    except (BadPlan, GameError, AgentError, ValueError, LookupError):
        return None
    return minutes if minutes <= 10 else 5 * ceil(minutes / 5)


def cells_of(document: Document | Reader, most: int = MAX_CELLS) -> list[CellPlan]:
    """Return the cells of a plan; if there are more than `most`, a random sample.

    Raises:
        BadPlan, GameError: the plan cannot be read or played.
    """
    reader = reader_of(document)
    return [_plans_of(reader).cell(cell) for cell in some_of(reader.cells, most)]


def model_costs(
    game: str, uses: Iterable[tuple[float, Agent, ModelUse]], prices: PriceList | None = None
) -> ModelCosts:
    """Return what the calls take and cost.

    Args:
        uses: of one match each, and the number of matches that it stands for.
    """
    prices = prices or current_prices()
    earlier: dict[tuple[str, bool], tuple[float, float] | None] = {}
    calls = read = written = 0.0
    expected = at_most = largest_call = Decimal(0)
    all_priced = True
    for weight, agent, use in uses:
        kind = (agent.spec, use.chat)
        if kind not in earlier:
            earlier[kind] = _tokens_per_call(game, *kind)
        tokens = earlier[kind] or (use.read / use.calls, use.written / use.calls)
        number = weight * use.calls
        calls, read, written = calls + number, read + number * tokens[0], written + number * tokens[1]
        price = prices.of(agent.spec)
        if price is None:
            all_priced = False
            continue
        size, tries = use.longest, 1 if use.chat else 1 + agent.settings.tries_after_first
        largest = prices.largest_of(agent.spec, size=size, max_tokens=agent.settings.max_tokens) or Decimal(0)
        largest_call = max(largest_call, largest)
        per_call = (price.input * Decimal(tokens[0]) + price.output * Decimal(tokens[1])) / MILLION
        expected += per_call * Decimal(number)
        at_most += largest * Decimal(number) * tries
    return ModelCosts(
        calls=round(calls),
        read=round(read),
        written=round(written),
        expected=expected if all_priced else None,
        at_most=at_most if all_priced else None,
        from_earlier_calls=bool(earlier) and None not in earlier.values(),
        largest_call=largest_call,
    )


def sum_of(parts: Sequence[ModelCosts]) -> ModelCosts:
    """Return the sum of several games' model calls."""

    def total(amounts: list[Decimal | None]) -> Decimal | None:
        return None if None in amounts else sum((amount for amount in amounts if amount is not None), Decimal(0))

    return ModelCosts(
        calls=sum(part.calls for part in parts),
        read=sum(part.read for part in parts),
        written=sum(part.written for part in parts),
        expected=total([part.expected for part in parts]),
        at_most=total([part.at_most for part in parts]),
        from_earlier_calls=bool(parts) and all(part.from_earlier_calls for part in parts),
        largest_call=max((part.largest_call for part in parts), default=Decimal(0)),
    )


def _tokens_per_call(game: str, spec: str, chat: bool) -> tuple[float, float] | None:
    """Return mean tokens read and written per call of a model in earlier matches of a game; None without calls."""
    endpoint, _colon, model = spec.partition(":")
    calls = Call.objects.filter(endpoint=endpoint, model=model, cost__isnull=False)
    calls = calls.filter(purpose=CHAT) if chat else calls.exclude(purpose__in=("judge", CHAT))
    latest = calls.filter(match_uid__in=Match.objects.filter(game=game).values("uid")).order_by("-pk")[:EARLIER_CALLS]
    rows = list(latest.values_list("record__input_tokens", "record__output_tokens"))
    counted = [(read, written) for read, written in rows if read is not None and written is not None]
    if not counted:
        return None
    return sum(read for read, _w in counted) / len(counted), sum(written for _r, written in counted) / len(counted)


@dataclass(frozen=True)
class PlannedGame:
    """A game stage of a cell.

    Attributes:
        matches: that a participant plays, as a mean if a block draws some of its passes.
    """

    stage: Game
    matches: float
    setting: Setting

    def seconds(self, match: Simulated) -> float:
        """Return the seconds that a participant takes for all its matches, with the pages around them."""
        stage = self.stage
        comprehension = stage.comprehension.questions if stage.comprehension is not None else ()
        questions = match.questions if comprehension == "default" else len(comprehension)
        questions += stage.quiz
        reading = _reading(match.words + len(stage.examples.split()))
        pages = 2 + stage.quiz + (stage.comprehension is not None)
        around = reading + pages * SECONDS_PER_PAGE + questions * SECONDS_PER_QUESTION
        played = match.decisions * SECONDS_PER_DECISION + match.waiting
        return self.matches * (played + around / stage.repeats)


class CellPlan:
    """A cell with its plan and games."""

    def __init__(self, plans: _Plans, cell: PlannedCell):
        self.cell, self.plan = cell, plans.reader.plan(cell.factors)
        self.games = plans.games(self.plan)
        self.rules = [(game, plans.rule(self.plan.pay, game.stage)) for game in self.games]

    @property
    def people(self) -> int:
        """Participants per group."""
        return max((len(game.setting.people) for game in self.games), default=1)

    @property
    def matches(self) -> float:
        """Matches that a participant plays."""
        return sum(game.matches for game in self.games)

    @cached_property
    def average(self) -> Decimal:
        """The announced average bonus."""
        return self._weighted(lambda _game, rule: min(rule.announced_average, rule.cap))

    @cached_property
    def highest(self) -> Decimal:
        """The most that the pay rule allows as a bonus."""
        if self.plan.pay.bonus.of == "random":
            return max((highest_bonus(rule) for _game, rule in self.rules), default=Decimal(0))
        return self._weighted(lambda _game, rule: highest_bonus(rule))

    def _weighted(self, amount: Callable[[PlannedGame, PayRule], Decimal]) -> Decimal:
        """Return the mean amount over the matches that may be paid."""
        paid = self.rules[-1:] if self.plan.pay.bonus.of == "last" else self.rules
        matches = sum((Decimal(repr(game.matches)) for game, _rule in paid), Decimal(0))
        total = sum((Decimal(repr(game.matches)) * amount(game, rule) for game, rule in paid), Decimal(0))
        return total / matches if matches else total

    def seconds(self, match_of: Callable[[PlannedGame], Simulated]) -> float:
        """Return the seconds from the first page to the last.

        Args:
            match_of: returns the simulated match of a game.
        """
        pages = sum(met.times * seconds_of(met.stage) for met in walk(self.plan.journey))
        return pages + sum(game.seconds(match_of(game)) for game in self.games)

    def figures(self, sample: _Sample) -> CellForecast:
        """Return what the cell takes."""
        return CellForecast(
            number=self.cell.number,
            factors=self.cell.factors,
            quota=self.cell.quota,
            people=self.people,
            minutes=self.seconds(sample.of) / 60,
            base=self.plan.pay.base,
            average=self.average,
        )


class _Sample:
    """Simulated matches of some cells' games; the others count as their mean."""

    def __init__(self, cells: Sequence[CellPlan]):
        settings: dict[Setting, list[Simulated]] = {}
        self._games: dict[str, list[Simulated]] = {}
        self._measured: dict[tuple[str, tuple[str, ...]], list[Simulated]] = {}
        sampled = [game for cell in some_of(cells, MAX_MATCHES) for game in cell.games]
        repetitions = max(1, MAX_MATCHES // len(sampled)) if sampled else 0
        moves = 0.0
        for seed in range(repetitions):
            for game in sampled:
                if moves < MAX_TOTAL_MOVES:
                    match = self._play(game, seed)
                    moves += match.moves
                    settings.setdefault(game.setting, []).append(match)
        self._matches = settings
        self._means: dict[Setting | str, Simulated] = {}

    def _play(self, game: PlannedGame, seed: int) -> Simulated:
        models = (game.stage.game, game.setting.models)
        measured = self._measured.setdefault(models, []) if models[1] else []
        is_measured = bool(models[1]) and len(measured) < MEASURED_PER_SET and len(self._measured) <= MAX_MEASURED_SETS
        match = simulated(game.setting, seed, measured=is_measured)
        if is_measured:
            measured.append(match)
        self._games.setdefault(game.stage.game, []).append(match)
        return match

    def of(self, game: PlannedGame) -> Simulated:
        """Return the mean match of a game."""
        key = game.setting if game.setting in self._matches else game.stage.game
        if key not in self._means:
            known = self._matches.get(game.setting) or self._games.get(game.stage.game)
            self._means[key] = mean_of(known or [_one_match(game)])
        return self._means[key]

    def models(self, cells: Sequence[CellPlan], quota: int) -> ModelCosts:
        """Return what all model calls take; sets of models that were not measured count as the mean of the others.

        Args:
            quota: of all cells together.
        """
        needed: dict[tuple[str, tuple[str, ...]], float] = {}
        for cell in cells:
            for game in cell.games:
                if game.setting.models:
                    key = (game.stage.game, game.setting.models)
                    needed[key] = needed.get(key, 0.0) + cell.cell.quota * game.matches
        covered = sum(number for key, number in needed.items() if self._measured.get(key))
        if not covered:
            return ModelCosts() if not needed else ModelCosts(expected=None, at_most=None)
        factor = sum(needed.values()) / covered * quota / sum(cell.cell.quota for cell in cells)
        by_game: dict[str, list[tuple[float, Agent, ModelUse]]] = {}
        for key, number in needed.items():
            measured = self._measured.get(key) or []
            weight = factor * number / len(measured) if measured else 0.0
            by_game.setdefault(key[0], []).extend((weight, *use) for match in measured for use in match.uses)
        return sum_of([model_costs(game, uses) for game, uses in by_game.items()])


def seconds_of(stage: Stage) -> float:
    """Return the seconds for a stage's pages: reading each text once and answering; without a game's play."""
    texts = [
        value
        for name, info in type(stage).model_fields.items()
        if isinstance(info.json_schema_extra, dict)
        and info.json_schema_extra.get("text")
        and isinstance(value := getattr(stage, name), str)
    ]
    words = sum(len(text.split()) for text in texts if text != DEFAULT_TEXT)
    reading = _reading(words)
    match stage:
        case Debriefing() | Block() | Game():
            return 0
        case Consent():
            return SECONDS_PER_PAGE + (reading or _reading(CONSENT_WORDS))
        case Page():
            return max(stage.seconds, SECONDS_PER_PAGE + reading)
    return SECONDS_PER_PAGE + reading + SECONDS_PER_QUESTION * len(stage.questions())


def _reading(words: float) -> float:
    return 60 * words / WORDS_PER_MINUTE


@lru_cache(maxsize=READERS)
def _plans_of(reader: Reader) -> _Plans:
    return _Plans(reader)


class _Plans:
    """The plans of a reader's cells, with what they share made once.

    The reader keeps one object for each part that differs, so parts are distinguished by their ids.
    """

    def __init__(self, reader: Reader):
        self.reader = reader
        self._cells: dict[int, CellPlan] = {}
        self._agents: dict[int, Mapping[str, Agent]] = {}
        self._played: dict[int, list[tuple[Game, float]]] = {}
        self._games: dict[tuple[int, int], PlannedGame] = {}
        self._rules: dict[tuple[int, int], PayRule] = {}

    def cell(self, cell: PlannedCell) -> CellPlan:
        """Return a cell with its plan and games."""
        if cell.number not in self._cells:
            self._cells[cell.number] = CellPlan(self, cell)
        return self._cells[cell.number]

    def games(self, plan: Plan) -> list[PlannedGame]:
        """Return the games of a cell's plan, passes included."""
        agents = self._agents.get(id(plan.agents))
        if agents is None:
            agents = self._agents[id(plan.agents)] = agents_of(plan)
        played: list[tuple[Game, float]] = []
        for stage in plan.journey:
            if id(stage) not in self._played:
                self._played[id(stage)] = [
                    (met.stage, met.times * met.stage.repeats) for met in walk([stage]) if isinstance(met.stage, Game)
                ]
            played += self._played[id(stage)]
        return [self._game(stage, matches, agents) for stage, matches in played]

    def rule(self, pay: Pay, game: Game) -> PayRule:
        """Return the rule by which a game pays."""
        key = (id(pay), id(game.pay))
        if key not in self._rules:
            self._rules[key] = pay.rule_for(game.pay)
        return self._rules[key]

    def _game(self, stage: Game, matches: float, agents: Mapping[str, Agent]) -> PlannedGame:
        key = (id(stage), id(agents))
        if key not in self._games:
            game = configure(registry.get(stage.game), stage.config, amounts=stage.amounts)
            template = "" if stage.instructions == DEFAULT_TEXT else stage.instructions
            mediator = stage.chat.mediator.agent if stage.chat and stage.chat.mediator else None
            by_label = {mediator: agents[mediator].frozen()} if mediator else {}
            setting = Setting.of(
                stage.game,
                stage.config,
                fitted(stage.seats, game),
                agents,
                amounts=stage.amounts,
                template=template,
                chat=frozen(stage.chat, by_label) if stage.chat else None,
            )
            self._games[key] = PlannedGame(stage, matches, setting)
        return self._games[key]


def _one_match(game: PlannedGame) -> Simulated:
    return simulated(game.setting, 0)
