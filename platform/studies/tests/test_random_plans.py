"""Any plan without faults can be resolved, frozen and shown, and says the same as its file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conftest import examples
from games import registry
from games.play import configure
from participants.models import Enrolment
from participants.services import expiry_after
from plans.canonical import canonical, version_hash
from plans.checking import check
from plans.comparing import compare
from plans.files import dumps, loads
from plans.reading import PlannedCell, Reader
from plans.varying import has_varied, level_key
from studies.filing import export_study, import_study
from studies.journeys import steps_of
from studies.launching import launch
from studies.models import Cell
from studies.tests import kit

pytestmark = pytest.mark.django_db

Node = dict[str, Any]
LEVELS: Sequence[Any] = (
    ["give", "take"], ["on", "off", "yes"], [1, 2.0], [0.5, 100.0], [True, False],
    {"small": {"note": "a", "pay": 0.5}, "large": {"note": "b", "pay": "2.00"}},
)  # fmt: skip
WORDS = ["Plain words.", "*Some* words & <b>signs</b>: {not a variable}", "Ünïcode: 谢谢\n\n# no: - [x]"]
KINDS = ("single", "multiple", "scale", "matrix", "slider", "number", "date", "text", "long", "ranking")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking: every example is launched, which takes a while."""
PLAYED = frozenset({"match", "lobby", "quiz"})
"""Steps whose pages need a match."""


@cache
def people_of(game: str) -> list[str]:
    """Return the seats that participants may take in a game as it is by default."""
    return configure(registry.get(game), {}).people()


