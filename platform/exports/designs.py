"""What a study's plans add to its tables: factors, stages that a participant may meet, questions, conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from exports.alike import mask
from exports.columns import Column, Design
from plans import stages
from plans.questions import Question
from plans.reading import Reader
from plans.varying import level_key

if TYPE_CHECKING:  # models load only with the apps, which a verification needs not
    from studies.models import Cell, Version

MAX_LEVELS_LISTED = 30


@dataclass(frozen=True)
class FactorColumn:
    """A factor of some version.

    Attributes:
        levels: their keys, over all versions.
        of_rows: whether they are rows of a published table, which identify a configuration and are no treatment.
        within: whether it varies within participants.
    """

    name: str
    levels: tuple[str, ...]
    of_rows: bool = False
    within: bool = False

    @property
    def column(self) -> Column:
        """The column with its level."""
        where = "each participant meets several levels" if self.within else "between participants"
        rows = " Its levels are rows of a published table." if self.of_rows else ""
        too_many = len(self.levels) > MAX_LEVELS_LISTED
        return Column(
            self.name,
            "identifier" if self.of_rows else "choice",
            f"Level of the factor {self.name} ({where}).{rows}",
            values=f"{len(self.levels):,} levels" if too_many else "; ".join(self.levels),
        )


@dataclass(frozen=True)
class AskedQuestion:
    """A question as its latest version asks it.

    Attributes:
        stage: the name of its stage, in a block with the levels of the pass ("after", "after.short").
        before_game: whether it is asked before the first game, whatever the order.
    """

    question: Question
    stage: str
    before_game: bool

    @property
    def columns(self) -> list[str]:
        """The names of the columns with the answers: one per row of a matrix."""
        when = "before" if self.before_game else "after"
        of_pass = self.stage.partition(".")[2]
        suffix = f"_{as_column(of_pass)}" if of_pass else ""
        return [f"survey_{when}_{name}{suffix}" for name in self.question.columns()]


@dataclass(frozen=True)
class PlacedStage:
    """A stage of a journey, other than a block.

    Attributes:
        levels: of the factors within participants, where it stands.
        passes: the keys of those levels, block by block.
        before_game: whether no game can come before it.
        conditional: whether a condition decides if it is shown.
    """

    stage: stages.Stage
    levels: Mapping[str, str]
    passes: tuple[str, ...]
    before_game: bool
    conditional: bool

    @property
    def name(self) -> str:
        """Its name as the participant's steps have it."""
        return stages.place_of(str(self.stage.name), self.passes)


def factors_in(plans: Iterable[Reader]) -> list[FactorColumn]:
    """Return every factor of these plans, the first plan's first."""
    found: dict[str, FactorColumn] = {}
    for plan in plans:
        for name, factor in plan.factors.items():
            earlier = found.get(name, FactorColumn(name, ()))
            levels = tuple(dict.fromkeys([*earlier.levels, *map(mask, plan.values[name])]))
            found[name] = FactorColumn(name, levels, factor.rows is not None, factor.within is not None)
    return list(found.values())


def factors(design: Design) -> Iterator[Column]:
    """Yield a column for each factor."""
    yield from (factor.column for factor in design.source.factors)


def factors_between(design: Design) -> Iterator[Column]:
    """Yield a column for each factor between participants."""
    yield from (factor.column for factor in design.source.factors if not factor.within)


def placed_stages(version: Version) -> Iterator[tuple[Cell, PlacedStage]]:
    """Yield every stage that a participant of some cell may meet, each once, with the first of its cells."""
    seen = set()
    for cell in version.cells.order_by("number"):
        cell.version = version
        for placed in _placed(version.reader, cell.plan.journey, PlacedStage(_NOWHERE, {}, (), True, False)):
            if (key := (id(placed.stage), placed.passes)) not in seen:
                seen.add(key)
                yield cell, placed


_NOWHERE = stages.Stage(stage="", name=None, show_if="")


