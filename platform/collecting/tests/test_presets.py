"""The published systems, ready to launch or start."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from collecting import planning
from collecting.models import Collection
from collecting.presets import load, names
from collecting.tests.kit import drive
from games import registry
from plans.canonical import canonical
from plans.files import dumps, loads
from plans.library import ready_made
from plans.reading import BadPlan
from studies.launching import launch
from studies.models import Cell, Study

pytestmark = pytest.mark.django_db
STUDIES, COLLECTIONS = ready_made("studies"), ready_made("collections")
SCRIPTS = 5
"""The agents given to collections of any number of agents."""


@pytest.mark.parametrize(("game", "planned"), [("bargaining", 384), ("negotiation", 576), ("persuasion", 360)])
def test_glee_with_models_covers_every_configuration_and_ordered_pair(game, planned):
    assert load(f"glee-llm-{game}").planned == planned * 4
    Collection.objects.all().delete()
    assert load(f"glee-llm-{game}", agents=["script:random"]).planned == planned


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_the_same_as_its_file(name):
    study = load(name)
    assert canonical(loads(dumps(study.draft))) == canonical(loads(STUDIES[name].text))
    assert study.status == Study.Status.DRAFT


@pytest.mark.parametrize("name", [name for name in STUDIES if "table" not in name])
def test_a_study_can_be_launched(name):
    study = load(name, agents=["script:random"])
    version = launch(study)
    people = {"one": 1, "two": 2, "both": 2, "all": None}
    for cell in Cell.objects.filter(version=version):
        seated = [player for player in cell.seats.values() if player == "person"]
        wanted = people.get(cell.factors.get("people"), 1)
        assert len(seated) == (len(cell.seats) if wanted is None else wanted)


def test_a_second_copy_has_a_name_of_its_own():
    assert [load("aucarena-human").slug for _copy in range(2)] == ["aucarena-human", "aucarena-human-2"]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_a_collection_can_be_played_by_scripts(name):
    game = COLLECTIONS[name].game
    scripts = [f"script:{script}" for script in sorted(registry.get(game).scripts)][:SCRIPTS]
    if name == "aucarena-objectives":
        scripts = scripts[:2]
    collection = load(name, agents=scripts, seed=2)
    assert (collection.slug, collection.seed) == (name, 2)
    first, last = planning.planned_match(collection, 1), planning.planned_match(collection, collection.planned)
    assert first.repetition == 1 and last.repetition == planning.configured(collection).plan.repetitions


@pytest.mark.django_db(transaction=True)
def test_six_seat_collection_is_played_to_the_end():
    scripts = [f"script:{s}" for s in ("random", "rational", "level_1", "level_2", "level_3", "level_4")]
    collection = drive(load("econarena-contest-melee-history", agents=scripts, seed=3))
    assert (collection.status, collection.planned) == ("done", 30)
    matches = [item.match for item in collection.items.select_related("match")]
    assert {match.status for match in matches} == {"finished"}
    seats = {seat.label for match in matches for seat in match.seats.filter(role="p1")}
    assert seats == set(scripts), "seats rotate with the sessions"


@pytest.mark.django_db(transaction=True)
def test_command_plays_a_published_collection(capsys):
    options = ["--preset", "econarena-sealed-self", "--agents", "script:truthful,script:random"]
    call_command("collect", "sealed", *options, "--no-wait")
    assert Collection.objects.get(slug="sealed").document["environment"] == "self"
    assert "running" in capsys.readouterr().out


def test_command_plays_a_plan_from_a_file(tmp_path):
    file = tmp_path / "plan.yaml"
    file.write_text(COLLECTIONS["econevals-duopoly"].text)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("collect", "mine", "--plan", str(tmp_path / "missing.yaml"))
    call_command("collect", "mine", "--plan", str(file), "--budget", "3.50", "--no-wait")
    collection = Collection.objects.get()
    assert (collection.planned, str(collection.budget)) == (42, "3.50")


def test_invalid_loads_are_refused(capsys):
    call_command("load_preset", "glee-llm-persuasion", "--agents", "script:random")
    assert "glee-llm-persuasion: 360 matches" in capsys.readouterr().out
    with pytest.raises(CommandError, match="Short name"):
        call_command("load_preset", "glee-llm-persuasion")
    for name, agents in [("moon", []), ("aucarena-human", ["script:nobody"]), ("aucarena-standard", ["script:rule"])]:
        with pytest.raises(BadPlan):
            load(name, agents=agents)
    assert not Study.objects.exists()
    assert {"aucarena-human", "glee-llm-bargaining"} <= set(names())
