"""What is worth remembering that somebody did."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    """The actions that this code records; records of other words are shown as they are written."""

    MADE = "made", _("made")
    CHANGED = "changed", _("changed")
    DELETED = "deleted", _("deleted")
    LAUNCHED = "launched", _("launched")
    STARTED = "started", _("started")
    TRIED = "tried", _("tried")
    PAUSED = "paused", _("paused")
    RESUMED = "resumed", _("opened again")
    STOPPED = "stopped", _("stopped")
    CLOSED = "closed", _("closed")
    PILOTED = "piloted", _("piloted")
    CODES_MADE = "codes_made", _("lab codes made")
    CODES_TAKEN = "codes_taken", _("lab codes downloaded")
    EXPORTED = "exported", _("dataset exported")
    DOWNLOADED = "downloaded", _("dataset downloaded")
    ANALYSED = "analysed", _("dataset analysed")
    PAID = "paid", _("marked as paid")
    PAY_APPROVED = "pay_approved", _("pay approved")
    PAY_WITHDRAWN = "pay_withdrawn", _("approval of pay withdrawn")
    PAY_TRIED = "pay_tried", _("paying tried without money")
    PAY_WRITTEN_OFF = "pay_written_off", _("pay written off")
    PAY_PUT_BACK = "pay_put_back", _("pay put back")
    PAY_RESOLVED = "pay_resolved", _("unclear payment resolved")
    PAY_LIMITED = "pay_limited", _("limit of pay set")
    PAY_LISTED = "pay_listed", _("list of pay downloaded")
    PUBLISHED = "published", _("published at a marketplace")
    EXTENDED = "extended", _("offered to more people or for longer")
    EXPIRED = "expired", _("taken off a marketplace")
    REJECTED = "rejected", _("assignment rejected")
    REJECTION_TAKEN_BACK = "rejection_taken_back", _("rejection taken back")
    RETURN_ASKED = "return_asked", _("asked to return the place")
    IDENTITY_SHOWN = "identity_shown", _("worker's id looked up")
    MATCH_ENDED = "match_ended", _("match ended by hand")
    ERASED = "erased", _("participant erased")
    RIGHTS_CHANGED = "rights_changed", _("rights changed")
    REVOKED = "revoked", _("revoked")
    SIGNED_IN = "signed_in", _("signed in")
    SIGN_IN_FAILED = "sign_in_failed", _("sign-in failed")
    SIGN_IN_BARRED = "sign_in_barred", _("sign-in barred for a while")
    SECOND_FACTOR_SET = "second_factor_set", _("second factor set up")
    SECOND_FACTOR_FAILED = "second_factor_failed", _("second factor refused")
    SECOND_FACTOR_REMOVED = "second_factor_removed", _("second factor removed")
    RECOVERY_CODES_MADE = "recovery_codes_made", _("recovery codes made")
