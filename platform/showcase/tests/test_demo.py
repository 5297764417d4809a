"""A fresh installation shows every game."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User

from games import registry
from games.play import configure
from matches.models import Match
from opponents.models import Endpoint
from showcase.demo import create_demo
from studies.models import Study

pytestmark = pytest.mark.django_db


def test_demo_has_every_game_and_is_idempotent(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    demo = create_demo()
    studies = Study.objects.count()
    single_player_demos = Study.objects.filter(lineups=[])
    assert sorted({study.game for study in single_player_demos}) == list(registry.keys())
    assert {study.config["mechanism"] for study in single_player_demos.filter(game="social_dilemma")} == {
        "repetition",
        "contract",
        "reputation_first_order",
    }
    assert {study.status for study in Study.objects.all()} == {"launched"}
    assert create_demo() == demo
    assert Study.objects.count() == studies
    assert sorted(Match.objects.values_list("game", flat=True)) == list(registry.keys()), "one to look at per game"


def test_negotiation_demo_has_gains_from_trade(settings, tmp_path, client):
    """The defaults allow gains both in the demo and in the form for a new study."""
    settings.DATA_DIR = tmp_path
    create_demo()
    configs = [study.configured().config for study in Study.objects.filter(game="negotiation")]
    client.force_login(User.objects.create_superuser("root"))
    form = client.get("/admin/studies/study/add/?game=negotiation").content.decode()
    default_factors = dict(re.findall(r'name="parameter_(seller_factor|buyer_factor)" value="([\d.]+)"', form))
    assert len(configs) == 2 and all(config.buyer_factor > config.seller_factor for config in configs)
    assert float(default_factors["buyer_factor"]) > float(default_factors["seller_factor"])
    page = client.get("/join/demo-negotiation").content.decode()
    assert re.search(r"Play as [^<]*seller", page) and re.search(r"Play as [^<]*buyer", page)


def test_demos_for_two_people(settings, tmp_path, client):
    settings.DATA_DIR = tmp_path
    create_demo()
    two_person_demos = Study.objects.exclude(lineups=[])
    keys = [key for key in registry.keys() if len(configure(registry.get(key), {}).people()) > 1]
    assert sorted({study.game for study in two_person_demos}) == keys
    mechanisms = {study.config["mechanism"] for study in two_person_demos.filter(game="social_dilemma")}
    assert mechanisms == {"repetition", "contract", "reputation_first_order"}
    assert all(cell.group_size == 2 for study in two_person_demos for cell in study.latest_version().cells.all())
    page = client.get("/join/demo-bargaining").content.decode()
    assert 'href="/join/demo-bargaining-together/"' in page


def test_local_model_plays_every_game(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    create_demo("http://127.0.0.1:9/v1")
    model_studies = Study.objects.filter(agents__has_key="local:smollm2-135m-instruct", status="launched")
    assert [study.game for study in model_studies.order_by("game")] == list(registry.keys())
    assert Endpoint.objects.get().base_url == "http://127.0.0.1:9/v1"
