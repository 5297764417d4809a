"""Times as people write them: a date and a time of day, in a time zone by its IANA name."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

from games.words import gettext as _

EXAMPLE_ZONE = "Europe/Berlin"


def moment_of(text: str, zone: str) -> datetime:
    """Return the moment at which clocks of the zone show this date and time; of two, the earlier.

    Args:
        text: such as "2026-12-01 09:00", also with a "T".

    Raises:
        ValueError: with the reason.
    """
    if not is_zone(zone):
        raise ValueError(
            _("There is no time zone “{zone}”. Write it like “{example}”.").format(zone=zone, example=EXAMPLE_ZONE)
        )
    try:
        local = datetime.strptime(text.strip().replace("T", " ")[:16], "%Y-%m-%d %H:%M").replace(tzinfo=ZoneInfo(zone))
    except ValueError:
        raise ValueError(_("Write a date and a time, such as 2026-12-01 09:00.")) from None
    moment = local.astimezone(UTC)
    if moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) != local.replace(tzinfo=None):
        raise ValueError(
            _("{text} does not exist in {zone}: clocks are put forward then.").format(text=text, zone=zone)
        )
    return moment


def is_zone(name: str) -> bool:
    """Return whether this is the name of a time zone."""
    return name in available_timezones()
