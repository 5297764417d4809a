"""How an agent in a seat is asked, what happens when it fails, and how its answer appears."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, field_validator

from games.errors import BadText
from games.interface import Game
from games.strategies import Strategy
from llm_agents.agent import AgentSpec, Ladder, parse_spec
from llm_agents.endpoints import endpoint
from llm_agents.errors import AgentError
from llm_agents.strategies import Prompts, called, check_persona, check_prompts
from opponents.spending import Caps

PROMPT = "prompt_"
"""Begins the names of the settings that are a study's own texts."""
OwnText = Annotated[str, Field(max_length=50_000)]

GRACE_SECONDS = 20.0
"""Beyond the limit of a decision, before the clock itself moves or ends the match: for workers that died."""


class AgentSettings(BaseModel):
    """A study's settings of its opponent; they travel with the seat and never change.

    Titles and descriptions make the set-up form.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)

    strategy: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        "plain",
        title="How a model is asked",
        description=(
            "plain: as a conversation, or all in one message where the role does not remember. chain_of_thought: "
            "so too, to think step by step first. conversation, fresh: in this form whatever the game says. tools: "
            "it looks, notes and submits by calling tools. Or one of the game's own, such as published."
        ),
    )
    persona: Annotated[str, Field(max_length=4000)] = Field(
        "", title="Persona", description="Whom a model is told to be. Empty: nobody in particular."
    )
    prompt_system: OwnText = Field(
        "", title="System text", description="Around the persona and the rules. Empty: the usual text."
    )
    prompt_question: OwnText = Field(
        "", title="Question at each turn", description="Around what is new and what may be done. Empty: the usual text."
    )
    prompt_correction: OwnText = Field(
        "", title="After a refused answer", description="What a model is told then. Empty: the usual text."
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, title="Temperature", description="How freely a model chooses its words. None: as its provider has it."
    )
    max_tokens: Annotated[int, Field(ge=16, le=100_000)] | None = Field(
        None, title="Longest answer", description="In tokens. None: as the provider has it."
    )
    structured: bool = Field(
        True,
        title="Enforce JSON schema",
        description="Where the endpoint can: an answer is then the JSON of a move, though perhaps not a legal one.",
    )
    short: bool = Field(
        False,
        title="Ask for the fewest numbers",
        description="Where the game has such a form: a model says only what determines its move.",
    )
    tries_after_first: int = Field(
        3,
        ge=0,
        le=20,
        title="Tries after the first",
        description="A model that makes no legal move is told what was wrong and asked again this often.",
    )
    left_out: tuple[Annotated[str, Field(max_length=20)], ...] = Field(
        (),
        title="Calls left out",
        description=(
            "Of a strategy that plans and believes: which of its calls before a move are not made, one per line: "
            "plan, belief or replan."
        ),
    )
    plain_tools: bool = Field(
        False,
        title="Tools in plain JSON",
        description="With tools: for models or endpoints that take none, the same calls are written as JSON text.",
    )
    calls: int = Field(
        40,
        ge=1,
        le=400,
        title="Calls in a turn",
        description="With tools: the last can only submit.",
    )
    restarts: int = Field(
        10,
        ge=0,
        le=100,
        title="Fresh starts of a turn",
        description="With tools: a turn without a submission starts afresh, its notes kept, this often.",
    )
    call_seconds: float = Field(60, ge=1, le=600, title="Seconds for a call", description="Longer calls are cut off.")
    retries: int = Field(
        2, ge=0, le=10, title="Retries", description="Of a call that failed because the endpoint was busy or down."
    )
    limit_seconds: float = Field(
        120,
        ge=2,
        le=1800,
        title="Seconds for a move",
        description="With all tries, retries and fallbacks. What happens then is said below.",
    )
    fallbacks: tuple[str, ...] = Field(
        (),
        title="Fallback models",
        description="Other models that are asked, in this order, when the opponent fails; as ENDPOINT:MODEL.",
    )
    script: Annotated[str, Field(max_length=60)] = Field(
        "",
        title="Fallback script",
        description="It moves when all have failed, flagged in the data. Empty: the game ends, and people are paid.",
    )
    script_counts: bool = Field(
        False,
        title="Its moves are data",
        description="Its moves for unusable answers are results: they are flagged, and the match stays in the dataset. "
        "Where a model gave no answer at all, they are not.",
    )
    appears: Literal["at_once", "typed", "delayed"] = Field(
        "at_once",
        title="How the answer appears",
        description="At once; its words as the model types them; or after the time that a person would have taken.",
    )
    cap_match: Annotated[float, Field(gt=0)] | None = Field(
        None, title="Spend per match", description="US dollars after which no model is asked in a match. None: no cap."
    )
    cap_study: Annotated[float, Field(gt=0)] | None = Field(
        None, title="Spend per study", description="US dollars after which no model is asked. None: no cap."
    )

    @field_validator("persona", "prompt_system", "prompt_question", "prompt_correction")
    @classmethod
    def _as_typed(cls, text: str) -> str:
        """Line ends as templates have them; text of spaces alone counts as empty."""
        return text.replace("\r\n", "\n") if text.strip() else ""

    @property
    def prompts(self) -> dict[str, str]:
        """The study's own texts around rules and questions, by the name of the usual one that each replaces."""
        written = {name: getattr(self, PROMPT + name) for name in Prompts.model_fields}
        return {name: text for name, text in written.items() if text}

    def spec(self, agent: str) -> AgentSpec:
        """The agent called `agent`, asked in this way.

        Raises:
            BadAgent
        """
        named = parse_spec(agent)
        if named.scripted:
            return named
        parameters: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return AgentSpec(
            kind=named.kind,
            name=named.name,
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
        """Who is asked in which order, and how patiently.

        Raises:
            BadAgent
        """
        return Ladder(
            rungs=(self.spec(agent), *(self.spec(other) for other in self.fallbacks)),
            tries_after_first=self.tries_after_first,
            call_seconds=self.call_seconds,
            retries=self.retries,
            total_seconds=self.limit_seconds,
            script=self.script or None,
            script_counts=self.script_counts,
        )

    def takes_no_tools(self, agent: str, game: Game[Any, Any]) -> str:
        """Why the agent cannot call tools as they are offered, and what to choose; empty where it can or need not."""
        try:
            named = parse_spec(agent)
            if named.scripted or self.plain_tools or called(self.strategy, game).layout != "tools":
                return ""
            takes = endpoint(named.kind).tools
        except AgentError:
            return ""
        if takes:
            return ""
        return _("Endpoint “{name}” takes no tools: choose “Tools in plain JSON”.").format(name=named.kind)

    def caps(self) -> Caps:
        """What its calls may cost."""
        return Caps(per_match=_dollars(self.cap_match), per_study=_dollars(self.cap_study))

    def check(self, game: Game[Any, Any]) -> dict[str, str]:
        """What cannot be in this game, by name of the setting.

        Raises nothing: the caller shows every problem at its field.
        """
        problems = self._problems_of_texts(game)
        try:
            problems |= self._problem_of_modules(called(self.strategy, game))
        except AgentError as error:
            problems["strategy"] = str(error)
        for other in self.fallbacks:
            try:
                parse_spec(other, game)
            except AgentError as error:
                problems["fallbacks"] = str(error)
        try:
            if self.script:
                parse_spec(f"script:{self.script}", game)
        except AgentError as error:
            problems["script"] = str(error)
        return problems

    def _problem_of_modules(self, strategy: Strategy) -> dict[str, str]:
        made = list(dict.fromkeys(module.purpose for module in strategy.modules))
        for purpose in self.left_out:
            if purpose not in made:
                says = _("This strategy makes no call “{purpose}” before a move; it makes {made}.")
                return {"left_out": says.format(purpose=purpose, made=", ".join(made) or _("none"))}
        return {}

    def _problems_of_texts(self, game: Game[Any, Any]) -> dict[str, str]:
        problems = {}
        roles = [game.role_title(role) for role in game.roles()]
        try:
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


def settings_of(kept: Mapping[str, Any]) -> AgentSettings:
    """The settings as a seat keeps them; defaults for what it does not name."""
    return AgentSettings.model_validate_json(json.dumps(kept)) if kept else DEFAULT