class Writer:
    """Writes one random plan.

    Attributes:
        factors: all of them, as they are made.
        known: conditions that may stand at this point of the journey.
        games: the keys of its games.
    """

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.factors: Node = {}
        self.known: list[str] = ["recruiter.country == 'DE'"]
        self.games: list[str] = []
        self._names = count(1)

    def plan(self) -> Node:
        for name in self.some(["wording", "stakes"]):
            self.factors[name] = {"levels": self.one(LEVELS)}
        between = dict(self.factors)
        prints = " ".join(f"{{{{ {name} }}}}" for name in between)
        journey = [
            {"stage": "consent", "text": self.one(["default", "I agree.", f"I agree. {prints}"])},
            *self.stages(["questions", "page"], between, most=1),
            {"stage": "page", "name": self.name("page"), "text": f"Read this. {prints}"},
            *self.stages(["questions", "page", "game", "block"], between, most=2),
            self.game(between),
            *self.stages(["questions", "page"], between, most=1),
            *self.one([[], [{"stage": "debriefing", "text": self.vary(["default", "Thank you."], between)}]]),
        ]
        return {
            "format": "parley-study",
            "version": 1,
            "title": self.one(["Random", "yes", "1.0"]),
            "shown_title": "A study",
            "minutes": 60,
            "factors": self.factors,
            "cells": self.cells(between),
            "agents": {key: {"script": registry.get(key).default_script} for key in dict.fromkeys(self.games)},
            "journey": journey,
            "told": {"others": self.vary(["none", "counts", "seats"], between)},
            "checks": {"whole_groups": self.vary([True, False], between)},
            "pay": {
                "base": self.vary([0, 0.5, "1.00"], between),
                "bonus": self.vary([{"rule": "fixed", "average": 1}, {"of": "random", "cap": "3.00"}], between),
                "endings": self.one([{}, {"screened_out": "base"}]),
            },
            "entry": {"via": self.one(["codes", "mturk"])},
        }

    def cells(self, between: Node) -> Node:
        rules = {"rule": self.one(["blocks", "random", "emptiest"]), "unit": self.one(["group", "participant"])}
        if not between or self.draw(st.booleans()):
            return {**rules, "quota": self.draw(st.integers(1, 5))}
        one = st.fixed_dictionaries({name: st.sampled_from(keys_of(factor)) for name, factor in between.items()})
        listed = self.draw(st.lists(one, min_size=1, max_size=3, unique_by=lambda cell: tuple(sorted(cell.items()))))
        return {**rules, "listed": [{**cell, "quota": 3, "weight": 2} for cell in listed]}

    # ---- stages -------------------------------------------------------------------------------------------

    def stages(self, kinds: Sequence[str], factors: Node, *, most: int, depth: int = 1) -> list[Node]:
        makers = {"questions": self.questions, "page": self.page, "game": self.game}
        chosen = self.draw(st.lists(st.sampled_from(kinds), max_size=most))
        return [self.block(factors, depth) if kind == "block" else makers[kind](factors) for kind in chosen]

    def page(self, factors: Node) -> Node:
        text = self.vary(WORDS, factors)
        return {"stage": "page", "name": self.name("page"), "title": "A page", "text": text, **self.condition(factors)}

    def questions(self, factors: Node) -> Node:
        shown = self.condition(factors)
        items = [self.question(factors) for _item in range(self.draw(st.integers(1, 3)))]
        return {"stage": "questions", "name": self.name("ask"), "items": items, **shown}

    def question(self, factors: Node) -> Node:
        kind, name, shown = self.one(KINDS), self.name("answer"), self.condition(factors)
        options = {"options": ["red", "green", "<blue>"]}
        own: Node = {
            "single": {**options, "random_options": self.draw(st.booleans())},
            "multiple": {**options, "min": 1},
            "ranking": options,
            "matrix": {**options, "rows": [{"name": "one", "text": "One"}, {"name": "two", "text": "Two"}]},
            "slider": {"min": 0, "max": 10},
            "number": {"min": 1, "max": 100, "unit": "years"},
        }.get(kind, {})
        if kind in ("number", "slider", "scale"):
            self.known.append(f"{name} > 3")
        return {"kind": kind, "name": name, "text": self.vary(WORDS, factors), "required": self.one([True, False])} | {
            **own,
            **shown,
        }

    def game(self, factors: Node) -> Node:
        key, name = self.one(registry.keys()), self.name("game")
        self.games.append(key)
        person = self.one(people_of(key))
        others = {"*": key} if len(configure(registry.get(key), {}).roles()) > 1 else {}
        both = [{person: "person", **others}, {person: "person", **({"*": [key]} if others else {})}]
        prints = " ".join(f"{{{{ {factor} }}}}" for factor in factors)
        stage: Node = {
            "stage": "game",
            "name": name,
            "game": key,
            "amounts": self.vary(["points", "dollars"], factors),
            "seats": self.vary(both, factors),
            "instructions": self.vary(["default", f"Rules. {prints}"], factors),
            "code_word": self.vary([None, {"tries": 3}], factors),
            "comprehension": self.vary([None, {"tries": 2, "failed": "continue"}], factors),
            "repeats": self.draw(st.integers(1, 2)),
            "roles": self.one(["keep", "rotate"]),
            "timing": {"turn": self.vary([30, 180], factors), "on_absence": self.one(["end", "as_timeout"])},
            "pay": self.vary([None, {"rule": "linear", "rate": "0.01"}], factors),
            **self.condition(factors),
        }
        self.known.append(f"{name}.payoff > 0")
        return stage

    def block(self, factors: Node, depth: int) -> Node:
        name, shown = self.name("block"), self.condition(factors)
        inner, known = dict(factors), list(self.known)
        within = self.some([self.name("within")])
        for factor in within:
            self.factors[factor] = {"levels": self.one(LEVELS), "within": name}
            inner[factor] = self.factors[factor]
        prints = " ".join(f"{{{{ {factor} }}}}" for factor in within)
        of = [{"stage": "page", "name": self.name("page"), "text": f"In the block. {prints}"}, self.game(inner)]
        played = of[-1]["name"]
        of += self.stages(["page", "game", "block"] if depth else ["page", "game"], inner, most=1, depth=depth - 1)
        passes = [f".{keys_of(self.factors[factor])[0]}" for factor in within]
        if all(each[1:].isidentifier() for each in passes):
            known.append(f"{played}{''.join(passes)}.payoff > 0")
        self.known = known
        return {
            "stage": "block",
            "name": name,
            "passes": self.one(["fixed", "random", "balanced"]),
            "order": self.one(["fixed", "random", "balanced"]),
            **(self.one([{}, {"take": 1}]) if within else {}),
            **self.one([{}, {"groups": {"cohort": 4}}]),
            "of": of,
            **shown,
        }

    # ---- parts --------------------------------------------------------------------------------------------

    def vary(self, values: Sequence[Any], factors: Node) -> Any:
        """Return one of the values, or a node that gives one for each level, perhaps of another factor again."""
        if not factors or self.draw(st.integers(0, 2)):
            return self.one(values)
        factor = self.one(list(factors))
        rest = {name: each for name, each in factors.items() if name != factor}
        return {"by": factor, "values": {level: self.vary(values, rest) for level in keys_of(factors[factor])}}

    def condition(self, factors: Node) -> Node:
        compared = [f"{name} == '{keys_of(factor)[0]}'" for name, factor in factors.items()]
        return self.one([{}, {}, {"show_if": self.one([*self.known, *compared])}])

    def name(self, kind: str) -> str:
        return f"{kind}_{next(self._names)}"

    def one(self, values: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(values))

    def some(self, values: Sequence[Any]) -> list[Any]:
        return self.draw(st.lists(st.sampled_from(values), unique=True))


