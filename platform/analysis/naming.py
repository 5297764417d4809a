"""What readers see instead of the keys in the files: the researcher's names for agents and arms, the game's for seats.

Files for programs (CSV, the keys of results.json) keep the keys.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.errors import SkippedError

if TYPE_CHECKING:
    from analysis.data import Data

BETWEEN = " · "
"""What stands between the levels of several factors."""


class Names:
    """A function from text with keys to text with names.

    Attributes:
        anywhere: names of keys that are replaced wherever they stand as words.
        alone: names of keys that are replaced only if they are the whole text, or a level in it.
    """

    def __init__(self, anywhere: Mapping[str, str] = {}, alone: Mapping[str, str] = {}) -> None:
        self.names = {**alone, **anywhere}
        self.anywhere, self.alone = anywhere, alone

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        parts = []
        for keys, before, after in (
            (self.anywhere, r"(?<![\w:.-])", r"(?![\w:-]|\.\w)"),
            (self.alone, rf"(?:^|(?<=: )|(?<={BETWEEN}))", rf"(?=$|{BETWEEN})"),
        ):
            if keys:
                longest_first = sorted(map(re.escape, keys), key=len, reverse=True)
                parts.append(f"{before}(?:{'|'.join(longest_first)}){after}")
        return re.compile("|".join(parts)) if parts else None

    def __call__(self, text: str) -> str:
        return self._pattern.sub(lambda key: self.names[key[0]], text) if self._pattern else text

    def within(self, value: Any) -> Any:
        """Return a chart's specification with names in its texts; keys and names of fields stay."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {key: item if key == "field" else self.within(item) for key, item in value.items()}
        return [self.within(item) for item in value] if isinstance(value, list) else value


KEYS = Names()
"""Keys as they are."""


def names_of(data: Data) -> Names:
    """Return the names of a dataset's agents, arms and seats."""
    roles = {role: name for role in data.roles if (name := data.role_name(role)) != role}
    return Names({**_arms(data), **_agents(data)}, roles)


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
    from analysis.general.people import participants

    factors = data.treatments("participants")
    if not factors or not data.has("participants", "cell", "version", "in_dataset"):
        return {}
    try:
        arms = participants(data)[["arm", *factors]].drop_duplicates()
    except SkippedError:
        return {}
    if arms["arm"].duplicated().any() or arms[factors].duplicated().any():
        return {}
    return {row["arm"]: BETWEEN.join(f"{data.heading(name)}: {row[name]}" for name in factors)
            for row in arms.to_dict("records")}  # fmt: skip
