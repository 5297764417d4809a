"""Private databases and Redis for the tests, which leave everything that already runs on the machine alone.

This file sets the environment before Django reads its settings, and names the settings module too. Tests use
SQLite by default, and a private PostgreSQL with TEST_DATABASE=postgres.

Property tests try the same few examples each time; --hypothesis-profile=searching tries more and new ones.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis
from django.conf import settings
from django.core.cache import caches
from django.db import connection, transaction

from config.postgres import PrivatePostgres
from config.private_redis import PrivateRedis

if settings.configured:
    raise pytest.UsageError(
        "Unset DJANGO_SETTINGS_MODULE: conftest.py sets it after it has chosen the tests' databases."
    )

DATABASES = ("sqlite", "postgres")
MOST_SECONDS_HUNG = 30
KIND = os.environ.get("TEST_DATABASE", "sqlite")
if KIND not in DATABASES:
    raise pytest.UsageError(f"TEST_DATABASE must be one of {', '.join(DATABASES)}")

FOLDER = Path(tempfile.mkdtemp(prefix="parley-tests-"))
(FOLDER / "static").mkdir()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
POSTGRES = PrivatePostgres() if KIND == "postgres" else None
if POSTGRES is not None:
    atexit.register(POSTGRES.stop)

os.environ.update(
    DJANGO_SETTINGS_MODULE="config.settings",
    PARLEY_DATA=str(FOLDER),
    SECRET_KEY="tests",
    JOINS_PER_HOUR="1000000",  # every test participant comes from one address
    SPEND_CAP_PER_DAY="",  # calls to stand-in servers cost whatever a test sets
    DATABASE_URL=POSTGRES.url if POSTGRES else f"sqlite:///{FOLDER / 'parley.sqlite3'}",
    REDIS_URL=f"unix://{FOLDER / 'redis.sock'}",
)
for name in ("DEBUG", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SITE_URL"):
    os.environ.pop(name, None)
# A named file: by default Django would test on SQLite in memory, whose locks differ from a file's.
settings.DATABASES["default"]["TEST"] = {"NAME": "test_parley" if POSTGRES else str(FOLDER / "test.sqlite3")}
# Slow password hashes are right in production and a waste of time in tests; live stacks keep Django's own.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Without this, every test client would scan all static files before its first request.
settings.WHITENOISE_AUTOREFRESH = True


without_deadline = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("repeatable", without_deadline, derandomize=True, max_examples=20)
hypothesis.settings.register_profile("searching", without_deadline)
hypothesis.settings.load_profile("repeatable")


def examples(number: int) -> int:
    """Return how many examples a slow property test tries: `number` when searching, otherwise fewer."""
    return max(3, number * hypothesis.settings.default.max_examples // 100)


def slow_except(cases: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """Return cases for `pytest.mark.parametrize`: those in `quick` run every time, the others with the slow tests."""
    return [
        case if case in quick else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]


COUNT_FILE = os.environ.get("TEST_COUNT_FILE")
"""Where deploy/setup/tests.py wants the numbers of quick and slow tests."""
QUICK_CASES = 2
"""How many cases of a test run on every change, unless it is marked `every_case`; one with a database or browser."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but a few cases of each parametrized test as slow; the few are the first, the last, and some between.

    Tests on the live stack form one group for pytest-xdist.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("stack"))  # one process starts it once, where groups are kept
        if hasattr(item, "callspec") and not any(map(item.get_closest_marker, ("slow", "every_case"))):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same_test in cases.values():
        last = len(same_test) - 1
        is_long = any(map(same_test[0].get_closest_marker, ("browser", "services", "django_db")))
        quick = {0} if is_long else {round(i * last / (QUICK_CASES - 1)) for i in range(QUICK_CASES)}
        for i, item in enumerate(same_test):
            if i not in quick:
                item.add_marker("slow")
    if COUNT_FILE:
        slow = sum(item.get_closest_marker("slow") is not None for item in items)
        Path(COUNT_FILE).write_text(json.dumps({"quick": len(items) - slow, "slow": slow}))


def pytest_collection_finish() -> None:
    """Freeze the imported modules and collected tests, so that the garbage collector does not scan them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_sessionstart() -> None:
    """Unset DJANGO_SETTINGS_MODULE once the settings are read: xdist's workers inherit it and must set their own."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


