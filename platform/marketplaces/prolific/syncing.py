"""Sync what Prolific reports about a study and its participants."""

from __future__ import annotations

from marketplaces import submissions
from marketplaces.models import Recruitment
from marketplaces.prolific.client import client_of
from marketplaces.prolific.deciding import report_of
from marketplaces.prolific.models import Publication
from marketplaces.prolific.publishing import store_study


def sync(recruitment: Recruitment) -> None:
    """Sync one study. Raise MarketplaceError; what was stored before the error remains."""
    published = Publication.objects.select_related("account", "study").exclude(prolific_id="")
    publication = published.filter(study=recruitment.study_id).first()
    if publication is None:
        return
    client = client_of(publication.account)
    store_study(publication, client.study(publication.prolific_id))
    if publication.was_published:
        rows = list(client.submissions(publication.prolific_id))
        reports = [report_of(publication, row) for row in rows]
        submissions.record_all(publication.study, publication.account, publication.prolific_id, reports)
