"""The facts behind all descriptions of a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from exports.columns import Table
from exports.csvsafe import cell
from exports.manifest import FileEntry, notice_of
from exports.metadata.creators import Creator, creators_of
from exports.metadata.licences import LICENCES, Licence
from exports.parquet import ENDING
from games import registry

if TYPE_CHECKING:  # models load only with the apps, which a verification needs not
    from exports.participants import Reading
    from exports.sources import FrozenVersion, Source


@dataclass(frozen=True)
class DatasetFacts:
    """A dataset whose data have been written.

    Attributes:
        reading: what was written: the study or collection, the cut-off, whether excluded data are included too.
        publication: in the manifest's form (`readme.as_data`).
        tables: every table in the codebook.
        files: the files written so far, by name.
        flow: how many people or matches reached each stage.
        software: name, version and code revision of the software that wrote it.
    """

    reading: Reading
    publication: Mapping[str, str]
    tables: Sequence[Table]
    files: Mapping[str, FileEntry]
    flow: Mapping[str, Any]
    software: Mapping[str, str]

    @property
    def source(self) -> Source:
        return self.reading.source

    @property
    def notice(self) -> str:
        return notice_of(self.source.purpose)

    @property
    def cutoff(self) -> str:
        """The dataset's cut-off, ISO 8601."""
        return cell(self.reading.cutoff)

    @cached_property
    def versions(self) -> list[FrozenVersion]:
        return self.source.versions()

    @property
    def title(self) -> str:
        return " ".join(self.publication["title"].split())

    @cached_property
    def creators(self) -> list[Creator]:
        return creators_of(self.publication["authors"])

    @property
    def doi(self) -> str:
        return self.publication.get("doi", "")

    @property
    def address(self) -> str:
        """The DOI as an address; empty if there is none."""
        return f"https://doi.org/{self.doi}" if self.doi else ""

    @property
    def licence(self) -> Licence | None:
        """The licence, if it is a known one."""
        return LICENCES.get(self.publication["licence"])

    @property
    def terms(self) -> str:
        """The licence's address, or the researchers' own words."""
        return self.licence.url if self.licence else self.publication["licence"]

    @property
    def citation(self) -> str:
        """The researchers' citation, or one generated from authors, title, date and DOI."""
        details = self.publication
        if details["citation"]:
            return details["citation"].strip()
        authors = f"{details['authors']}: " if details["authors"] else ""
        generated = f"{authors}{details['title']} [data set]. Collected with Parley, as of {self.cutoff[:10]}."
        return " ".join(f"{generated} {self.address}".split())

    @property
    def version(self) -> str:
        """Version of the study or collection, in the three-number form that some tools require."""
        return f"{max((version.number for version in self.versions), default=0)}.0.0"

    @property
    def people(self) -> bool:
        """Whether people took part."""
        from exports.sources import StudySource

        return isinstance(self.source, StudySource)

    @property
    def simulated(self) -> bool:
        """Whether scripts took the place of people."""
        from matches.models import Match

        return self.source.purpose == Match.Purpose.SIMULATED

    @cached_property
    def games(self) -> list[str]:
        """Titles of the games."""
        keys = dict.fromkeys(key for version in self.versions for key in version.games)
        return [str(registry.get(key).title) for key in keys]

    @cached_property
    def description(self) -> str:
        """Return the researchers' description, or one generated from the dataset."""
        own_description = " ".join(self.publication.get("description", "").split())
        matches = self.flow["matches"]
        people = "simulated participants" if self.simulated else "people"
        players = (
            f"{people}, language models and scripted players" if self.people else "language models and scripted players"
        )
        counts = f"{matches['in_dataset']:,} of {matches['seen']:,} matches"
        if self.people:
            counts = f"{self.flow['in_dataset']:,} of {self.flow['arrived']:,} participants in {counts}"
        generated = f"Matches of {', '.join(self.games)} played by {players}: {counts}."
        return f"{own_description or generated} {self.notice} Data as of {self.cutoff}."

    @property
    def keywords(self) -> list[str]:
        """Keywords for finding the dataset."""
        people = ["simulated data"] if self.simulated else ["human participants"] if self.people else []
        return [*self.games, "economic games", "language models", *people]

    def file_of(self, table: Table) -> str | None:
        """Return the file that holds a table, as CSV if available."""
        for name in (table.file, f"{table.name}{ENDING}"):
            if name in self.files:
                return name
        return None
