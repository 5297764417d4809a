"""What an assistant may look at on behalf of a user, with that user's rights; each function is a tool of `api.mcp`.

No tool launches, resumes, recruits, pays or deletes.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field

from api.errors import Conflict, NotFound, OutOfScope
from api.history import record_for
from api.status import status_of
from audit.actions import Action
from collecting.models import Collection
from collecting.progress import progress
from exports import background
from exports.errors import NothingToExport
from exports.models import Dataset
from monitoring.spending import spending_of
from plans.checking import check
from rights.parts import may, visible
from rights.roles import Role
from studies import drafting, faults
from studies.models import Study

MOST_ROWS = 50
_CODEBOOK = "codebook.csv"
Parent = Study | Collection


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class None_(Arguments):
    """No arguments."""


class Named(Arguments):
    name: Annotated[str, Field(description="Short name of a study or collection.")]


class Plan(Arguments):
    plan: Annotated[dict[str, Any], Field(description="A whole plan, as `plan` returns it.")]


class SavedPlan(Plan, Named):
    edit: Annotated[int, Field(description="The edit that the change began from, as `plan` returns it.")]


class WantedTable(Named):
    table: Annotated[str, Field(description="Name of a table, such as matches; empty: list the tables.")] = ""
    rows: Annotated[int, Field(ge=0, le=MOST_ROWS, description="How many rows from the beginning.")] = 10


def list_studies(user: User, _arguments: None_) -> dict[str, Any]:
    """List the studies and collections that you may see."""
    studies = visible(user, Study.objects.order_by("slug"))
    collections = visible(user, Collection.objects.order_by("slug"))
    return {
        "studies": [{"name": each.slug, "title": each.title, "state": each.status} for each in studies],
        "collections": [{"name": each.slug, "title": each.title, "state": each.status} for each in collections],
    }


def plan(user: User, arguments: Named) -> dict[str, Any]:
    """Show the plan of a study (its saved draft) or collection."""
    parent = _parent(user, arguments.name, Role.VIEWER)
    if isinstance(parent, Collection):
        return {"plan": parent.document}
    version = parent.latest_version()
    launched = {"number": version.number, "sha256": version.sha256} if version else None
    return {"plan": parent.draft, "edit": parent.edit, "launched": launched}


def monitor(user: User, arguments: Named) -> dict[str, Any]:
    """Show how a study or collection is going: participants, matches, cells, spending, what is in the way."""
    parent = _parent(user, arguments.name, Role.VIEWER)
    if isinstance(parent, Collection):
        return progress(parent).as_dict()
    version = parent.latest_version()
    return {
        **status_of(parent).model_dump(mode="json"),
        "spending": asdict(spending_of(parent)),
        "unavailable_endpoints": faults.unavailable_endpoints(version) if version else [],
        "why_closed": faults.why_closed(version) if version else "",
    }


def check_plan(_user: User, arguments: Plan) -> dict[str, Any]:
    """Check a plan without saving it: its cells, matches, and every fault with its place."""
    return check(arguments.plan).as_data()


def datasets(user: User, arguments: Named) -> dict[str, Any]:
    """List the latest datasets of a study or collection, newest first."""
    parent = _parent(user, arguments.name, Role.EDITOR)
    return {"datasets": [_dataset(each) for each in background.recent_datasets(parent)]}


def table(user: User, arguments: WantedTable) -> dict[str, Any]:
    """Show the first rows of a table of the latest dataset, with the meaning of each column."""
    parent = _parent(user, arguments.name, Role.EDITOR)
    ready = (each for each in background.recent_datasets(parent) if each.state == Dataset.State.READY)
    latest = next((each for each in ready if "csv" in each.formats), None)
    if latest is None:
        raise Conflict("There is no dataset with CSV files yet.")
    with latest.file.open("rb") as file, zipfile.ZipFile(file) as archive:
        files = {name.rpartition("/")[2]: name for name in archive.namelist()}
        described = list(_rows(archive, files[_CODEBOOK]))
        if not arguments.table:
            return {"tables": sorted({row["table"] for row in described if f"{row['table']}.csv" in files})}
        if f"{arguments.table}.csv" not in files:
            raise NotFound("The dataset has no such table.")
        rows = list(islice(_rows(archive, files[f"{arguments.table}.csv"]), arguments.rows))
    with transaction.atomic():
        message = f"Read the table “{arguments.table}”."
        record_for(user, parent, _BY, Action.DOWNLOADED, message, dataset=str(latest.uid))
    columns = [row for row in described if row.pop("table") == arguments.table]
    return {"dataset": _dataset(latest), "columns": columns, "rows": rows}


def save_plan(user: User, arguments: SavedPlan) -> dict[str, Any]:
    """Save a study's draft; it is not launched. Nothing is saved if somebody else has saved since."""
    study = _parent(user, arguments.name, Role.EDITOR)
    if not isinstance(study, Study):
        raise Conflict("A collection's plan is changed in the admin.")
    try:
        with transaction.atomic():
            saved = drafting.save(study, arguments.plan, edit=arguments.edit, by=user)
            record_for(user, saved, _BY, Action.CHANGED, "Changed the plan.", edit=saved.edit)
    except drafting.Outdated as outdated:
        raise Conflict(f"Somebody has saved edit {outdated.study.edit} since. Read the plan again.") from None
    return {"edit": saved.edit, **check(saved.draft).as_data()}


