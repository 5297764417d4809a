"""Filters that keep secrets out of the logs."""

from __future__ import annotations

import logging
import re
import time

from django.db.utils import InterfaceError, OperationalError

_SECRET_PARTS = re.compile(r"(/p/|/ws/play/|/api/v1/results/)[^/\s?]+|(\?)\S+|(parley_[a-z0-9]{12}_)[\w-]+")


OUTAGE_ERRORS = (OperationalError, InterfaceError)
OUTAGE_MESSAGE = "the database is unavailable"


def without_secrets(text: str) -> str:
    return _SECRET_PARTS.sub(lambda match: f"{match[1] or match[2] or match[3]}…", text)


class HideTokens(logging.Filter):
    """Removes participants' link tokens, API tokens and query strings (worker ids) from log messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = without_secrets(record.getMessage())
        record.args = ()
        return True


class OneLinePerOutage(logging.Filter):
    """Logs an unavailable database once a minute instead of a traceback for every request and task."""

    SECONDS = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._logged_at = -self.SECONDS

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], OUTAGE_ERRORS):
            reason = type(record.exc_info[1]).__name__
        elif record.getMessage().startswith(OUTAGE_MESSAGE):
            reason = ""
        else:
            return True
        now = time.monotonic()
        if now - self._logged_at < self.SECONDS:
            return False
        self._logged_at = now
        if reason:
            record.msg, record.args = f"{OUTAGE_MESSAGE}: {reason}", ()
            record.exc_info = record.exc_text = None
        return True
