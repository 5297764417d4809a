"""Splitting a researcher's one-line list of authors for catalogues."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ORCID = re.compile(r"\(?\s*(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\s*\)?")


@dataclass(frozen=True)
class Creator:
    """One author. `given` and `family` are empty if the text does not show which name is which."""

    name: str
    given: str = ""
    family: str = ""
    orcid: str = ""

    @property
    def orcid_url(self) -> str:
        return f"https://orcid.org/{self.orcid}" if self.orcid else ""


def creators_of(authors: str) -> list[Creator]:
    """Return the authors of "Lovelace, Ada (0000-0002-1825-0097); Charles Babbage", in order."""
    return [_creator(author) for author in authors.split(";") if author.strip()]


def _creator(text: str) -> Creator:
    orcid = _ORCID.search(text)
    name = " ".join(_ORCID.sub(" ", text).split()).strip(" ,")
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and given and "," not in given:
        return Creator(f"{given} {family}", given=given, family=family, orcid=orcid[1] if orcid else "")
    return Creator(name, orcid=orcid[1] if orcid else "")
