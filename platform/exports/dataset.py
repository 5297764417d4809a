"""Writing a study's dataset to a folder, streamed so that memory does not grow with the data."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from collecting.models import Collection
from collecting.ratings import ratings_of
from exports import codebook, figure, gate, glee_files, manifest, metadata, portions, readme, versions
from exports.columns import Row, Table, table_of
from exports.csvsafe import cell
from exports.folder import PIECES, Folder
from exports.formats import DEFAULT_FORMATS, FORMATS, Tables, files_of, validate_formats
from exports.manifest import Manifest
from exports.metadata.facts import DatasetFacts
from exports.participants import Reading
from exports.pieces import Pieces
from exports.portions import tables_for
from exports.shape import of_configurations
from exports.sources import CollectionSource, Source, StudySource, source_of
from exports.tables import Ratings
from exports.times import Times
from studies.launching import code_revision
from studies.models import Study


@dataclass(frozen=True)
class Progress:
    """Progress of an export: matches processed, matches in total, and bytes written."""

    done: int
    total: int
    bytes: int


def export(
    source: Study | Collection | Source,
    folder: Path,
    formats: Iterable[str] = DEFAULT_FORMATS,
    *,
    overwrite: bool = False,
    excluded: bool = False,
    times: Times = "exact",
    on_progress: Callable[[Progress], None] = lambda progress: None,
    processes: int | None = None,
    caller_works: bool = False,
) -> Manifest:
    """Write the current dataset of a study or collection to `folder`.

    Args:
        formats: names of `FORMATS`.
        overwrite: replace an existing dataset.
        excluded: include excluded rows, flagged.
        times: how exactly points in time are written.
        on_progress: called now and then while the dataset is written; an exception it raises stops the export.
        processes: number of processes; None: as many as the cores and the work allow; 1: only this one.
        caller_works: this process also writes portions; otherwise it only joins those of the others.

    Raises:
        UnknownFormat, FolderInUse: nothing was written.
        FlowMismatch, WrongValueType: a bug in Parley; no manifest was written.
    """
    format_names = validate_formats(formats)
    reading = reading_of(source, excluded=excluded, times=times)
    for name in format_names:
        FORMATS[name].check(reading)
    tables = tables_for(reading, format_names)
    with Folder(Path(folder), names=_all_file_names(tables, reading.source), overwrite=overwrite) as target:
        totals = _write_data(reading, tables, target, format_names, on_progress, processes, caller_works)
        all_tables = _write_about(reading, tables, target, format_names, totals)
        target.close()
        publication = readme.as_data(readme.publication_of(reading.source.parent), title=reading.source.title)
        software = {"name": "Parley", "version": manifest.software_version(), "code_revision": code_revision()}
        facts = DatasetFacts(reading, publication, all_tables, target.entries, totals.as_dict(), software)
        metadata.write(target, facts)
        target.open(readme.FILE).writelines(readme.readme(facts))
        target.close()
        new_manifest = _manifest(facts, format_names)
        target.seal(new_manifest.rendered())
    return new_manifest


def reading_of(
    source: Study | Collection | Source,
    cutoff: datetime | None = None,
    *,
    excluded: bool = False,
    times: Times = "exact",
) -> Reading:
    """Return what to write, as of `cutoff` (default: now)."""
    source = source if isinstance(source, StudySource | CollectionSource) else source_of(source)
    shape = of_configurations(source.configurations())
    return Reading(source, cutoff or timezone.now(), shape, excluded=excluded, times=times)


def _all_file_names(tables: Tables, source: Source) -> list[str]:
    every_table = [*tables, "ratings"]
    return [
        *(name for output in FORMATS.values() for name in output.files(every_table)),
        *(versions.plan_file(version.number) for version in source.versions()),
        "codebook.md",
        "flow.json",
        figure.FILE,
        versions.FILE,
        versions.CHANGES,
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
    on_progress: Callable[[Progress], None],
    processes: int | None,
    caller_works: bool,
) -> gate.Flow:
    """Write portions and join their pieces in order."""
    flow, expected = gate.Flow(), reading.expected_matches()
    target.open_for_pieces(files_of(formats, tables, about=False))
    with tempfile.TemporaryDirectory(dir=target.path, prefix=PIECES) as scratch:
        job = portions.Job(reading, formats, target.path, Path(scratch))
        for portion in portions.write_portions(job, processes=processes, caller_works=caller_works):
            target.join(portion.folder, portion.rows)
            flow.add(portion.flow)
            on_progress(Progress(done=flow.matches_seen, total=max(expected, flow.matches_seen), bytes=target.bytes))
    return flow


# ---- descriptions of the data -----------------------------------------------------------------------


def _write_about(
    reading: Reading, tables: Tables, target: Folder, formats: tuple[str, ...], totals: gate.Flow
) -> list[Table]:
    """Write the codebook, the flow and other descriptions; return every table in the codebook."""
    flow = totals.as_dict()
    target.write("flow.json", json.dumps(flow, indent=2) + "\n")
    target.write(figure.FILE, figure.flow_svg(flow, title=f"{reading.source.title}: flow"))
    all_tables = dict(tables)
    rows: dict[str, Iterable[Any]] = {"flow": _flow(flow), "cells": _cells(reading, totals)}
    if isinstance(reading.source, CollectionSource) and (rated := ratings_of(reading.source.collection).agents):
        all_tables["ratings"], rows["ratings"] = table_of(Ratings, reading.design), rated
    rows["codebook"] = codebook.entries(all_tables.values())
    files = files_of(formats, all_tables, about=True)
    target.open_for_pieces(files)
    folder = Path(tempfile.mkdtemp(dir=target.path, prefix=PIECES))
    with Pieces(folder, files) as pieces:
        for name, of_table in rows.items():
            for row in of_table:
                pieces.row(name, row)
    target.join(folder, pieces.rows)
    document = codebook.markdown(
        all_tables.values(), title=reading.source.title, notice=manifest.notice_of(reading.source.purpose)
    )
    target.open("codebook.md").writelines(document)
    exported_versions = [versions.exported_version(version) for version in reading.source.versions()]
    target.write(versions.FILE, json.dumps(exported_versions, indent=2) + "\n")
    for version in exported_versions:
        if (plan := versions.as_yaml(version)) is not None:
            target.write(versions.plan_file(version["number"]), plan)
    if changes := reading.source.changes:
        target.write(versions.CHANGES, json.dumps([versions.exported_change(c) for c in changes], indent=2) + "\n")
    return list(all_tables.values())


def _flow(flow: dict[str, Any]) -> Iterator[Row]:
    for stage, what, participants in gate.flow_rows(flow):
        yield Row(stage=stage, what=what, participants=participants)


def _cells(reading: Reading, totals: gate.Flow) -> Iterator[Row]:
    for row in reading.source.cells():
        kinds = ("participants", "matches", "matches_in_dataset")
        yield Row(**row, **{kind: totals.cells[row["version"], row["cell"], kind] for kind in kinds})


def _manifest(facts: DatasetFacts, formats: tuple[str, ...]) -> Manifest:
    reading, source = facts.reading, facts.source
    files = dict(sorted(facts.files.items()))
    return Manifest(
        study={"slug": source.slug, "title": source.title, "purpose": source.purpose, "source": source.origin},
        publication=facts.publication,
        demonstration=reading.demonstration,
        notice=facts.notice,
        created_at=cell(timezone.now()),
        cutoff=facts.cutoff,
        software=facts.software,
        versions=tuple(
            {
                "number": version.number,
                "sha256": version.sha256,
                "games": dict(version.games),
                "code_revision": version.code_revision,
                "launched_at": cell(version.launched_at),
            }
            for version in facts.versions
        ),
        formats=formats,
        analysis_plan=versions.exported_analysis(source.analysis_plan),
        information=tuple(sorted({modes for version in facts.versions for modes in version.information})),
        include=("excluded",) if reading.excluded else (),
        times=None if reading.times == "exact" else reading.times,
        files=files,
        counts={name: entry.rows for name, entry in files.items() if entry.rows is not None},
        flow=facts.flow,
    )
