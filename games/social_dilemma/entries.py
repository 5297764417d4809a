"""The grid in which a custom game is entered: a table of points per combination of actions, and its analysis."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isfinite
from typing import Any

from games.entries import BadEntry, Entry, Typed
from games.interface import Json
from games.social_dilemma.base_games import MAX_POINTS, TOLERANCE, BaseGame, CustomGame, Profile, profile_key
from games.words import gettext as _
from games.words import number

SEATS = (2, 3)
SIZES = range(2, 11)
"""Maximum numbers of players and of actions per player in the grid; larger games come from files and are kept
unchanged."""
KEPT = "kept"
MAX_LISTED = 4


@dataclass
class TypedGame:
    """What has been typed so far: every part that can be read, and a sentence for every control that cannot."""

    actions: tuple[int, ...]
    names: tuple[str, ...]
    points: dict[Profile, list[float | None]] = field(default_factory=dict)
    cooperate: list[int | None] = field(default_factory=list)
    other: list[int | None] = field(default_factory=list)
    reference: dict[str, float | None] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def label(self, action: int) -> str:
        """Return the action's name."""
        return self.names[action] if action < len(self.names) and self.names[action] else f"A{action}"

    def shown(self, profile: Sequence[int]) -> str:
        """Return a combination of actions in words."""
        return ", ".join(self.label(action) for action in profile)

    def game(self) -> BaseGame | None:
        """Return the game if all its points can be read."""
        if self.missing or self.problems:
            return None
        chosen = [action for action in self.cooperate if action is not None]
        cooperate = tuple(chosen) if len(chosen) == len(self.actions) else None
        payoffs = {
            profile: tuple(points for points in row if points is not None) for profile, row in self.points.items()
        }
        return BaseGame(self.actions, payoffs, cooperate, (0,) * len(self.actions), None)


def read(typed: Typed) -> Json:
    """Return the custom game that was typed, as it is stored in the configuration; None if no points were entered.

    Raises:
        BadEntry: names every combination whose points are missing or not numbers.
    """
    if typed.get(KEPT):
        return _stored_game(typed[KEPT])
    parsed = _parse(typed)
    if not any(points is not None for row in parsed.points.values() for points in row) and not parsed.problems:
        return None
    problems = {**parsed.problems, **parsed.missing, **_problems(parsed)}
    if problems:
        raise BadEntry(problems)
    value: dict[str, Any] = {
        "actions": list(parsed.actions),
        "payoffs": {profile_key(profile): row for profile, row in parsed.points.items()},
    }
    for key, chosen in (("cooperate", parsed.cooperate), ("other", parsed.other)):
        if None not in chosen:
            value[key] = chosen
    if None not in parsed.reference.values():
        value["reference"] = parsed.reference
    return value


def _stored_game(text: str) -> Json:
    try:
        stored: Json = json.loads(text)
        CustomGame.model_validate_json(text)
    except ValueError:
        raise BadEntry({KEPT: _("The custom game can no longer be read. Choose another base game and save.")}) from None
    return stored


def _parse(typed: Typed) -> TypedGame:
    seats = _one_of(typed.get("seats", ""), SEATS)
    actions = tuple(_one_of(typed.get(f"actions{seat}", ""), SIZES) for seat in range(1, seats + 1))
    names = tuple(name.strip() for name in typed.get("action_names", "").splitlines() if name.strip())
    parsed = TypedGame(actions, names)
    for profile in product(*map(range, actions)):
        parsed.points[profile] = [_points(parsed, profile, seat, typed) for seat in range(1, seats + 1)]
    for seat, action_count in enumerate(actions, start=1):
        parsed.cooperate.append(_action(typed.get(f"cooperate{seat}", ""), action_count))
        parsed.other.append(_action(typed.get(f"other{seat}", ""), action_count))
    for key in ("nash", "cooperative"):
        text = typed.get(key, "").strip()
        parsed.reference[key] = _number(text)
        if text and parsed.reference[key] is None:
            parsed.problems[key] = _("“{text}” is not a valid number of points.").format(text=text)
    return parsed


def _one_of(text: str, allowed: Sequence[int]) -> int:
    return next((option for option in allowed if str(option) == text), allowed[0])


def _action(text: str, action_count: int) -> int | None:
    return next((action for action in range(action_count) if str(action) == text), None)


def _number(text: str) -> float | None:
    """Return the points that were typed; None if they are not a number within the bounds."""
    try:
        points = float(text.replace("−", "-"))
    except ValueError:
        return None
    if not isfinite(points) or abs(points) > MAX_POINTS:
        return None
    return int(points) if points.is_integer() else points


