"""Agents and their names, such as "script:fair" or "openai:gpt-4o-mini"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from games.interface import Game
from games.words import gettext as _
from llm_agents.endpoints import PRESETS, endpoint_exists
from llm_agents.errors import BadAgent
from llm_agents.settings import BARE, Settings

SCRIPT = "script"
PROGRAM = "program"
BY_RULES = "rules"
"""The author of moves that the rules derive from unusable answers, in logs and datasets."""


@dataclass(frozen=True)
class AgentSpec:
    """The agent that plays a seat.

    Attributes:
        kind: "script", "program", or an endpoint's name.
        name: the name of the scripted player, the program or the model.
        settings: how a model is asked.
        seed: the sampling seed of a model's calls.
        fallbacks: asked in this order if it fails, as often and as long as this one.
        script: the fallback script, which moves when all have failed; empty: there is none.
    """

    kind: str
    name: str
    settings: Settings = BARE
    seed: int | None = None
    fallbacks: tuple[AgentSpec, ...] = ()
    script: str = ""

    @property
    def scripted(self) -> bool:
        return self.kind == SCRIPT

    @property
    def parameters(self) -> dict[str, Any]:
        """The sampling parameters of a model's calls."""
        settings = self.settings
        parameters = {"temperature": settings.temperature, "max_tokens": settings.max_tokens, "seed": self.seed}
        return {name: value for name, value in parameters.items() if value is not None}

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def is_scripted(text: str) -> bool:
    """Return whether `text` names a scripted player, whether or not it exists."""
    return text.startswith(f"{SCRIPT}:")


def is_model(text: str) -> bool:
    """Return whether `text` names a model: neither a scripted player nor somebody's own program."""
    return not text.startswith((f"{SCRIPT}:", f"{PROGRAM}:"))


def spec_of(text: str) -> AgentSpec:
    """Return the agent with the name `text`, whether or not its endpoint still exists."""
    kind, _colon, name = text.partition(":")
    return AgentSpec(kind, name)


def parse_spec(text: str, game: type[Game[Any, Any]] | Game[Any, Any] | None = None) -> AgentSpec:
    """Return the agent with the name `text`, such as "script:fair", "program:NAME" or "ENDPOINT:MODEL".

    Args:
        game: the game to be played; a scripted player must be one of its own.

    Raises:
        BadAgent: the endpoint, name or scripted player is missing or unknown; the message lists the known ones.
    """
    kind, colon, name = text.partition(":")
    if not colon or not name.strip() or (kind not in (SCRIPT, PROGRAM) and not endpoint_exists(kind)):
        valid_forms = ", ".join([f"{SCRIPT}:NAME", *(f"{preset}:MODEL" for preset in PRESETS)])
        raise BadAgent(_("“{words}” is not a valid agent; use {known}.").format(words=text, known=valid_forms))
    if game is not None and kind == SCRIPT and name not in game.scripts:
        raise BadAgent(
            _("{game} has no scripted player “{name}”; use one of {names}.").format(
                game=game.key, name=name, names=", ".join(sorted(game.scripts))
            )
        )
    return spec_of(text)
