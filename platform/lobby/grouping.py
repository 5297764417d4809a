"""Forms groups of waiting participants. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Waiting:
    """A waiting participant.

    Attributes:
        key: identifies the participant.
        kind: the kind of seat this participant may take (`games.interface.Game.kind`).
        met: keys of participants this one has played with and should not meet again.
    """

    key: int
    kind: str
    met: frozenset[int] = field(default_factory=frozenset)


def group_of(waiting: Sequence[Waiting], needed: Mapping[str, int]) -> list[Waiting] | None:
    """Return a complete group, earliest arrivals first; None while someone is missing.

    No two members have met before. The first to arrive is in the group if any group can include them.

    Args:
        waiting: participants in order of arrival.
        needed: number of participants per kind of seat.
    """
    size = sum(needed.values())
    for number, first in enumerate(waiting):
        group = _grown([first] if needed.get(first.kind) else [], waiting[number + 1 :], needed)
        if len(group) == size:
            return group
    return None


def part_of(waiting: Sequence[Waiting], needed: Mapping[str, int], first: Waiting) -> list[Waiting]:
    """Return a possibly incomplete group around `first`; members may have met before."""
    others = [one for one in waiting if one.key != first.key]
    return _grown([first], [Waiting(one.key, one.kind) for one in others], needed)


def _grown(group: list[Waiting], others: Sequence[Waiting], needed: Mapping[str, int]) -> list[Waiting]:
    """Return `group` extended by the others that still fit, in order."""
    taken = Counter(one.kind for one in group)
    for one in others:
        if taken[one.kind] < needed.get(one.kind, 0) and not _have_met(one, group):
            group.append(one)
            taken[one.kind] += 1
    return group


def _have_met(one: Waiting, group: Sequence[Waiting]) -> bool:
    return any(one.key in other.met or other.key in one.met for other in group)


def seats_for(group: Sequence[Waiting], seats: Mapping[str, str], kept: Mapping[int, str]) -> dict[str, int]:
    """Assign seats: the reserved seat if it is free, otherwise another of the same kind.

    Args:
        seats: the kind of each participant's seat, in order.
        kept: the seat reserved for each participant.

    Returns the participant's key by seat; seats without a participant are left out.
    """
    taken: dict[str, int] = {}
    for one in group:
        if kept.get(one.key) in seats and kept[one.key] not in taken:
            taken[kept[one.key]] = one.key
    for one in group:
        if one.key not in taken.values():
            taken[next(seat for seat, kind in seats.items() if kind == one.kind and seat not in taken)] = one.key
    return taken
