"""How a dataset is to be cited."""

from __future__ import annotations

from collections.abc import Mapping


def citation(said: Mapping[str, str], cutoff: str) -> str:
    """What the researchers wrote, or a citation made of authors, title, date and DOI.

    Args:
        said: the publication, as the manifest has it.
        cutoff: the moment up to which the dataset reads, ISO 8601.
    """
    if said["citation"]:
        return said["citation"].strip()
    authors = f"{said['authors']}: " if said["authors"] else ""
    doi = f" https://doi.org/{said['doi']}" if said.get("doi") else ""
    made = f"{authors}{said['title']} [data set]. Collected with Parley, as of {cutoff[:10]}.{doi}"
    return " ".join(made.split())
