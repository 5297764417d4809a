"""Sync studies' participants from their marketplaces; after repeated errors, less and less often."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from marketplaces import modules
from marketplaces.kinds import MarketplaceError
from marketplaces.models import Recruitment
from studies.models import Study

log = logging.getLogger(__name__)

INTERVAL = timedelta(seconds=60)
LONGEST_PAUSE = timedelta(minutes=15)


def sync_due() -> int:
    """Sync every launched, paused or closed study that is due; return how many."""
    due = Recruitment.objects.exclude(study__status=Study.Status.DRAFT).filter(next_at__lte=timezone.now())
    return sum(sync(recruitment) for recruitment in due.select_related("account", "study"))


def sync(recruitment: Recruitment) -> bool:
    """Sync one study now; return False if another process is syncing it. Errors are stored for the researcher."""
    now = timezone.now()
    unchanged = Recruitment.objects.filter(pk=recruitment.pk, next_at=recruitment.next_at)
    if not unchanged.update(next_at=now + INTERVAL, asked_at=now):
        return False
    stored = Recruitment.objects.filter(pk=recruitment.pk)
    try:
        modules.deciding(recruitment.account.kind).sync(recruitment)
    except MarketplaceError as error:
        pause = min(INTERVAL * 2 ** min(recruitment.failures, 10), LONGEST_PAUSE)
        stored.update(problem=str(error)[:300], failures=F("failures") + 1, next_at=timezone.now() + pause)
    except Exception as error:  # noqa: BLE001  (one study's error must not stop the others)
        log.error("syncing study %s failed: %s", recruitment.study.slug, type(error).__name__)
        stored.update(
            problem=_("The update failed because of an internal error. See the server log."), failures=F("failures") + 1
        )
    else:
        # Closed studies are synced less often: nobody waits for a place, and there may be very many of them.
        pause = LONGEST_PAUSE if recruitment.study.status == Study.Status.CLOSED else INTERVAL
        stored.update(problem="", failures=0, answered_at=timezone.now(), next_at=now + pause)
    return True
