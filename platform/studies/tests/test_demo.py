"""A fresh installation shows every game."""

from __future__ import annotations

import pytest

from games import registry
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
