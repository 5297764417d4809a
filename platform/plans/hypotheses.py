"""What hypotheses may name: outcomes, levels, seats and answers before the assignment; and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any, Literal, get_args, get_origin

from games import registry
from games.errors import GameError
from games.interface import Role
from games.play import configure
from games.words import gettext as _
from plans.agents import PERSON
from plans.analysis import Analysis, Contrast, Hypothesis
from plans.conditions import Condition
from plans.plan import Plan
from plans.questions import Question
from plans.reading import BadPlan, Reader
from plans.seats import fitted
from plans.stages import Block, Game, Stage, walk
from plans.varying import Path

PAYOFF = "payoff"
"""A player's payoff in a game."""
Kind = Literal["number", "yes_no", "options", "other"]
_OF_QUESTION: Mapping[str, Kind] = {"number": "number", "slider": "number", "scale": "number", "single": "options"}
MODELS: Mapping[Kind, Collection[str]] = {
    "number": ("auto", "linear", "log", "ordered"),
    "yes_no": ("auto", "linear", "logit"),
    "options": ("ordered",),
}
"""The models for each kind of outcome."""
MOST_LISTED = 20


@dataclass(frozen=True)
class Outcome:
    """Something that a hypothesis may be about.

    Attributes:
        meaning: what it measures, or the question's words.
        of_seat: whether each player has a value of their own.
    """

    kind: Kind
    meaning: str
    of_seat: bool


def outcomes(plan: Plan) -> dict[str, Outcome]:
    """Return every metric and question by STAGE.NAME."""
    return {f"{stage.name}.{name}": found for stage in plan.stages() for name, found in _outcomes_of(stage)}


def outcomes_of_game(key: str) -> dict[str, Outcome]:
    """Return the metrics of a game by name."""
    kind = registry.get(key)
    found = {PAYOFF: Outcome("number", _("What the player earned in the match."), True)}
    for results, of_seat in ((kind.Results, False), (kind.SeatResults, True)):
        for name, info in results.model_fields.items():
            found[name] = Outcome(_kind_of(info.annotation), info.description or "", of_seat)
    return found


def _outcomes_of(stage: Stage) -> Iterator[tuple[str, Outcome]]:
    if isinstance(stage, Game) and stage.game in registry.known():
        yield from outcomes_of_game(stage.game).items()
    for question in stage.questions():
        yield question.name, Outcome(_kind_of_question(question), question.text, True)


def _kind_of(annotation: Any) -> Kind:
    types = set(_types(annotation)) - {type(None)}
    if types == {bool}:
        return "yes_no"
    return "number" if types and types <= {int, float, Decimal, bool} else "other"


def _types(annotation: Any) -> Iterator[Any]:
    if hasattr(annotation, "__metadata__"):
        yield from _types(get_args(annotation)[0])
    elif get_args(annotation) and get_origin(annotation) not in (list, tuple, dict, Literal):
        for each in get_args(annotation):
            yield from _types(each)
    else:
        yield annotation


def _kind_of_question(question: Question) -> Kind:
    kind = _OF_QUESTION.get(question.kind, "other")
    return "yes_no" if kind == "options" and len(question.options) == 2 else kind


# ---- what is wrong ---------------------------------------------------------------------------------------------


