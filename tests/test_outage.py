"""During a database outage, pages reload automatically and the log gets one line a minute."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from config.logs import OneLine
from tests.visitors import arrived_participant, heading_of, launched_study

pytestmark = pytest.mark.django_db


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
