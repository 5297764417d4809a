"""/health/ready, /metrics and the monitor's notice on workers."""

from __future__ import annotations

import json
import logging

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from config.logs import OneLine
from monitoring import alive
from studies.models import Study

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
    client.force_login(get_user_model().objects.create_superuser("boss", password="…"))
    study = Study.objects.create(slug="watched", title="Watched", game="bargaining")
    assert 'id="m-no-worker"' in client.get(f"/admin/monitor/{study.pk}/").content.decode()
    alive.send_heartbeat("worker")
    assert 'id="m-no-worker"' not in client.get(f"/admin/monitor/{study.pk}/").content.decode()


def test_workers_wait_for_migrations():
    call_command("await_migrations", patience=0)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'monitoring'")
    with pytest.raises(CommandError, match="migrations are missing"):
        call_command("await_migrations", patience=0)


def test_database_outage_logs_one_line_per_minute():
    one_line = OneLine()
    errors = [
        logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), (OperationalError, OperationalError("gone"), None))
        for _ in range(1000)
    ]
    logged = [record.getMessage() for record in errors if one_line.filter(record)]
    assert logged == ["the database is unavailable: OperationalError"], json.dumps(logged)