@pytest.fixture(autouse=True)
def without_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything count as served, as without a web server; tests of outages call `uptime.services.forget`."""
    from uptime import services as uptime

    monkeypatch.setattr(uptime, "_memory", uptime._Memory(float("inf"), None, ()))  # which is never read again


@pytest.fixture(autouse=True)
def closed_circuits() -> None:
    """Forget the failures of other tests' endpoints."""
    from llm_agents import breaker

    breaker.reset()


@pytest.fixture(autouse=True)
def scripts_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave live matches' scripts to the worker, which tests act as: most are about the time before an agent moves."""
    from matches import services

    monkeypatch.setattr(services, "MOST_AT_ONCE", 0)


@pytest.fixture
def scripts_at_once(scripts_wait: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let live matches' scripts answer in the transaction of the move before, as they do outside tests."""
    from matches import services

    monkeypatch.setattr(services, "MOST_AT_ONCE", 20)


@pytest.fixture
def as_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queue no agent's turn: the test itself acts as the worker."""
    from matches import announce

    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: None)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Return the address of a private Redis, the one in the settings."""
    server = PrivateRedis(FOLDER)
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def redis_hangs(redis_url: str) -> Callable[[], AbstractContextManager[None]]:
    """Return a context manager within which Redis hangs, as it does on a machine out of memory."""

    @contextmanager
    def hang() -> Iterator[None]:
        with closing(redis.Redis.from_url(redis_url)) as client:
            process_id = client.info("server")["process_id"]
        end = threading.Timer(MOST_SECONDS_HUNG, os.kill, [process_id, signal.SIGCONT])
        os.kill(process_id, signal.SIGSTOP)
        end.start()
        try:
            yield
            assert end.is_alive(), "the test waited until Redis answered again"
        finally:
            end.cancel()
            os.kill(process_id, signal.SIGCONT)
            caches["default"].resume()

    return hang


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, redis_url: str) -> None:
    """Start Redis with the database, since commits publish to it."""
    from django.test import TransactionTestCase

    TransactionTestCase._fixture_teardown = _empty_database  # type: ignore[method-assign]
    if POSTGRES is not None:
        POSTGRES.start()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Record the migrations as applied: pytest's --no-migrations has made the tables from the models, sooner."""
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.recorder import MigrationRecorder

    settings.MIGRATION_MODULES = {}
    with django_db_blocker.unblock():
        recorder = MigrationRecorder(connection)
        recorder.ensure_schema()
        for app, name in MigrationLoader(None).disk_migrations:
            recorder.record_applied(app, name)


KEPT_TABLES = ("auth_permission", "django_content_type")
"""Tables that Django fills after migrating."""


def _empty_database(_test: object) -> None:
    """Delete all rows after a test that commits.

    Django truncates every table and then fills `KEPT_TABLES` again, which takes longer than most of these tests.
    """
    from audit import guard

    with transaction.atomic(), connection.cursor() as cursor:
        tables = sorted(set(connection.introspection.django_table_names(only_existing=False)) - {*KEPT_TABLES})
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables))
        filled = [table for (table,) in cursor.fetchall()]
        if POSTGRES is not None:
            cursor.execute("SET LOCAL session_replication_role = replica")  # fires no trigger
        elif filled:
            guard.remove(connection)
        for table in filled:
            cursor.execute(f"DELETE FROM {table}")
        if POSTGRES is None and filled:
            guard.install(connection)


@pytest.fixture
def database(db: None) -> str:
    """Set up the test database and return its kind, "sqlite" or "postgres"."""
    return KIND


def made_once(make: Callable[[Path], Any], *, scope: str = "module", rows: bool = True) -> Any:
    """Return a fixture with what `make` writes to the database and to a new folder, once for all tests of the scope.

    Args:
        rows: whether the rows stay for the tests, whose own changes are undone; not beside tests that commit.
    """

    @pytest.fixture(scope=scope)
    def made(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
        with django_db_blocker.unblock(), transaction.atomic():
            result = make(tmp_path_factory.mktemp("made"))
            if rows:
                yield result
            transaction.set_rollback(True)
        if not rows:
            yield result

    return made


@pytest.fixture
def boss(client: Any, db: None) -> Any:
    """Return a superuser, who has signed in with the test's client."""
    from studies.tests import kit

    return kit.administrator(client)
