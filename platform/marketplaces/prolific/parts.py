"""Link rows to a study, so that only its members see them."""

from __future__ import annotations

from marketplaces.prolific.models import Publication
from rights.parts import belongs
from studies.models import Study


def declare() -> None:
    belongs(Publication, to=Study, by="study")
