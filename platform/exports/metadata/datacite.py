"""What DataCite's catalogue requires of a dataset (schema 4.6, as JSON), for registering a DOI."""

from __future__ import annotations

from typing import Any

from exports.metadata.creators import Creator
from exports.metadata.described import Described
from exports.metadata.licences import LICENCES

FILE = "datacite.json"
MEANING = "Creators, licence, DOI and the like, as DataCite asks for them (schema 4.6)."
UNKNOWN = ":unav"
"""DataCite's code for a value that is unknown now and may become known."""


def datacite(described: Described) -> dict[str, Any]:
    """Return the document; unnamed creators and publishers are `UNKNOWN`, as DataCite requires these fields."""
    licence = LICENCES.get(described.publication["licence"])
    own = " ".join(described.publication["licence"].split())
    rights: list[dict[str, str]] = []
    if licence:
        rights = [
            {
                "rights": licence.name,
                "rightsUri": licence.url,
                "rightsIdentifier": licence.spdx,
                "rightsIdentifierScheme": "SPDX",
                "schemeUri": "https://spdx.org/licenses/",
            }
        ]
    elif own:
        rights = [{"rights": own}]
    began = [version.launched_at.date().isoformat() for version in described.versions]
    document: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "doi": described.doi,
        "identifiers": [{"identifier": described.doi, "identifierType": "DOI"}] if described.doi else [],
        "creators": [_creator(one) for one in described.creators] or [{"name": UNKNOWN}],
        "titles": [{"title": described.title}],
        "publisher": {"name": UNKNOWN},
        "publicationYear": described.cutoff[:4],
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Matches of economic games"},
        "subjects": [{"subject": word} for word in described.keywords],
        "dates": [
            {"date": f"{began[0]}/{described.cutoff[:10]}", "dateType": "Collected"}
            if began
            else {"date": described.cutoff[:10], "dateType": "Collected"}
        ],
        "language": "en",
        "version": described.version,
        "formats": sorted({name.rpartition(".")[2] for name in described.files}),
        "rightsList": rights,
        "descriptions": [{"description": described.description, "descriptionType": "Abstract"}],
    }
    return {name: value for name, value in document.items() if value not in ("", [])}


def _creator(creator: Creator) -> dict[str, Any]:
    named: dict[str, Any] = {"name": creator.name}
    if creator.family:
        named = {
            "name": f"{creator.family}, {creator.given}",
            "givenName": creator.given,
            "familyName": creator.family,
            "nameType": "Personal",
        }
    if creator.orcid:
        named["nameType"] = "Personal"
        named["nameIdentifiers"] = [
            {
                "nameIdentifier": creator.orcid_url,
                "nameIdentifierScheme": "ORCID",
                "schemeUri": "https://orcid.org",
            }
        ]
    return named
