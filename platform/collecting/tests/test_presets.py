"""The published systems, ready to launch or start."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from collecting import services
from collecting.errors import BadPlan
from collecting.models import Collection
from collecting.presets import load, study_presets
from studies.launching import launch
from studies.models import Cell, Study

pytestmark = pytest.mark.django_db
CELLS = {"bargaining": 78, "negotiation": 60, "persuasion": 57}


def test_glee_llm_covers_every_configuration_and_ordered_pair():
    collections = load("glee-llm", agents=["script:random"])
    assert {c.game: c.planned for c in collections} == {"bargaining": 384, "negotiation": 576, "persuasion": 360}
    assert services.start(collections[0]).status == Collection.Status.RUNNING


def test_glee_llm_has_default_models():
    assert [c.planned for c in load("glee-llm")] == [384 * 4, 576 * 4, 360 * 4]


@pytest.mark.parametrize("game", CELLS)
def test_glee_human_launches_with_the_published_cells_and_pay(game):
    load("glee-human", agents=["script:random"], seed=3)
    study = Study.objects.get(game=game)
    assert study.status == Study.Status.DRAFT
    version = launch(study)
    cells = Cell.objects.filter(version=version)
    assert cells.count() == CELLS[game]
    hours = Decimal(20 if game == "persuasion" else 10) / 60
    by_stake = {(c.announced_average, _stake(version, c)) for c in cells}
    assert by_stake == {(round(hourly * hours, 2), stake) for hourly, stake in [(3, 1e2), (6, 1e4), (9, 1e6)]}
    assert study.base == round(6 * hours, 2)


def _stake(version, cell) -> float:
    config = version.content["configurations"][cell.configuration]
    return next(config[key] for key in ("money", "scale", "price") if key in config)


@pytest.mark.parametrize("name", study_presets())
def test_ready_made_studies_can_be_launched(name):
    """Participants take the preset's seats, and the agent all others."""
    _game, preset = study_presets()[name]
    for study, table in zip(load(name, agents=["script:random"]), preset.tables.values(), strict=True):
        for cell in Cell.objects.filter(version=launch(study)):
            people = list(table.values()).count("person")
            assert list(cell.seats.values()).count("person") == (
                len(cell.seats) if table.get("*") == "person" else people
            )
            assert set(cell.seats.values()) <= {"person", "script:random"}
        assert 2 * study.base == study.cap


def test_auction_preset_with_a_person():
    (study,) = load("aucarena-human", agents=["openai:a", "openai:b"])
    cells = Cell.objects.filter(version=launch(study))
    orders = [cell.version.content["configurations"][cell.configuration]["order"] for cell in cells]
    assert sorted(orders) == ["ascending", "descending", "random"]
    assert {cell.quota for cell in cells} == {4}
    assert {tuple(cell.seats.values()) for cell in cells} == {("person", "openai:a", "openai:b")}
    settings = study.agents["openai:b"]["settings"]
    assert settings["strategy"] == "adaptive" and settings["temperature"] == 0


def test_same_seed_draws_the_same_cells():
    load("glee-human", agents=["script:random"], seed=3)
    study = Study.objects.get(game="bargaining")
    drawn = plan_cells(study)
    study.design["seed"] = 4
    assert drawn != plan_cells(study)
    study.design["seed"] = 3
    assert drawn == plan_cells(study)


def test_invalid_preset_loads_are_refused(capsys):
    call_command("load_preset", "glee-llm", "--agents", "script:random")
    assert "glee-llm-persuasion: 360 matches" in capsys.readouterr().out
    with pytest.raises(CommandError, match="loaded before"):
        call_command("load_preset", "glee-llm")
    for name, agents in [("moon", []), ("glee-human", ["script:nobody"])]:
        with pytest.raises(BadPlan):
            load(name, agents=agents)
    assert not Study.objects.exists()
