"""Studies as files: the plan as YAML, or a zip with its images and videos."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from llm_agents.endpoints import endpoint_exists
from pages.files import BadMedia, store, usable_type_of
from pages.models import Media
from plans.checking import check
from plans.collection import is_collection
from plans.files import dumps, loads
from plans.plan import Document
from plans.reading import BadPlan, Fault, reader_of
from recruiters import arrivals
from studies.drafting import unused_slug
from studies.journeys import media_names
from studies.models import Study

PLAN, MEDIA, INDEX = "study.yaml", "media/", "media.json"
MAX_BYTES = 300_000_000
"""Largest total size of a zip file's content."""


def export_study(study: Study) -> tuple[str, bytes]:
    """Return the name and content of the study's file: YAML, or a zip if its pages show images or videos."""
    text = dumps(study.draft)
    media = list(Media.objects.filter(study=study.slug, name__in=media_names(study.draft)))
    if not media:
        return f"{study.slug}.yaml", text.encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(PLAN, text)
        archive.writestr(INDEX, json.dumps({file.name: file.sha256 for file in media}))
        for file in media:
            archive.writestr(f"{MEDIA}{file.sha256}", bytes(file.data))
    return f"{study.slug}.zip", stream.getvalue()


def read(content: bytes, *, collection: bool = False) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the plan in a file, and its images and videos by name.

    Args:
        collection: whether a collection's plan is expected, not a study's.

    Raises:
        BadPlan: with every reason why it cannot be used here.
    """
    text, files = _opened(content)
    document = loads(text)
    if is_collection(document) != collection:
        what = _("This is not the plan of a collection.") if collection else _("This is not the plan of a study.")
        raise BadPlan([Fault("format", what)])
    faults = [*check(document).faults, *_unknown_here(document), *_faults_of_media(document, files)]
    if faults:
        raise BadPlan(faults)
    return document, files


@transaction.atomic
def import_study(content: bytes, *, by: User | None = None) -> Study:
    """Return a new draft made from a file that `export_study` or a researcher wrote.

    Raises:
        BadPlan: with every reason; nothing was made.
    """
    document, files = read(content)
    study = Study.objects.create(
        draft=document, slug=unused_slug(slugify(str(document["title"]))[:50] or "study"), created_by=by
    )
    for name in media_names(document):
        store(study.slug, name, files[name])
    return study


def _opened(content: bytes) -> tuple[str, dict[str, bytes]]:
    """Return a file's plan as text, and its images and videos by name."""
    try:
        if not zipfile.is_zipfile(io.BytesIO(content)):
            return content.decode("utf-8"), {}
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
                raise BadPlan([Fault("", _("The file is too large."))])
            index: dict[str, str] = json.loads(archive.read(INDEX))
            files = {}
            for name, sha256 in index.items():
                data = archive.read(f"{MEDIA}{sha256}")
                if hashlib.sha256(data).hexdigest() != sha256:
                    raise BadPlan([Fault(name, _("This file's content is not what its hash says."))])
                files[name] = data
            return archive.read(PLAN).decode("utf-8"), files
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, AttributeError, OSError, RuntimeError):
        raise BadPlan([Fault("", _("This is neither a plan nor a zip file made by Parley."))]) from None


def _unknown_here(document: Document) -> Iterator[Fault]:
    """Yield what a plan names that this installation does not have."""
    what = _("There is no endpoint “{name}” here. Add it first, or choose another.")
    for label, name in dict.fromkeys(_endpoints_in(document)):
        if not endpoint_exists(name):
            yield Fault(f"agents.{label}.endpoint", what.format(name=name))
    entry = document.get("entry")
    via = entry.get("via", "codes") if isinstance(entry, dict) else "codes"
    if via not in arrivals.KINDS:
        yield Fault("entry.via", arrivals.unknown(via))


def _endpoints_in(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the label and endpoint of each model in any cell; of a plan that cannot be read, as written."""
    written = document.get("agents")
    try:
        reader = reader_of(document)
        agents = {reader.key(written, cell.factors): reader.resolved(written, cell.factors) for cell in reader.cells}
    except BadPlan:
        agents = {(): written}
    for by_label in agents.values():
        for label, agent in by_label.items() if isinstance(by_label, dict) else ():
            if isinstance(agent, dict) and isinstance(agent.get("endpoint"), str):
                yield label, agent["endpoint"]


def _faults_of_media(document: Document, files: dict[str, bytes]) -> Iterator[Fault]:
    for name in sorted(media_names(document)):
        if name not in files:
            yield Fault("journey", _("The file “{name}” is missing: import the zip file.").format(name=name))
            continue
        try:
            usable_type_of(files[name])
        except BadMedia as error:
            yield Fault("journey", _("The file “{name}”: {reason}").format(name=name, reason=error))
