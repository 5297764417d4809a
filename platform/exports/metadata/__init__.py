"""A dataset's metadata for other tools: Croissant, Psych-DS, DataCite, and a reporting checklist."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from exports.folder import Folder
from exports.metadata import checklist, croissant, datacite, psych_ds
from exports.metadata.facts import DatasetFacts

MEANINGS: Mapping[str, str] = {
    croissant.FILE: croissant.MEANING,
    f"{psych_ds.TREE}/": psych_ds.MEANING,
    psych_ds.LISTING: psych_ds.MEANING_OF_LISTING,
    datacite.FILE: datacite.MEANING,
    checklist.FILE: checklist.MEANING,
    checklist.DATA_FILE: checklist.MEANING_OF_DATA,
}
"""Each file's description, for the README."""
FILES = tuple(name.removesuffix("/") for name in MEANINGS)


def write(target: Folder, facts: DatasetFacts) -> None:
    """Write all descriptions; Croissant comes last because it lists the others with their hashes."""
    from exports.metadata.models_used import models_used

    uses = models_used(facts.source, facts.reading.cutoff)
    target.write(psych_ds.LISTING, psych_ds.write_folder(target.path, facts))
    target.write(datacite.FILE, _json(datacite.datacite(facts)))
    target.open(checklist.FILE).writelines(checklist.checklist(facts, uses))
    target.write(checklist.DATA_FILE, _json(checklist.as_data(facts, uses)))
    target.close()
    target.write(croissant.FILE, _json(croissant.croissant(facts)))
    target.close()


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2, default=float) + "\n"
