"""Which configurations people play: main ones, their variants, and a random part of the rest.

Source: GLEE, Appendix E.2. A *variant* differs from a main configuration in one parameter. A share of the rest is
drawn at random, separately by kind of main configuration. Each chosen configuration is played
in every role that a person may take in it; such a (configuration, role) is a cell with its quota.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from games import registry
from games.errors import BadConfig
from games.grids import Configuration, Grid, expand, published
from games.interface import Game, Json, Role
from games.play import configure
from games.words import gettext as _


@dataclass(frozen=True)
class Selection:
    """How configurations are chosen from a table.

    Attributes:
        table: the grid they come from.
        main: the main configurations, by the parameters that matter; the rest are defaults.
        quotas: people per cell, by kind: "main", "variant", "random".
        one_change: groups of parameters that count as one when several of them change.
        left_out: parameters with the values that people do not play.
        share: part of the remaining configurations that is drawn, rounded down.
    """

    table: Grid
    main: Sequence[Mapping[str, Json]]
    quotas: Mapping[str, int]
    one_change: Sequence[Collection[str]] = ()
    left_out: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    share: float = 0.05


@dataclass(frozen=True)
class Chosen:
    """A chosen configuration: its kind, the roles that people take, and the number of people per role."""

    config: Configuration
    kind: str
    roles: tuple[Role, ...]
    quota: int


def select(game: type[Game[Any, Any]], selection: Selection, seed: int) -> list[Chosen]:
    """Return the chosen configurations: main ones, variants, then random ones; deterministic for a seed.

    Raises:
        BadConfig: a main configuration is not in the table.
    """
    configurations = [
        config
        for config in expand(game, selection.table)
        if not any(config[key] in values for key, values in selection.left_out.items())
    ]
    main = [configure(game, config).config.model_dump(mode="json") for config in selection.main]
    for config in main:
        if config not in configurations:
            raise BadConfig(_("A main configuration of {game} is not in its table.").format(game=game.key))
    others = [config for config in configurations if config not in main]
    variants = [
        config for config in others if any(changes(selection, config, main_config) == 1 for main_config in main)
    ]
    others = [config for config in others if config not in variants]
    chosen = [_chosen(game, selection, config, "main") for config in main]
    chosen += [_chosen(game, selection, config, "variant") for config in variants]
    rng = Random(f"selection/{game.key}/{seed}")
    for roles in dict.fromkeys(_people(game, config) for config in main):
        same_people = [config for config in others if _people(game, config) == roles]
        drawn = rng.sample(range(len(same_people)), math.floor(selection.share * len(same_people)))
        chosen += [_chosen(game, selection, same_people[i], "random") for i in sorted(drawn)]
    return chosen


def changes(selection: Selection, one: Configuration, other: Configuration) -> int:
    """Return in how many parameters two configurations differ; a group counts once."""
    different = {key for key in one if one[key] != other[key]}
    count = 0
    for group in selection.one_change:
        if different & set(group):
            different -= set(group)
            count += 1
    return count + len(different)


def named_selection(key: str, name: str) -> Selection:
    """Return a published selection of this game.

    Raises:
        BadConfig: the game has no such selection.
    """
    module = published(key)
    selections: Mapping[str, Selection] = getattr(module, "SELECTIONS", {})
    if name not in selections:
        names = ", ".join(selections) or _("none")
        raise BadConfig(
            _("{game} has no selection “{name}”; it has: {names}.").format(game=key, name=name, names=names)
        )
    return selections[name]


def select_named(key: str, name: str, seed: int) -> list[Chosen]:
    """Return the configurations that a published selection of a registered game chooses."""
    return select(registry.get(key), named_selection(key, name), seed)


def _people(game: type[Game[Any, Any]], config: Configuration) -> tuple[Role, ...]:
    return configure(game, config).people()


def _chosen(game: type[Game[Any, Any]], selection: Selection, config: Configuration, kind: str) -> Chosen:
    return Chosen(config, kind, _people(game, config), selection.quotas[kind])