def control_name(profile: Sequence[int], seat: int) -> str:
    """Return the name of the control for a seat's points (seat from 1) in a combination of actions."""
    return f"{profile_key(profile)}/{seat}"


def _points(parsed: TypedGame, profile: Profile, seat: int, typed: Typed) -> float | None:
    name = control_name(profile, seat)
    text = typed.get(name, "").strip()
    points = _number(text)
    values = {"profile": parsed.shown(profile), "seat": seat, "text": text, "most": f"{MAX_POINTS:,}"}
    if not text:
        parsed.missing[name] = _("{profile}: the points of player {seat} are missing.").format(**values)
    elif points is None:
        words = _("{profile}: “{text}” is not a number from -{most} to {most} for player {seat}.")
        parsed.problems[name] = words.format(**values)
    return points


def _problems(parsed: TypedGame) -> dict[str, str]:
    """Return problems with the cooperative and uncooperative actions and the reference payoffs."""
    problems = {}
    for key, chosen, title in (
        ("cooperate1", parsed.cooperate, _("cooperative")),
        ("other1", parsed.other, _("uncooperative")),
    ):
        if None in chosen and any(action is not None for action in chosen):
            problems[key] = _("Choose the {kind} action of every player or of no player.").format(kind=title)
    if "other1" not in problems and parsed.other[0] is not None and parsed.cooperate[0] is None:
        problems["other1"] = _("Choose a cooperative action as well as the uncooperative one.")
    same = [
        cooperative is not None and cooperative == uncooperative
        for cooperative, uncooperative in zip(parsed.cooperate, parsed.other, strict=True)
    ]
    if any(same):
        seat = same.index(True) + 1
        problems[f"other{seat}"] = _(
            "Player {seat}: the cooperative and the uncooperative action are the same."
        ).format(seat=seat)
    references = list(parsed.reference.values())
    if None in references and any(points is not None for points in references):
        problems["nash"] = _("Enter both reference points or neither.")
    elif references[0] is not None and references[0] == references[1]:
        problems["nash"] = _("The two reference points must differ.")
    return problems


def initial(value: Json) -> Typed:
    """Return the text in the controls for a custom game."""
    if not isinstance(value, Mapping):
        return {"seats": str(SEATS[0])}
    actions = value["actions"]
    if len(actions) not in SEATS:
        return {KEPT: json.dumps(value)}
    typed = {"seats": str(len(actions))}
    for seat, action_count in enumerate(actions, start=1):
        typed[f"actions{seat}"] = str(action_count)
    for key, row in value["payoffs"].items():
        typed |= {f"{key}/{seat}": _as_text(points) for seat, points in enumerate(row, start=1)}
    for name in ("cooperate", "other"):
        typed |= {f"{name}{seat}": str(action) for seat, action in enumerate(value.get(name) or (), start=1)}
    typed |= {key: _as_text(points) for key, points in (value.get("reference") or {}).items()}
    return typed


def _as_text(points: float) -> str:
    return str(int(points)) if float(points).is_integer() else repr(points)


# ---- the template's variables --------------------------------------------------------------------------


def context(typed: Typed) -> Mapping[str, Any]:
    """Return the grid and the game's analysis; for a game too large for the grid, only its size."""
    if typed.get(KEPT):
        try:
            actions = json.loads(typed[KEPT])["actions"]
        except (ValueError, KeyError, TypeError):
            actions = []
        return {"kept": typed[KEPT], "seats": len(actions), "actions": " × ".join(map(str, actions))}
    parsed = _parse(typed)
    seats = len(parsed.actions)
    return {
        "seats": seats,
        "shape": f"{parsed.actions} {parsed.names}",
        "size_options": [str(size) for size in SIZES],
        "seat_options": [str(size) for size in SEATS],
        "sizes": [(seat, str(action_count)) for seat, action_count in enumerate(parsed.actions, start=1)],
        "columns": [parsed.label(action) for action in range(parsed.actions[1])],
        "layers": list(_tables(parsed, typed)),
        "measures": [
            {
                "control": f"{name}{seat}",
                "label": label.format(seat=seat),
                "value": typed.get(f"{name}{seat}", ""),
                "options": [(str(action), parsed.label(action)) for action in range(action_count)],
            }
            for name, label in (
                ("cooperate", _("Player {seat} cooperates by")),
                ("other", _("Player {seat} does not, by")),
            )
            for seat, action_count in enumerate(parsed.actions, start=1)
        ],
        "nash": typed.get("nash", ""),
        "cooperative": typed.get("cooperative", ""),
        "missing": len(parsed.missing),
        "says": list(_analysis(parsed)),
    }


