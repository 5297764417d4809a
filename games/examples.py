"""What the contract tests play: configurations of a game, and random matches of its scripts.

If guessed configurations are not enough, a game adds an optional `games/<game>/examples.py` with
`EXAMPLES = Examples(...)`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

from games import registry
from games.errors import BadConfig, Refused
from games.interface import Event, Game, Json, MoveData, Role
from games.play import Play, configure, start, submit

MAX_MOVES = 20_000
"""A longer match of scripts counts as one that never ends."""
MOMENTS_CHECKED = 20
"""Moments of a match, spread over its length, that the costlier checks examine, unless the case says otherwise."""


class ContractBroken(AssertionError):
    """A check of the contract failed."""


def require(condition: object, message: str) -> None:
    """Raise `ContractBroken` with the message `message` unless `condition` is true."""
    if not condition:
        raise ContractBroken(message)


@dataclass(frozen=True)
class Pair:
    """Two configurations that `role` cannot tell apart until a step reveals the difference, such as true values."""

    role: Role
    one: Mapping[str, Json]
    other: Mapping[str, Json]


@dataclass(frozen=True)
class Examples:
    """What a game tells the contract tests about itself.

    Attributes:
        configs: configurations to play in addition to the default one; without any, some are guessed.
        alternatives: other valid values of a secret key, if none can be guessed from its type; an
            entry of a list is named by its index ("values[2]").
        reveals: (game, state before, moves, state after, role) → whether this step shows the role
            something that depends on draws hidden from it (the quality after a purchase, the feedback
            of an unknown environment), or how a pair differs. None: that never happens.
        reveals_secrets: such steps also reveal secret parameters (everybody's values after a run).
        pairs: configurations that look the same to a role although they differ.
        discloses: keys of view blocks that by the rules disclose something hidden (advice computed from
            the hidden optimum); comparisons leave out these blocks, and the scripts, which may use them.
    """

    configs: Sequence[Mapping[str, Json]] = ()
    alternatives: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    reveals: Callable[[Any, Any, Mapping[Role, Any], Any, Role], bool] | None = None
    reveals_secrets: bool = False
    pairs: Sequence[Pair] = ()
    discloses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Moment:
    """A move of a random match, and the play before and after it."""

    before: Play
    role: Role
    move: MoveData
    after: Play


@dataclass(frozen=True)
class Walk:
    """A whole match in which a script chosen at random makes each move."""

    opening: Play
    moments: tuple[Moment, ...]
    events: tuple[Event, ...]
    checked: int = MOMENTS_CHECKED

    @property
    def end(self) -> Play:
        return self.moments[-1].after if self.moments else self.opening

    def selected_moments(self) -> tuple[Moment, ...]:
        """Return moments from first to last, about `checked` of them."""
        step = max(1, math.ceil(len(self.moments) / self.checked))
        return (*self.moments[::step], *self.moments[-1:])

    def plays(self) -> tuple[Play, ...]:
        """Return the play at the start, at those moments, and at the end."""
        return (self.opening, *(moment.before for moment in self.selected_moments()), self.end)


class Case:
    """A game with the configuration and seed to be checked, and the number of moments for the costlier checks."""

    def __init__(
        self,
        game: type[Game[Any, Any]],
        config: Mapping[str, Json],
        seed: int = 0,
        examples: Examples | None = None,
        moments: int = MOMENTS_CHECKED,
    ):
        self.config = dict(config)
        self.game = configure(game, config)
        self.seed = seed
        self.examples = examples or Examples()
        self.moments = moments
        self._walk: Walk | None = None

    def __str__(self) -> str:
        return f"{self.game.key} {json.dumps(self.config)} seed {self.seed}"

    def walk(self) -> Walk:
        """Return the case's random match, the same at every call."""
        if self._walk is None:
            walk = play_random(self.game, self.seed, sorted(self.game.scripts))
            self._walk = replace(walk, checked=self.moments)
        return self._walk

    def alternatives(self, key: str, most: int = 3) -> list[Game[Any, Any]]:
        """Return the game with other valid values of one config key, or of one entry of a list ("values[2]")."""
        values = self.game.config.model_dump(mode="json")
        name, index = split_key(key)
        require(name in values, f"secrets() names “{key}”, which is not a config key")
        current = values[name]
        require(
            index is None or (isinstance(current, list) and index < len(current)),
            f"secrets() names “{key}”; {name} has none",
        )
        games: list[Game[Any, Any]] = []
        for value in self._variants(key, name, index, current):
            try:
                alternative = configure(type(self.game), {**values, name: value})
            except BadConfig:
                continue
            if alternative.config != self.game.config:
                games.append(alternative)
        Random(f"{self.seed}/{key}").shuffle(games)
        return games[:most]

    def _variants(self, key: str, name: str, index: int | None, current: Json) -> list[Json]:
        """Return values of the key to try; for an entry of a list, lists that differ only in that entry."""
        example_values = self.examples.alternatives.get(key)
        if index is None:
            return list(example_values or candidates(type(self.game), name, current))
        if example_values:
            return [[*current[:index], value, *current[index + 1 :]] for value in example_values]
        guesses = [value for value in candidates(type(self.game), name, current) if isinstance(value, list)]
        same_length = [value for value in guesses if len(value) == len(current)]
        return [value for value in same_length if value == [*current[:index], value[index], *current[index + 1 :]]]


def split_key(key: str) -> tuple[str, int | None]:
    """Return a secret's config key and the index of its entry: "values[2]" → ("values", 2)."""
    name, bracket, index = key.partition("[")
    return (name, int(index.removesuffix("]"))) if bracket else (key, None)


def config_value(game: Game[Any, Any], key: str) -> Json:
    """Return the configuration's value for a key as named by `secrets`."""
    name, index = split_key(key)
    value = getattr(game.config, name)
    return value if index is None else value[index]


def play_random(game: Game[Any, Any], seed: int, scripts: Sequence[str]) -> Walk:
    """Play a match in which one of these scripts, chosen at random, makes each move."""
    opening, events = start(game, seed)
    log, moments, rng = list(events), list[Moment](), Random(f"contract/{seed}")
    play = opening
    while not play.over:
        require(len(moments) < MAX_MOVES, f"a match of scripts has not ended after {MAX_MOVES} moves")
        role = rng.choice(play.waiting_for())
        script = rng.choice(scripts)
        move = script_answer(play, role, script, rng.random())
        try:
            after, events = submit(play, role, move)
        except Refused as refusal:
            raise ContractBroken(f"script {script} made an illegal move as {role}: {move}: {refusal}") from None
        moments.append(Moment(play, role, move, after))
        log += events
        play = after
    return Walk(opening, tuple(moments), tuple(log))


def script_answer(play: Play, role: Role, script: str, seed: float) -> MoveData:
    """Return the script's move, drawn with the contract's own seed."""
    return play.game.scripts[script](play.game, play.state, role, Random(seed))


def candidates(game: type[Game[Any, Any]], key: str, value: Json) -> Iterator[Json]:
    """Yield other values for a config key, guessed from its type; some may be invalid."""
    schema = game.Config.model_json_schema()
    yield from _candidates(schema["properties"][key], schema.get("$defs", {}), value)


def _candidates(schema: Mapping[str, Any], definitions: Mapping[str, Any], value: Json) -> Iterator[Json]:
    yield from schema.get("examples", ())
    if "$ref" in schema:
        yield from _candidates(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, value)
    for option in schema.get("anyOf", ()):
        yield from _candidates(option, definitions, value)
    yield from schema.get("enum", ())
    kind = schema.get("type")
    if kind == "null":
        yield None
    if kind == "boolean":
        yield from (True, False)
    if kind in ("integer", "number"):
        yield from _numbers(schema, value, int if kind == "integer" else float)
    if kind == "string" and "enum" not in schema:
        yield "other"
    if kind == "array" and isinstance(value, list):
        yield from _lists(schema.get("items", {}), definitions, value)
    if kind == "object" and isinstance(value, dict):
        for name, entry in value.items():
            entry_schema = schema.get("properties", {}).get(name) or schema.get("additionalProperties") or {}
            yield from (
                {**value, name: candidate}
                for candidate in _candidates(entry_schema, definitions, entry)
                if candidate != entry
            )


def _numbers(schema: Mapping[str, Any], value: Json, convert: Callable[[float], float]) -> Iterator[Json]:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    high = schema.get("exclusiveMaximum") if high is None else high
    numbers = [limit for limit in (low, high) if limit is not None]
    if low is not None and high is not None:
        numbers += [low + (high - low) * share for share in (0.25, 0.5, 0.75)]
    base = value if isinstance(value, int | float) and not isinstance(value, bool) else 5
    numbers += [base * 0.5, base * 0.8, base * 1.2, base * 2, base + 1, base - 1]
    yield from dict.fromkeys(convert(number) for number in numbers)


def _lists(item_schema: Mapping[str, Any], definitions: Mapping[str, Any], value: list[Json]) -> Iterator[Json]:
    yield value[::-1]
    for index, item in enumerate(value):
        for candidate in _candidates(item_schema, definitions, item):
            yield [*value[:index], candidate, *value[index + 1 :]]
    yield value[:-1]
    yield [*value, *value[-1:]]


def examples_of(key: str) -> Examples:
    """Return the game's `EXAMPLES`; empty if it has no `examples.py`."""
    if find_spec(f"games.{key}.examples") is None:
        return Examples()
    examples: Examples = import_module(f"games.{key}.examples").EXAMPLES
    return examples


def cases(key: str) -> list[Case]:
    """Return the cases of a registered game: the default, and its examples or some guesses."""
    return cases_of(registry.get(key), examples_of(key))


def cases_of(game: type[Game[Any, Any]], examples: Examples) -> list[Case]:
    """Return cases for the default configuration and for the examples, or for some guesses if there are none."""
    configs = [{}, *examples.configs] if examples.configs else [{}, *_guesses(game)]
    return [Case(game, config, seed, examples) for seed, config in enumerate(configs, start=1)]


def each_once(problems: Iterable[tuple[str, Case]]) -> list[str]:
    """Return each problem with the first case that has it, and with the number of the other cases."""
    found: dict[str, list[Case]] = {}
    for problem, case in problems:
        found.setdefault(problem, []).append(case)
    return [f"{problem} [{of[0]}{f'; and {len(of) - 1} more' * (len(of) > 1)}]" for problem, of in found.items()]


def _guesses(game: type[Game[Any, Any]], most: int = 4) -> list[dict[str, Json]]:
    """Return valid configurations: each switch of the default flipped, and some random changes."""
    defaults, rng = game.Config().model_dump(mode="json"), Random(f"guesses/{game.key}")
    guesses = [{key: not value} for key, value in defaults.items() if isinstance(value, bool)]
    for _trial in range(most):
        keys = [key for key in defaults if rng.random() < 0.4]
        guesses.append({key: rng.choice([*candidates(game, key, defaults[key]), defaults[key]]) for key in keys})
    return [config for config in map(partial(_valid_part, game), guesses) if config]


def _valid_part(game: type[Game[Any, Any]], guess: Mapping[str, Json]) -> dict[str, Json]:
    """Return as many of the guessed values as are valid together."""
    config: dict[str, Json] = {}
    for key, value in guess.items():
        try:
            configure(game, {**config, key: value})
        except BadConfig:
            continue
        config[key] = value
    return config
