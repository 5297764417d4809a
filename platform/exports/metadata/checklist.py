"""A reporting checklist for studies with language models, following GUIDE-LLM (llm-checklist.com).

What the logs record is filled in; what only the authors know is left as a question. The wording is our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
    all_items = (*_core(facts, uses), *_optional(facts, uses))
    return [replace(item, answers=tuple(map(mask, item.answers))) for item in all_items]


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


def _core(facts: DatasetFacts, uses: Sequence[ModelUse]) -> Iterator[Item]:
    agents = _agents(facts.versions)
    purposes = sorted({purpose for use in uses for purpose in use.purposes})
    seats = "as players in games with people" if facts.people else "as players in games without people"
    yield Item(
        "A.1",
        "What models were used for",
        (f"Seats in {', '.join(facts.games)}: {seats}.", f"Kinds of calls: {', '.join(purposes)}."),
        "Were models used anywhere else, such as for design, coding of texts or writing?",
    )
    yield Item(
        "A.2",
        "Human involvement in what models did",
        ("Models chose their moves on their own. The rules of the game checked each move; no one edited any.",),
    )
    yield Item(
        "B.1",
        "Models, versions, dates",
        tuple(_described_use(use) for use in uses),
        "How large are the models, and where are they documented?",
    )
    yield Item(
        "B.2",
        "How models were accessed",
        tuple(
            f"{use.model}: through a programming interface (protocol: {', '.join(use.protocols)}; endpoint "
            f"“{use.endpoint}”), one request per call; the endpoint's address is not in the dataset."
            for use in uses
        ),
        "Was any endpoint your own machine?",
    )
    yield Item("B.3", "Settings", tuple(_settings(use) for use in uses) + tuple(_agent_settings(agents)))
    yield Item(
        "B.4",
        "Fine-tuning",
        ("None was made with this software.",),
        "Had any of the models been fine-tuned or customised?",
    )
    yield Item(
        "B.5",
        "Memory of the models",
        (
            *dict.fromkeys(map(_memory, agents.values())),
            "Nothing was carried over between matches; the messages of each call are in llm_calls, column messages.",
        ),
    )
    yield Item(
        "C.1",
        "Prompts",
        (
            "Every message as it was sent is in llm_calls, column messages; prompt_sha256 identifies the texts used; "
            "the texts themselves are in versions.json.",
        ),
    )
    with_own_prompt = [label for label, agent in agents.items() if agent.get("settings", {}).get("prompt_system")]
    with_persona = [label for label, agent in agents.items() if agent.get("settings", {}).get("persona")]
    yield Item(
        "C.2",
        "System instructions",
        (
            "The system message holds the rules as people read them, and the question's form.",
            f"The researchers' own system texts: {', '.join(with_own_prompt) or 'none'}.",
            f"Personas: {', '.join(with_persona) or 'none'}.",
        ),
    )
    yield Item(
        "D.1",
        "Personal data",
        _personal(facts),
        ("What did the consent text and the provider's terms say about this?" if facts.people else ""),
    )
    yield Item(
        "E.1",
        "Human validation",
        ("Moves need none: they are the data, and legal by the rules.",),
        "If models labelled texts (labels.csv), who checked them, and how well did they agree?",
    )
    yield Item(
        "E.2",
        "Processing of answers",
        (
            "An answer was read as a move in the requested form. If it was not a legal move, it was refused with the "
            "reason, and the model was asked again; both are kept (columns problem, fault, try_number).",
            *(
                f"{use.model}: {use.rule_breaks:,} of {use.calls:,} calls gave no legal move, {use.failed:,} no answer."
                for use in uses
            ),
            "If a model gave no move, the fallback that moved is in decisions, column by.",
        ),
    )
    software = facts.software
    revision = f", revision {software['code_revision']}" if software.get("code_revision") else ""
    yield Item(
        "F.1",
        "Code",
        (f"{software['name']} {software['version']}{revision}; every match can be replayed.",),
        "Where is the code of your analysis?",
    )
    yield Item(
        "G.1",
        "Funding and relationships",
        (),
        "Who paid for the calls, and do the authors have ties to the models' developers?",
    )


def _optional(facts: DatasetFacts, uses: Sequence[ModelUse]) -> Iterator[Item]:
    costs = [use.cost_usd for use in uses if use.cost_usd is not None]
    cost = f"{sum(costs):,.4f} US dollars for models with a known price." if costs else "No price was known."
    for key, title, answers, question in (
        ("O.1", "Why these models", (), "Why these models: performance, openness, reproducibility, ethics, cost?"),
        ("O.2", "Why these prompts", (), "How did you develop them, and what did you try before?"),
        (
            "O.3",
            "Comparison with others",
            ((f"{len(uses)} models were called: see B.1.",) if len(uses) > 1 else ()),
            "With which other models or methods were the results compared?",
        ),
        (
            "O.4",
            "Had the models seen the material",
            (),
            "Could the games, or published results of them, have been in the training data?",
        ),
        ("O.5", "Bias", (), "Which biases of the models could affect your conclusions?"),
        ("O.6", "Conversations", ("All outputs are in the dataset: transcripts.jsonl, messages, llm_calls.",), ""),
        ("O.7", "Ethics", (), "Which board approved the study? How could its results be misused?"),
        ("O.8", "Computation", (f"{sum(use.calls for use in uses):,} calls. {cost}",), ""),
    ):
        yield Item(key, title, answers, question, core=False)


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


def _personal(facts: DatasetFacts) -> tuple[str, ...]:
    if not facts.people:
        return ("None: no people took part.",)
    return (
        "What people wrote in a game was sent unchanged to the models they played with. The software did not send "
        "their names or identifiers; the dataset has markers in their place.",
    )
