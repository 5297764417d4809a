"""Read a plan: find its factors and cells, and fill in their levels, each part once per combination that matters."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from games import texts
from games.errors import BadText, GameError
from games.interface import Json
from games.words import gettext as _
from plans.conditions import Condition
from plans.factors import MAX_CELLS, NAME_PATTERN, RESERVED_NAMES, Cells, Factor
from plans.languages import in_language, languages_of
from plans.plan import FORMAT, MAX_STAGES, Document, Plan
from plans.stages import Block, Game, Pass, Stage, kinds
from plans.varying import (
    Levels,
    LevelValues,
    Path,
    Resolver,
    branch_of,
    factor_of,
    factors_at,
    has_varied,
    is_varied,
)

MAX_PASSES = 100_000
"""Maximum number of passes through blocks in all cells together."""
CONDITIONS = frozenset({"show_if", "ends_if", "valid_if"})
"""Keys of conditions."""
LITERAL = ("format", "version", "purpose", "title", "shown_title", "language", "factors", "cells", "entry", "analysis")
"""Keys of a plan that no factor may vary."""


def _varied_stage() -> str:
    return _("A stage cannot depend on a factor: vary its settings, or write a condition in “show_if”.")


@dataclass(frozen=True)
class Fault:
    """What is wrong with a plan, and where.

    Attributes:
        at: dotted path in the resolved plan.
        factors: the levels under which it is wrong; empty if under all.
    """

    at: str
    what: str
    factors: Mapping[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        return {"at": self.at, "factors": dict(self.factors), "what": self.what}

    def __str__(self) -> str:
        where = ", ".join([self.at, *(f"{name} = {level}" for name, level in self.factors.items())])
        return f"{where}: {self.what}" if where else self.what


class BadPlan(Exception):
    """A plan that cannot be used; `faults` lists the reasons."""

    def __init__(self, faults: Sequence[Fault]):
        super().__init__("\n".join(map(str, faults)))
        self.faults = list(faults)


@dataclass(frozen=True)
class PlannedCell:
    """One combination of the factors between participants, numbered from 1."""

    number: int
    factors: Levels
    quota: int
    weight: int = 1


Problems = list[tuple[Path, str, Levels]]
"""Each with its path in the resolved plan, what is wrong, and the levels within participants under which it is."""


class Reader:
    """One plan, read part by part.

    Raises:
        BadPlan: its factors or cells cannot be read, or a value that depends on a factor is missing.
    """

    model: ClassVar[type[BaseModel]] = Plan
    """Its parts."""
    literal: ClassVar[Collection[str]] = LITERAL
    """Parts that no factor may vary."""

    def __init__(self, document: Document):
        self.document = in_language(document, languages_of(document)[0])
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        self._sections: dict[tuple[Any, ...], Any] = {}
        self._stages: dict[tuple[Any, ...], tuple[Stage | None, Problems]] = {}
        self._plans: dict[tuple[str | None, ...], Any] = {}
        self.factors = self._factors()
        self.values: LevelValues = self._level_values()
        self.cell_rules = self._validated("cells", document.get("cells", {}))
        self._resolver = Resolver(self.values)
        for find in (self._faults_of_shape, self._faults_of_factors):
            if faults := list(find()):
                raise BadPlan(faults)

    # ---- factors and cells ---------------------------------------------------------------------------------

    @property
    def kinds(self) -> Mapping[str, type[Stage]]:
        """The kinds of stage that its journey may have."""
        return kinds()

    @cached_property
    def between(self) -> list[str]:
        """The factors that vary between participants."""
        return [name for name, factor in self.factors.items() if factor.within is None]

    @cached_property
    def within(self) -> dict[str, str]:
        """The block of each factor that varies within participants."""
        return {name: factor.within for name, factor in self.factors.items() if factor.within is not None}

    @cached_property
    def cells(self) -> tuple[PlannedCell, ...]:
        """Every cell, in the order of the levels."""
        rules: Cells = self.cell_rules
        if rules.listed is not None:
            return tuple(
                PlannedCell(number, cell.levels(), cell.quota or rules.quota, cell.weight)
                for number, cell in enumerate(rules.listed, start=1)
            )
        rows = self.values.get(rules.rows, {}) if rules.rows else {}
        combinations = product(*(self.values[name] for name in self.between))
        cells = []
        for number, levels in enumerate(combinations, start=1):
            chosen = dict(zip(self.between, levels, strict=True))
            row = rows.get(chosen.get(rules.rows or "", ""), {})
            quota = row.get("quota", rules.quota) if isinstance(row, Mapping) else rules.quota
            cells.append(PlannedCell(number, chosen, quota))
        return tuple(cells)

    @cached_property
    def common_stages(self) -> int:
        """How many stages at the beginning play no game and are the same in every cell, but for default texts."""
        journey = self.document.get("journey", [])
        for index, node in enumerate(journey):
            plays = any(issubclass(self.kinds[inner["stage"]], Game) for _path, inner in stage_nodes([node]))
            if plays or not set(self.between).isdisjoint(names_used(node)):
                return index
        return len(journey)

    def passes_of(self, block: str) -> list[dict[str, str]]:
        """Return the combinations of the factors within a block; one empty combination if there are none."""
        names = [name for name, where in self.within.items() if where == block]
        return [dict(zip(names, keys, strict=True)) for keys in product(*(self.values[name] for name in names))]

    # ---- the plan of one cell ------------------------------------------------------------------------------

    def plan(self, levels: Levels) -> Plan:
        """Return the concrete plan under these levels.

        Args:
            levels: of every factor between participants; blocks are then read once per pass, and `Block.of` is the
                first pass. Levels of factors within participants choose that pass alone.

        Raises:
            BadPlan: with every fault under these levels.
        """
        plan: Plan = self._filled(levels)
        return plan

    def _filled(self, levels: Levels) -> Any:
        key = tuple(map(levels.get, self.factors))
        if key not in self._plans:
            self._plans[key] = self._fill(levels)
        found = self._plans[key]
        if isinstance(found, list):
            raise BadPlan(found)
        return found

    def _fill(self, levels: Levels) -> Any:
        """Return the concrete plan under these levels, or its faults."""
        stages, problems = self._read_stages(self.document.get("journey", ()), levels, ("journey",))
        parts: dict[str, Any] = {"journey": stages}
        for name in self._varied_sections:
            parts[name], found = self._section(name, levels)
            problems += found
        if problems:
            return [self.fault(path, what, {**levels, **own}) for path, what, own in problems]
        return self._constant.model_copy(update=parts)

    @cached_property
    def _varied_sections(self) -> list[str]:
        """The sections that are read for each cell: those that depend on factors, and those with faults."""
        written = [name for name in self.model.model_fields if name in self.document]
        written = [name for name in written if name not in ("journey", "factors", "cells")]
        return [name for name in written if self.factors_in(self.document[name]) or self._section(name, {})[1]]

    @cached_property
    def _constant(self) -> Any:
        """A plan with everything that is the same in all cells."""
        same = set(self.model.model_fields) & set(self.document) - {*self._varied_sections, "journey"}
        sections = {name: self._section(name, {})[0] for name in same - {"factors", "cells"}}
        return self.model.model_construct(**sections, factors=self.factors, cells=self.cell_rules)

    def factors_in(self, node: Json) -> tuple[str, ...]:
        """Return the factors that values in a part of the plan depend on."""
        return self._resolver.factors_in(node)

    def key(self, node: Json, levels: Levels) -> tuple[Any, ...]:
        """Return what determines a part of the plan: the part as written and the levels of its factors."""
        return self._resolver.key(node, levels)

    def resolved(self, node: Json, levels: Levels) -> Json:
        """Return a part of the plan with the levels filled in."""
        return self._resolver.resolve(node, levels)

    def fault(self, path: Path, what: str, levels: Levels) -> Fault:
        """Return a fault at a path of the resolved plan, with the levels that decide what stands there."""
        return Fault(".".join(map(str, path)), what, factors_at(self.document, path, levels, self.values))

    def _section(self, name: str, levels: Levels) -> tuple[Any, Problems]:
        node = self.document[name]
        key = (name, *self.key(node, levels))
        if key not in self._sections:
            value, problems = _parsed(self._adapter(name), self.resolved(node, levels), (name,))
            self._sections[key] = value, [(path, what, {}) for path, what in problems]
        found: tuple[Any, Problems] = self._sections[key]
        return found

    def _read_stages(self, nodes: Json, levels: Levels, path: Path) -> tuple[list[Stage], Problems]:
        stages: list[Stage] = []
        problems: Problems = []
        for index, node in enumerate(nodes):
            stage, found = self._stage(node, levels, (*path, index))
            stages += [stage] if stage is not None else []
            problems += found
        return stages, problems

    def _stage(self, node: Json, levels: Levels, path: Path) -> tuple[Stage | None, Problems]:
        is_block = _is_block(node)
        names = (*self.factors_in(node), *(self.within if is_block else ()))
        key = (id(node), *map(levels.get, names))
        if key not in self._stages:
            own = {name: self.resolved(value, levels) for name, value in node.items() if not is_block or name != "of"}
            stage, problems = _parsed(_adapter(self.kinds[node["stage"]]), own, path)
            if isinstance(stage, Block):
                self._stages[key] = self._with_passes(stage, node, levels, path)
            else:
                self._stages[key] = stage, [(where, what, {}) for where, what in problems]
        return self._stages[key]

    def _with_passes(self, block: Block, node: Json, levels: Levels, path: Path) -> tuple[Block, Problems]:
        passes = []
        problems: Problems = []
        for own in self.passes_of(str(block.name)):
            if any(levels.get(name, key) != key for name, key in own.items()):
                continue
            under = {**levels, **own}
            stages, found = self._read_stages(node.get("of", ()), under, (*path, "of"))
            problems += [(where, what, {**own, **inner}) for where, what, inner in found]
            passes.append(Pass({name: under[name] for name in self.within if name in under}, tuple(stages)))
        filled = block.model_copy(update={"of": list(passes[0].stages) if passes else []})
        filled._each_pass = tuple(passes)
        return filled, problems

    # ---- reading and checking the form ---------------------------------------------------------------------

    def _validated(self, name: str, data: Json) -> Any:
        """Return a section of the plan.

        Raises:
            BadPlan: with paths that begin with the section's name.
        """
        value, problems = _parsed(self._adapter(name), data, (name,))
        if problems:
            raise BadPlan([Fault(".".join(map(str, path)), what) for path, what in problems])
        return value

    def _adapter(self, name: str) -> TypeAdapter[Any]:
        if name not in self._adapters:
            info = self.model.model_fields[name]
            annotation: Any = info.annotation
            if info.metadata:
                annotation = Annotated[annotation, *info.metadata]
            self._adapters[name] = TypeAdapter(annotation)
        return self._adapters[name]

    def _factors(self) -> dict[str, Factor]:
        if "format" not in self.document:
            raise BadPlan([Fault("format", _("A plan begins with “format: {name}”.").format(name=FORMAT))])
        unknown = [str(key) for key in self.document if key not in self.model.model_fields]
        if unknown:
            raise BadPlan([Fault(key, _("A plan has no such part.")) for key in unknown])
        factors: dict[str, Factor] = self._validated("factors", self.document.get("factors", {}))
        return factors

    def _level_values(self) -> dict[str, dict[str, Json]]:
        values, faults = {}, []
        for name, factor in self.factors.items():
            try:
                values[name] = factor.values()
            except GameError as error:
                faults.append(Fault(f"factors.{name}.rows", str(error)))
        if faults:
            raise BadPlan(faults)
        return values

    def _faults_of_shape(self) -> Iterator[Fault]:
        """Yield what keeps the journey from being read at all, and what no factor may vary."""
        for name in self.literal:
            if has_varied(self.document.get(name)) and name != "factors":
                yield Fault(name, _("This cannot depend on a factor."))
        journey = self.document.get("journey", [])
        if not isinstance(journey, list):
            what = _varied_stage() if is_varied(journey) else _("A journey is a list of stages.")
            yield Fault("journey", what)
            return
        stages = list(stage_nodes(journey))
        if len(stages) > MAX_STAGES:
            yield Fault("journey", _("A plan can have at most {most} stages.").format(most=MAX_STAGES))
        for path, node in stages:
            at = ".".join(map(str, path))
            if is_varied(node) or (isinstance(node, Mapping) and is_varied(node.get("stage"))):
                yield Fault(at, _varied_stage())
            elif not isinstance(node, Mapping) or not isinstance(node.get("stage"), str):
                yield Fault(at, _("Every stage says what it is, for example “stage: page”."))
            elif node["stage"] not in self.kinds:
                yield Fault(
                    f"{at}.stage",
                    _("There is no stage “{kind}”. There are: {kinds}.").format(
                        kind=node["stage"], kinds=", ".join(self.kinds)
                    ),
                )
            elif is_varied(node.get("name")):
                yield Fault(f"{at}.name", _("A name cannot depend on a factor."))
            elif not isinstance(node.get("of", []), list):
                yield Fault(
                    f"{at}.of", _varied_stage() if is_varied(node["of"]) else _("A block has a list of stages.")
                )
        listed = self.cell_rules.listed
        cells = len(listed) if listed else math.prod(len(self.values[name]) for name in self.between)
        if cells > MAX_CELLS:
            what = _("The plan has {cells} cells; the maximum is {most}.")
            yield Fault("cells", what.format(cells=cells, most=MAX_CELLS))
        elif (passes := cells * self._passes_in(journey)) > MAX_PASSES:
            what = _("All cells together have {passes} passes through blocks; the maximum is {most}.")
            yield Fault("factors", what.format(passes=passes, most=MAX_PASSES))

    def _passes_in(self, nodes: Any) -> int:
        """Return how many passes the blocks of these stages have, those within others included."""
        total = 0
        for node in nodes if isinstance(nodes, list) else ():
            if _is_block(node):
                names = [name for name, block in self.within.items() if block == node.get("name")]
                total += math.prod(len(self.values[name]) for name in names) * (1 + self._passes_in(node.get("of")))
        return total

    def _faults_of_factors(self) -> Iterator[Fault]:
        """Yield unknown, unused and misplaced factors, levels without a value, and faults of listed cells."""
        journey = self.document.get("journey", [])
        blocks = {node.get("name") for _path, node in stage_nodes(journey) if _is_block(node)}
        for name in self.factors:
            if name in RESERVED_NAMES and not (name == "role" and self._has_roles()):
                what = _("“{name}” has a meaning of its own. Rename the factor.")
                yield Fault(f"factors.{name}", what.format(name=name))
            for key, value in self.values[name].items():
                if has_varied(value):
                    yield Fault(f"factors.{name}.levels.{key}", _("A level cannot depend on a factor."))
        for name, block in self.within.items():
            if block not in blocks:
                yield Fault(f"factors.{name}.within", _("There is no block “{block}”.").format(block=block))
        used = {self.cell_rules.rows} if self.cell_rules.rows else set()
        for section, node in self.document.items():
            if section not in self.literal:
                used.update(names_used(node))
                yield from self._faults_of_nodes(node, (section,), {}, frozenset())
        for name in self.factors:
            if name not in used:
                yield Fault(f"factors.{name}", _("Nothing depends on this factor. Use it or remove it."))
        yield from self._faults_of_cells()

    def _has_roles(self) -> bool:
        """Return whether the factor `role` is what it is reserved for: the participants' seats as cells."""
        return any(
            is_varied(seats) and factor_of(seats) == ("role", ())
            for _path, node in stage_nodes(self.document.get("journey", []))
            for seats in _branches(node.get("seats"))
        )

    def _faults_of_nodes(
        self, node: Json, path: Path, under: Mapping[str, Collection[str]], inside: frozenset[str]
    ) -> Iterator[Fault]:
        """Yield what is wrong with the varied nodes in a part of the plan.

        Args:
            path: in the resolved plan.
            under: the levels of each factor with which the part is reached; factors not named have all of theirs.
            inside: the blocks around it.
        """
        if isinstance(node, list):
            for index, child in enumerate(node):
                yield from self._faults_of_nodes(child, (*path, index), under, inside)
        elif is_varied(node):
            yield from self._faults_of_node(node, path, under, inside)
        elif isinstance(node, Mapping):
            if "by" in node and "values" in node:
                what = _("A value that depends on a factor has “by” and “values” only, not “{others}”.")
                others = ", ".join(str(key) for key in node if key not in ("by", "values"))
                yield Fault(".".join(map(str, path)), what.format(others=others))
            within = inside | {str(node.get("name"))} if _is_block(node) else inside
            for key, child in node.items():
                yield from self._faults_of_nodes(child, (*path, key), under, within if key == "of" else inside)

    def _faults_of_node(
        self, node: Mapping[str, Json], path: Path, under: Mapping[str, Collection[str]], inside: frozenset[str]
    ) -> Iterator[Fault]:
        at = ".".join(map(str, path))
        around = {name: next(iter(levels)) for name, levels in under.items()}
        name, part = factor_of(node)
        if name not in self.factors:
            what = _("There is no factor “{name}”. There are: {names}.")
            yield Fault(at, what.format(name=name, names=", ".join(self.factors) or _("none")), around)
            return
        if self.within.get(name) and self.within[name] not in inside:
            what = _("“{name}” varies within block “{block}” and cannot be used outside it.")
            yield Fault(at, what.format(name=name, block=self.within[name]), around)
        values = node.get("values")
        if "values" in node and not isinstance(values, Mapping):
            yield Fault(at, _("“values” gives a value for each level."), around)
            return
        levels: dict[str, list[str]] = {}
        for level, whole in self.values[name].items():
            try:
                key = branch_of(level, whole, part)
            except KeyError:
                what = _("This level has no part “{part}”.")
                yield Fault(at, what.format(part=".".join(part)), {**around, name: level})
                continue
            reached = level in under.get(name, self.values[name])
            levels.setdefault(key, []).extend([level] if reached else [])
            if reached and values is not None and key not in values:
                what = _("There is no value for level “{level}”.")
                yield Fault(at, what.format(level=key), {**around, name: level})
        for key, child in (values or {}).items():
            if key not in levels:
                what = _("“{level}” is not a level of “{name}”. Its levels are: {levels}.")
                known = ", ".join(sorted(levels)[:20])
                yield Fault(at, what.format(level=key, name=".".join([name, *part]), levels=known), around)
            elif levels[key]:
                yield from self._faults_of_nodes(child, path, {**under, name: levels[key]}, inside)

    def _faults_of_cells(self) -> Iterator[Fault]:
        rules = self.cell_rules
        if rules.rows is not None and (rules.rows not in self.factors or self.factors[rules.rows].rows is None):
            yield Fault("cells.rows", _("“{name}” is not a factor with published rows.").format(name=rules.rows))
        seen: set[tuple[str, ...]] = set()
        for index, cell in enumerate(rules.listed or ()):
            at, levels = f"cells.listed.{index}", cell.levels()
            for name in self.between:
                if name not in levels:
                    yield Fault(f"{at}.{name}", _("This cell has no level of this factor."))
                elif levels[name] not in self.values[name]:
                    what = _("“{level}” is not a level of this factor, so nobody can reach this cell.")
                    yield Fault(f"{at}.{name}", what.format(level=levels[name]))
            for name in levels:
                if name not in self.between:
                    yield Fault(f"{at}.{name}", _("There is no such factor between participants."))
            key = tuple(levels.get(name, "") for name in self.between)
            if key in seen:
                yield Fault(at, _("This cell is listed twice."))
            seen.add(key)


