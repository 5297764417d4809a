"""The operations under /api/v1/. Each calls the code that does the work, which makes all checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page
from ninja import Query, Router, Schema, Status
from ninja.decorators import decorate_view

from api import reading, schemas
from api.access import ExportToken, ManageToken, ReadToken, TokenThrottle
from api.connection import connection_for
from api.errors import Conflict, InvalidRequest, NotFound
from api.history import record_action
from api.models import Token
from api.outcomes import outcome_for, progress_for
from api.status import status_of, summary_of
from audit.actions import Action
from exports import background
from exports.errors import NothingToExport, UnknownFormat
from exports.models import Dataset
from exports.packing import zip_response
from studies import pausing, recruiting

router = Router(throttle=TokenThrottle())
polled = decorate_view(conditional_page, cache_control(private=True, no_cache=True))
"""Adds an ETag to responses; a request that sends it back as If-None-Match gets 304 while nothing has changed."""

REFUSALS = {code: schemas.Problem for code in (400, 401, 403, 404, 422, 429)}
REFUSED_CHANGES = {**REFUSALS, 409: schemas.Problem}
_Operation = TypeVar("_Operation", bound=Callable[..., Any])


def get(path: str, shape: type[Schema], summary: str, token: Any) -> Callable[[_Operation], _Operation]:
    """Decorator: an operation that reads and may be polled; without a token (None), by anybody."""
    route = router.get(path, response={200: shape, **REFUSALS}, auth=token, summary=summary)
    return lambda operation: route(polled(operation))


class CalledByToken(HttpRequest):
    """A request that `access` has authenticated."""

    auth: Token


# ---- reading -----------------------------------------------------------------------------------------


@get("/studies", schemas.Studies, "The token's studies", ReadToken())
def studies(request: CalledByToken) -> schemas.Studies:
    """The studies that the token gives access to."""
    return schemas.Studies(studies=[summary_of(request.auth.study)])


@get("/studies/{slug}", schemas.StudyOut, "A study's status", ReadToken())
def study(request: CalledByToken, slug: str) -> schemas.StudyOut:
    """State, latest version, cells with their places, and numbers of participants and matches."""
    return status_of(request.auth.study)


@get("/studies/{slug}/matches", schemas.Matches, "Its matches", ReadToken())
def matches(request: CalledByToken, slug: str, wanted: Query[schemas.WantedMatches]) -> schemas.Matches:
    """The matches of this study's participants, oldest first, without anything that identifies them."""
    return reading.page_of_matches(request.auth.study, wanted)


@get("/studies/{slug}/matches/{uid}", schemas.MatchOut, "One match in full", ReadToken())
def match(request: CalledByToken, slug: str, uid: UUID) -> schemas.MatchOut:
    """One match with its parameters and log."""
    return reading.match_of(request.auth.study, uid)


@get("/studies/{slug}/results", schemas.Results, "Its participants", ReadToken())
def results(request: CalledByToken, slug: str, wanted: Query[schemas.WantedResults]) -> schemas.Results:
    """Each participant's result: ending, payoff, amounts owed, and whether it is in the dataset."""
    return reading.page_of_results(request.auth.study, wanted)


# ---- exporting ---------------------------------------------------------------------------------------


@router.post(
    "/studies/{slug}/datasets",
    response={200: schemas.DatasetOut, 202: schemas.DatasetOut, **REFUSED_CHANGES},
    auth=ExportToken(),
    summary="Request a dataset",
)
def ask_for_dataset(
    request: CalledByToken, slug: str, wanted: schemas.WantedDataset | None = None
) -> Status[schemas.DatasetOut]:
    """Start writing a dataset (202). If one is already being written, return that one (200)."""
    wanted = wanted or schemas.WantedDataset()
    try:
        with transaction.atomic():
            requested, is_new = background.request_dataset(
                request.auth.study, wanted.formats, excluded=wanted.excluded, times=wanted.times
            )
            if is_new:
                details = {"dataset": str(requested.uid), "formats": requested.formats, "excluded": requested.excluded}
                record_action(request.auth, Action.EXPORTED, "Requested a dataset.", **details)
    except UnknownFormat as error:
        raise InvalidRequest(str(error), fields={"formats": ", ".join(wanted.formats)}) from None
    except NothingToExport as error:
        raise Conflict(str(error)) from None
    return Status(202 if is_new else 200, _dataset_out(requested))


