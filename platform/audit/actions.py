"""The actions that the audit log records."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    """The known actions; records of other actions are shown with their stored name."""

    MADE = "made", _("created")
    CHANGED = "changed", _("changed")
    DELETED = "deleted", _("deleted")
    LAUNCHED = "launched", _("launched")
    STARTED = "started", _("started")
    TRIED = "tried", _("tried")
    SEEN = "seen", _("seen before launch")
    PAUSED = "paused", _("paused")
    RESUMED = "resumed", _("resumed")
    STOPPED = "stopped", _("stopped")
    CLOSED = "closed", _("closed")
    OPENED = "opened", _("opened by its schedule")
    PILOTED = "piloted", _("piloted")
    CODES_MADE = "codes_made", _("lab codes created")
    CODES_TAKEN = "codes_taken", _("lab codes downloaded")
    EXPORTED = "exported", _("dataset exported")
    DOWNLOADED = "downloaded", _("dataset downloaded")
    ANALYSED = "analysed", _("dataset analysed")
    PAID = "paid", _("marked as paid")
    PAY_APPROVED = "pay_approved", _("pay approved")
    PAY_WITHDRAWN = "pay_withdrawn", _("pay approval withdrawn")
    PAY_TRIED = "pay_tried", _("payment dry run")
    PAY_WRITTEN_OFF = "pay_written_off", _("pay written off")
    PAY_PUT_BACK = "pay_put_back", _("pay reset to due")
    PAY_RESOLVED = "pay_resolved", _("unclear payment resolved")
    PAY_LIMITED = "pay_limited", _("pay limit set")
    PAY_LISTED = "pay_listed", _("accounting list downloaded")
    PUBLISHED = "published", _("published on a marketplace")
    EXTENDED = "extended", _("offered to more people or for longer")
    REJECTED = "rejected", _("assignment rejected")
    REJECTION_TAKEN_BACK = "rejection_taken_back", _("rejection taken back")
    RETURN_ASKED = "return_asked", _("return requested")
    IDENTITY_SHOWN = "identity_shown", _("worker's ID looked up")
    WROTE = "wrote", _("wrote to participants")
    MATCH_ENDED = "match_ended", _("match ended by a researcher")
    ERASED = "erased", _("participant erased")
    RIGHTS_CHANGED = "rights_changed", _("rights changed")
    REVOKED = "revoked", _("revoked")
    SIGNED_IN = "signed_in", _("signed in")
    SIGN_IN_FAILED = "sign_in_failed", _("sign-in failed")
    SIGN_IN_BARRED = "sign_in_barred", _("sign-in temporarily blocked")
    SECOND_FACTOR_SET = "second_factor_set", _("second factor set up")
    SECOND_FACTOR_FAILED = "second_factor_failed", _("second factor refused")
    SECOND_FACTOR_REMOVED = "second_factor_removed", _("second factor removed")
    RECOVERY_CODES_MADE = "recovery_codes_made", _("recovery codes created")
