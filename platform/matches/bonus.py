"""The bonus in real money for a game's outcomes, as shown during play.

The paying app registers how pay rules are evaluated; a match stores its rule as plain data in `texts["pay"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from games.interface import Game, Role
from games.play import Play

Rule = Mapping[str, Any]
Reader = Callable[[Rule, float | None, float | None], str | None]
Line = Callable[[Rule, tuple[tuple[float, float], ...]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Promise:
    """What a choice would pay: `words` ("If you accept") and `amount` ("$0.36"); `key` is the choice, if any."""

    words: str
    amount: str
    key: str = ""


@dataclass(frozen=True)
class _Payer:
    amount: Reader
    line: Line


_payers: list[_Payer] = []


def register(*, amount: Reader, line: Line) -> None:
    """Register how pay rules are evaluated.

    Args:
        amount: (rule, payoff, share) → the formatted bonus; None if it is unknown.
        line: (rule, two points (payoff, share)) → what a script needs to compute the bonus of any payoff.
    """
    _payers[:] = [_Payer(amount, line)]


def promises(play: Play, role: Role, rule: Rule | None) -> tuple[Promise, ...]:
    """Return what the role's current choices, or its game so far, would pay."""
    if not rule or not _payers or play.over:
        return ()
    promised = []
    for prospect in play.game.prospects(play.state, role):
        amount = _payers[0].amount(rule, prospect.payoff, prospect.share)
        if amount is not None:
            promised.append(Promise(prospect.words, amount, prospect.key))
    return tuple(promised)


def line(game: Game[Any, Any], role: Role, rule: Rule | None) -> Mapping[str, Any] | None:
    """Return what a page's script needs to compute the bonus of an offer; None if that would reveal more."""
    if not rule or not _payers:
        return None
    points = [(p.payoff, p.share) for p in game.pay_examples(role) if p.payoff is not None and p.share is not None]
    return _payers[0].line(rule, (points[0], points[1])) if len(points) > 1 else None
