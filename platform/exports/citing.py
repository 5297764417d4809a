"""Citation of a dataset."""

from __future__ import annotations

from collections.abc import Mapping


def citation(said: Mapping[str, str], cutoff: str) -> str:
    """Return the researchers' citation, or one made from authors, title, date and DOI.

    Args:
        said: the publication details in the manifest.
        cutoff: the dataset's cut-off, ISO 8601.
    """
    if said["citation"]:
        return said["citation"].strip()
    authors = f"{said['authors']}: " if said["authors"] else ""
    doi = f" https://doi.org/{said['doi']}" if said.get("doi") else ""
    made = f"{authors}{said['title']} [data set]. Collected with Parley, as of {cutoff[:10]}.{doi}"
    return " ".join(made.split())