def _placed(reader: Reader, journey: Sequence[stages.Stage], at: PlacedStage) -> Iterator[PlacedStage]:
    for stage in journey:
        conditional = at.conditional or bool(stage.show_if)
        if not isinstance(stage, stages.Block):
            yield replace(at, stage=stage, conditional=conditional)
            at = replace(at, before_game=at.before_game and not isinstance(stage, stages.Game))
            continue
        plays = any(isinstance(inner, stages.Game) for each in stage.each_pass for inner in _leaves(each.stages))
        mixes = plays and (len(stage.each_pass) > 1 or stage.order != "fixed")
        for each in stage.each_pass:
            own = [each.levels[name] for name in reader.passes_of(str(stage.name))[0]]
            inside = replace(at, levels=each.levels, passes=(*at.passes, *own), conditional=conditional)
            yield from _placed(reader, each.stages, replace(inside, before_game=at.before_game and not mixes))
        at = replace(at, before_game=at.before_game and not plays)


def _leaves(journey: Iterable[stages.Stage]) -> Iterator[stages.Stage]:
    for stage in journey:
        yield stage
        if isinstance(stage, stages.Block):
            yield from _leaves(stage.of)


def configurations_of(version: Version) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (game, complete parameters) of every game that the version plays."""
    for _cell, placed in placed_stages(version):
        if isinstance(placed.stage, stages.Game):
            from studies.models import configured

            yield placed.stage.game, configured(placed.stage).config.model_dump(mode="json")


def chats_in(version: Version) -> bool:
    """Return whether players of one of the version's games may chat."""
    games = (placed.stage for _cell, placed in placed_stages(version) if isinstance(placed.stage, stages.Game))
    return any(stage.chat is not None for stage in games)


def labels_of(version: Version) -> list[str]:
    """Return the labels of all steps that participants may meet."""
    from studies.journeys import Way

    labels: dict[str, None] = {}
    for cell, placed in placed_stages(version):
        way = Way(version, cell, cell.people[0], levels=placed.levels, passes=placed.passes)
        labels.update(dict.fromkeys(map(step_label, way.steps([placed.stage]))))
    return list(labels)


def questions_of(version: Version) -> list[AskedQuestion]:
    """Return every question that participants may be asked; e-mail addresses and the like are masked."""
    found: dict[tuple[str, str], AskedQuestion] = {}
    for _cell, placed in placed_stages(version):
        for item in placed.stage.questions():
            asked = AskedQuestion(_without_addresses(item), placed.name, placed.before_game)
            found.setdefault((placed.name, item.name), asked)
    return list(found.values())


def conditions_of(version: Version) -> list[str]:
    """Return the names of the stages that a condition may leave out."""
    named = (placed for _cell, placed in placed_stages(version) if placed.conditional and placed.stage.name)
    return list(dict.fromkeys(placed.name for placed in named))


def kind_of(cell: Cell) -> str:
    """Return the published kind of the cell's configuration, if its rows have one."""
    for name, level in cell.factors.items():
        value = cell.version.reader.values[name][level]
        if isinstance(value, Mapping) and isinstance(value.get("kind"), str):
            return str(value["kind"])
    return ""


def levels_at(step: Mapping[str, Any]) -> dict[str, str]:
    """Return the levels of the factors within participants at a step."""
    return {name: level_key(value) for name, value in step.get("given", {}).items()}


def step_label(step: Mapping[str, Any]) -> str:
    """Return a step's kind, with the name that researchers gave it."""
    name = str(step.get("name") or "")
    return f"{step['kind']}_{as_column(name)}" if name else str(step["kind"])


def as_column(name: str) -> str:
    """Return a stage's name as part of a column's name."""
    return re.sub(r"\W+", "_", name)


def step_name(step: Mapping[str, Any]) -> str:
    """Return the name of a step's stage, with the levels of the pass."""
    return str(step.get("name") or stages.place_of(str(step.get("stage") or ""), step.get("passes", ())))


def _without_addresses(question: Question) -> Question:
    texts = {name: mask(getattr(question, name)) for name in ("text", "low", "high")}
    rows = tuple(row.model_copy(update={"text": mask(row.text)}) for row in question.rows)
    return question.model_copy(update={**texts, "rows": rows, "options": tuple(map(mask, question.options))})
