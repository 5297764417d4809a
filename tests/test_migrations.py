"""The newest migration of every app runs backwards and forwards on a filled database, and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.test_rights import SampleData

pytestmark = [pytest.mark.slow, pytest.mark.services, pytest.mark.django_db(transaction=True)]

Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def filled(transactional_db: None) -> Iterator[None]:
    """Fill the tables of Parley's apps; afterwards, apply all migrations again, even if the test has failed."""
    SampleData()
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def _own_apps() -> list[str]:
    """Return the labels of Parley's apps; libraries test their own migrations."""
    folder = str(settings.BASE_DIR / "platform")
    return sorted(app.label for app in apps.get_app_configs() if app.path.startswith(folder))


def _rows(labels: list[str]) -> Rows:
    """Return every row of these apps' tables."""
    models = [model for label in labels for model in apps.get_app_config(label).get_models()]
    return {model._meta.label: sorted(model._base_manager.values_list(), key=repr) for model in models}


def test_most_tables_are_filled(filled: None):
    rows = _rows(_own_apps())
    empty_tables = [label for label, table_rows in rows.items() if not table_rows]
    assert len(empty_tables) < len(rows) / 2, empty_tables


def test_newest_migrations_run_both_ways(filled: None):
    tested = []
    for label in _own_apps():
        executor = MigrationExecutor(connection)
        newest = next((node for node in executor.loader.graph.leaf_nodes(label)), None)
        parents = executor.loader.graph.node_map[newest].parents if newest else ()
        previous = [parent.key for parent in parents if parent.key[0] == label]
        if not previous:
            continue
        dropped = {migration.app_label for migration, _ in executor.migration_plan(previous) if migration.initial}
        other_apps = [app for app in _own_apps() if app not in dropped]
        rows = _rows(other_apps)
        executor.migrate(previous)
        executor = MigrationExecutor(connection)
        assert newest not in executor.loader.applied_migrations
        executor.migrate(executor.loader.graph.leaf_nodes())
        assert _rows(other_apps) == rows, f"{newest}: rows were changed or lost"
        tested.append(label)
    if not tested:
        pytest.skip("every app has one migration")
