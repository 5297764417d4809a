"""How an agent is asked: wording, format, tries and time limits."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from games.interface import Information

OwnText = Annotated[str, Field(max_length=50_000)]
PROMPT = "prompt_"
"""Prefix of the settings that hold a study's own texts."""


class Settings(BaseModel):
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
    information: Information = Field(
        "explained",
        title="Information",
        description="explained: what a participant in its seat would be told. published: what the authors' program "
        "tells its models, and nothing else.",
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

    @field_validator("persona", "prompt_system", "prompt_question", "prompt_correction")
    @classmethod
    def _normalised(cls, text: str) -> str:
        """Return the text with Unix line endings; return "" if it is only whitespace."""
        return text.replace("\r\n", "\n") if text.strip() else ""

    @property
    def prompts(self) -> dict[str, str]:
        """The study's own texts, keyed by the name of the default text each replaces."""
        texts = {"system": self.prompt_system, "question": self.prompt_question, "correction": self.prompt_correction}
        return {name: text for name, text in texts.items() if text}


def bare(**changes: Any) -> Settings:
    """Return the settings of an agent outside studies and collections, whose answers no schema enforces."""
    return BARE.model_copy(update=changes)


BARE = Settings.model_validate({"structured": False})
