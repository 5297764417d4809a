"""What DataCite's catalogue requires of a dataset (schema 4.6, as JSON), for registering a DOI."""

from __future__ import annotations

from typing import Any

from exports.metadata.creators import Creator
from exports.metadata.facts import DatasetFacts

FILE = "datacite.json"
MEANING = "Creators, licence, DOI and the like, as DataCite asks for them (schema 4.6)."
UNKNOWN = ":unav"
"""DataCite's code for a value that is unknown now and may become known."""


def datacite(facts: DatasetFacts) -> dict[str, Any]:
    """Return the document; unnamed creators and publishers are `UNKNOWN`, as DataCite requires these fields."""
    rights = {"rights": " ".join(facts.terms.split())}
    if licence := facts.licence:
        rights = {
            "rights": licence.name,
            "rightsUri": licence.url,
            "rightsIdentifier": licence.spdx,
            "rightsIdentifierScheme": "SPDX",
            "schemeUri": "https://spdx.org/licenses/",
        }
    launch_dates = [version.launched_at.date().isoformat() for version in facts.versions]
    document: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "doi": facts.doi,
        "identifiers": [{"identifier": facts.doi, "identifierType": "DOI"}] if facts.doi else [],
        "creators": [_creator(creator) for creator in facts.creators] or [{"name": UNKNOWN}],
        "titles": [{"title": facts.title}],
        "publisher": {"name": UNKNOWN},
        "publicationYear": facts.cutoff[:4],
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Matches of economic games"},
        "subjects": [{"subject": word} for word in facts.keywords],
        "dates": [{"date": "/".join([*launch_dates[:1], facts.cutoff[:10]]), "dateType": "Collected"}],
        "language": "en",
        "version": facts.version,
        "formats": sorted({name.rpartition(".")[2] for name in facts.files}),
        "rightsList": [rights] if rights["rights"] else [],
        "descriptions": [{"description": facts.description, "descriptionType": "Abstract"}],
    }
    return {name: value for name, value in document.items() if value not in ("", [])}


def _creator(creator: Creator) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": creator.name}
    if creator.family:
        entry = {
            "name": f"{creator.family}, {creator.given}",
            "givenName": creator.given,
            "familyName": creator.family,
            "nameType": "Personal",
        }
    if creator.orcid:
        entry["nameType"] = "Personal"
        entry["nameIdentifiers"] = [
            {
                "nameIdentifier": creator.orcid_url,
                "nameIdentifierScheme": "ORCID",
                "schemeUri": "https://orcid.org",
            }
        ]
    return entry
