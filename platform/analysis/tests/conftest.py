"""Datasets shared by several tests: built once, never modified."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import made_once

GAMES = (
    "bargaining", "beauty_contest", "duopoly", "english_auction", "item_auction", "negotiation", "patience",
    "persuasion", "pricing", "procurement", "scheduling", "sealed_auction", "social_dilemma", "task_allocation",
)  # fmt: skip


def sample_people(folder: Path) -> Path:
    """Write a dataset of the sample study with its first eleven people; nine of them are in the dataset."""
    from analysis.tests.worlds import export_people

    return export_people(folder / "people")


people = made_once(sample_people, scope="session", rows=False)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, django_db_setup, django_db_blocker):
    """Return a function from a game to a dataset of four matches between two scripts, built on first request."""
    from django.db import transaction

    from analysis.tests.worlds import export_game

    folders: dict[str, Path] = {}

    def dataset_of(game: str) -> Path:
        if game not in folders:
            with django_db_blocker.unblock(), transaction.atomic():
                folders[game] = export_game(game, tmp_path_factory.mktemp("tiny") / game)
                transaction.set_rollback(True)
        return folders[game]

    return dataset_of