def keys_of(factor: Node) -> list[str]:
    return [level_key(level) for level in factor["levels"]]


@st.composite
def plans(draw: st.DrawFn) -> Node:
    """A plan without faults."""
    return Writer(draw).plan()


def check_plan(document: Node) -> None:
    """Resolve and freeze a plan, and show every page of every cell that needs no match."""
    checked = check(document)
    assert [str(fault) for fault in checked.faults] == []
    whole = canonical(document)
    assert canonical(loads(dumps(document))) == canonical(whole) == whole
    assert not compare(document, whole)
    written, reader = Reader(document), Reader(whole)
    for cell in checked.cells:
        plan = reader.plan(cell.factors)
        assert (plan.pay, plan.agents) == (written.plan(cell.factors).pay, written.plan(cell.factors).agents)
        assert not has_varied(plan.model_dump(mode="json", exclude={"factors"}))
    with transaction.atomic():
        freeze(document, checked.cells)
        transaction.set_rollback(True)


def freeze(document: Node, planned: Sequence[PlannedCell]) -> None:
    """Launch and show the plan, and take it through its file."""
    study = kit.new_study("plan", plan=document)
    version = launch(study)
    assert version.sha256 == version_hash(document)
    assert launch(study).pk == version.pk
    cells = list(Cell.objects.filter(version=version).order_by("number"))
    assert [(cell.factors, cell.quota) for cell in cells] == [(dict(cell.factors), cell.quota) for cell in planned]
    for cell in cells[:3]:
        for role in cell.people[:2]:
            show(steps_of(version, cell, role))
    imported = import_study(export_study(study)[1])
    assert canonical(imported.draft) == canonical(document)


def show(steps: list[Node]) -> None:
    """Open the pages of these steps."""
    assert [step["kind"] for step in steps[:2]] == ["consent", "name"]
    for position, step in enumerate(steps):
        if step["kind"] not in PLAYED:
            person = Enrolment.objects.create(steps=steps, position=position, expires_at=expiry_after(60))
            assert Client().get(person.get_absolute_url()).status_code == 200


@settings(max_examples=examples(15), phases=PHASES)
@given(plans())
def test_random_plans_resolve_freeze_and_render(document: Node):
    check_plan(document)


@pytest.mark.slow
@settings(max_examples=60, phases=PHASES)
@given(plans())
def test_many_random_plans_resolve_freeze_and_render(document: Node):
    check_plan(document)
