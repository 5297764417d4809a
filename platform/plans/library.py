"""Ready-made plans: files in the games' folders, with the publication that each follows.

`games/<game>/studies/NAME.yaml` are studies, `games/<game>/collections/NAME.yaml` collections. A file begins with
comments: a summary, and in a line of its own “Source: …”.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import games
from games import registry
from games.interface import Json
from llm_agents.agent import parse_spec
from plans.asking import Asking
from plans.files import loads

Folder = Literal["studies", "collections"]
SOURCE = "Source:"


@dataclass(frozen=True)
class ReadyMade:
    """One file.

    Attributes:
        name: of the file, unique among all games; used in commands.
        summary: what it is, in a sentence or two for researchers.
        source: the publication it follows.
    """

    name: str
    game: str
    summary: str
    source: str
    text: str

    @property
    def title(self) -> str:
        return str(self.document["title"])

    @property
    def document(self) -> dict[str, Json]:
        """The plan, to be changed freely."""
        return copy.deepcopy(_document(self))


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
    head = [line.removeprefix("#").strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines())]
    summary, _colon, source = " ".join(head).partition(SOURCE)
    return ReadyMade(file.stem, game, summary.strip(), source.strip(), text)


# ---- adapting a ready-made plan ---------------------------------------------------------------------------


def with_seed(document: Mapping[str, Json], seed: int) -> dict[str, Json]:
    """Return the plan with this seed for what its published rows draw."""
    factors = {
        name: {**factor, "rows": {**factor["rows"], "seed": seed}} if factor.get("rows") else factor
        for name, factor in document.get("factors", {}).items()
    }
    return {**document, "factors": factors} if factors else dict(document)


def with_agents(document: Mapping[str, Json], specs: Sequence[str]) -> dict[str, Json]:
    """Return the plan with these agents in place of its models, in order; the last one takes the remaining places.

    Raises:
        BadAgent: one of them does not exist, or not in one of the plan's games.
    """
    models = [label for label, agent in document.get("agents", {}).items() if agent.get("model")]
    if not specs or not models:
        return dict(document)
    for spec in specs:
        for key in games_of(document):
            parse_spec(spec, registry.get(key))
    named = {label: specs[min(place, len(specs) - 1)] for place, label in enumerate(models)}
    agents = {
        label: agent_like(agent, named[label]) if label in named else agent
        for label, agent in document["agents"].items()
    }
    return {**document, "agents": agents}


def agent_like(agent: Mapping[str, Json], spec: str) -> dict[str, Json]:
    """Return the agent named by `spec`, asked like `agent` if it is a model."""
    kind, _colon, name = spec.partition(":")
    if kind == "script":
        return {"script": name}
    settings = {key: value for key, value in agent.items() if key in {*Asking.model_fields, "fallback"}}
    return {"endpoint": kind, "model": name, **settings}


def games_of(document: Mapping[str, Json]) -> list[str]:
    """Return the keys of a plan's games, each once, in order."""

    def find(node: Any) -> Iterator[str]:
        if isinstance(node, Mapping):
            if node.get("stage") == "game" and isinstance(node.get("game"), str):
                yield node["game"]
            for child in node.values():
                yield from find(child)
        elif isinstance(node, list):
            for child in node:
                yield from find(child)

    return list(dict.fromkeys(find(document.get("journey", []))))
