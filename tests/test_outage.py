"""People go on while the database or Redis is unavailable, and the log gets one line a minute."""

from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from celery.beat import Scheduler
from celery.schedules import schedule
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client

from config.celery import Parley
from config.logs import JsonFormatter, LineFormatter, OneLine
from conftest import KIND
from tests.visitors import EQUAL_SPLIT, Visitor, arrived_participant, heading_of, launched_study

pytestmark = pytest.mark.django_db


def logged_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the log files get of the captured records."""
    one_line = OneLine()
    return [LineFormatter("%(message)s").format(record) for record in caplog.records if one_line.filter(record)]


def fail(*_statement: Any) -> None:
    raise OperationalError("connection refused: is the server at 10.0.0.7 running?")


@pytest.mark.parametrize("method", ["get", "post"])
def test_page_reloads_while_the_database_is_down(method: str) -> None:
    address = arrived_participant(launched_study()).get_absolute_url()
    with connection.execute_wrapper(fail):
        answer = getattr(Client(raise_request_exception=False), method)(address)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    page = answer.content.decode()
    assert f'<meta http-equiv="refresh" content="5;url={address}">' in page
    assert "One moment" in heading_of(answer)
    assert "10.0.0.7" not in page
    assert Client().get(address).status_code == 200


def test_outage_is_logged_as_one_line_a_minute() -> None:
    log_filter = OneLine()

    def record_of(error: Exception) -> logging.LogRecord:
        try:
            raise error
        except Exception:  # noqa: BLE001  (as the server's own handler does)
            return logging.LogRecord("django.request", logging.ERROR, "", 0, "failed", (), sys.exc_info())

    records = [record_of(OperationalError("server closed the connection")) for _number in range(1000)]
    logged = [record for record in records if log_filter.filter(record)]
    assert [logging.Formatter().format(record) for record in logged] == [
        "the database is unavailable: OperationalError"
    ]
    other_record = record_of(ValueError("a fault of ours"))
    assert log_filter.filter(other_record) and "Traceback" in logging.Formatter().format(other_record)


def test_people_enter_and_sign_in_while_redis_hangs(client: Client, redis_hangs, caplog):
    study = launched_study(via="open")
    User.objects.create_superuser("boss", password="a long password")
    with redis_hangs():
        assert client.post(f"/join/{study.slug}/").status_code == 302
        signed_in = [
            client.post("/admin/login/", {"username": "boss", "password": password}).status_code
            for password in ("wrong", "a long password")
        ]
    assert signed_in == [200, 302]
    assert logged_lines(caplog) == ["Redis is unavailable: TimeoutError"]


@pytest.mark.skipif(KIND != "postgres", reason="SQLite has no server that could hang")
def test_server_that_does_not_answer_counts_as_an_outage():
    with socket.socket() as silent_server:
        silent_server.bind(("127.0.0.1", 0))
        silent_server.listen()
        port = silent_server.getsockname()[1]
        unanswered = connection.copy("unanswered")
        unanswered.settings_dict = {**connection.settings_dict, "HOST": "127.0.0.1", "PORT": port}
        with pytest.raises(OperationalError, match="timeout"):
            unanswered.ensure_connection()


def test_move_is_answered_while_redis_hangs(redis_hangs, django_capture_on_commit_callbacks):
    visitor = Visitor(arrived_participant(launched_study())).walk_to("match")
    with redis_hangs(), django_capture_on_commit_callbacks(execute=True):
        assert visitor.move(**EQUAL_SPLIT).status_code == 302
    assert visitor.match().open_turns()["bob"].by_agent


def test_beat_logs_one_line_while_redis_is_down(tmp_path: Path, caplog):
    app = Parley("beat", broker=f"redis+socket://{tmp_path}/none.sock", set_as_current=False)
    scheduler = Scheduler(app, lazy=True)
    for number in range(3):
        entry = scheduler.Entry(name=f"sweep {number}", task="matches.sweep", schedule=schedule(2), app=app)
        scheduler.apply_entry(entry)
    app.wait_until_sent()
    assert logged_lines(caplog) == ["Redis is unavailable: OperationalError"]


@pytest.mark.parametrize(
    ("request_options", "status"),
    [
        pytest.param({"headers": {"host": "elsewhere.example"}}, 400, id="foreign host"),
        pytest.param({"data": {"text": "a" * 300_000}}, 400, id="too much text"),
        pytest.param({"data": b"text", "content_type": "multipart/form-data"}, 400, id="no boundary"),
        pytest.param({"data": {"position": "99"}}, 302, id="stale tab"),
    ],
)
def test_faulty_request_leaves_at_most_one_line(request_options: dict[str, Any], status: int, caplog):
    person = arrived_participant(launched_study())
    assert Client().post(person.get_absolute_url(), **request_options).status_code == status
    log = logged_lines(caplog)
    assert len(log) <= 1
    assert "\n" not in "".join(log)


@pytest.mark.parametrize("formatter", [LineFormatter("%(message)s"), JsonFormatter("%(message)s")])
def test_tracebacks_hide_tokens(formatter: logging.Formatter):
    try:
        raise RuntimeError("Unexpected message for /ws/play/a-secret-token/")
    except RuntimeError:
        record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "Exception", (), sys.exc_info())
    text = formatter.format(record)
    assert "RuntimeError: Unexpected message" in text
    assert "a-secret-token" not in text