def request_dataset(user: User, arguments: Named) -> dict[str, Any]:
    """Start writing a dataset, or return the one that is being written."""
    parent = _parent(user, arguments.name, Role.EDITOR)
    try:
        with transaction.atomic():
            requested, is_new = background.request_dataset(parent)
            if is_new:
                record_for(user, parent, _BY, Action.EXPORTED, "Requested a dataset.", dataset=str(requested.uid))
    except NothingToExport as error:
        raise Conflict(str(error)) from None
    return _dataset(requested)


_BY = "an assistant (manage.py mcp)"


@dataclass(frozen=True)
class Tool:
    """A tool as the protocol describes it; its name and description are those of `run`."""

    run: Callable[[User, Any], dict[str, Any]]
    arguments: type[Arguments]
    writes: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    def as_data(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.run.__doc__,
            "inputSchema": self.arguments.model_json_schema(),
            "annotations": {"readOnlyHint": not self.writes, "destructiveHint": False},
        }


_TOOLS = (
    Tool(list_studies, None_),
    Tool(plan, Named),
    Tool(monitor, Named),
    Tool(check_plan, Plan),
    Tool(datasets, Named),
    Tool(table, WantedTable),
    Tool(save_plan, SavedPlan, writes=True),
    Tool(request_dataset, Named, writes=True),
)


def tools(*, writing: bool) -> Mapping[str, Tool]:
    """Return the tools by name; without `writing`, those that change nothing."""
    return {tool.name: tool for tool in _TOOLS if writing or not tool.writes}


def _parent(user: User, name: str, role: Role) -> Parent:
    """Return the study or collection of that name.

    Raises:
        NotFound: there is none that the user may see.
        OutOfScope: the user does not have the role.
    """
    for model in (Study, Collection):
        found = visible(user, model._default_manager.filter(slug=name)).first()
        if found is not None:
            if not may(user, found, role=role):
                raise OutOfScope(f"This needs the role “{role.label}” in it.")
            return found
    raise NotFound("There is no study or collection of this name that you may see.")


def _rows(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, str]]:
    with archive.open(name) as file:
        yield from csv.DictReader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))


def _dataset(dataset: Dataset) -> dict[str, Any]:
    names = ("uid", "state", "reason", "formats", "excluded", "asked_at", "counts")
    return {name: getattr(dataset, name) for name in names}
