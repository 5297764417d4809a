"""What the models of a ready-made collection are told, in the first configuration of each of its environments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

import games
from games import registry
from games.errors import UnknownGame
from games.interface import Game, Information, Json, Role
from games.play import configure
from games.words import gettext as _
from llm_agents.agent import AgentSpec
from llm_agents.settings import Settings
from llm_agents.telling import ToldTurn, told
from plans.asking import settings_of
from plans.collection import CollectionPlan, CollectionReader
from plans.library import ReadyMade, ready_made
from plans.stages import DEFAULT_TEXT


class PublishedFact(BaseModel):
    """A fact that the authors' program tells its models, or never tells them (`games/<game>/facts.yaml`).

    Attributes:
        when: at the start, at every turn, as a tool's result, after a move, or never.
        find: a regular expression that recognises it in what Parley sends.
        of: the ready-made collections that it holds for; empty for all of the game's.
        parameters: of a match in which it shows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fact: str
    when: Literal["start", "turn", "tool", "after", "never"]
    find: str
    of: tuple[str, ...] = ()
    parameters: dict[str, Any] = Field(default={}, alias="with")

    @property
    def told(self) -> bool:
        return self.when != "never"


def facts_of(ready: ReadyMade) -> list[PublishedFact]:
    """Return the facts of a ready-made collection."""
    text = (Path(games.__file__).parent / ready.game / "facts.yaml").read_text(encoding="utf-8")
    facts = [PublishedFact.model_validate(fact) for fact in YAML(typ="safe").load(text)]
    return [fact for fact in facts if not fact.of or ready.name in fact.of]


@dataclasses.dataclass(frozen=True)
class ToldSeat:
    """What the model in one seat is told; `agent` is its label."""

    seat: Role
    agent: str
    settings: Settings
    turns: Sequence[ToldTurn]

    def words(self) -> str:
        """Return everything that the seat is told: messages, tools with their results, corrections."""
        return "\n\n".join(turn.words() for turn in self.turns)


@dataclasses.dataclass(frozen=True)
class ToldEnvironment:
    """What the models of one environment are told.

    Attributes:
        game: with the configuration.
        seats: those of models.
    """

    name: str
    game: Game[Any, Any]
    seats: Sequence[ToldSeat]


def collections_named(name: str) -> list[ReadyMade]:
    """Return the ready-made collection, or all whose names begin with this one and a hyphen.

    Raises:
        UnknownGame: there is none; the message lists the known ones.
    """
    known = ready_made("collections")
    found = [known[name]] if name in known else [each for key, each in known.items() if key.startswith(f"{name}-")]
    if not found:
        what = _("There is no ready-made collection “{name}”. There are: {known}.")
        raise UnknownGame(what.format(name=name, known=", ".join(known)))
    return found


def told_in(
    ready: ReadyMade,
    *,
    agents: Sequence[str] = (),
    environment: str = "",
    seat: Role = "",
    config: Mapping[str, Json] | None = None,
    turns: int = 1,
    seed: int = 1,
    information: Information | None = None,
) -> list[ToldEnvironment]:
    """Return what the models of a collection are told.

    Args:
        agents: in the places of its models.
        environment: only this one.
        seat: only this one.
        information: in place of the agents' own.
        config: parameters that replace the configuration's; environments whose game lacks one of them are left out.

    Raises:
        AgentError, GameError, BadPlan: an agent, a parameter or a seat is invalid.
    """
    reader = CollectionReader(ready.adapted(agents))
    plans: dict[str, CollectionPlan] = {}
    for cell in reader.cells:
        plan = reader.collection(cell.factors)
        plans.setdefault(plan.environment, plan)
    told_environments = []
    for environment_name, plan in plans.items():
        name = environment_name or ready.name
        kind = registry.get(plan.game.game)
        if environment not in ("", name) or set(config or ()) - set(kind.Config.model_fields):
            continue
        game = configure(kind, {**plan.game.config, **(config or {})})
        told_environments.append(ToldEnvironment(name, game, _seats(plan, game, seat, turns, seed, information)))
    return told_environments


def _seats(
    plan: CollectionPlan, game: Game[Any, Any], only: Role, turns: int, seed: int, information: Information | None
) -> list[ToldSeat]:
    if only and only not in game.roles():
        roles = ", ".join(game.roles())
        raise UnknownGame(
            _("{game} has no role “{role}”; there are {roles}.").format(game=game.key, role=only, roles=roles)
        )
    labels = plan.lineups.at(0, game.roles())
    agents = {role: _agent(plan, label, information) for role, label in labels.items()}
    template = None if plan.game.instructions == DEFAULT_TEXT else plan.game.instructions
    by_role = told(game, agents, seed=seed, turns=turns, template=template)
    return [
        ToldSeat(role, labels[role], agents[role].settings, by_role[role]) for role in by_role if only in ("", role)
    ]


def _agent(plan: CollectionPlan, label: str, information: Information | None) -> AgentSpec:
    agent = plan.agents[label]
    settings = settings_of(agent.settings(plan.agents))  # type: ignore[arg-type]
    if information is not None:
        settings = settings.model_copy(update={"information": information})
    return settings.spec(agent.spec)
