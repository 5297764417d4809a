"""Warnings about what participants of a study read; nothing here refuses a plan."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from games import guard
from games.interface import Json
from games.words import gettext as _
from plans import stages
from plans.languages import languages_of
from plans.plan import Document, Plan
from plans.reading import Fault, reader_of
from plans.stages import DEFAULT_TEXT

_AMOUNT = re.compile(r"(?:[$€£]|\b(?:USD|EUR|GBP)\s?)(\d+(?:[.,]\d{1,2})?)(?![\d%])")
_WORD = re.compile(r"[^\W\d_]{2}")
_NEW_PARTNERS = re.compile(r"never (?:meet|play)|different (?:player|partner|person|people|one)s?|always new", re.I)
RESEARCHERS_ONLY = frozenset({"debriefing"})
"""Stages after which nothing is measured, so that they may say what was studied."""


def warnings(document: Document) -> list[Fault]:
    """Return what is doubtful in any cell and language of a plan that can be read, each once."""
    found: dict[tuple[str, str], Fault] = {}
    written: list[set[tuple[str, str]]] = []
    for language in languages_of(document):
        reader = reader_of(document, language=language)
        plans = [reader.plan(cell.factors) for cell in reader.cells]
        for fault in itertools.chain.from_iterable(map(_of_plan, plans)):
            found.setdefault((fault.at, fault.what), fault)
        written.append({text for plan in plans for text in _texts_of(plan)})
    if len(written) > 1:
        same = sorted(at for at, text in set.intersection(*written) if at.startswith("journey.") and _WORD.search(text))
        return [*found.values(), *(Fault(at, _("This text is the same in every language.")) for at in same)]
    return list(found.values())


def _texts_of(plan: Plan) -> list[tuple[str, str]]:
    """Return (dotted path, text) of every text that participants read before anything is measured."""
    texts = [("shown_title", plan.shown_title)]
    texts += [(f"entry.listing.{name}", text) for name, text in _texts_in(plan.entry.listing.model_dump())]
    for number, stage in enumerate(plan.journey):
        if stage.stage not in RESEARCHERS_ONLY:
            own = stage.model_dump(mode="json", include=_SHOWN)
            texts += [(f"journey.{number}.{name}", text) for name, text in _texts_in(own)]
    return texts


def _of_plan(plan: Plan) -> Iterator[Fault]:
    for at, text in _texts_of(plan):
        yield from (Fault(at, what) for what in guard.warnings(text, language=str(plan.language)))
        yield from _promises(plan, at, text)
    for number, stage in enumerate(plan.journey):
        yield from _partners(stage, f"journey.{number}")
    yield from _unequal_knowledge(plan)
    yield from _silent_programs(plan)


def _texts_in(node: Json, path: str = "") -> list[tuple[str, str]]:
    """Return (dotted path, text) of every text that is shown: not of names, kinds and conditions."""
    if isinstance(node, dict):
        shown = {key: child for key, child in node.items() if key not in _NOT_SHOWN}
        return [found for key, child in shown.items() for found in _texts_in(child, f"{path}.{key}".strip("."))]
    if isinstance(node, list):
        return [found for number, child in enumerate(node) for found in _texts_in(child, f"{path}.{number}")]
    return [(path, node)] if isinstance(node, str) and node != DEFAULT_TEXT else []


_SHOWN = {"title", "text", "topic", "instructions", "examples", "items", "of"}
_NOT_SHOWN = frozenset(
    "stage name kind game config seats fill take order passes show_if ends_if valid_if amounts partners roles timing "
    "lobby currency media image video".split()
)


def _promises(plan: Plan, at: str, text: str) -> Iterator[Fault]:
    """Yield amounts of money that the plan does not pay."""
    bonus = plan.pay.bonus
    paid = {plan.pay.base, plan.pay.waiting_rate, bonus.cap, bonus.average, bonus.rate}
    for amount in dict.fromkeys(_AMOUNT.findall(text)):
        try:
            value = Decimal(amount.replace(",", "."))
        except InvalidOperation:
            continue
        if value not in paid:
            words = _(
                "“{amount}” is promised, but is neither the base pay, an average, a rate nor the limit of the bonus."
            )
            yield Fault(at, words.format(amount=amount))


def _partners(stage: stages.Stage, at: str) -> Iterator[Fault]:
    """Yield a claim of one's own instructions about whom people meet that the stage does not keep."""
    for number, inner in enumerate(getattr(stage, "of", ())):
        yield from _partners(inner, f"{at}.of.{number}")
    if not isinstance(stage, stages.Game) or stage.instructions == DEFAULT_TEXT or stage.partners == "new":
        return
    if claim := _NEW_PARTNERS.search(stage.instructions):
        what = _("“{claim}” is not kept: partners are “{partners}”, so the same people may meet again.")
        yield Fault(f"{at}.instructions", what.format(claim=claim[0], partners=stage.partners))


def _silent_programs(plan: Plan) -> Iterator[Fault]:
    """Yield players that never write in the chat of a blind study."""
    for game in plan.games() if plan.told.others == "none" else ():
        if (chat := game.chat) is None:
            continue
        mediator = chat.mediator.agent if chat.mediator else None
        for label in game.agent_labels():
            if label != mediator and (plan.agents[label].script is not None or chat.models.speaks == "never"):
                words = _("“{label}” never writes in the chat, which may show participants that it is a program.")
                yield Fault(f"agents.{label}", words.format(label=label))


def _unequal_knowledge(plan: Plan) -> Iterator[Fault]:
    """Yield models that are told only what the publication told its models; in a study, all play with people."""
    for label in sorted({label for game in plan.games() for label in game.agent_labels()}):
        if plan.agents[label].script is None and plan.agents[label].information == "published":
            words = _(
                "“{label}” plays with people, but is told what the publication told its models. It may know less than "
                "they do, or other things. Choose “explained” to tell both the same."
            )
            yield Fault(f"agents.{label}.information", words.format(label=label))
