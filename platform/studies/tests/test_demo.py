"""A fresh installation shows every game."""

from __future__ import annotations

import pytest

from games import registry
from opponents.models import Endpoint
from studies.demo import create_demo
from studies.models import Study

pytestmark = pytest.mark.django_db


def test_there_is_a_launched_study_of_every_game_and_making_them_again_changes_nothing(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    made = create_demo()
    assert [study.game for study in Study.objects.order_by("game")] == list(registry.keys())
    assert {study.status for study in Study.objects.all()} == {"launched"}
    assert create_demo() == made
    assert len(made.links) == Study.objects.count()


def test_with_a_model_on_this_machine_it_plays_every_game_too(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    made = create_demo("http://127.0.0.1:9/v1")
    against_it = Study.objects.filter(agent="local:smollm2-135m-instruct", status="launched")
    assert [study.game for study in against_it.order_by("game")] == list(registry.keys())
    assert len(made.links) == 2 * len(registry.keys())
    assert Endpoint.objects.get().base_url == "http://127.0.0.1:9/v1"
