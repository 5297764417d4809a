"""/health/ready, /metrics and the monitor's notice on workers."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import time

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from config.logs import OneLine
from conftest import KIND
from monitoring import alive, restarts
from studies.tests import kit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_processes():
    alive._redis().delete(alive.HEARTBEATS_KEY)
    yield
    alive._redis().delete(alive.HEARTBEATS_KEY)


def test_readiness_names_what_is_missing(client):
    page = client.get("/health/ready")
    assert page.status_code == 503
    assert page.json()["problems"] == ["no worker is running", "no clock (beat) is running"]
    alive.send_heartbeat("worker")
    alive.send_heartbeat("beat")
    page = client.get("/health/ready")
    assert (page.status_code, page.json()["status"], page.json()["problems"]) == (200, "ready", [])
    assert page.json()["processes"] == {"worker": 1, "collector": 0, "beat": 1}


def test_silent_process_counts_as_dead(client):
    alive.send_heartbeat("beat")
    alive._redis().zadd(alive.HEARTBEATS_KEY, {"worker@elsewhere:1": 1.0})
    assert client.get("/health/ready").json()["problems"] == ["no worker is running"]


def test_readiness_reports_storage(client, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "last-backup").touch()
    os.utime(tmp_path / "last-backup", (time.time() - 7200,) * 2)
    for _death in range(3):
        restarts.note(tmp_path, "web", "was killed by SIGKILL")
    report = client.get("/health/ready").json()
    assert report["free_bytes"]["data"] == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.1)
    assert (report["free_bytes"]["database"] is None) == (KIND == "postgres")
    assert report["database_bytes"] > 0
    assert report["last_backup_seconds"] == pytest.approx(7200, abs=60)
    assert report["restarts"] == {"web": 3}
    settings.METRICS_TOKEN = "open sesame"
    metrics = client.get("/metrics", headers={"Authorization": "Bearer open sesame"}).content.decode()
    assert 'parley_restarts{child="web"} 3.0' in metrics and 'parley_free_bytes{of="data"}' in metrics
    for file in tmp_path.iterdir():
        file.unlink()
    report = client.get("/health/ready").json()
    assert (report["last_backup_seconds"], report["restarts"]) == (None, {})


def test_data_that_cannot_be_written_make_the_installation_not_ready(client, settings, tmp_path, caplog):
    settings.DATA_DIR = tmp_path / "missing"
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY" if KIND == "postgres" else "PRAGMA query_only = ON")
        problems = [client.get("/health/ready").json()["problems"] for _request in range(2)][1]
        if KIND == "sqlite":
            cursor.execute("PRAGMA query_only = OFF")
    assert problems[0].startswith("the database cannot be written: ") and "read" in problems[0]
    assert problems[1].startswith("the data folder cannot be")
    one_line = OneLine()
    logged = [record.getMessage() for record in caplog.records if one_line.filter(record)]
    assert logged == [f"not ready: {'; '.join(problems)}"]


FULL_DISK = """
import contextlib, pathlib, sys, django
django.setup()
from django.core.management import call_command
from django.test import Client
from monitoring import alive, storage

call_command("migrate", verbosity=0)
storage.MIN_FREE_BYTES = 2**20
for kind in ("worker", "beat"):
    alive.send_heartbeat(kind)

def show():
    print(Client().get("/health/ready", HTTP_HOST="localhost").json()["problems"], flush=True)

show()
filler = pathlib.Path(sys.argv[1], "filler")
with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
    while file.write(bytes(4096)):
        pass
show()
filler.unlink()
show()
"""


@pytest.mark.slow
def test_full_disk_makes_the_installation_not_ready_until_there_is_space(redis_url, tmp_path):
    mount = f'mount -t tmpfs -o size=24m tmpfs "{tmp_path}" && exec "{sys.executable}" -c "$PROGRAM" "{tmp_path}"'
    process = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", mount],
        env={
            **os.environ,
            "PROGRAM": FULL_DISK,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": "platform:.",
            "PARLEY_DATA": str(tmp_path),
            "DATABASE_URL": f"sqlite:///{tmp_path}/parley.sqlite3",
        },
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
    )
    before, full, after = process.stdout.splitlines()
    assert (before, after) == ("[]", "[]"), process.stderr
    assert "No space left on device" in full and "only 0 MB are free" in full
    assert "not ready: " in process.stderr


def test_metrics_require_the_token(client, settings):
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "open sesame"
    assert client.get("/metrics", headers={"Authorization": "Bearer other"}).status_code == 404
    alive.send_heartbeat("worker")
    page = client.get("/metrics", headers={"Authorization": "Bearer open sesame"})
    lines = page.content.decode().splitlines()
    assert 'parley_processes{kind="worker"} 1.0' in lines
    assert "parley_ready 0.0" in lines and "parley_oldest_waiting_turn_seconds 0.0" in lines


def test_monitor_reports_missing_workers(client):
    kit.administrator(client)
    study = kit.new_study("watched")
    assert 'id="m-no-worker"' in client.get(f"/admin/monitor/{study.pk}/").content.decode()
    alive.send_heartbeat("worker")
    assert 'id="m-no-worker"' not in client.get(f"/admin/monitor/{study.pk}/").content.decode()


def test_workers_wait_for_migrations():
    call_command("await_migrations", patience=0)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'monitoring'")
    with pytest.raises(CommandError, match="migrations are missing"):
        call_command("await_migrations", patience=0)


def test_a_database_of_another_version_is_refused():
    with connection.cursor() as cursor:
        row = "('studies', '9999_future', '2030-01-01')"
        cursor.execute(f"INSERT INTO django_migrations (app, name, applied) VALUES {row}")
    with pytest.raises(CommandError, match=r"such as studies\.9999_future"):
        call_command("migrate", verbosity=0)


def test_database_outage_logs_one_line_per_minute():
    one_line = OneLine()
    errors = [
        logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), (OperationalError, OperationalError("gone"), None))
        for _ in range(1000)
    ]
    logged = [record.getMessage() for record in errors if one_line.filter(record)]
    assert logged == ["the database is unavailable: OperationalError"], json.dumps(logged)
