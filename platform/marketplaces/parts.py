"""Link rows to an account or a study, so that only their members see them."""

from __future__ import annotations

from audit.models import Record
from marketplaces.models import Account, Offer, Recruitment, Submission
from rights.members import creators_own
from rights.parts import belongs
from rights.records import recorded_of
from studies.models import Study


def declare() -> None:
    """Declare which rows belong to accounts, and make the creator of an account its owner."""
    creators_own(Account)
    belongs(Account, to=Account, by="pk")
    belongs(Record, to=Account, by=recorded_of(Account))
    belongs(Offer, to=Study, by="study")
    belongs(Recruitment, to=Study, by="study")
    belongs(Submission, to=Study, by="study")
