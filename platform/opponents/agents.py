"""Agents: labelled models or scripted players with their settings.

A study or collection defines its agents once; line-ups, seats and exports use their labels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from games.interface import Game, Json, Role
from games.words import gettext as _
from llm_agents.agent import BY_RULES, is_model, is_scripted, parse_spec
from llm_agents.errors import AgentError
from opponents.endpoints import refresh_if_old
from plans.agents import MAX_SECONDS, PERSON
from plans.asking import DEFAULT, AgentSettings, settings_of
from plans.seats import Seats
from programs.turns import missing_program


class Agent(BaseModel):
    """A model, scripted player or researcher's own program with its settings.

    Attributes:
        spec: "script:NAME", "program:NAME" or "ENDPOINT:MODEL".
        delay: seconds to wait before answering.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    spec: Annotated[str, Field(min_length=1, max_length=200)]
    delay: Annotated[float, Field(ge=0, le=MAX_SECONDS)] = 0
    settings: AgentSettings = DEFAULT

    @field_validator("settings", mode="before")
    @classmethod
    def _with_defaults(cls, settings: Any) -> Any:
        return settings_of(settings) if isinstance(settings, Mapping) else settings

    @property
    def scripted(self) -> bool:
        """Whether a script plays, whatever has become of the endpoints since."""
        return is_scripted(self.spec)

    @property
    def is_model(self) -> bool:
        """Whether a model of an endpoint plays, whose calls cost money."""
        return is_model(self.spec)

    @property
    def specs(self) -> tuple[str, ...]:
        """The models or scripts that may be asked: the agent's own, then its fallback models."""
        return (self.spec,) if self.scripted else (self.spec, *self.settings.fallbacks)

    @cached_property
    def hash(self) -> str:
        """A hash of everything that affects the agent's behaviour, 12 hexadecimal digits; scripts have no settings."""
        data = self.kept()
        if self.scripted:
            data.pop("settings", None)
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]

    def kept(self) -> dict[str, Any]:
        """Return the agent as plain data, without default values."""
        settings = self.settings.model_dump(mode="json", exclude_defaults=True)
        return {
            "spec": self.spec,
            **({"delay": self.delay} if self.delay else {}),
            **({"settings": settings} if settings else {}),
        }

    def frozen(self) -> dict[str, Any]:
        """Return the agent as plain data with every setting, so that later changes to defaults have no effect."""
        return self.model_dump(mode="json")

    def check(self, game: Game[Any, Any]) -> dict[str, str]:
        """Return the fields that are invalid in this game ("spec" or a setting), with reasons. Never raises."""
        refresh_if_old(*self.specs)
        problems = {}
        try:
            parse_spec(self.spec, game)
        except AgentError as error:
            problems["spec"] = str(error)
        if reason := missing_program(self.specs):
            problems["spec"] = reason
        if reason := self.settings.tools_problem(self.spec, game):
            problems["plain_tools"] = reason
        return {**problems, **self.settings.check(game)}


def parse_agents(data: Mapping[str, Json]) -> dict[str, Agent]:
    """Return agents by label, parsed from plain data.

    Raises:
        ValueError: an agent is invalid.
    """
    return {label: Agent.model_validate(agent) for label, agent in data.items()}


def problems_in(agents: Mapping[str, Agent], game: Game[Any, Any]) -> list[str]:
    """Return one sentence per problem that these agents have in this game; each names the agent."""
    return [
        agent_problem(label, problem, name)
        for label, agent in agents.items()
        for name, problem in agent.check(game).items()
    ]


def agent_problem(label: str, problem: str, name: str = "") -> str:
    """Return a sentence about an agent's problem; `name` is the setting's, if it is one's."""
    setting = AgentSettings.model_fields.get(name)
    message = f"{setting.title or name}: {problem}" if setting else problem
    return _("Agent “{label}”: {problem}").format(label=label, problem=message)


NO_ANSWER_SUFFIX = ":away"
"""Suffix of a fallback script's name when the agent gave no answer at all.

Such a move never counts as data, even if the script's moves otherwise do.
"""


def counted_movers(agents: Iterable[Agent]) -> frozenset[str]:
    """Return the substitutes whose moves do not exclude a match: the rules, and scripts whose moves count as data."""
    scripts = {f"script:{agent.settings.script}" for agent in agents if agent.settings.script_counts}
    return frozenset({BY_RULES, *scripts})


def labels_in(seats: Seats) -> list[str]:
    """Return the labels in a line-up, in order."""
    return list(dict.fromkeys(label for seat in seats.values() for label in candidates(seat) if label != PERSON))


def people_in(seats: Seats) -> list[Role]:
    """Return the seats that people take."""
    return [role for role, seat in seats.items() if seat == PERSON]


def candidates(seat: str | Sequence[str]) -> Sequence[str]:
    """Return the labels from which a seat is drawn."""
    return (seat,) if isinstance(seat, str) else seat


def draw_lineup(seats: Seats, seed: int) -> dict[Role, str]:
    """Return the agent's label in each seat of the match with this seed, drawing from lists."""
    return {
        role: seat if isinstance(seat, str) else Random(f"{seed}/seat/{role}").choice(list(seat))
        for role, seat in seats.items()
        if seat != PERSON
    }
