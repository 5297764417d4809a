"""Writing a study's dataset to a folder, streamed so that memory does not grow with the data."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from collecting.models import Collection
from collecting.ratings import ratings_of
from exports import codebook, figure, gate, glee_files, manifest, metadata, portions, readme, versions
from exports.csvsafe import cell, encoded
from exports.folder import PIECES, Folder
from exports.formats import ABOUT, FORMATS, USUAL, Tables, checked, named
from exports.manifest import Manifest
from exports.metadata import psych_ds
from exports.metadata.described import Described
from exports.participants import Reading
from exports.pieces import Joined, join
from exports.portions import tables_for
from exports.sources import CollectionSource, Source
from exports.tables import Table, ratings
from studies import freezing
from studies.models import Study


@dataclass(frozen=True)
class Progress:
    """Called with progress: matches processed, matches in all, and bytes written."""

    done: int
    of: int
    bytes: int


def export(
    made: Study | Collection | Source,
    folder: Path,
    formats: Iterable[str] = USUAL,
    *,
    overwrite: bool = False,
    excluded: bool = False,
    tell: Callable[[Progress], None] = lambda progress: None,
    processes: int | None = None,
    helping: bool = False,
) -> Manifest:
    """Write the current dataset of a study or collection to `folder`.

    Args:
        formats: names of `FORMATS`.
        overwrite: replace an existing dataset.
        excluded: include excluded rows, flagged.
        tell: called now and then while it is written; what it raises ends the writing.
        processes: None: as many as there are cores and work for; 1: only this one.
        helping: this process is one of them, as it has nothing else to do; else it only puts together what they write.

    Raises:
        UnknownFormat, FolderInUse: nothing was written.
        FlowMismatch, OddValue: a defect of ours; no manifest was written.
    """
    wanted = checked(formats)
    reading = reading_of(made, excluded=excluded)
    for name in wanted:
        FORMATS[name].refuse(reading)
    tables = tables_for(reading)
    with Folder(Path(folder), names=_every_name(tables), overwrite=overwrite) as target:
        counted = _write_data(reading, tables, target, wanted, tell, processes, helping)
        flow = counted.as_dict()
        said = readme.as_data(readme.publication_of(reading.source.made), title=reading.source.title)
        described = _write_about(reading, tables, target, wanted, counted)
        target.close()
        _write_metadata(reading, target, described, flow, said)
        _write_readme(reading, tables, target, flow, said)
        target.close()
        listed = _manifest(reading, target, wanted, flow, said)
        target.seal(listed.rendered())
    return listed


def reading_of(made: Study | Collection | Source, cutoff: datetime | None = None, *, excluded: bool = False) -> Reading:
    """Return what to write, as of `cutoff` (default: now)."""
    return portions.reading_of(made, cutoff or timezone.now(), excluded=excluded)


def _every_name(tables: Tables) -> list[str]:
    of_formats = [name for made in FORMATS.values() for name in made.names(tables)]
    return [
        *of_formats,
        "ratings.csv",
        "ratings.parquet",
        "codebook.md",
        "flow.json",
        figure.FILE,
        versions.FILE,
        readme.FILE,
        glee_files.TREE,
        *metadata.FILES,
    ]


# ---- the data ----------------------------------------------------------------------------------------


def _write_data(
    reading: Reading,
    tables: Tables,
    target: Folder,
    formats: tuple[str, ...],
    tell: Callable[[Progress], None],
    processes: int | None,
    helping: bool,
) -> gate.Flow:
    """Write portions and join their pieces in order."""
    files: dict[str, Joined] = {}
    flow, expected = gate.Flow(), reading.expected_matches()
    with ExitStack() as opened, tempfile.TemporaryDirectory(dir=target.path, prefix=PIECES) as scratch:
        for made in named(formats):
            files |= made.files(target, reading, tables)
        for joined in files.values():
            opened.callback(joined.close)
        job = portions.job_of(reading, formats, target=target.path, scratch=Path(scratch))
        for written in portions.written_portions(job, reading, processes=processes, helping=helping):
            join(written.folder, written.rows, files)
            flow.add(written.flow)
            tell(Progress(done=flow.matches_seen, of=max(expected, flow.matches_seen), bytes=target.bytes))
    return flow


# ---- what is said about the data -----------------------------------------------------------------------


def _write_about(
    reading: Reading, tables: Tables, target: Folder, formats: tuple[str, ...], counted: gate.Flow
) -> list[Table]:
    """Write codebook, flow and the like; return every table in the codebook."""
    flow = counted.as_dict()
    target.write("flow.json", json.dumps(flow, indent=2) + "\n")
    target.write(figure.FILE, figure.drawn(flow, title=f"{reading.source.title}: flow"))
    rated = ratings_of(reading.source.made) if isinstance(reading.source, CollectionSource) else []
    described = [*tables.values(), *(table for made in named(formats) for table in made.own(reading))]
    described += [ratings()] if rated else []
    about = (list(_counted(flow)), list(codebook.entries(described)), list(_cells(reading, counted)))
    whole = [*((tables[name], rows) for name, rows in zip(ABOUT, about, strict=True))]
    whole += [(ratings(), rated)] if rated else []
    for table, rows in whole:
        for made in named(formats):
            if made.about is not None:
                made.about(target, table, rows)
    document = target.open("codebook.md")
    for piece in codebook.markdown(described, title=reading.source.title, notice=_notice(reading)):
        document.write(encoded(piece))
    frozen = [versions.told(version) for version in reading.source.versions()]
    target.write(versions.FILE, json.dumps(frozen, indent=2) + "\n")
    return described


def _write_metadata(
    reading: Reading, target: Folder, tables: list[Table], flow: dict[str, Any], said: dict[str, str]
) -> None:
    """Write metadata for other tools about the files written."""
    metadata.write(
        target,
        Described(
            source=reading.source,
            publication=said,
            notice=_notice(reading),
            cutoff=cell(reading.cutoff),
            tables=tables,
            files=target.entries,
            flow=flow,
            versions=reading.source.versions(),
            excluded=reading.excluded,
            software=_software(),
        ),
        cutoff=reading.cutoff,
    )


def _write_readme(reading: Reading, tables: Tables, target: Folder, flow: dict[str, Any], said: dict[str, str]) -> None:
    rows = {name: entry.rows for name, entry in target.entries.items()} | {manifest.FILE: None}
    rows[f"{psych_ds.TREE}/"] = None
    meanings = {name: table.meaning for name, table in tables.items()}
    document = target.open(readme.FILE)
    for piece in readme.readme(
        said, notice=_notice(reading), cutoff=cell(reading.cutoff), flow=flow, meanings=meanings, rows=rows
    ):
        document.write(encoded(piece))


def _counted(flow: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield the flow's rows: (stage, "reached" or the reason, participants)."""
    for stage in flow["stages"]:
        yield stage["stage"], "reached", stage["reached"]
        for reason, count in stage["left"].items():
            yield stage["stage"], reason, count


