"""Citation of a dataset."""

from __future__ import annotations

from collections.abc import Mapping


def citation(details: Mapping[str, str], cutoff: str) -> str:
    """Return the researchers' citation, or one generated from authors, title, date and DOI.

    Args:
        details: the publication details in the manifest.
        cutoff: the dataset's cut-off, ISO 8601.
    """
    if details["citation"]:
        return details["citation"].strip()
    authors = f"{details['authors']}: " if details["authors"] else ""
    doi = f" https://doi.org/{details['doi']}" if details.get("doi") else ""
    generated = f"{authors}{details['title']} [data set]. Collected with Parley, as of {cutoff[:10]}.{doi}"
    return " ".join(generated.split())
