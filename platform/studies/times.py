"""Times as participants and researchers read them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.formats import date_format


def told(moment: datetime, zone: str) -> str:
    """Return a moment in a time zone: "Tuesday 1 December 2026, 09:00 (Europe/Berlin)"."""
    return f"{date_format(moment.astimezone(ZoneInfo(zone)), 'l j F Y, H:i')} ({zone})"
