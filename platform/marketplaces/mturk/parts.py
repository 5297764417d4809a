"""Link tasks and assignments to their study, so that only its members see them."""

from __future__ import annotations

from marketplaces.models import Account
from marketplaces.mturk.models import Assignment, Granted, Hit, Qualification
from rights.parts import belongs
from studies.models import Study


def declare() -> None:
    """Declare which rows belong to studies and which to accounts."""
    belongs(Hit, to=Study, by="study")
    belongs(Assignment, to=Study, by="hit__study")
    belongs(Qualification, to=Account, by="account")
    belongs(Granted, to=Account, by="qualification__account")
