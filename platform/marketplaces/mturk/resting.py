"""Our own qualification: mTurk uses it to hide a task from workers who recently began to play the same game.

Its value is the time at which the game began, in minutes since 1970. Workers receive it when they begin to play and
lose it when the rest period is over. In between, the entry check (`studies.participations`) refuses them anyway.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from games import registry
from games.errors import UnknownGame
from marketplaces.models import Account
from marketplaces.mturk.client import Refused, Requester
from marketplaces.mturk.models import KEY, Granted, Qualification
from matches.models import Match
from participants.models import Enrolment
from studies.models import Version


def qualification_of(account: Account, game: str, hours: int, requester: Requester) -> Qualification:
    """Return the qualification for this game and number of hours; create it on mTurk if it does not exist.

    Raises:
        MarketplaceError
    """
    key = {"account": account, "game": game, "hours": hours}
    existing = Qualification.objects.filter(**key).first()
    if existing is not None:
        return existing
    try:
        title = registry.get(game).title
    except UnknownGame:
        title = game
    # Workers read this text, so it is in English like mTurk's own pages.
    qualification_id = requester.qualification(
        f"Parley: played {title} within {hours} hours",
        f"You have played a game of the kind “{title}” within the last {hours} hours. It is removed automatically.",
    )
    return Qualification.objects.get_or_create(**key, defaults={"qualification_id": qualification_id})[0]


def sync_qualifications(account: Account, game: str, requester: Requester) -> None:
    """Grant the game's qualifications to workers who began to play it; remove them when the rest period is over.

    Raises:
        MarketplaceError
    """
    for qualification in Qualification.objects.filter(account=account, game=game):
        _grant_to_starters(qualification, requester)
        for holder in requester.holders(qualification.qualification_id):
            if holder.value + qualification.hours * 60 <= minute(timezone.now()):
                try:
                    requester.revoke(qualification.qualification_id, worker=holder.worker)
                except Refused as refusal:
                    if refusal.code != "invalidqualificationstate":
                        raise


def _grant_to_starters(qualification: Qualification, requester: Requester) -> None:
    since = timezone.now() - timedelta(hours=qualification.hours)
    versions = Version.objects.filter(study__recruitment__account=qualification.account)
    with_game = [v for v in versions if qualification.game in v.games and v.purpose == Match.Purpose.STUDY]
    starters = Enrolment.objects.filter(
        arrived_at__gt=since, identity__recruiter=KEY, placement__version__in=with_game
    ).exclude(pk__in=qualification.granted.values("enrolment"))
    for enrolment in starters.select_related("identity").order_by("arrived_at"):
        worker, value = enrolment.identity.worker, minute(enrolment.arrived_at)
        try:
            requester.grant(qualification.qualification_id, worker=worker, value=value)
        except Refused as refusal:
            if refusal.code != "workerdoesnotexist":
                raise
        Granted.objects.get_or_create(qualification=qualification, enrolment=enrolment)


def minute(time: datetime) -> int:
    """Return the number of whole minutes since 1970."""
    return int(time.timestamp() // 60)
