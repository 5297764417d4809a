"""An agent's settings: how it is asked, its fallbacks, and how its answers appear."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from games.errors import BadText
from games.interface import Game
from games.strategies import Strategy
from games.words import gettext as _
from llm_agents.agent import AgentSpec, Ladder, parse_spec, spec_of
from llm_agents.endpoints import endpoint
from llm_agents.errors import AgentError
from llm_agents.strategies import Prompts, check_persona, check_prompts, strategy_named

PROMPT = "prompt_"
"""Prefix of the settings that hold a study's own texts."""
OwnText = Annotated[str, Field(max_length=50_000)]

GRACE_SECONDS = 20.0
"""Extra seconds after a decision's limit before the clock moves or ends the match, in case a worker died."""


@dataclass(frozen=True)
class Caps:
    """Limits in US dollars; None means no limit.

    The installation's own daily limit, SPEND_CAP_PER_DAY, always applies.
    """

    per_match: Decimal | None = None
    per_study: Decimal | None = None


class Asking(BaseModel):
    """How an agent is asked. The titles and descriptions appear in the editor."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)

    strategy: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        "plain",
        title="Prompting strategy",
        description=(
            "plain: as a conversation, or in a single message if the role has no memory. chain_of_thought: "
            "the same, but asks the model to think step by step first. conversation, fresh: always in this "
            "form. tools: the model looks up data, takes notes and submits by calling tools. Some games "
            "have their own strategies, such as published."
        ),
        json_schema_extra={"strategy": True},
    )
    persona: Annotated[str, Field(max_length=4000)] = Field(
        "",
        title="Persona",
        description="Who the model should be, such as “You are a careful trader.” Leave empty for no persona.",
    )
    prompt_system: OwnText = Field(
        "",
        title="System text",
        description="The text around the persona and the rules. Leave empty for the default text.",
    )
    prompt_question: OwnText = Field(
        "",
        title="Turn text",
        description="The text of each turn: what is new and what the model may do. Leave empty for the default text.",
    )
    prompt_correction: OwnText = Field(
        "",
        title="Text after an invalid answer",
        description="What the model is told after an invalid answer. Leave empty for the default text.",
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None,
        title="Temperature",
        description="How random the model's answers are, from 0 (least random). Leave empty for the provider's "
        "default.",
    )
    max_tokens: Annotated[int, Field(ge=16, le=100_000)] | None = Field(
        None, title="Maximum answer length", description="In tokens. Leave empty for the provider's default."
    )
    structured: bool = Field(
        True,
        title="Enforce JSON schema",
        description="Request answers in the move's JSON format where the endpoint supports it. Answers may still "
        "be illegal moves.",
    )
    short: bool = Field(
        False,
        title="Ask for as few numbers as possible",
        description="In games with a short answer format, the model gives only the numbers that determine its move.",
    )
    tries_after_first: int = Field(
        3,
        ge=0,
        le=20,
        title="Retries after illegal moves",
        description="How often a model that makes an illegal move is told why and asked again.",
    )
    left_out: tuple[Annotated[str, Field(max_length=20)], ...] = Field(
        (),
        title="Omitted calls",
        description=(
            "For strategies that plan and form beliefs: calls to leave out before a move, one per line: "
            "plan, belief or replan."
        ),
    )
    plain_tools: bool = Field(
        False,
        title="Tools in plain JSON",
        description="For the tools strategy: write tool calls as JSON text. Choose this for models or endpoints "
        "without tool support.",
    )
    calls: int = Field(
        40,
        ge=1,
        le=400,
        title="Calls per turn",
        description="For the tools strategy: maximum number of calls per turn. The last one can only submit.",
    )
    restarts: int = Field(
        10,
        ge=0,
        le=100,
        title="Restarts per turn",
        description="For the tools strategy: how often a turn without a submission starts again. Notes are kept.",
    )
    call_seconds: float = Field(60, ge=1, le=600, title="Seconds per call", description="Longer calls are cancelled.")
    retries: int = Field(
        2,
        ge=0,
        le=10,
        title="Retries",
        description="How often to repeat a call that failed because the endpoint was busy or down.",
    )
    limit_seconds: float = Field(
        120,
        ge=2,
        le=1800,
        title="Seconds per move",
        description="Time limit for a move including all tries, retries and fallbacks. Afterwards, a fallback "
        "script moves, if there is one.",
    )
    script_counts: bool = Field(
        False,
        title="Keep the fallback script's moves as data",
        description="Keep matches in the dataset in which the script replaced an unusable answer; its moves are "
        "flagged. Matches in which a model did not answer at all stay out.",
    )
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

    @field_validator("persona", "prompt_system", "prompt_question", "prompt_correction")
    @classmethod
    def _normalised(cls, text: str) -> str:
        """Return the text with Unix line endings; return "" if it is only whitespace."""
        return text.replace("\r\n", "\n") if text.strip() else ""


class AgentSettings(Asking):
    """A study's settings for one of its agents; they are stored with the seat and never change."""

    fallbacks: tuple[str, ...] = Field(
        (),
        title="Fallback models",
        description="Models to ask, in this order, if this one fails. One ENDPOINT:MODEL per line, such as "
        "openai:gpt-4o-mini.",
    )
    script: Annotated[str, Field(max_length=60)] = Field(
        "",
        title="Fallback script",
        description="Moves when all models have failed; its moves are flagged in the data. Leave empty to end the "
        "match and pay the participants.",
    )

    @property
    def prompts(self) -> dict[str, str]:
        """Return the study's own texts, keyed by the name of the default text each replaces."""
        texts = {name: getattr(self, PROMPT + name) for name in Prompts.model_fields}
        return {name: text for name, text in texts.items() if text}

    def spec(self, agent: str) -> AgentSpec:
        """Return `agent` with these settings."""
        parsed = spec_of(agent)
        if parsed.scripted:
            return parsed
        parameters: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return AgentSpec(
            kind=parsed.kind,
            name=parsed.name,
            strategy=None if self.strategy == "plain" else self.strategy,
            parameters={name: value for name, value in parameters.items() if value is not None},
            persona=self.persona or None,
            structured=self.structured,
            short=self.short,
            plain_tools=self.plain_tools,
            calls=self.calls,
            restarts=self.restarts,
            left_out=self.left_out,
        )

    def ladder(self, agent: str) -> Ladder:
        """Return the models to ask, in order, with timeouts and retries."""
        return Ladder(
            agents=(self.spec(agent), *(self.spec(fallback) for fallback in self.fallbacks)),
            tries_after_first=self.tries_after_first,
            call_seconds=self.call_seconds,
            retries=self.retries,
            total_seconds=self.limit_seconds,
            script=self.script or None,
            script_counts=self.script_counts,
        )

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
                check_prompts({name: text}, roles=roles)
            except BadText as error:
                problems[PROMPT + name] = str(error)
        return problems


def _dollars(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(str(amount))


DEFAULT = AgentSettings()


def settings_of(stored: Mapping[str, Any]) -> AgentSettings:
    """Return the settings stored with a seat, using defaults for missing ones."""
    return AgentSettings.model_validate_json(json.dumps(stored)) if stored else DEFAULT
