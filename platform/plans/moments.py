"""Times as people write them: a date and a time of day, in a time zone by its IANA name."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from games.words import gettext as _

EXAMPLE_ZONE = "Europe/Berlin"


def moment_of(text: str, zone: str) -> datetime:
    """Return the moment at which clocks of the zone show this date and time; of two, the earlier.

    Args:
        text: such as "2026-12-01 09:00", also with a "T".

    Raises:
        ValueError: with the reason.
    """
    refuse_unknown_zone(zone)
    try:
        local = datetime.strptime(text.strip().replace("T", " ")[:16], "%Y-%m-%d %H:%M").replace(tzinfo=ZoneInfo(zone))
    except ValueError:
        raise ValueError(_("Write a date and a time, such as 2026-12-01 09:00.")) from None
    moment = local.astimezone(UTC)
    if moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) != local.replace(tzinfo=None):
        raise ValueError(_("{text} does not exist in {zone}: clocks go forward then.").format(text=text, zone=zone))
    return moment


def refuse_unknown_zone(name: str) -> None:
    """Raise ValueError unless this is the name of a time zone."""
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        template = _("There is no time zone “{zone}”. Write it like “{example}”.")
        raise ValueError(template.format(zone=name, example=EXAMPLE_ZONE)) from None