def _tables(parsed: TypedGame, typed: Typed) -> Iterator[dict[str, Any]]:
    """Return one table per action of player 3, with player 1 in rows and player 2 in columns."""
    rows, columns, *third = parsed.actions
    for third_action in product(*map(range, third)):
        yield {
            "title": _("Player 3 plays {action}").format(action=parsed.label(third_action[0])) if third_action else "",
            "rows": [
                {
                    "label": parsed.label(row),
                    "cells": [
                        [
                            _field(parsed, (row, column, *third_action), seat, typed)
                            for seat in range(1, len(parsed.actions) + 1)
                        ]
                        for column in range(columns)
                    ],
                }
                for row in range(rows)
            ],
        }


def _field(parsed: TypedGame, profile: Profile, seat: int, typed: Typed) -> dict[str, Any]:
    name = control_name(profile, seat)
    plays = ", ".join(
        _("player {seat} plays {action}").format(seat=number, action=parsed.label(action))
        for number, action in enumerate(profile, start=1)
    )
    return {
        "control": name,
        "seat": seat,
        "value": typed.get(name, ""),
        "invalid": name in parsed.problems,
        "label": _("Points of player {seat} where {plays}").format(seat=seat, plays=plays),
    }


def _analysis(parsed: TypedGame) -> Iterator[str]:
    """Return sentences on the equilibria and the cooperative outcome."""
    game = parsed.game()
    if game is None:
        return
    equilibria = game.equilibria()
    outcomes = [_outcome(parsed, game, profile) for profile in equilibria[:MAX_LISTED]]
    if not equilibria:
        yield _("No equilibrium in pure strategies: in every combination some player gains by deviating.")
    elif len(equilibria) == 1:
        yield _("The only equilibrium in pure strategies: {outcome}.").format(outcome=outcomes[0])
    else:
        rest = _(", and {number} more").format(number=len(equilibria) - MAX_LISTED) if equilibria[MAX_LISTED:] else ""
        words = _("{number} equilibria in pure strategies: {outcomes}{more}.")
        yield words.format(number=len(equilibria), outcomes="; ".join(outcomes), more=rest)
    if game.cooperate is None:
        best = max(game.payoffs, key=lambda profile: sum(game.payoffs[profile]))
        yield _(
            "The largest total is at {outcome}. Choose each player's cooperative action to measure cooperation."
        ).format(outcome=_outcome(parsed, game, best))
        return
    yield _("All cooperate: {outcome}.").format(outcome=_outcome(parsed, game, game.cooperate))
    yield _temptation(parsed, game, game.cooperate)
    others = [profile for profile in equilibria if profile != game.cooperate]
    worse = [profile for profile in others if _all_gain(game.payoffs[profile], game.payoffs[game.cooperate])]
    if others and len(worse) == len(others):
        yield _("Everybody gets more there than in any other equilibrium.")
    elif others:
        yield _("Not everybody gets more there than in the other equilibria.")


def _temptation(parsed: TypedGame, game: BaseGame, cooperative: Profile) -> str:
    """Return a sentence on who gains most by not cooperating, and how much."""
    gains = [(gain, seat, action) for seat, action, gain in game.deviations(cooperative)]
    gain, seat, action = max(gains, key=lambda deviation: deviation[0])
    if gain <= TOLERANCE:
        return _("No player gains by deviating alone from cooperation: it is an equilibrium.")
    return _("Player {seat} would gain {gain} by deviating alone to {action}: a dilemma.").format(
        seat=seat + 1, gain=number(gain), action=parsed.label(action)
    )


def _all_gain(before: Sequence[float], after: Sequence[float]) -> bool:
    return all(later > earlier + TOLERANCE for earlier, later in zip(before, after, strict=True))


def _outcome(parsed: TypedGame, game: BaseGame, profile: Profile) -> str:
    points = ", ".join(map(number, game.payoffs[profile]))
    return _("{profile} ({points})").format(profile=parsed.shown(profile), points=points)


ENTRIES: Mapping[str, Entry] = {
    "custom_game": Entry(
        template="social_dilemma/entry_custom_game.html",
        read=read,
        initial=initial,
        context=context,
        condition=("base_game", "custom"),
        related=("action_names",),
    )
}
