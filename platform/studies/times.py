"""Times as participants and researchers read them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext as _


def told(moment: datetime, zone: str) -> str:
    """Return a moment in a time zone: "Tuesday 1 December 2026, 09:00 (Europe/Berlin)"."""
    forms = {"weekday": "l", "day": "j", "month": "F", "year": "Y", "time": "H:i"}
    parts = {name: date_format(moment.astimezone(ZoneInfo(zone)), form) for name, form in forms.items()}
    return f"{_('{weekday} {day} {month} {year}, {time}').format(**parts)} ({zone})"