@get("/studies/{slug}/datasets", schemas.Datasets, "Its datasets", ExportToken())
def datasets(request: CalledByToken, slug: str) -> schemas.Datasets:
    """The datasets requested through the API, newest first."""
    latest = Dataset.objects.filter(study=request.auth.study)[:20]
    return schemas.Datasets(datasets=[_dataset_out(background.refresh(dataset)) for dataset in latest])


@get("/studies/{slug}/datasets/{uid}", schemas.DatasetOut, "A dataset's status", ExportToken())
def dataset(request: CalledByToken, slug: str, uid: UUID) -> schemas.DatasetOut:
    """Whether it is ready, and what it contains."""
    return _dataset_out(background.refresh(_dataset(request, uid)))


@router.get(
    "/studies/{slug}/datasets/{uid}/download",
    response=REFUSED_CHANGES,
    auth=ExportToken(),
    summary="Download a dataset",
    openapi_extra={
        "responses": {
            200: {
                "description": "The dataset's folder as a zip.",
                "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            }
        }
    },
)
def download(request: CalledByToken, slug: str, uid: UUID) -> StreamingHttpResponse:
    """The dataset's folder as a zip; `verify_dataset` replays every match in it."""
    dataset = background.refresh(_dataset(request, uid))
    if dataset.state != Dataset.State.READY:
        raise Conflict(dataset.reason or _("It is not ready yet. Check its state until it is “ready”."))
    try:
        archive = dataset.file.open("rb")
    except FileNotFoundError:
        raise Conflict(_("Its file no longer exists. Request another dataset.")) from None
    record_action(request.auth, Action.DOWNLOADED, "Downloaded a dataset.", dataset=str(dataset.uid))
    return zip_response(request, archive, str(dataset))


def _dataset(request: CalledByToken, uid: UUID) -> Dataset:
    stored = Dataset.objects.select_related("study").filter(study=request.auth.study, uid=uid).first()
    if stored is None:
        raise NotFound
    return stored


def _dataset_out(dataset: Dataset) -> schemas.DatasetOut:
    return schemas.DatasetOut.of(dataset, bytes=dataset.size)


# ---- control ----------------------------------------------------------------------------------------

switch = partial(router.post, response={200: schemas.StudySummary, **REFUSED_CHANGES}, auth=ManageToken())


@switch("/studies/{slug}/pause", summary="Pause a study")
def pause(request: CalledByToken, slug: str) -> schemas.StudySummary:
    """Close the study to new participants, here and at its recruiter; those in it continue."""
    return _switch(request, pausing.pause, Action.PAUSED, "Paused.")


@switch("/studies/{slug}/resume", summary="Resume a study")
def resume(request: CalledByToken, slug: str) -> schemas.StudySummary:
    """Open the study again, here and at its recruiter, if the token's creator may spend the account's money."""
    return _switch(request, pausing.resume, Action.RESUMED, "Resumed.")


def _switch(request: CalledByToken, switch: Any, action: Action, message: str) -> schemas.StudySummary:
    study = request.auth.study
    try:
        with transaction.atomic():
            if switch(study):
                record_action(request.auth, action, message)
    except pausing.NotRunning as error:
        raise Conflict(str(error)) from None
    recruiting.follow(study, request.auth.created_by)
    return summary_of(study)


# ---- for outside systems -------------------------------------------------------------------------------


@get("/results/{token}", schemas.Outcome, "One participant's outcome", None)
def result(request: HttpRequest, token: str) -> schemas.Outcome:
    """The outcome of the participant named in the signed token; no other token is needed."""
    return outcome_for(token)


@get("/progress/{token}", schemas.SessionProgress, "Where an oTree session's participants are", None)
def progress(request: HttpRequest, token: str) -> schemas.SessionProgress:
    """Where everyone is whom the oTree session named in the signed token has sent; no other token is needed."""
    return progress_for(token)


@get("/connection/{token}", schemas.Connection, "Test an oTree server's connection", None)
def connection(request: HttpRequest, token: str) -> schemas.Connection:
    """What stands in the way of the oTree session that the signed token describes; no other token is needed."""
    return connection_for(token)
