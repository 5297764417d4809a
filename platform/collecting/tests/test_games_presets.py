"""The presets that games declare: discovered, loaded with scripts, and played."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from collecting import driver, planning, services
from collecting.models import Collection
from collecting.planning import make_collection
from collecting.presets import collection_presets, load, plans
from games import registry

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPTS = 5
"""The agents given to presets; a preset that takes fewer gets the first ones."""


@pytest.mark.parametrize("name", collection_presets())
def test_every_preset_makes_playable_collections(name):
    game, preset = collection_presets()[name]
    scripts = [f"script:{script}" for script in sorted(registry.get(game).scripts)]
    agents = scripts[: max(preset.agents, min(SCRIPTS, preset.most_agents or SCRIPTS, len(scripts)))]
    collections = load(name, agents=agents, seed=2)
    assert collections and all(collection.slug.startswith(name) and collection.planned for collection in collections)
    for collection in collections:
        first, last = planning.planned_match(collection, 1), planning.planned_match(collection, collection.planned)
        assert first.repetition == 1 and last.repetition == collection.content["repetitions"]
        assert len(str(collection.content)) < 200_000


def test_six_seat_collection_is_played_to_the_end():
    scripts = [f"script:{s}" for s in ("random", "rational", "level_1", "level_2", "level_3", "level_4")]
    plan = next(p for p in plans("econarena-contest", agents=scripts, seed=3) if p.environment == "melee-history")
    collection = services.start(make_collection(plan))
    driver.drive(collection, slot=0)
    collection.refresh_from_db()
    assert (collection.status, collection.planned) == ("done", 30)
    matches = [item.match for item in collection.items.select_related("match")]
    assert {match.status for match in matches} == {"finished"}
    seats = {seat.label for match in matches for seat in match.seats.filter(role="p1")}
    assert seats == set(scripts), "seats rotate with the sessions"


def test_command_plays_one_environment_of_a_preset(capsys):
    options = ["--preset", "econarena-sealed", "--agents", "script:truthful,script:random"]
    with pytest.raises(CommandError, match="--environment must be one of melee"):
        call_command("collect", "sealed", *options)
    call_command("collect", "sealed", *options, "--environment", "self", "--no-wait")
    assert Collection.objects.get(slug="sealed").content["environment"] == "self"
    assert "running" in capsys.readouterr().out
