"""Shared by the games of Economics Arena: their collections, and the remarks that models write with their moves.

Source: Economics Arena, section 4 and appendix B. The wording is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from games.interface import Json
from games.lineups import AGENT, CollectionPreset, Environment, Lineups, StudyPreset
from games.strategies import Remark, Strategy

PERSONA = "You are a clever player. Play as rationally as you can."
SOURCE = "Economics Arena, section 4 and appendix B."
GROUPS = ("L", "M", "H")
"""Stakes: low, medium, high; each game defines its own."""

UNDERSTANDING = Remark("understanding", "how you understand the game, briefly, in your own words", first=True)
GOAL = Remark("goal", "what you are to achieve in this game, briefly", first=True)
REASON = Remark("reason", "why you give this answer, briefly")
CONVERSATION = Strategy("Same as plain: a conversation would show more runs than the history allows.", layout="fresh")
"""Replaces the usual conversation in games of runs, where each run has its own prompt."""

Treatment = Callable[[str, int], Mapping[str, Json]]
"""(group, session from 0) → the parameters of that session that differ from the game's defaults."""


def preset(
    title: str, summary: str, treatment: Callable[[int], Treatment], *, one_configuration_per_group: bool
) -> CollectionPreset:
    """Return the preset with all environments of one game.

    Args:
        treatment: (the preset's seed) → the sessions' configurations.
        one_configuration_per_group: the sessions of a group share a configuration and differ only by their draws.
    """

    def environments(agents: Sequence[str], seed: int) -> Iterator[Environment]:
        sessions = _Sessions(treatment(seed), one_configuration_per_group)
        pool = tuple(agents)
        together = Lineups(rule="together", agents=pool, rotate=True)
        among_rational = Lineups(
            rule="each", agents=pool, fixed={f"p{seat}": "script:rational" for seat in range(2, 6)}, rotate=True
        )
        alone = Lineups(rule="each", agents=pool, rotate=True)
        all_seats: dict[str, Json] = {"players": len(pool)}
        announced: dict[str, Json] = {"players": 5, "told_of_others": "rational"}
        history: dict[str, Json] = {"runs": 6, "history_depth": 3}
        yield sessions.environment("melee", together, GROUPS, 50, all_seats)
        yield sessions.environment("rational", among_rational, GROUPS, 50, announced)
        yield sessions.environment("cot", among_rational, GROUPS, 50, announced, {"strategy": "chain_of_thought"})
        if len(pool) >= 5:
            seniors = Lineups(rule="together", agents=pool[:5], rotate=True)
            yield sessions.environment("senior", seniors, ("M",), 100, {"players": 5})
        yield sessions.environment("melee-history", together, GROUPS, 10, {**all_seats, **history})
        yield sessions.environment("rational-history", among_rational, GROUPS, 10, {**announced, **history})
        similar: dict[str, Json] = {"players": 5, "told_of_others": "similar", **history}
        yield sessions.environment("self", alone, GROUPS, 10, similar)

    return CollectionPreset(
        title=title,
        summary=summary,
        source=SOURCE,
        environments=environments,
        agents=2,
        most_agents=20,
        settings={
            "strategy": "published",
            "persona": PERSONA,
            "tries_after_first": 0,
            "script": "no_answer",
            "script_counts": True,
        },
    )


class _Sessions:
    """Makes the environments of one game with the configurations of their sessions."""

    def __init__(self, treatment: Treatment, one_per_group: bool):
        self.treatment = treatment
        self.one_per_group = one_per_group

    def environment(
        self,
        name: str,
        lineups: Lineups,
        groups: Sequence[str],
        sessions: int,
        config: Mapping[str, Json],
        settings: Mapping[str, Any] | None = None,
    ) -> Environment:
        """Return an environment with `sessions` of each group; session s rotates the seats by s."""
        per_group = 1 if self.one_per_group else sessions
        return Environment(
            name,
            [{**self.treatment(group, session), **config} for group in groups for session in range(per_group)],
            lineups,
            repetitions=sessions,
            cycle=per_group,
            settings=settings or {},
        )


def studies_with_people(title: str, config: Mapping[str, Json], *, minutes: int, turn_seconds: int) -> StudyPreset:
    """Return ready-made studies of one game: one person among models, two people among models, people only."""
    return StudyPreset(
        title=title,
        summary="Three drafts: one person among agents, two people among agents, people only.",
        source=SOURCE,
        tables={
            "one": {"p1": "person", "*": AGENT},
            "several": {"p1": "person", "p2": "person", "*": AGENT},
            "people": {"*": "person"},
        },
        config=config,
        minutes=minutes,
        fields={
            "turn_seconds": turn_seconds,
            "extension_seconds": 30,
            "on_timeout": "default",
            "lobby_seconds": 300,
            "lobby_after": "agents",
        },
    )
