"""Any plan without faults can be resolved, launched and walked through in every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from conftest import examples
from games import registry
from games.play import configure
from plans.checking import check
from plans.varying import level_key
from recruiters.arrivals import Arrival
from studies.enrolling import enrol
from studies.journeys import steps_of
from studies.models import Cell
from studies.tests import kit
from tests.strolling import Stroller, stroll

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

Node = dict[str, Any]
GAMES: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "bargaining": {"rounds": [1, 2], "messages_allowed": [True, False], "money": [100, 10_000]},
    "negotiation": {"rounds": [1, 2], "complete_information": [True, False]},
    "persuasion": {"rounds": [1, 2], "message_type": ["text", "binary"]},
    "beauty_contest": {"players": [2], "runs": [1, 2]},
    "social_dilemma": {"base_game": ["prisoners_dilemma"], "mechanism": ["repetition"], "rounds": [1, 2]},
}
"""Short matches of games with two seats, and what may vary in them."""
LEVELS: Sequence[Any] = (
    ["give", "take"],
    ["on", "off", "yes"],
    [1, 2],
    [0.5, 1.5],
    {"small": {"note": "a"}, "large": {"note": "b"}},
)
WORDS = ["Plain words.", "*Some* words & <b>signs</b>: {not a variable}", "Ünïcode: 谢谢"]
_numbers = count(1)


class Writer:
    """Writes one random plan.

    Attributes:
        alone: whether every seat but one is an agent's.
        factors: between participants.
        known: what conditions may name so far.
    """

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.alone = draw(st.booleans())
        self.factors: Node = {}
        self.known: list[str] = []
        self._names = count(1)

    def plan(self) -> Node:
        for name in self.some(["wording", "stakes"]):
            self.factors[name] = {"levels": self.one(LEVELS)}
        between = dict(self.factors)
        prints = " ".join(f"{{{{ {name} }}}}" for name in between)
        journey = [
            {"stage": "consent", "text": self.one(["default", "I agree."])},
            *self.stages(["questions", "page"], between, most=1),
            {"stage": "page", "name": self.name("page"), "text": f"Read this. {prints}"},
            *self.stages(["questions", "page", "game", "block"], between, most=2),
            self.game(between),
            *self.stages(["questions", "page"], between, most=1),
            *self.draw(st.sampled_from([[], [{"stage": "debriefing", "text": "Thank you."}]])),
        ]
        return {
            "format": "parley-study",
            "version": 1,
            "title": "Random",
            "minutes": 60,
            "factors": self.factors,
            "cells": self.cells(between),
            "agents": {"first": {"script": "random"}, "second": {"script": "random"}},
            "journey": journey,
            "told": {"others": self.vary(["none", "counts", "seats"], between)},
            "pay": {
                "base": "0.50",
                "bonus": {
                    "rule": self.one(["share", "fixed"]),
                    "of": self.one(["all", "last", "random"]),
                    "average": self.vary(["0.50", "2.00"], between),
                },
            },
            "entry": {"via": "mturk"},
        }

    def cells(self, between: Node) -> Node:
        rules = {"rule": self.one(["blocks", "random", "emptiest"]), "quota": self.draw(st.integers(2, 5))}
        if not between or self.draw(st.booleans()):
            return rules
        keys = {name: [level_key(level) for level in factor["levels"]] for name, factor in between.items()}
        listed = self.draw(st.lists(st.fixed_dictionaries({n: st.sampled_from(k) for n, k in keys.items()}),
                                    min_size=1, max_size=3, unique_by=lambda cell: tuple(cell.values())))  # fmt: skip
        return {**rules, "listed": [{**cell, "quota": 3} for cell in listed]}

    # ---- stages -------------------------------------------------------------------------------------------

    def stages(self, kinds: Sequence[str], factors: Node, *, most: int, depth: int = 1) -> list[Node]:
        chosen = self.draw(st.lists(st.sampled_from(kinds), max_size=most))
        makers = {"questions": self.questions, "page": self.page, "game": self.game}
        return [self.block(factors, depth) if kind == "block" else makers[kind](factors) for kind in chosen]

    def page(self, factors: Node) -> Node:
        text = self.vary(WORDS, factors)
        return {"stage": "page", "name": self.name("page"), "title": "A page", "text": text, **self.condition(factors)}

    def questions(self, factors: Node) -> Node:
        items = [self.question(factors) for _item in range(self.draw(st.integers(1, 3)))]
        return {"stage": "questions", "name": self.name("ask"), "items": items, **self.condition(factors)}

    def question(self, factors: Node) -> Node:
        kind = self.one(get_args(Kind))
        name = self.name("answer")
        options = {"options": ["red", "green", "<blue>"]}
        own: Node = {
            "single": {**options, "random_options": self.draw(st.booleans())},
            "multiple": {**options, "min": 1},
            "ranking": options,
            "matrix": {**options, "rows": [{"name": "one", "text": "One"}, {"name": "two", "text": "Two"}]},
            "slider": {"min": 0, "max": 10},
            "number": {"min": 1, "max": 100, "unit": "years", "ends_if": f"{name} < 0"},
        }.get(kind, {})
        written = {"kind": kind, "name": name, "text": self.vary(WORDS, factors), **own, **self.condition(factors)}
        if kind in ("number", "slider", "scale"):
            self.known.append(name)
        return {**written, "required": self.draw(st.booleans())}

    def game(self, factors: Node) -> Node:
        key = self.one(list(GAMES))
        config = {name: self.vary(values, factors) for name, values in GAMES[key].items()}
        kind = registry.get(key)
        people = configure(kind, {name: values[0] for name, values in GAMES[key].items()}).people()
        stage: Node = {
            "stage": "game",
            "name": self.name("game"),
            "game": key,
            "amounts": self.one(["points", "dollars"]),
            "config": config,
            "seats": {self.one(people): "person", "*": self.vary(["first", "second"], factors)}
            if self.alone
            else {"*": "person"},
            "code_word": self.one([None, {"tries": 2}]),
            "comprehension": self.one([None, {"tries": 2, "failed": "continue"}]),
            "quiz": self.draw(st.booleans()),
            "repeats": self.draw(st.integers(1, 2)),
            "partners": self.one(["same", "any"]),
            "roles": self.one(["keep", "rotate"]),
            "lobby": {"ready": 0},
        }
        if self.alone:
            stage |= self.condition(factors)
        return stage

    def block(self, factors: Node, depth: int) -> Node:
        name = self.name("block")
        inner, known = dict(factors), list(self.known)
        within = self.some([self.name("within")])
        for factor in within:
            levels = self.one(LEVELS)
            self.factors[factor] = {"levels": levels, "within": name}
            inner[factor] = self.factors[factor]
        prints = " ".join(f"{{{{ {factor} }}}}" for factor in within)
        groups = [{}] if self.alone else [{}, {"groups": {"lobby": {"ready": 0}}}]
        of = [{"stage": "page", "name": self.name("page"), "text": f"In the block. {prints}"}, self.game(inner)]
        kinds = ["questions", "page", "game", "block"] if depth else ["page", "game"]
        of += self.stages([kind for kind in kinds if kind != "questions"], inner, most=1, depth=depth - 1)
        self.known = known
        return {
            "stage": "block",
            "name": name,
            "passes": self.one(["fixed", "random", "balanced"]),
            "order": self.one(["fixed", "random", "balanced"]),
            **(self.one([{}, {"take": 1}]) if within else {}),
            **self.one(groups),
            "of": of,
        }

    # ---- parts --------------------------------------------------------------------------------------------

    def vary(self, values: Sequence[Any], factors: Node) -> Any:
        """Return one of the values, or a node that gives one for each level, perhaps of another factor again."""
        if not factors or self.draw(st.integers(0, 2)):
            return self.one(values)
        factor = self.one(list(factors))
        rest = {name: levels for name, levels in factors.items() if name != factor}
        levels = [level_key(level) for level in factors[factor]["levels"]]
        return {"by": factor, "values": {level: self.vary(values, rest) for level in levels}}

    def condition(self, factors: Node) -> Node:
        compared = [f"{name} > 0" for name in self.known]
        compared += [f"{name} == '{level_key(next(iter(factor['levels'])))}'" for name, factor in factors.items()]
        return {"show_if": self.one(compared)} if compared and not self.draw(st.integers(0, 2)) else {}

    def name(self, kind: str) -> str:
        return f"{kind}_{next(self._names)}"

    def one(self, values: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(values))

    def some(self, values: Sequence[Any]) -> list[Any]:
        return self.draw(st.lists(st.sampled_from(values), unique=True))


@st.composite
def plans(draw: st.DrawFn) -> Node:
    """A plan without faults."""
    return Writer(draw).plan()


def check_plan(document: Node) -> None:
    """Launch the plan, and let the people of one group walk through each cell."""
    checked = check(document)
    assert not checked.faults
    study = kit.launched(f"random-{next(_numbers)}", plan=document)
    version = study.latest_version()
    cells = list(Cell.objects.filter(version=version).order_by("number"))
    assert [cell.factors for cell in cells] == [dict(cell.factors) for cell in checked.cells]
    event(f"{len(cells)} cells")
    for cell in cells:
        assert '"by"' not in cell.plan.model_dump_json(exclude={"factors", "cells"})
        for role in cell.people:
            assert steps_of(version, cell, role)[0]["kind"] == "consent"
        names = [f"{study.slug}-{cell.number}-{role}" for role in cell.people]
        group = [Stroller(enrol(study, Arrival("mturk", worker=n, proof=n, cell=cell.number))) for n in names]
        stroll(group)
        assert {person.placement.cell_id for person in group} == {cell.pk}
        assert {person.enrolment.state for person in group} <= {"completed", "failed_quiz"}


unhurried = settings(suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
"""Does not look for the smallest failing plan, which takes longer than reading the one that was found."""


@settings(unhurried, max_examples=examples(1))
@given(plans())
def test_random_plans_launch_and_render(document: Node):
    check_plan(document)


@pytest.mark.slow
@settings(unhurried, max_examples=60)
@given(plans())
def test_many_random_plans_launch_and_render(document: Node):
    check_plan(document)
