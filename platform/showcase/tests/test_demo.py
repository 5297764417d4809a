"""A fresh installation shows every game."""

from __future__ import annotations

import re

import pytest

from games import registry
from games.play import configure
from matches.models import Match
from opponents.models import Endpoint
from plans.stages import Game
from showcase.demo import create_demo
from studies.models import Study, configured

pytestmark = pytest.mark.django_db


def stages(*, people: int) -> list[Game]:
    """Return the game of every demo that this many people play together."""
    versions = [study.latest_version() for study in Study.objects.exclude(slug__startswith="demo-llm-")]
    first_cells = [version.cells.first() for version in versions]
    return [cell.game for cell in first_cells if cell.group_size == people]


def mechanisms(found: list[Game]) -> set[str]:
    return {stage.config["mechanism"] for stage in found if stage.game == "social_dilemma"}


def test_demo_has_every_game_and_is_idempotent(demo):
    studies = Study.objects.count()
    alone = stages(people=1)
    assert sorted({stage.game for stage in alone}) == list(registry.keys())
    assert mechanisms(alone) == {"repetition", "contract", "reputation_first_order"}
    assert {study.status for study in Study.objects.all()} == {"launched"}
    create_demo()
    assert Study.objects.count() == studies
    assert sorted(Match.objects.values_list("game", flat=True)) == list(registry.keys()), "one to look at per game"


def test_negotiation_demo_has_gains_from_trade(demo, client):
    demos = [stage for stage in [*stages(people=1), *stages(people=2)] if stage.game == "negotiation"]
    configs = [configured(stage).config for stage in demos]
    assert len(configs) == 2 and all(config.buyer_factor > config.seller_factor for config in configs)
    page = client.get("/join/demo-negotiation").content.decode()
    assert re.search(r"Play as [^<]*seller", page) and re.search(r"Play as [^<]*buyer", page)


def test_demos_for_two_people(demo, client):
    together = stages(people=2)
    keys = [key for key in registry.keys() if len(configure(registry.get(key), {}).people()) > 1]
    assert sorted({stage.game for stage in together}) == keys
    assert mechanisms(together) == {"repetition", "contract", "reputation_first_order"}
    page = client.get("/join/demo-bargaining").content.decode()
    assert 'href="/join/demo-bargaining-together/"' in page
    page = client.get("/join/demo-duopoly-together").content.decode()
    assert page.count('name="role"') == 1, "of two equal seats, nobody chooses the other's"


@pytest.mark.slow
def test_local_model_plays_every_game(demo):
    create_demo("http://127.0.0.1:9/v1")
    studies = Study.objects.filter(slug__startswith="demo-llm-", status="launched")
    assert sorted(game for study in studies for game in study.games) == list(registry.keys())
    models = [agent for study in studies for agent in study.latest_version().agents().values() if not agent.scripted]
    assert {agent.spec for agent in models} == {"local:smollm2-135m-instruct"} and all(
        agent.settings.script for agent in models
    )
    assert Endpoint.objects.get().base_url == "http://127.0.0.1:9/v1"
