"""What the demo's home page says about each game."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import ngettext

from games import pictures, registry
from matches.models import Match
from showcase.demo import Variant, variants_of
from showcase.watching import model_runs
from studies.enrolling import roles_offered
from studies.models import Study, configured

SYSTEMS = ("GLEE", "Economics Arena", "AucArena", "CoopEval", "EconEvals")
"""The published systems in the order of the page; games of others follow."""


@dataclass(frozen=True)
class Entry:
    """A study that people may enter from the home page, with the roles between which they choose."""

    study: Study
    name: str
    roles: list[tuple[str, str]]


@dataclass(frozen=True)
class Card:
    """A game on the home page.

    Attributes:
        line: what the game is about, in one sentence.
        picture: an <svg> that follows the page's colours; one of our own files.
        length: how long it takes: "about 8 minutes, up to 12 rounds".
        plays: the studies that *Play now* enters: against a script, and against a model if one runs here.
        variants: the game's further demos.
        together: whether two people can play.
    """

    key: str
    title: str
    line: str
    system: str
    picture: SafeString
    length: str
    plays: list[Entry]
    variants: list[Entry]
    together: bool


def cards() -> list[Card]:
    """Return the games' cards by system."""
    order = {system: position for position, system in enumerate(SYSTEMS)}
    return sorted(_cards(registry.keys()), key=lambda card: order.get(card.system, len(order)))


def card_of(key: str) -> Card | None:
    """Return the game's card; None if there is no such game or its demo is missing."""
    return next(iter(_cards([key] if key in registry.keys() else [])), None)


def _cards(keys: Collection[str]) -> list[Card]:
    slugs = [slug for key in keys for variant in variants_of(key) for slug in variant.slugs]
    demos = Study.objects.filter(draft__purpose=str(Match.Purpose.DEMO), slug__in=slugs)
    studies = {study.slug: study for study in demos}
    with_model = model_runs()
    return [card for key in keys if (card := _card(key, studies, with_model=with_model))]


def _card(key: str, studies: Mapping[str, Study], *, with_model: bool) -> Card | None:
    main, *others = variants_of(key)
    if main.slug not in studies:
        return None
    game = main.game
    plays = [_entry(main, studies[main.slug])]
    if with_model and main.model_slug in studies:
        plays.append(_entry(main, studies[main.model_slug]))
    return Card(
        key=key,
        title=str(game.title),
        line=str(game.summary),
        system=game.system,
        picture=mark_safe(pictures.picture(key)),
        length=_length(studies[main.slug]),
        plays=plays,
        variants=[_entry(variant, studies[variant.slug]) for variant in others if variant.slug in studies],
        together=main.together_slug in studies,
    )


def _entry(variant: Variant, study: Study) -> Entry:
    return Entry(study, variant.name, roles_offered(study))


def _length(study: Study) -> str:
    version = study.latest_version()
    if version is None:
        return ""
    minutes = version.frozen.get("about_minutes")
    about = (
        ngettext("about {minutes} minute", "about {minutes} minutes", minutes).format(minutes=minutes)
        if minutes
        else ""
    )
    return ", ".join(filter(None, [about, configured(version.plan.games()[0]).length()]))
