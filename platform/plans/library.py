"""Ready-made plans: files in the games' folders, with the publication that each follows.

`games/<game>/studies/NAME.yaml` are studies, `games/<game>/collections/NAME.yaml` collections. A file begins with
comments: a summary, in a line of its own “Source: …”, and, if a parameter is the number of agents, “Number of
agents: PARAMETER.”
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Literal

import games
from games import registry
from games.errors import BadLineup
from games.interface import Json
from games.words import gettext as _
from llm_agents.agent import parse_spec
from plans.asking import Asking
from plans.collection import is_collection
from plans.files import loads
from plans.reading import stage_nodes

Folder = Literal["studies", "collections"]
SOURCE, COUNTED = "Source:", "Number of agents:"


@dataclass(frozen=True)
class ReadyMade:
    """One file.

    Attributes:
        name: of the file, unique among all games; used in commands.
        summary: what it is, in a sentence or two for researchers.
        source: the publication it follows.
        counted: the parameter that is the number of agents in a collection; empty if there is none.
    """

    name: str
    game: str
    summary: str
    source: str
    counted: str
    text: str

    @property
    def title(self) -> str:
        return str(self.document["title"])

    @property
    def document(self) -> dict[str, Json]:
        """The plan, to be changed freely."""
        return copy.deepcopy(_document(self))

    def adapted(self, agents: Sequence[str] = (), seed: int | None = None) -> dict[str, Json]:
        """Return the plan with other agents, and another seed for what its published rows draw.

        Args:
            agents: specifications, such as "openai:gpt-4o-mini"; none keeps the plan's own.

        Raises:
            BadAgent: one of them does not exist, or not in one of the plan's games.
            BadLineup: one of them is named twice in a collection.
        """
        document = self.document if seed is None else with_seed(self.document, seed)
        for spec in agents:
            for key in games_of(document):
                parse_spec(spec, registry.get(key))
        if not agents:
            return document
        return _with_pool(document, agents, self.counted) if is_collection(document) else with_models(document, agents)


@cache
def _document(ready: ReadyMade) -> dict[str, Json]:
    return loads(ready.text)


@cache
def ready_made(folder: Folder) -> Mapping[str, ReadyMade]:
    """Return every ready-made plan by name, game by game."""
    root = Path(games.__file__).parent
    files = [(key, file) for key in registry.keys() for file in sorted((root / key / folder).glob("*.yaml"))]
    return {file.stem: _read(key, file) for key, file in files}


def _read(game: str, file: Path) -> ReadyMade:
    text = file.read_text(encoding="utf-8")
    said: dict[str, list[str]] = {"": [], SOURCE: [], COUNTED: []}
    for line in takewhile(lambda line: line.startswith("#"), text.splitlines()):
        words = line.removeprefix("#").strip()
        head = next((head for head in (SOURCE, COUNTED) if words.startswith(head)), "")
        said[head].append(words.removeprefix(head).strip())
    return ReadyMade(
        file.stem, game, " ".join(said[""]), " ".join(said[SOURCE]), "".join(said[COUNTED]).rstrip("."), text
    )


# ---- adapting a ready-made plan ---------------------------------------------------------------------------


def with_seed(document: Mapping[str, Json], seed: int) -> dict[str, Json]:
    """Return the plan with this seed for what its published rows draw."""
    factors = {
        name: {**factor, "rows": {**factor["rows"], "seed": seed}} if factor.get("rows") else factor
        for name, factor in document.get("factors", {}).items()
    }
    return {**document, "factors": factors} if factors else dict(document)


def with_models(document: Mapping[str, Json], specs: Sequence[str]) -> dict[str, Json]:
    """Return the plan with these agents in place of its models, in order; the last one takes the remaining places."""
    models = [label for label, agent in document.get("agents", {}).items() if agent.get("model")]
    named = {label: specs[min(place, len(specs) - 1)] for place, label in enumerate(models)}
    before = document.get("agents", {})
    agents = {label: agent_like(agent, named[label]) if label in named else agent for label, agent in before.items()}
    unused = _fallbacks_in(before) - _fallbacks_in(agents)
    agents = {label: agent for label, agent in agents.items() if label not in unused}
    return {**document, "agents": agents} if agents else dict(document)


def _with_pool(document: dict[str, Json], specs: Sequence[str], counted: str) -> dict[str, Json]:
    """Return the collection with these agents in place of its models.

    Models that are asked differently, or are line-ups' own, keep their labels; the others are a pool of any number.
    """
    if len(set(specs)) < len(specs):
        raise BadLineup(_("Agents: each must be listed only once."))
    stage = document["journey"][0]
    models = {label: agent for label, agent in document["agents"].items() if agent.get("model")}
    how = [
        {key: value for key, value in agent.items() if key not in ("endpoint", "model")} for agent in models.values()
    ]
    if any(asked != how[0] for asked in how):
        return with_models(document, specs)
    fixed = [label for label in stage["seats"].get("fixed", {}).values() if label in models]
    if stage["seats"].get("rule") == "listed":
        fixed = list(models)
    named = dict(zip(fixed, specs, strict=False))
    if len(named) < len(fixed):
        raise BadLineup(
            _("Agents: at least {wanted} are needed, but {named} are given.").format(
                wanted=len(fixed), named=len(specs)
            )
        )
    pool = [] if stage["seats"].get("rule") == "listed" else specs[len(fixed) :]
    if stage["seats"].get("rule") == "together" and not counted:
        pool = pool[: len(models) - len(fixed)]
    agents = {spec: agent_like(next(iter(models.values())), spec) for spec in (*named.values(), *pool)}
    unused = _fallbacks_in(models) - _fallbacks_in(agents)
    others = {label: agent for label, agent in document["agents"].items() if label not in {*models, *unused}}
    seats = _renamed(stage["seats"], named)
    config = {**stage["config"], **({counted: len(pool)} if counted else {})}
    return {**document, "agents": {**agents, **others}, "journey": [{**stage, "seats": seats, "config": config}]}


def _fallbacks_in(agents: Mapping[str, Mapping[str, Json]]) -> set[str]:
    named = [agent["fallback"] for agent in agents.values() if agent.get("fallback")]
    return {label for fallback in named for label in ([fallback] if isinstance(fallback, str) else fallback)}


def _renamed(node: Json, names: Mapping[str, str]) -> Json:
    if isinstance(node, dict):
        return {key: _renamed(child, names) for key, child in node.items()}
    if isinstance(node, list):
        return [_renamed(child, names) for child in node]
    return names.get(node, node) if isinstance(node, str) else node


def agent_like(agent: Mapping[str, Json], spec: str) -> dict[str, Json]:
    """Return the agent named by `spec`, asked like `agent` if it is no script."""
    kind, _colon, name = spec.partition(":")
    if kind == "script":
        return {"script": name}
    settings = {key: value for key, value in agent.items() if key in {*Asking.model_fields, "fallback"}}
    return {"program": name, **settings} if kind == "program" else {"endpoint": kind, "model": name, **settings}


def games_of(document: Mapping[str, Json]) -> list[str]:
    """Return the keys of a plan's games, each once, in order."""
    stages = (node for _path, node in stage_nodes(document.get("journey", [])))
    return list(dict.fromkeys(stage["game"] for stage in stages if stage["stage"] == "game"))
