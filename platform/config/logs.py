"""Filters that keep secrets out of the logs, and an outage to one line a minute."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

import redis
from django.db.utils import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from pythonjsonlogger import json

_SECRET_PARTS = re.compile(r"(/p/|/ws/play/|/ws/lobby/|/api/v1/results/)[^/\s?]+|(\?)\S+|(parley_[a-z0-9]{12}_)[\w-]+")

DATABASE_ERRORS = (OperationalError, InterfaceError)
REDIS_ERRORS = (redis.RedisError, BrokerError)
OUTAGES = {
    "the database is unavailable": DATABASE_ERRORS,
    "Redis is unavailable": REDIS_ERRORS,
    "not ready": (),
}
"""How the logs describe an outage, and the exceptions that it causes."""


def without_secrets(text: str) -> str:
    return _SECRET_PARTS.sub(lambda match: f"{match[1] or match[2] or match[3]}…", text)


class HideTokens(logging.Filter):
    """Removes participants' link tokens, API tokens and query strings (worker ids) from log messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = without_secrets(record.getMessage())
        record.args = ()
        return True


class _HidesTokens(logging.Formatter):
    """Removes the same from tracebacks."""

    def formatException(self, exc_info: Any) -> str:
        return without_secrets(super().formatException(exc_info))


class LineFormatter(_HidesTokens):
    """Writes plain text."""


class JsonFormatter(_HidesTokens, json.JsonFormatter):
    """Writes JSON."""


class OneLine(logging.Filter):
    """Logs a faulty request in one line, and an unavailable database or Redis in one line a minute: no tracebacks."""

    SECONDS = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._logged_at: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if record.name.startswith("django.security.") or getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        for outage, errors in OUTAGES.items():
            if isinstance(error, errors):
                record.msg, record.args = f"{outage}: {type(error).__name__}", ()
                record.exc_info = record.exc_text = None
            if record.getMessage().startswith(outage):
                return self._is_due(outage)
        return True

    def _is_due(self, outage: str) -> bool:
        now = time.monotonic()
        if now - self._logged_at.get(outage, -self.SECONDS) < self.SECONDS:
            return False
        self._logged_at[outage] = now
        return True
