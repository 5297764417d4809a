"""The names that a dataset's readers see instead of the keys in its files."""

from __future__ import annotations

from collections import Counter

from analysis.data import Data
from analysis.frames import arms_of, level_text
from analysis.naming import BETWEEN, Names

PREFIXES = ("player_", "factor_", "config_", "payoffs_")
"""Columns of matches with headings of their own."""


def names_of(data: Data) -> Names:
    """Return the names of a dataset's agents, arms, seats, factors and parameters, computed once."""
    if data.reader_names is None:
        data.reader_names = _names(data)
    return data.reader_names


def _names(data: Data) -> Names:
    roles = {role: name for role in data.roles if (name := data.role_name(role)) != role}
    headings = {name: data.heading(name) for name in data.names("matches") if name.startswith(PREFIXES)}
    headings |= {f"player_{role}": data.role_name(role) for role in data.roles}
    return Names({**headings, **_arms(data), **_agents(data)}, roles)


def _agents(data: Data) -> dict[str, str]:
    """Return the label of each model or script; if labels are shared, with what is asked."""
    frames = [data.labels(role) for role in data.roles]
    pairs = {pair for frame in frames for pair in zip(frame["player"], frame["label"], strict=True) if ":" in pair[0]}
    labels: dict[str, set[str]] = {}
    for player, label in pairs:
        labels.setdefault(player, set()).add(label)
    short = {player: player.partition(":")[2] for player in labels}
    names = {player: found.copy().pop() if len(found) == 1 else short[player] for player, found in labels.items()}
    names = {player: short[player] if name == player else name for player, name in names.items()}
    used = Counter(names.values())
    return {player: name if used[name] == 1 else f"{name} ({player if name == short[player] else short[player]})"
            for player, name in sorted(names.items())}  # fmt: skip


def _arms(data: Data) -> dict[str, str]:
    """Return the levels of the factors that make each arm, if they distinguish the arms."""
    columns = [*data.treatments("participants"), "cell", "version"]
    if len(columns) < 3 or not data.has("participants", *columns):
        return {}
    people = data.table("participants", [*columns, "dataset"]).dropna(subset=["cell"])
    if not len(people):
        return {}
    levels = [data.heading(name) + ": " + people[name].map(level_text) for name in columns[:-2]]
    names = levels[0]
    for further in levels[1:]:
        names = names + BETWEEN + further
    arms = people.assign(arm=arms_of(people), levels=names)[["arm", "levels"]].drop_duplicates()
    if arms["arm"].duplicated().any() or arms["levels"].duplicated().any():
        return {}
    return dict(arms.itertuples(index=False))
