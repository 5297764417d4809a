"""A reporting checklist for studies with language models, following GUIDE-LLM (llm-checklist.com).

What the logs record is filled in; what only the authors know is left as a question. The wording is our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from exports import documents
from exports.alike import mask
from exports.metadata.facts import DatasetFacts

if TYPE_CHECKING:  # models load only with the apps, which a verification needs not
    from exports.metadata.models_used import ModelUse
    from exports.sources import FrozenVersion

FILE, DATA_FILE = "reporting-checklist.md", "reporting-checklist.json"
MEANING = (
    "How language models were used, by items of GUIDE-LLM: filled in from the logs, with questions for the authors."
)
MEANING_OF_DATA = "The checklist in machine-readable form."
_ENTRIES = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


@dataclass(frozen=True)
class Item:
    """A checklist item. `answers` come from the logs; `question` asks for the rest, empty if nothing is left."""

    key: str
    title: str
    answers: tuple[str, ...]
    question: str = ""
    core: bool = True


def items(facts: DatasetFacts, uses: Sequence[ModelUse]) -> list[Item]:
    """Return every item in GUIDE-LLM's order: core items, then optional ones."""
    if not uses:
        return []
    filled_in = _filled_in(facts, uses)
    return [
        Item(
            key=entry["item"],
            title=entry["title"],
            answers=tuple(map(mask, _answers(entry.get("answers", ()), filled_in))),
            question=entry.get("question", ""),
            core=not entry["item"].startswith("O."),
        )
        for entry in _ENTRIES
        if entry.get("people", facts.people) == facts.people
    ]


def as_data(facts: DatasetFacts, uses: Sequence[ModelUse]) -> dict[str, Any]:
    """Return the checklist as data."""
    return {
        "checklist": "GUIDE-LLM",
        "as_of": facts.cutoff,
        "models": [vars(use) for use in uses],
        "items": [
            {
                "item": item.key,
                "title": item.title,
                "core": item.core,
                "from_the_logs": list(item.answers),
                "open_question": item.question or None,
            }
            for item in items(facts, uses)
        ],
    }


def checklist(facts: DatasetFacts, uses: Sequence[ModelUse]) -> Iterator[bytes]:
    """Yield the checklist as a document to complete, piece by piece."""
    return documents.rendered(FILE, title=facts.title, cutoff=facts.cutoff, items=items(facts, uses))


def _answers(texts: Sequence[str], filled_in: Mapping[str, Any]) -> Iterator[str]:
    for text in texts:
        several = filled_in.get(text[1:-1])
        if isinstance(several, list):
            yield from several
        else:
            yield text.format(**filled_in)


def _filled_in(facts: DatasetFacts, uses: Sequence[ModelUse]) -> dict[str, Any]:
    """Return what the logs say, by its name in the entries; lists are answers of their own."""
    agents = _agents(facts.versions)
    settings = {label: agent.get("settings", {}) for label, agent in agents.items()}
    costs = [use.cost_usd for use in uses if use.cost_usd is not None]
    software = facts.software
    revision = f", revision {software['code_revision']}" if software.get("code_revision") else ""
    return {
        "games": ", ".join(facts.games),
        "seats": f"as players in games {'with' if facts.people else 'without'} people",
        "purposes": ", ".join(sorted({purpose for use in uses for purpose in use.purposes})),
        "uses": [_described_use(use) for use in uses],
        "accesses": [
            f"{use.model}: through a programming interface (protocol: {', '.join(use.protocols)}; endpoint "
            f"“{use.endpoint}”), one request per call; the endpoint's address is not in the dataset."
            for use in uses
        ],
        "settings": [_settings(use) for use in uses],
        "agents": list(_agent_settings(agents)),
        "memories": list(dict.fromkeys(map(_memory, agents.values()))),
        "own_prompts": ", ".join(label for label, own in settings.items() if own.get("prompt_system")) or "none",
        "personas": ", ".join(label for label, own in settings.items() if own.get("persona")) or "none",
        "refusals": [
            f"{use.model}: {use.rule_breaks:,} of {use.calls:,} calls gave no legal move, {use.failed:,} no answer."
            for use in uses
        ],
        "software": f"{software['name']} {software['version']}{revision}",
        "compared": [f"{len(uses)} models were called: see B.1."] if len(uses) > 1 else [],
        "calls": sum(use.calls for use in uses),
        "cost": f"{sum(costs):,.4f} US dollars for models with a known price." if costs else "No price was known.",
    }


def _described_use(use: ModelUse) -> str:
    answered = f"; its provider called it {', '.join(use.answered_by)}" if use.answered_by else ""
    return f"{use.model} at endpoint “{use.endpoint}”{answered}; {use.calls:,} calls from {use.first} to {use.last}."


def _settings(use: ModelUse) -> str:
    parameters = "; or ".join(use.parameters) or "none"
    structured = ", ".join(use.structured) or "none"
    return f"{use.model}: parameters sent: {parameters}; JSON schema enforced by: {structured}."


def _agents(versions: Sequence[FrozenVersion]) -> dict[str, Mapping[str, Any]]:
    """Return the models among the agents of all versions, by label, as in their latest version."""
    agents = (pair for version in versions for pair in version.agents.items())
    return {label: agent.frozen() for label, agent in agents if not agent.scripted}


def _agent_settings(agents: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for label, agent in agents.items():
        settings = agent.get("settings", {})
        yield (
            f"Agent {label} ({agent['spec']}): {settings.get('tries_after_first', 'the usual number of')} tries after "
            f"the first, {settings.get('retries', 'the usual number of')} retries of failed calls, fallback models: "
            f"{', '.join(settings.get('fallbacks', ())) or 'none'}, "
            f"fallback script: {settings.get('script') or 'none (the match ends)'}."
        )


_STRATEGIES = {
    "plain": "Within a match, a model was sent the conversation so far; in a role without memory, all of it each time.",
    "conversation": "Within a match, a model was sent the conversation so far.",
    "fresh": "Each question stood alone: the model was sent everything that its role may know every time.",
}


def _memory(agent: Mapping[str, Any]) -> str:
    strategy = agent.get("settings", {}).get("strategy", "plain")
    return _STRATEGIES.get(strategy, f"Within a match, models were prompted with the strategy {strategy}.")
