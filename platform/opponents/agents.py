"""Agents: a labelled model or scripted player with its settings.

A study or collection defines its agents once; line-ups, seats and exports use their labels.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from games.interface import Game, Json, Role
from games.words import gettext as _
from llm_agents.agent import BY_RULES, parse_spec
from llm_agents.errors import AgentError
from opponents.agent_settings import DEFAULT, AgentSettings, settings_of

PERSON = "person"
"""In a line-up: the seat is for a person."""
RESERVED = frozenset({PERSON, "people", "human"})
"""Labels that no agent may have."""
MAX_LABEL_LENGTH = 200
MAX_SECONDS = 3600
Seats = Mapping[Role, str | Sequence[str]]
"""A line-up: for each seat `PERSON`, an agent's label, or labels from which one is drawn for each match."""

_LABEL = re.compile(r"[\w][\w .:/@+-]*")


class Agent(BaseModel):
    """A model or scripted player with its settings.

    Attributes:
        spec: "script:NAME" or "ENDPOINT:MODEL".
        delay: seconds to wait before answering.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    spec: Annotated[str, Field(min_length=1, max_length=200)]
    delay: Annotated[float, Field(ge=0, le=MAX_SECONDS)] = 0
    settings: AgentSettings = DEFAULT

    @field_validator("settings", mode="before")
    @classmethod
    def _as_kept(cls, settings: Any) -> Any:
        return settings_of(settings) if isinstance(settings, Mapping) else settings

    @property
    def scripted(self) -> bool:
        return parse_spec(self.spec).scripted

    @property
    def specs(self) -> tuple[str, ...]:
        """Everything that may be asked: the agent, then its fallback models."""
        return (self.spec,) if self.spec.startswith("script:") else (self.spec, *self.settings.fallbacks)

    @property
    def hash(self) -> str:
        """12 hexadecimal digits that cover everything that affects its behaviour; scripts have no settings."""
        kept = self.kept()
        if self.spec.startswith("script:"):
            kept.pop("settings", None)
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]

    def kept(self) -> dict[str, Any]:
        """Return it as plain data, without default values."""
        settings = self.settings.model_dump(mode="json", exclude_defaults=True)
        return {
            "spec": self.spec,
            **({"delay": self.delay} if self.delay else {}),
            **({"settings": settings} if settings else {}),
        }

    def frozen(self) -> dict[str, Any]:
        """Return it as plain data with every setting, so that later changes of defaults have no effect."""
        return self.model_dump(mode="json")

    def check(self, game: Game[Any, Any]) -> dict[str, str]:
        """Return what is invalid in this game, by name: "spec" or a setting's. Raises nothing."""
        problems = {}
        try:
            parse_spec(self.spec, game)
        except AgentError as error:
            problems["spec"] = str(error)
        if reason := self.settings.takes_no_tools(self.spec, game):
            problems["plain_tools"] = reason
        return {**problems, **self.settings.check(game)}


def problem_of_label(label: str) -> str:
    """Return why an agent cannot have this name; empty if it can."""
    if not label or len(label) > MAX_LABEL_LENGTH or not _LABEL.fullmatch(label) or label != label.strip():
        return _(
            "Use letters, digits, spaces and . : / @ + - _ for a name, starting with a letter or digit, such as gpt-4o."
        )
    if label.lower() in RESERVED:
        return _("“{label}” is reserved for participants. Choose another name.").format(label=label)
    return ""


def agents_of(written: Mapping[str, Json], *, usual: AgentSettings = DEFAULT) -> dict[str, Agent]:
    """Return agents by label, from plain data.

    Args:
        usual: the settings of agents that have none.

    Raises:
        ValueError: a label or an agent is invalid; the message names it.
    """
    for label in written:
        if problem := problem_of_label(label):
            raise ValueError(f"{label}: {problem}")
    return {label: _agent_of(label, agent, usual) for label, agent in written.items()}


def _agent_of(label: str, written: Json, usual: AgentSettings) -> Agent:
    """Parse one agent; raise ValueError if it is invalid."""
    try:
        if not isinstance(written, Mapping) or not isinstance(written.get("settings") or {}, Mapping):
            return Agent.model_validate(written)
        own = written.get("settings") or {}
        settings = usual if not own else settings_of(own if usual is DEFAULT else {**_plain(usual), **own})
        return Agent.model_validate({**written, "settings": settings})
    except ValidationError as error:
        raise ValueError(_problem(label, *_first(error))) from None


def _plain(settings: AgentSettings) -> dict[str, Any]:
    return settings.model_dump(mode="json")


def problems_in(agents: Mapping[str, Agent], game: Game[Any, Any]) -> list[str]:
    """Return what is invalid about these agents in this game, as sentences that name them."""
    return [
        _problem(label, name, problem) for label, agent in agents.items() for name, problem in agent.check(game).items()
    ]


def _problem(label: str, name: str, problem: str) -> str:
    setting = AgentSettings.model_fields.get(name)
    says = f"{setting.title or name}: {problem}" if setting else problem
    return _("Agent “{label}”: {problem}").format(label=label, problem=says)


def _first(error: ValidationError) -> tuple[str, str]:
    """Return the first error: the field's name and the reason."""
    problem = error.errors()[0]
    return str(next(iter(problem["loc"]), "")), problem["msg"].removeprefix("Value error, ")


def named(*specs: str, delay: float = 0, settings: Mapping[str, Json] | None = None) -> dict[str, dict[str, Any]]:
    """Return agents labelled by their specifications, as plain data."""
    return {spec: Agent(spec=spec, delay=delay, settings=settings_of(settings or {})).kept() for spec in specs}


AWAY = ":away"
"""Suffix of a fallback script's name, if its moves count as data but its agent gave no answer: then they don't."""


def counted(agents: Iterable[Agent]) -> frozenset[str]:
    """Return who may move for these agents without excluding the match: the rules, and scripts whose moves are data."""
    scripts = {f"script:{agent.settings.script}" for agent in agents if agent.settings.script_counts}
    return frozenset({BY_RULES, *scripts})


def labels_in(seats: Seats) -> list[str]:
    """Return the labels in a line-up, in order."""
    return list(dict.fromkeys(label for who in seats.values() for label in among(who) if label != PERSON))


def people_in(seats: Seats) -> list[Role]:
    """Return the seats that people take."""
    return [role for role, who in seats.items() if who == PERSON]


def among(who: str | Sequence[str]) -> Sequence[str]:
    """Return the candidates for a seat."""
    return (who,) if isinstance(who, str) else who


def drawn(seats: Seats, seed: int) -> dict[Role, str]:
    """Return the label of each agent's seat in the match with this seed, drawing from lists."""
    return {
        role: who if isinstance(who, str) else Random(f"{seed}/seat/{role}").choice(list(who))
        for role, who in seats.items()
        if who != PERSON
    }