READERS = 8
"""How many plans a process keeps ready to be read."""


def reader_of(document: Document | Reader, *, language: str = "") -> Reader:
    """Return the reader of a plan, which equal plans share.

    Args:
        language: in which its own texts are read; by default the study's.

    Raises:
        BadPlan: it cannot be read.
    """
    if isinstance(document, Reader):
        return document
    return _reader(json.dumps(in_language(document, language) if language else document))


@lru_cache(maxsize=READERS)
def _reader(text: str) -> Reader:
    return Reader(json.loads(text))


@cache
def _adapter(kind: type[Stage]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def stage_nodes(nodes: Iterable[Json], path: Path = ("journey",)) -> Iterator[tuple[Path, Any]]:
    """Yield every stage as written with its path, those within blocks after their block."""
    for index, node in enumerate(nodes):
        yield (*path, index), node
        if _is_block(node) and isinstance(node.get("of", []), list):
            yield from stage_nodes(node.get("of", []), (*path, index, "of"))


def _is_block(node: Json) -> bool:
    return isinstance(node, Mapping) and node.get("stage") == "block"


def _branches(node: Json) -> Iterator[Json]:
    """Yield a node and, if it depends on factors, all that may stand in its place."""
    yield node
    if is_varied(node) and isinstance(node.get("values"), Mapping):
        for child in node["values"].values():
            yield from _branches(child)


def names_used(node: Json, key: str = "") -> Iterator[str]:
    """Yield the names that a part of the plan as written reads: in varied nodes, conditions and texts."""
    if is_varied(node):
        yield factor_of(node)[0]
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from names_used(child, key if is_varied(node) or key in CONDITIONS else str(name))
    elif isinstance(node, list):
        for child in node:
            yield from names_used(child, key)
    elif isinstance(node, str) and node:
        if key in CONDITIONS:
            with suppress(BadText):
                yield from (path[0] for path in Condition.parse(node).references())
        elif "{" in node:
            yield from texts.used_variables(node)


def _parsed(adapter: TypeAdapter[Any], data: Json, path: Path) -> tuple[Any, list[tuple[Path, str]]]:
    """Return the value that plain data describe, or None and the problems with their paths."""
    try:
        return adapter.validate_json(json.dumps(data)), []
    except ValidationError as error:
        problems = [((*path, *location(detail["loc"], data)), _worded(detail)) for detail in error.errors()]
        return None, list(dict.fromkeys(problems))
    except (ValueError, TypeError, RecursionError) as error:
        return None, [(path, str(error))]


def location(parts: Iterable[str | int], data: Json) -> Path:
    """Return a validation error's path without the names of alternatives that pydantic adds."""
    path: list[str | int] = []
    parts = list(parts)
    for number, part in enumerate(parts):
        if isinstance(data, Mapping) and part in data:
            data = data[str(part)]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        elif number < len(parts) - 1 or not isinstance(data, Mapping) or "[" in str(part):
            continue
        path.append(part)
    return tuple(path)


def _worded(detail: Any) -> str:
    context = detail.get("ctx", {})
    limits = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in context.items()}
    kind = detail["type"]
    if kind == "string_pattern_mismatch" and limits["pattern"] == NAME_PATTERN:
        return _("A name starts with a lower-case letter and has only lower-case letters, digits and underscores.")
    sentences = {
        "missing": _("This is missing."),
        "extra_forbidden": _("There is no such setting."),
        "literal_error": _("Choose one of: {expected}."),
        "string_too_short": _("Please fill this in."),
        "string_too_long": _("This has more than {max_length} characters."),
        "string_type": _("This should be a text."),
        "bool_type": _("This should be true or false."),
        "int_type": _("This should be a whole number."),
        "int_from_float": _("This should be a whole number."),
        "float_type": _("This should be a number."),
        "decimal_type": _("This should be an amount, such as 1.00."),
        "decimal_parsing": _("This should be an amount, such as 1.00."),
        "decimal_max_places": _("This has more than {decimal_places} decimals."),
        "greater_than_equal": _("This should be at least {ge}."),
        "less_than_equal": _("This should be at most {le}."),
        "list_type": _("This should be a list."),
        "dict_type": _("This should have named parts."),
        "model_type": _("This should have named parts."),
        "too_short": _("This needs at least {min_length}."),
        "too_long": _("This has {actual_length} entries; the maximum is {max_length}."),
    }
    if kind in sentences:
        return sentences[kind].format(**limits)
    message: str = detail["msg"]
    return message.removeprefix("Value error, ").replace("Input should", "This should")