def problems(analysis: Analysis, reader: Reader, plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with the planned analysis, each with its path in the plan.

    Args:
        plan: of any cell.
    """
    known = outcomes(plan)
    asked = [stage for stage in plan.journey[: reader.common_stages] if stage.name]
    before = {f"{stage.name}.{item.name}": item for stage in asked for item in stage.questions()}
    names = [hypothesis.name for hypothesis in analysis.hypotheses]
    for index, hypothesis in enumerate(analysis.hypotheses):
        at: Path = ("analysis", "hypotheses", index)
        if hypothesis.name in names[:index]:
            yield (*at, "name"), _("“{name}” is the name of an earlier hypothesis.").format(name=hypothesis.name)
        for field, what in _outcome_problems(hypothesis, known):
            yield (*at, field), what
        for where, what in _contrast_problems(hypothesis.contrast, hypothesis.outcome, reader, plan):
            yield (*at, "contrast", *where), what
        for number, name in enumerate(hypothesis.adjust):
            if what := _too_late(name, before):
                yield (*at, "adjust", number), what
        for number, text in enumerate(hypothesis.exclude):
            for reference in Condition.parse(text).references():
                if what := _too_late(".".join(reference), before):
                    yield (*at, "exclude", number), what


def _outcome_problems(hypothesis: Hypothesis, known: Mapping[str, Outcome]) -> Iterator[tuple[str, str]]:
    stage, _dot, name = hypothesis.outcome.partition(".")
    found = known.get(hypothesis.outcome)
    if not hypothesis.outcome:
        yield "outcome", _("Choose an outcome, such as {names}.").format(names=_listed(known))
    elif found is None:
        own = [other for other in known if other.startswith(f"{stage}.")]
        if own:
            what = _("The stage “{stage}” has no result or question “{name}”; it has {names}.")
            names = _listed(other.partition(".")[2] for other in own)
            yield "outcome", what.format(stage=stage, name=name, names=names)
        else:
            what = _("There is no stage “{stage}” with results or questions. Write STAGE.NAME, such as {names}.")
            yield "outcome", what.format(stage=stage, names=_listed(known))
    elif found.kind == "other":
        what = _("“{name}” is neither a number nor yes or no. Choose another outcome.")
        yield "outcome", what.format(name=hypothesis.outcome)
    elif hypothesis.model not in (models := MODELS[found.kind]):
        what = _("This model does not suit “{name}”. Choose one of: {models}.")
        yield "model", what.format(name=hypothesis.outcome, models=", ".join(models))


def _contrast_problems(
    contrast: Contrast, outcome: str, reader: Reader, plan: Plan
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if contrast.players is not None:
        yield from _player_problems(contrast, outcome, reader, plan)
        return
    if len(set(contrast.compared)) < len(contrast.compared):
        yield ("factors",), _("An interaction is of two different factors.")
        return
    is_known = True
    for index, (factor, levels) in enumerate(zip(contrast.compared, contrast.pairs, strict=True)):
        several = (index,) if contrast.factors else ()
        at = ("factors", index) if contrast.factors else ("factor",)
        if factor not in reader.values:
            what = _("There is no factor “{name}”; the factors are {names}.")
            yield at, what.format(name=factor, names=_listed(reader.values) or _("none"))
            is_known = False
            continue
        for number, level in enumerate(levels):
            if level not in reader.values[factor]:
                what = _("The factor “{factor}” has no level “{level}”; it has {levels}.")
                found = _listed(reader.values[factor])
                yield ("levels", *several, number), what.format(factor=factor, level=level, levels=found)
                is_known = False
        block = reader.within.get(factor)
        blocks = [stage for stage in plan.stages() if isinstance(stage, Block) and stage.name == block]
        if block is not None and outcome.partition(".")[0] not in {met.stage.name for met in walk(blocks)}:
            what = _("“{factor}” varies within “{block}”: choose an outcome of a stage in it.")
            yield at, what.format(factor=factor, block=block)
    if is_known and (missing := _not_crossed(contrast, reader)):
        what = _("No cell has {levels}: an estimate needs all combinations of the levels.")
        yield ("levels",), what.format(levels=", ".join(f"{name} {level}" for name, level in missing.items()))


def _not_crossed(contrast: Contrast, reader: Reader) -> Mapping[str, str]:
    """Return a combination of the levels between participants that no cell has."""
    between = [(name, pair) for name, pair in zip(contrast.compared, contrast.pairs, strict=True)
               if name in reader.between]  # fmt: skip
    occurring = {tuple(cell.factors[name] for name, _pair in between) for cell in reader.cells}
    for levels in product(*(pair for _name, pair in between)):
        if levels not in occurring:
            return {name: level for (name, _pair), level in zip(between, levels, strict=True)}
    return {}


def _player_problems(
    contrast: Contrast, outcome: str, reader: Reader, plan: Plan
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    stage = outcome.partition(".")[0]
    game = next((each for each in plan.games() if each.name == stage), None)
    if game is None:
        yield ("players",), _("Who plays can be compared in a game only: choose one of its results as the outcome.")
        return
    seats = list(_seats(reader, stage))
    roles = list(dict.fromkeys(role for found in seats for role in found))
    if not roles:
        return  # the game's own faults are reported there
    if contrast.role is not None and contrast.role not in roles:
        what = _("“{stage}” has no seat “{role}”; it has {roles}.")
        yield ("role",), what.format(stage=stage, role=contrast.role, roles=_listed(roles))
        return
    sitting = {player == PERSON for found in seats for role, player in found.items() if contrast.role in (None, role)}
    if len(sitting) < 2:
        who = _("people") if sitting == {True} else _("agents")
        what = _("Only {who} sit there: let a factor decide who does.")
        yield ("players",), what.format(who=who)


def _seats(reader: Reader, name: str) -> Iterator[Mapping[Role, str | Sequence[str]]]:
    """Yield who may take each seat of a game, in every cell and pass that can be read."""
    seen = set()
    for cell in reader.cells:
        with suppress(BadPlan, GameError):
            for met in walk(reader.plan(cell.factors).journey):
                stage = met.stage
                if isinstance(stage, Game) and stage.name == name and id(stage) not in seen:
                    seen.add(id(stage))
                    yield fitted(stage.seats, configure(registry.get(stage.game), stage.config))


def _too_late(name: str, before: Mapping[str, Question]) -> str:
    """Return why an analysis cannot use an answer; empty if it was given before the assignment, as a value."""
    if name not in before:
        what = _("“{name}” is not a question answered before the assignment; those are {names}.")
        return what.format(name=name, names=_listed(before) or _("none"))
    if _kind_of_question(before[name]) == "other":
        return _("“{name}” has no single value. Choose a number, a scale or one option.").format(name=name)
    return ""


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:MOST_LISTED]) + (", …" if len(found) > MOST_LISTED else "")
