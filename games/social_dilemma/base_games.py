"""The dilemmas: the six published games in normal form, and custom games (CoopEval, table 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import Annotated, Literal, TypeVar

from pydantic import Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from games.interface import PlainData
from games.results import in_unit
from games.words import gettext as _
from games.words import quoted

T = TypeVar("T")
Profile = tuple[int, ...]
"""One action number per seat of the base game."""
MAX_ACTIONS = 10
MAX_PROFILES = 10_000
MAX_POINTS = 1_000_000
Points = Annotated[float, Field(ge=-MAX_POINTS, le=MAX_POINTS)]
Earned = Annotated[float, in_unit("points")]
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Reference:
    """Payoffs per seat for comparison: in Nash equilibrium, and if all cooperate."""

    nash: float
    cooperative: float

    def normalised(self, points: float) -> float:
        """Return 0 for the points in equilibrium, 1 for those if all cooperate."""
        return (points - self.nash) / (self.cooperative - self.nash)


@dataclass(frozen=True)
class BaseGame:
    """A game in normal form.

    Attributes:
        actions: the number of actions of each seat.
        payoffs: every seat's points, by profile of action numbers.
        cooperate: each seat's cooperative action; None if the game has none.
        other: each seat's uncooperative action.
    """

    actions: tuple[int, ...]
    payoffs: Mapping[Profile, tuple[float, ...]]
    cooperate: tuple[int, ...] | None
    other: tuple[int, ...]
    reference: Reference | None

    @property
    def seats(self) -> int:
        return len(self.actions)

    @property
    def symmetric(self) -> bool:
        """Whether seats that swap their actions swap their payoffs, and nothing else changes."""
        return len(set(self.actions)) == 1 and all(
            self.payoffs[_swapped(profile, seat)] == _swapped(points, seat)
            for profile, points in self.payoffs.items()
            for seat in range(self.seats - 1)
        )

    def profiles(self) -> list[Profile]:
        """Return every profile; the last seat's action varies fastest."""
        return list(product(*map(range, self.actions)))

    def names(self, position: int) -> tuple[str, ...]:
        """Return the names of a position's actions (position from 0) as players see them: A0, A1, …"""
        return action_names(self.actions[position])

    def range(self, position: int) -> tuple[float, float]:
        """Return the smallest and the largest payoff of a position."""
        own_points = [points[position] for points in self.payoffs.values()]
        return min(own_points), max(own_points)

    def deviations(self, profile: Profile) -> Iterator[tuple[int, int, float]]:
        """Yield (seat from 0, action, points gained) for every deviation of a single seat from the profile."""
        for seat, action_count in enumerate(self.actions):
            for action in range(action_count):
                if action != profile[seat]:
                    deviation = (*profile[:seat], action, *profile[seat + 1 :])
                    yield seat, action, self.payoffs[deviation][seat] - self.payoffs[profile][seat]

    def equilibria(self) -> list[Profile]:
        """Return the Nash equilibria in pure strategies."""
        return [
            profile
            for profile in self.profiles()
            if all(gain <= TOLERANCE for _seat, _action, gain in self.deviations(profile))
        ]

    def largest(self) -> float:
        """Return the largest absolute payoff of any seat."""
        return max(abs(points) for profile in self.payoffs.values() for points in profile)


def _swapped(values: tuple[T, ...], seat: int) -> tuple[T, ...]:
    """Return one value per seat with those of `seat` and the next one swapped."""
    return (*values[:seat], values[seat + 1], values[seat], *values[seat + 2 :])


@cache
def action_names(actions: int) -> tuple[str, ...]:
    """Return the names of this many actions: A0, A1, …"""
    return tuple(f"A{number}" for number in range(actions))


Action = Annotated[str, WithJsonSchema({"type": "string", "enum": [*action_names(MAX_ACTIONS)]})]


# ---- custom games ------------------------------------------------------------------------------


class References(PlainData):
    """Two payoffs that the normalised score compares with."""

    nash: Points = Field(title="In equilibrium")
    cooperative: Points = Field(title="When all cooperate")

    @model_validator(mode="after")
    def _differ(self) -> References:
        if self.nash == self.cooperative:
            raise PydanticCustomError("equal_reference", "The two reference payoffs must differ.")
        return self


