"""Filters that keep secrets out of the logs, and an outage to one line a minute."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from pythonjsonlogger import json

_SECRET_PARTS = re.compile(r"(/p/|/ws/play/|/ws/lobby/|/api/v1/results/)[^/\s?]+|(\?)\S+|(parley_[a-z0-9]{12}_)[\w-]+")

OUTAGES = {
    "the database is unavailable": {"django.db.utils.OperationalError", "django.db.utils.InterfaceError"},
    "Redis is unavailable": {"redis.exceptions.RedisError", "kombu.exceptions.OperationalError"},
    "not ready": set[str](),
}
"""How the logs describe an outage, and the exceptions that it causes, by name: not every command loads them."""


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
        kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(error).__mro__}
        for outage, errors in OUTAGES.items():
            if kinds & errors:
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
