"""What a study varies, and how unplayable designs are refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from games.errors import BadConfig
from matches.models import Match, Seat
from opponents.agents import agents_from_specs
from participants import services as people
from recruiters.arrivals import Arrival
from studies.design import plan_cells
from studies.enrolling import enrol
from studies.launching import launch
from studies.models import Cell, Study

pytestmark = pytest.mark.django_db


def study(**fields) -> Study:
    values = {
        "title": "A study",
        "slug": "a-study",
        "game": "bargaining",
        "quota": 4,
        "agents": agents_from_specs("script:fair"),
        **fields,
    }
    return Study(**values)


def planned(design, **fields):
    draft = study(design=design, roles=["alice", "bob"], **fields)
    return [(cell.config["rounds"], cell.role, cell.quota, cell.kind) for cell in plan_cells(draft)]


def test_default_design_has_a_cell_per_role():
    assert planned({}, config={"rounds": 3}) == [(3, "alice", 4, ""), (3, "bob", 4, "")]


def test_grid_is_combined_with_other_parameters():
    cells = plan_cells(study(grid={"rounds": [1, None]}, config={"money": 50}, roles=["bob"]))
    assert [(cell.config["rounds"], cell.config["money"], cell.role) for cell in cells] == [
        (1, 50, "bob"),
        (None, 50, "bob"),
    ]


def test_custom_configurations_have_own_quotas_and_roles():
    design = {
        "configurations": [
            {"config": {"rounds": 2}, "quota": 9, "kind": "main"},
            {"config": {"rounds": 5}, "roles": ["bob"]},
        ]
    }
    assert planned(design) == [(2, "alice", 9, "main"), (2, "bob", 9, "main"), (5, "bob", 4, "")]


def test_published_selection_has_its_cells_and_quotas():
    cells = plan_cells(study(design={"selection": "glee", "seed": 2}))
    assert len(cells) == 78
    assert {(cell.kind, cell.quota) for cell in cells} == {("main", 50), ("variant", 25), ("random", 15)}
    assert cells == plan_cells(study(design={"selection": "glee", "seed": 2}))


def test_published_table():
    assert len(plan_cells(study(design={"table": "glee"}, roles=["alice"]))) == 384


def test_announced_average_may_depend_on_a_parameter():
    averages = {"by": "money", "amounts": {"100": "0.50", "10000": "1.00"}}
    cells = plan_cells(study(design={"grid": {"money": [100, 10000]}, "averages": averages}, roles=["bob"]))
    assert [cell.average for cell in cells] == [Decimal("0.50"), Decimal("1.00")]


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ({"grid": {"colour": ["red"]}}, "no parameter “colour”"),
        ({"grid": {"delta_bob": [0.9, 7]}}, "“delta_bob” cannot be 7"),
        ({"grid": {"rounds": 3}}, "grid.rounds"),
        ({"grids": {}}, "grids"),
        ({"table": "moon"}, "no table “moon”"),
        ({"selection": "moon"}, "no selection “moon”"),
        ({"table": "glee", "grid": {}}, "one of grid, table"),
        ({"configurations": []}, "configurations"),
        ({"configurations": [{}, {"config": {"rounds": 0}}]}, "Configuration 2: .*rounds"),
        ({"configurations": [{"quota": 0}]}, "configurations.0.quota"),
        ({"configurations": [{"roles": ["carol"]}]}, "cannot play carol"),
        ({"averages": {"by": "colour", "amounts": {}}}, "no parameter “colour”"),
        ({"averages": {"by": "money", "amounts": {"5": "1"}}}, "no average bonus is given for money = 10000"),
        ({"grid": {"delta_bob": [i / 3000 for i in range(1, 3001)]}}, "6000 cells"),
    ],
)
def test_unplayable_design_is_refused_with_the_reason(design, reason):
    draft = study(design=design, roles=["alice", "bob"])
    with pytest.raises(BadConfig, match=reason):
        plan_cells(draft)
    with pytest.raises(ValidationError) as refused:
        draft.full_clean()
    assert set(refused.value.message_dict) == {"design"}


def test_launching_freezes_cells_and_spreads_participants():
    draft = study(design={"grid": {"rounds": [2, 6]}, "averages": {"by": "rounds", "amounts": {"2": "1", "6": "3"}}})
    draft.save()
    version = launch(draft)
    draft.refresh_from_db()
    assert [configuration["rounds"] for configuration in version.content["configurations"]] == [2, 6]
    assert [(cell.configuration, cell.role) for cell in Cell.objects.order_by("number")] == [
        (0, "alice"), (0, "bob"), (1, "alice"), (1, "bob"),
    ]  # fmt: skip
    for worker in "ABCD":
        enrol(draft, Arrival("codes", worker=worker, proof=worker))
    assert all(cell.placements.count() == 1 for cell in Cell.objects.all())


def test_match_and_announcement_follow_the_cell():
    draft = study(
        design={"grid": {"rounds": [2, 6]}, "averages": {"by": "rounds", "amounts": {"2": "1.25", "6": "3.50"}}},
        roles=["alice"],
        code_word=None,
    )
    draft.save()
    version = launch(draft)
    draft.refresh_from_db()
    assert "between $1.25 and $3.50" in version.content["texts"]["consent"]
    for worker in "AB":
        person = enrol(draft, Arrival("codes", worker=worker, proof=worker))
        rounds = draft.versions.get().content["configurations"][person.placement.cell.configuration]["rounds"]
        instructions = next(step for step in person.steps if step["kind"] == "instructions")
        assert {2: "$1.25", 6: "$3.50"}[rounds] in instructions["pay"]
        for answer in ({"agree": "yes"}, {"name": "Robin"}, {}):
            enrolment, _step = people.show_step(enrolment_id=person.pk)
            people.answer_step(enrolment_id=person.pk, position=enrolment.position, data=answer)
        people.show_step(enrolment_id=person.pk)
        assert Seat.objects.get(enrolment=person).match.config["rounds"] == rounds
    assert Match.objects.count() == 2
