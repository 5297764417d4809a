"""Read a study's matches and participants for the API, scrubbed by the same code as exports."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from api import schemas
from api.errors import InvalidRequest, NotFound
from exports import shape
from exports.participants import Participant, Place, PlayedMatch, Reading
from exports.sources import StudySource
from matches.models import Event, Match, Seat
from studies.models import Placement, Study

_INVALID_CURSOR = _("Invalid cursor for this study.")


def matches_of(study: Study) -> QuerySet[Match]:
    """Return the matches of the study's participants, in the order in which they began."""
    return Match.objects.filter(Exists(_placed_in_match(study))).order_by("pk")


def page_of_matches(study: Study, wanted: schemas.WantedMatches) -> schemas.Matches:
    """Return one page of matches, after the one that the cursor names.

    Raises:
        InvalidRequest: the cursor is not a match of this study.
    """
    matches = _filtered(study, wanted)
    if wanted.cursor is not None:
        last_pk = matches_of(study).filter(uid=wanted.cursor).values_list("pk", flat=True).first()
        if last_pk is None:
            raise InvalidRequest(str(_INVALID_CURSOR), fields={"cursor": str(wanted.cursor)})
        matches = matches.filter(pk__gt=last_pk)
    rows = list(_prefetched(matches)[: wanted.limit + 1])
    reading, include = reading_of(study), frozenset(wanted.include)
    listed = [_match_out(reading, match, include) for match in rows[: wanted.limit]]
    return schemas.Matches(matches=listed, next=listed[-1].uid if len(rows) > wanted.limit else None)


def match_of(study: Study, uid: UUID) -> schemas.MatchOut:
    """Return one match with its parameters and log.

    Raises:
        NotFound
    """
    match = _prefetched(matches_of(study).filter(uid=uid)).first()
    if match is None:
        raise NotFound
    return _match_out(reading_of(study), match, frozenset({"config", "events"}))


def page_of_results(study: Study, wanted: schemas.WantedResults) -> schemas.Results:
    """Return one page of participants, after the one whose pseudonym is the cursor.

    Raises:
        InvalidRequest: the cursor is not a participant of this study.
    """
    reading = reading_of(study)
    placements = reading.placements()
    if wanted.ended_since is not None:
        placements = placements.filter(enrolment__ended_at__gte=wanted.ended_since)
    if wanted.cursor is not None:
        at_cursor = Placement.objects.filter(version__study=study, enrolment__pseudonym=wanted.cursor)
        last_pk = at_cursor.values_list("pk", flat=True).first()
        if last_pk is None:
            raise InvalidRequest(str(_INVALID_CURSOR), fields={"cursor": wanted.cursor})
        placements = placements.filter(pk__gt=last_pk)
    rows = list(placements[: wanted.limit + 1])
    listed = [_result_out(Participant(reading, placement)) for placement in rows[: wanted.limit]]
    return schemas.Results(results=listed, next=listed[-1].participant if len(rows) > wanted.limit else None)


def reading_of(study: Study) -> Reading:
    """Return a reading of the study as of now."""
    versions = tuple(study.versions.order_by("number").values_list("sha256", flat=True))
    return Reading(source=StudySource(study), cutoff=timezone.now(), shape=_shape(study.pk, versions))


@lru_cache(maxsize=64)
def _shape(study_id: int, versions: tuple[str, ...]) -> shape.Shape:
    """Return the roles and fields of the study's matches, cached by the study's versions, which never change."""
    return shape.of_configurations(StudySource(Study.objects.get(pk=study_id)).configurations())


def _filtered(study: Study, wanted: schemas.WantedMatches) -> QuerySet[Match]:
    placements = _placed_in_match(study)
    if wanted.version is not None:
        placements = placements.filter(version__number=wanted.version)
    if wanted.cell is not None:
        placements = placements.filter(cell__number=wanted.cell)
    matches = Match.objects.filter(Exists(placements)).order_by("pk")
    if wanted.state is not None:
        matches = matches.filter(status=wanted.state)
    moments = {"gte": wanted.since, "lt": wanted.until}
    bounds = {name: moment for name, moment in moments.items() if moment is not None}
    if bounds:
        started = Q(**{f"started_at__{name}": moment for name, moment in bounds.items()})
        ended = Q(**{f"ended_at__{name}": moment for name, moment in bounds.items()})
        matches = matches.filter(started | ended)
    return matches


def _placed_in_match(study: Study) -> QuerySet[Placement]:
    return Placement.objects.filter(version__study=study, enrolment__seats__match=OuterRef("pk"))


def _prefetched(matches: QuerySet[Match]) -> QuerySet[Match]:
    seats = Seat.objects.select_related("enrolment__identity", "enrolment__placement__cell")
    return matches.defer("snapshot", "turns").prefetch_related(
        Prefetch("seats", seats),
        "seats__enrolment__verdicts",
        "seats__enrolment__seats",
        "seats__enrolment__placement__version",
        Prefetch("events", Event.objects.order_by("number")),
    )


def _match_out(reading: Reading, match: Match, include: frozenset[str]) -> schemas.MatchOut:
    placement = next(seat.enrolment.placement for seat in match.seats.all() if seat.enrolment is not None)
    version, cell = placement.version, placement.cell
    assert cell is not None, "only a drawn cell has matches"
    played = PlayedMatch(reading, match, Place(version=version.number, cell=cell.number))
    payoffs = match.payoffs or {}
    return schemas.MatchOut.of(
        match,
        state=match.status,
        version=version.number,
        cell=cell.number,
        roles={
            role: schemas.SeatOut(
                player=played.player(role),
                participant=seat.enrolment.pseudonym if seat.enrolment else None,
                payoff=payoffs.get(role),
            )
            for role, seat in played.seats.items()
        },
        in_dataset=not played.reasons,
        left_out_because=list(played.reasons),
        config=match.config if "config" in include else None,
        events=played.events if "events" in include else None,
    )


def _result_out(participant: Participant) -> schemas.ResultOut:
    last_match = participant.matches[-1] if participant.matches else None
    return schemas.ResultOut.of(
        participant.enrolment,
        participant=participant.enrolment.pseudonym,
        version=participant.version.number,
        cell=participant.cell.number if participant.cell else None,
        factors=participant.factors,
        role=participant.role_in(last_match),
        match=last_match.match.uid if last_match else None,
        payoff=(last_match.match.payoffs or {}).get(participant.role_in(last_match)) if last_match else None,
        owed={row.reason: schemas.Owed.of(row) for row in participant.ledger},
        in_dataset=participant.in_dataset,
        left_out_because=list(participant.reasons),
    )
