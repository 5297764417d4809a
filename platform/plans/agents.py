"""A plan's agents: models or scripts under labels, and how they are asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from games.words import gettext as _
from plans.asking import Asking

PERSON = "person"
"""Marks a seat for a participant."""
RESERVED_LABELS = frozenset({PERSON, "people", "human"})
MAX_LABEL_LENGTH = 200
MAX_SECONDS = 3600
PROGRAM_NAME = r"[a-z][a-z0-9-]{0,59}"
_LABEL = re.compile(r"[\w][\w .:/@+-]*")
Label = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_LENGTH)]


class PlannedAgent(Asking):
    """One agent of a plan: a script, a researcher's own program, or a model of an endpoint with how it is asked."""

    model_config = ConfigDict(title="Agent")

    script: Annotated[str, Field(max_length=60)] | None = Field(
        None, title="Script", description="A scripted player of the game. Leave empty for a model."
    )
    program: Annotated[str, Field(pattern=rf"^{PROGRAM_NAME}$")] | None = Field(
        None, title="Program", description="The name of a program of your own that plays over the API."
    )
    endpoint: Annotated[str, Field(max_length=60)] | None = Field(None, title="Endpoint")
    model: Annotated[str, Field(max_length=200)] | None = Field(None, title="Model")
    delay: Annotated[float, Field(ge=0, le=MAX_SECONDS)] = Field(
        0, title="Delay", description="Seconds to wait before answering.", json_schema_extra={"unit": "seconds"}
    )
    fallback: Label | list[Label] | None = Field(
        None,
        title="Fallback agents",
        description="Other agents of this study, asked in this order if this one fails. A script comes last; its "
        "moves are flagged in the data. Without one, the match ends and the participants are paid.",
        json_schema_extra={"agents": True},
    )

    @field_validator("fallback")
    @classmethod
    def _one_or_several(cls, fallback: str | list[str] | None) -> str | list[str] | None:
        return fallback[0] if isinstance(fallback, list) and len(fallback) == 1 else fallback or None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        is_model = self.endpoint is not None or self.model is not None
        if [self.script is not None, self.program is not None, is_model].count(True) > 1:
            raise PydanticCustomError("agent", _("An agent is a script, a program or a model, not several of these."))
        if self.script is None and self.program is None and (self.endpoint is None or self.model is None):
            raise PydanticCustomError("agent", _("Choose a script, a program, or an endpoint and a model."))
        return self

    @property
    def spec(self) -> str:
        """The agent as commands name it: "script:NAME", "program:NAME" or "ENDPOINT:MODEL"."""
        if self.script is not None:
            return f"script:{self.script}"
        return f"program:{self.program}" if self.program is not None else f"{self.endpoint}:{self.model}"

    @property
    def fallbacks(self) -> list[str]:
        """The labels of its fallback agents, in order."""
        return [self.fallback] if isinstance(self.fallback, str) else list(self.fallback or ())

    def settings(self, agents: Mapping[str, PlannedAgent]) -> dict[str, Any]:
        """Return how it is asked, with its fallback agents written out (`plans.asking.AgentSettings`).

        Args:
            agents: the plan's agents by label.
        """
        data = self.model_dump(mode="json", include=set(Asking.model_fields))
        others = [agents[label] for label in self.fallbacks]
        scripts = [other.script for other in others if other.script is not None]
        return {
            **data,
            "fallbacks": [other.spec for other in others if other.script is None],
            "script": scripts[0] if scripts else "",
        }


def label_problem(label: str) -> str:
    """Return why an agent cannot have this label; empty if it can."""
    if not label or len(label) > MAX_LABEL_LENGTH or not _LABEL.fullmatch(label) or label != label.strip():
        return _(
            "Use letters, digits, spaces and . : / @ + - _ for a name, starting with a letter or digit, such as gpt-4o."
        )
    if label.lower() in RESERVED_LABELS:
        return _("“{label}” is reserved for participants. Choose another name.").format(label=label)
    return ""