def _cells(reading: Reading, counted: gate.Flow) -> Iterator[dict[str, Any]]:
    for row in reading.source.cells():
        counts = ("participants", "matches", "matches_in_dataset")
        yield row | {what: counted.cells[row["version"], row["cell"], what] for what in counts}


def _notice(reading: Reading) -> str:
    return manifest.DEMONSTRATION_NOTICE if reading.demonstration else manifest.NOTICE


def _software() -> dict[str, str]:
    return {"name": "Parley", "version": manifest.software_version(), "code_revision": freezing.code_revision()}


def _manifest(
    reading: Reading, target: Folder, formats: tuple[str, ...], flow: dict[str, Any], said: dict[str, str]
) -> Manifest:
    source: Source = reading.source
    files = {name: target.entries[name] for name in sorted(target.entries)}
    return Manifest(
        study={"slug": source.slug, "title": source.title, "purpose": source.purpose, "source": source.origin},
        publication=said,
        demonstration=reading.demonstration,
        notice=_notice(reading),
        created_at=cell(timezone.now()),
        cutoff=cell(reading.cutoff),
        software=_software(),
        versions=tuple(
            {
                "number": version.number,
                "sha256": version.sha256,
                "game": version.content["game"],
                "rules_version": version.content["rules_version"],
                "code_revision": version.code_revision,
                "launched_at": cell(version.launched_at),
            }
            for version in source.versions()
        ),
        formats=formats,
        include=("excluded",) if reading.excluded else (),
        files=files,
        counts={name: entry.rows for name, entry in files.items() if entry.rows is not None},
        flow=flow,
    )
