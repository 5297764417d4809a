"""A database outage: a page that reloads by itself, and one line a minute in the log."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from config.logs import OneLinePerOutage
from tests.visitors import arriving, heading_of, launched

pytestmark = pytest.mark.django_db


def away(*_statement: Any) -> None:
    raise OperationalError("connection refused: is the server at 10.0.0.7 running?")


@pytest.mark.parametrize("method", ["get", "post"])
def test_page_without_its_database_reloads_by_itself(method: str) -> None:
    address = arriving(launched()).get_absolute_url()
    with connection.execute_wrapper(away):
        answer = getattr(Client(raise_request_exception=False), method)(address)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    page = answer.content.decode()
    assert f'<meta http-equiv="refresh" content="5;url={address}">' in page
    assert "One moment" in heading_of(answer)
    assert "10.0.0.7" not in page
    assert Client().get(address).status_code == 200


def test_outage_is_logged_in_one_line_and_other_errors_with_traceback() -> None:
    only = OneLinePerOutage()

    def record_of(error: Exception) -> logging.LogRecord:
        try:
            raise error
        except Exception:  # noqa: BLE001  (as the server's own handler does)
            return logging.LogRecord("django.request", logging.ERROR, "", 0, "failed", (), sys.exc_info())

    records = [record_of(OperationalError("server closed the connection")) for _request in range(1000)]
    told = [record for record in records if only.filter(record)]
    assert [logging.Formatter().format(record) for record in told] == ["the database is unavailable: OperationalError"]
    other = record_of(ValueError("a fault of ours"))
    assert only.filter(other) and "Traceback" in logging.Formatter().format(other)