class CustomGame(PlainData):
    """A custom base game: actions per seat, and points for every combination of actions."""

    actions: Annotated[tuple[Annotated[int, Field(ge=2, le=MAX_ACTIONS)], ...], Field(min_length=2, max_length=6)] = (
        Field(title="Actions per seat")
    )
    payoffs: dict[str, tuple[Points, ...]] = Field(
        json_schema_extra={"payoffs": True},
        title="Points",
        description='For every combination of action numbers, as in "0,1", one number per seat.',
    )
    cooperate: tuple[int, ...] | None = Field(default=None, title="Cooperative action of each seat")
    other: tuple[int, ...] | None = Field(default=None, title="Uncooperative action of each seat")
    reference: References | None = Field(default=None, title="Reference payoffs")

    @model_validator(mode="after")
    def _complete(self) -> CustomGame:
        if prod(self.actions) > MAX_PROFILES:
            raise PydanticCustomError(
                "too_large",
                "The custom game has {profiles} combinations of actions; the maximum is {most}.",
                {"profiles": prod(self.actions), "most": MAX_PROFILES},
            )
        expected = {profile_key(profile) for profile in product(*map(range, self.actions))}
        if missing := sorted(expected - self.payoffs.keys()):
            raise PydanticCustomError(
                "missing_profile", "The custom game gives no points for {profile}.", {"profile": quoted(missing[0])}
            )
        if unknown := sorted(self.payoffs.keys() - expected):
            raise PydanticCustomError(
                "unknown_profile", "The custom game has no combination {profile}.", {"profile": quoted(unknown[0])}
            )
        for profile, points in self.payoffs.items():
            if len(points) != len(self.actions):
                raise PydanticCustomError(
                    "points_per_seat",
                    "The custom game needs {seats} numbers for {profile}, one per seat.",
                    {"seats": len(self.actions), "profile": quoted(profile)},
                )
        for key in ("cooperate", "other"):
            numbers = getattr(self, key)
            fits = numbers is None or (
                len(numbers) == len(self.actions)
                and all(0 <= number < action_count for number, action_count in zip(numbers, self.actions, strict=True))
            )
            if not fits:
                raise PydanticCustomError(
                    "unknown_action",
                    "The custom game's “{key}” needs one of each seat's action numbers, counted from 0.",
                    {"key": key},
                )
        if self.cooperate is not None and self.other is not None:
            actions = zip(self.cooperate, self.other, strict=True)
            if any(cooperative == uncooperative for cooperative, uncooperative in actions):
                raise PydanticCustomError(
                    "same_action", "The custom game's “cooperate” and “other” must differ for every seat."
                )
        return self

    def game(self) -> BaseGame:
        """Return the game in normal form."""
        cooperate = self.cooperate
        if self.other is not None:
            other = self.other
        elif cooperate is not None:
            other = tuple(
                max(number for number in range(action_count) if number != cooperative)
                for cooperative, action_count in zip(cooperate, self.actions, strict=True)
            )
        else:
            other = (0,) * len(self.actions)
        references = self.reference
        reference = None if references is None else Reference(references.nash, references.cooperative)
        payoffs = {
            profile: tuple(float(points) for points in self.payoffs[profile_key(profile)])
            for profile in product(*map(range, self.actions))
        }
        return BaseGame(self.actions, payoffs, cooperate, other, reference)


def profile_key(profile: Sequence[int]) -> str:
    """Return the key of a combination of actions in a custom game's table of points."""
    return ",".join(map(str, profile))


# ---- the published games -------------------------------------------------------------------------

Name = Literal[
    "prisoners_dilemma", "public_goods", "travelers_dilemma", "trust", "stag_hunt", "matching_pennies", "custom"
]


def _two_player(table: Sequence[Sequence[tuple[float, float]]]) -> dict[Profile, tuple[float, ...]]:
    return {(i, j): points for i, row in enumerate(table) for j, points in enumerate(row)}


def _public_goods() -> dict[Profile, tuple[float, ...]]:
    """Return a public goods game of three seats: all share every contribution of 1.5; a seat that keeps gets 1 more."""
    return {
        profile: tuple(1.5 * profile.count(0) / 3 + action for action in profile)
        for profile in product((0, 1), repeat=3)
    }


def _travelers() -> dict[Profile, tuple[float, ...]]:
    """Return payoffs for claims of 2 to 5: both get the lower claim; its claimant gets 2 more, the other 2 less."""

    def points(claim: int, other_claim: int) -> tuple[float, float]:
        if claim == other_claim:
            return (claim + 2.0, claim + 2.0)
        low = min(claim, other_claim) + 2.0
        return (low + 2, low - 2) if claim < other_claim else (low - 2, low + 2)

    return {(i, j): points(i, j) for i, j in product(range(4), repeat=2)}


PUBLISHED: Mapping[str, BaseGame] = {
    "prisoners_dilemma": BaseGame(
        (2, 2), _two_player((((2, 2), (0, 3)), ((3, 0), (1, 1)))), (0, 0), (1, 1), Reference(1, 2)
    ),
    "public_goods": BaseGame((2, 2, 2), _public_goods(), (0, 0, 0), (1, 1, 1), Reference(1, 1.5)),
    "travelers_dilemma": BaseGame((4, 4), _travelers(), (3, 3), (0, 0), Reference(2, 5)),
    "trust": BaseGame((2, 2), _two_player((((10, 10), (0, 20)), ((6, 2), (4, 4)))), (0, 0), (1, 1), Reference(4, 10)),
    "stag_hunt": BaseGame((2, 2), _two_player((((5, 5), (0, 3)), ((3, 0), (3, 3)))), (0, 0), (1, 1), None),
    "matching_pennies": BaseGame((2, 2), _two_player((((1, -1), (-1, 1)), ((-1, 1), (1, -1)))), None, (0, 0), None),
}


def words(name: Name) -> tuple[str, ...]:
    """Return what the actions of a published game mean, in their order; empty if it has no words for them."""
    match name:
        case "public_goods":
            return _("put in"), _("keep")
        case "trust":
            return _("send"), _("keep")
        case "travelers_dilemma":
            return tuple(_("claim {points}").format(points=points) for points in range(2, 6))
        case "stag_hunt":
            return _("stag"), _("hare")
        case "matching_pennies":
            return _("heads"), _("tails")
        case _other:
            return ()
