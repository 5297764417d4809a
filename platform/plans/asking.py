"""What a study decides about an agent: how it is asked, its fallbacks, how its answers appear, and what it may cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from games.errors import BadText
from games.interface import Game
from games.strategies import Strategy
from games.words import gettext as _
from llm_agents.agent import AgentSpec, parse_spec, spec_of
from llm_agents.endpoints import endpoint
from llm_agents.errors import AgentError
from llm_agents.settings import PROMPT, Settings
from llm_agents.strategies import check_persona, check_prompt, strategy_named

GRACE_SECONDS = 20.0
"""Extra seconds after a decision's limit before the clock moves or ends the match, in case a worker died."""


@dataclass(frozen=True)
class Caps:
    """Limits in US dollars; None means no limit.

    The installation's own daily limit, SPEND_CAP_PER_DAY, always applies.
    """

    per_match: Decimal | None = None
    per_study: Decimal | None = None


class Asking(Settings):
    """How an agent is asked, how its answers appear, and what they may cost."""

    appears: Literal["at_once", "typed", "delayed"] = Field(
        "at_once",
        title="Answer display",
        description="How the answer appears to participants: at once, as the model types it, or after the time a "
        "person would take. Without effect in a blind study, where every answer appears after such a time.",
    )
    cap_match: Annotated[float, Field(gt=0)] | None = Field(
        None,
        title="Spend per match",
        description="No more model calls in a match that has cost this many US dollars. Leave empty for no limit.",
    )
    cap_study: Annotated[float, Field(gt=0)] | None = Field(
        None,
        title="Spend per study",
        description="No more model calls once the study has cost this many US dollars. Leave empty for no limit.",
    )


class AgentSettings(Asking):
    """A study's settings for one of its agents; they are stored with the seat and never change.

    Attributes:
        fallbacks: specifications of the models that are asked, in this order, if this one fails.
        script: moves when all models have failed; empty: the match ends, and the participants are paid.
    """

    fallbacks: tuple[str, ...] = Field((), title="Fallback models")
    script: Annotated[str, Field(max_length=60)] = Field("", title="Fallback script")

    def spec(self, agent: str) -> AgentSpec:
        """Return `agent` with these settings, which its fallbacks share."""
        fallbacks = tuple(replace(spec_of(fallback), settings=self) for fallback in self.fallbacks)
        return replace(spec_of(agent), settings=self, fallbacks=fallbacks, script=self.script)

    def tools_problem(self, agent: str, game: Game[Any, Any]) -> str:
        """Return why the agent cannot call tools, and what to do about it; empty if it can or needs no tools."""
        try:
            parsed = parse_spec(agent)
            if parsed.scripted or self.plain_tools or strategy_named(self.strategy, game).layout != "tools":
                return ""
            supports_tools = endpoint(parsed.kind).tools
        except AgentError:
            return ""
        if supports_tools:
            return ""
        return _("Endpoint “{name}” doesn't support tools. Choose “Tools in plain JSON”.").format(name=parsed.kind)

    def caps(self) -> Caps:
        """Return the spending limits for the agent's calls."""
        return Caps(per_match=_dollars(self.cap_match), per_study=_dollars(self.cap_study))

    def check(self, game: Game[Any, Any]) -> dict[str, str]:
        """Return the settings that are invalid in this game, with reasons.

        Never raises, so that the caller can show each problem next to its field.
        """
        problems = self._problems_of_texts(game)
        if self.information == "published" and not game.is_published():
            problems["information"] = _("{game} was never played by models in a publication.").format(game=game.title)
        elif self.information == "published" and game.practises():
            problems["information"] = _("No publication had practice. Leave it out, or choose “explained”.")
        try:
            problems |= self._problem_of_omitted_calls(strategy_named(self.strategy, game))
        except AgentError as error:
            problems["strategy"] = str(error)
        for fallback in self.fallbacks:
            try:
                parse_spec(fallback, game)
            except AgentError as error:
                problems["fallbacks"] = str(error)
        try:
            if self.script:
                parse_spec(f"script:{self.script}", game)
        except AgentError as error:
            problems["script"] = str(error)
        return problems

    def _problem_of_omitted_calls(self, strategy: Strategy) -> dict[str, str]:
        purposes = list(dict.fromkeys(module.purpose for module in strategy.modules))
        for purpose in self.left_out:
            if purpose not in purposes:
                message = _("This strategy has no call “{purpose}” before a move. Its calls are: {purposes}.")
                return {"left_out": message.format(purpose=purpose, purposes=", ".join(purposes) or _("none"))}
        return {}

    def _problems_of_texts(self, game: Game[Any, Any]) -> dict[str, str]:
        problems = {}
        roles = [game.role_title(role) for role in game.roles()]
        try:
            if self.persona:
                check_persona(self.persona, roles=roles)
        except BadText as error:
            problems["persona"] = str(error)
        for name, text in self.prompts.items():
            try:
                check_prompt(name, text, roles=roles)
            except BadText as error:
                problems[PROMPT + name] = str(error)
        return problems


def _dollars(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(str(amount))


DEFAULT = AgentSettings()


def settings_of(stored: Mapping[str, Any]) -> AgentSettings:
    """Return the settings stored with a seat, using defaults for missing ones."""
    return AgentSettings.model_validate_json(json.dumps(stored)) if stored else DEFAULT
