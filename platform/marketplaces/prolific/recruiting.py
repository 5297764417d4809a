"""What opening, pausing and closing a study does on Prolific."""

from __future__ import annotations

from django.utils.translation import gettext as _

from marketplaces.kinds import NotPossible
from marketplaces.models import Recruitment
from marketplaces.prolific import publishing
from marketplaces.prolific.models import Publication
from studies.models import Study
from studies.recruiting import places_sentence

STATUS = Publication.Status
RECRUITING = (STATUS.ACTIVE, STATUS.PUBLISHING, STATUS.SCHEDULED)


def _publication(recruitment: Recruitment) -> Publication | None:
    return Publication.objects.filter(study=recruitment.study).exclude(prolific_id="").first()


def state(recruitment: Recruitment) -> str:
    """Return the study's status and places on Prolific, as last reported."""
    publication = _publication(recruitment)
    if publication is None:
        return _("not there yet")
    return f"{publication.get_status_display()}, {places_sentence(publication.places)}"


def due(recruitment: Recruitment, status: str) -> str:
    """Return what is done on Prolific when the study gets this status; empty if nothing."""
    publication = _publication(recruitment)
    known = publication.status if publication is not None else ""
    if status == Study.Status.PAUSED and known in RECRUITING:
        return _("On Prolific, the study is paused: no new participants can start there.")
    if status == Study.Status.CLOSED and known in (*RECRUITING, STATUS.PAUSED):
        return _("On Prolific, the study is stopped for good: no new participants can start there.")
    if status == Study.Status.LAUNCHED and known == STATUS.PAUSED:
        return _("On Prolific, the study is resumed: new participants can start there again.")
    return ""


def _refuse_other_account(recruitment: Recruitment, publication: Publication) -> None:
    """Raise NotPossible if the account that would pay is not the one that the study recruits through now."""
    if publication.account_id != recruitment.account_id:
        raise NotPossible(publishing.other_account())


def follow(recruitment: Recruitment, status: str) -> str:
    """Do what is due, and return the study's new status on Prolific. Raise NotPossible or MarketplaceError."""
    publication = _publication(recruitment)
    assert publication is not None
    if status == Study.Status.LAUNCHED:
        _refuse_other_account(recruitment, publication)
    act = {
        Study.Status.PAUSED: publishing.pause,
        Study.Status.CLOSED: publishing.stop,
        Study.Status.LAUNCHED: publishing.resume,
    }[Study.Status(status)]
    act(publication)
    return _("On Prolific, the study is now: {state}.").format(state=state(recruitment))


def places(recruitment: Recruitment) -> int | None:
    """Return the places offered on Prolific; None before publishing, and if each treatment has its own places."""
    publication = _publication(recruitment)
    if publication is None or not publication.was_published or publication.treatments:
        return None
    return publication.places


def add_places(recruitment: Recruitment, number: int) -> str:
    """Offer more places on Prolific. Raise NotPossible or MarketplaceError."""
    publication = _publication(recruitment)
    assert publication is not None
    _refuse_other_account(recruitment, publication)
    publishing.set_places(publication, publication.places + number)
    return _("On Prolific, the study now has {places}.").format(places=places_sentence(publication.places))
