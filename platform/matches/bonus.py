"""The bonus in real money for a game's outcomes, as shown during play.

A match stores its rule (`plans.pay`) in `texts["pay"]`, unless the study hides the bonus during play.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from games.interface import Game, Prospect, Role
from games.play import Play
from games.words import cached_by_language
from plans.pay import Rule, bonus_line, bonus_range, shown_bonus


@dataclass(frozen=True)
class Promise:
    """What a choice would pay: `words` ("If you accept") and `amount` ("$0.36"); `key` is the choice, if any."""

    words: str
    amount: str
    key: str = ""


@dataclass(frozen=True)
class SoFar:
    """What a role's game so far pays, as amounts with their conditions; `why` explains a range, if it is one."""

    amounts: tuple[Promise, ...]
    why: str = ""


def shown(play: Play, role: Role, rule: Rule | None) -> tuple[SoFar | None, tuple[Promise, ...]]:
    """Return what the role's game so far pays and what its current choices would.

    The first is None if nothing is shown, or if the match was abandoned.
    """
    if not rule or play.abandoned:
        return None, ()
    prospects = play.game.prospects(play.state, role)
    so_far = _so_far(rule, tuple(prospect for prospect in prospects if not prospect.key))
    choices = (prospect for prospect in prospects if prospect.key)
    return so_far, () if play.over else tuple(_promised(rule, choices))


@cached_by_language
def _so_far(rule: Rule, standing: tuple[Prospect, ...]) -> SoFar:
    least, most = bonus_range(rule)
    if least == most:
        return SoFar((Promise(_("Whatever you decide"), most),))
    if amounts := tuple(_promised(rule, standing)):
        nothing = _("none")
        return SoFar(tuple(replace(each, amount=nothing) if each.amount == least else each for each in amounts))
    between = Promise(_("At the end"), _("{least} to {most}").format(least=least, most=most))
    return SoFar((between,), " ".join(dict.fromkeys(prospect.unknown for prospect in standing)))


def _promised(rule: Rule, prospects: Iterable[Prospect]) -> Iterator[Promise]:
    """Yield the amounts of those prospects whose pay can be computed."""
    for prospect in prospects:
        amount = shown_bonus(rule, prospect.payoff, prospect.share)
        if amount is not None:
            yield Promise(prospect.words, amount, prospect.key)


def line(game: Game[Any, Any], role: Role, rule: Rule | None) -> Mapping[str, Any] | None:
    """Return what a page's script needs to compute the bonus of an offer; None if that would reveal more."""
    if not rule:
        return None
    points = [(p.payoff, p.share) for p in game.pay_examples(role) if p.payoff is not None and p.share is not None]
    return bonus_line(rule, (points[0], points[1])) if len(points) > 1 else None
