"""Writing the dataset of a study into a folder: streamed, so that memory does not grow with the data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from collecting.models import Collection
from exports import codebook, gate, glee_files, manifest, otree_wide, sources
from exports import tables as tables_of
from exports.collected import collected
from exports.csvsafe import cell, compact_json, encoded
from exports.errors import UnknownFormat
from exports.folder import Folder, HashedFile
from exports.manifest import Manifest
from exports.shape import of_configurations
from exports.sources import CollectionSource, Source
from exports.tables import Table
from exports.ways import Played, Reading
from opponents.models import Call
from studies import freezing
from studies.models import Study

FORMATS = ("csv", "jsonl", "glee", otree_wide.FORMAT)
USUAL = ("csv", "jsonl")
"""What is written if nothing is said."""
TRANSCRIPTS = "transcripts.jsonl"
VERSIONS = "versions.json"
ALWAYS = ("excluded", "flow", "codebook")
"""Tables that every dataset has, whatever its formats."""


def export(
    made: Study | Collection | Source, folder: Path, formats: Iterable[str] = USUAL, *, overwrite: bool = False
) -> Manifest:
    """Write the dataset of a study or collection, as of now, into `folder`.

    Args:
        formats: of "csv" (the tables), "jsonl" (the transcripts) "glee" (the published layout of its games)
            and "otree" (its people in oTree's wide form).
        overwrite: replace the dataset that is there.

    Raises:
        UnknownFormat, FolderInUse: nothing was written.
        FlowMismatch: the counts do not add up; no manifest was written.
    """
    wanted = checked(formats)
    reading = reading_of(made)
    if "glee" in wanted:
        glee_files.refuse_other_games(reading.shape.games)
    tables = tables_for(reading)
    if otree_wide.FORMAT in wanted:
        otree_wide.refuse_collections(reading.source)
        tables[otree_wide.NAME] = otree_wide.wide_table(reading.source.made)
    with Folder(Path(folder), names=_every_name(tables), overwrite=overwrite) as target:
        flow = _write_data(reading, tables, target, wanted).as_dict()
        _write_about(reading, tables, target, flow)
        target.close()
        listed = _manifest(reading, target, wanted, flow)
        target.seal(listed.rendered())
    return listed


def reading_of(made: Study | Collection | Source, cutoff: datetime | None = None) -> Reading:
    """What there is to write, as of `cutoff` (now, if nothing is said)."""
    source = made if isinstance(made, Source) else sources.of(made)
    shape = of_configurations(source.configurations())
    return Reading(source=source, cutoff=cutoff or timezone.now(), shape=shape)


def checked(formats: Iterable[str]) -> tuple[str, ...]:
    """The formats asked for, in their usual order.

    Raises:
        UnknownFormat
    """
    asked = tuple(dict.fromkeys(formats))
    unknown = [name for name in asked if name not in FORMATS]
    if unknown or not asked:
        raise UnknownFormat(f"Datasets are written as {', '.join(FORMATS)}, not as {', '.join(unknown) or 'nothing'}.")
    return tuple(name for name in FORMATS if name in asked)


def _every_name(tables: dict[str, Table]) -> list[str]:
    others = [TRANSCRIPTS, "codebook.md", "flow.json", VERSIONS, glee_files.TREE, glee_files.LISTING]
    others.append(f"{otree_wide.NAME}.csv")
    return [*(table.file for table in tables.values()), *others]


def tables_for(reading: Reading) -> dict[str, Table]:
    """The dataset's tables by name."""
    return tables_of.tables(
        reading.shape,
        steps=reading.source.steps(),
        checks=reading.source.checks(),
        questions=reading.source.questions(),
    )


# ---- the data ----------------------------------------------------------------------------------------


def _write_data(reading: Reading, tables: dict[str, Table], target: Folder, formats: tuple[str, ...]) -> gate.Flow:
    """One pass over the participants that fills every table and the transcripts at once."""
    rows = {
        name: target.open(table.file, header=table.header)
        for name, table in tables.items()
        if name not in ("flow", "codebook") and ("csv" in formats or name in (*ALWAYS, otree_wide.NAME))
    }
    transcripts = target.open(TRANSCRIPTS, header=b"") if "jsonl" in formats else None
    as_glee = "glee" in formats
    if as_glee:
        target.open(glee_files.LISTING, header=b"")
    flow = gate.Flow()

    def write(name: str, about: Any) -> None:
        if name in rows:
            rows[name].write_row(tables[name].row(about))

    def keep(match: Played) -> None:
        _write_match(match, write, transcripts)
        if as_glee:
            glee_files.write_game(match, target)

    for way in reading.ways():
        flow.count(stage=way.stage, reasons=way.reasons)
        write("participants", way)
        write(otree_wide.NAME, way)
        if not way.in_dataset:
            write("excluded", way)
        for owed in way.ledger:
            write("payments", owed)
        for match in way.matches:
            if match.reported_by(way.enrolment):
                flow.count_match(reasons=match.reasons)
                if not match.reasons:
                    keep(match)
    if isinstance(reading.source, CollectionSource):
        for item, played in collected(reading, reading.source.collection):
            reasons = ("not_begun",) if played is None else played.reasons
            flow.count_match(reasons=reasons, unverified=bool(item.unverified))
            if played is not None and not reasons:
                keep(played)
    return flow


def _write_match(match: Played, write: Any, transcripts: HashedFile | None) -> None:
    write("matches", match)
    for decision in match.decisions:
        write("decisions", decision)
    for message in match.messages:
        write("messages", message)
    if match.reading.source.asks_models:
        for call in Call.objects.filter(match_uid=match.match.uid).order_by("pk").iterator(chunk_size=50):
            write("llm_calls", tables_of.CallRow(match, call))
    if transcripts is not None:
        transcripts.write_row(encoded(compact_json(transcript(match)) + "\n"))


def transcript(match: Played) -> dict[str, Any]:
    """One match as a line of transcripts.jsonl; the codebook says what its keys mean."""
    return {
        "match": match.uid,
        "game": match.match.game,
        "rules_version": match.match.rules_version,
        "version": match.place.version,
        "source": match.reading.source.origin,
        "name": match.place.name or None,
        "unverified": match.place.unverified or None,
        "config": match.match.config,
        "seed": match.match.seed,
        "players": {role: match.player(role) for role in match.seats},
        "events": match.events,
        "payoffs": match.match.payoffs,
        "metrics": match.match.metrics,
    }


# ---- what is said about the data -----------------------------------------------------------------------


def _write_about(reading: Reading, tables: dict[str, Table], target: Folder, flow: dict[str, Any]) -> None:
    target.write("flow.json", json.dumps(flow, indent=2) + "\n")
    table = tables["flow"]
    counted = target.open(table.file, header=table.header)
    for stage in flow["stages"]:
        counted.write_row(table.row((stage["stage"], "reached", stage["reached"])))
        for reason, count in stage["left"].items():
            counted.write_row(table.row((stage["stage"], reason, count)))
    table = tables["codebook"]
    listed = target.open(table.file, header=table.header)
    for entry in codebook.entries(tables.values()):
        listed.write_row(table.row(entry))
    document = target.open("codebook.md")
    for piece in codebook.markdown(tables.values(), title=reading.source.title, notice=_notice(reading)):
        document.write(encoded(piece))
    frozen = [
        {"number": version.number, "sha256": version.sha256, "content": version.content}
        for version in reading.source.versions()
    ]
    target.write(VERSIONS, json.dumps(frozen, indent=2) + "\n")


def _notice(reading: Reading) -> str:
    return manifest.DEMONSTRATION_NOTICE if reading.demonstration else manifest.NOTICE


def _manifest(reading: Reading, target: Folder, formats: tuple[str, ...], flow: dict[str, Any]) -> Manifest:
    source: Source = reading.source
    files = {name: target.entries[name] for name in sorted(target.entries)}
    return Manifest(
        study={"slug": source.slug, "title": source.title, "purpose": source.purpose, "source": source.origin},
        demonstration=reading.demonstration,
        notice=_notice(reading),
        created_at=cell(timezone.now()),
        cutoff=cell(reading.cutoff),
        software={
            "name": "Parley",
            "version": manifest.software_version(),
            "code_revision": freezing.code_revision(),
        },
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
        files=files,
        counts={name: entry.rows for name, entry in files.items() if entry.rows is not None},
        flow=flow,
    )
