"""Who of those who wait makes up a group. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Waiting:
    """Somebody who waits.

    Attributes:
        key: who it is.
        kind: of the seats that this person may take (`games.interface.Game.kind`).
        met: whom this person has played with before and shall not meet again.
    """

    key: int
    kind: str
    met: frozenset[int] = field(default_factory=frozenset)


def group_of(waiting: Sequence[Waiting], needed: Mapping[str, int]) -> list[Waiting] | None:
    """The group that those who came first make up; None while somebody is missing.

    Nobody in it has met another of it before. Whoever came first is in the group, if they can be in any.

    Args:
        waiting: in the order of their coming.
        needed: people by kind of seat.
    """
    size = sum(needed.values())
    for number, first in enumerate(waiting):
        group = _grown([first] if needed.get(first.kind) else [], waiting[number + 1 :], needed)
        if len(group) == size:
            return group
    return None


def part_of(waiting: Sequence[Waiting], needed: Mapping[str, int], first: Waiting) -> list[Waiting]:
    """A group around `first`, as far as people are here for it; those who have met before may meet again."""
    others = [one for one in waiting if one.key != first.key]
    return _grown([first], [Waiting(one.key, one.kind) for one in others], needed)


def _grown(group: list[Waiting], others: Sequence[Waiting], needed: Mapping[str, int]) -> list[Waiting]:
    """`group`, and of the others whoever still fits, in their order."""
    taken = Counter(one.kind for one in group)
    for one in others:
        if taken[one.kind] < needed.get(one.kind, 0) and not _have_met(one, group):
            group.append(one)
            taken[one.kind] += 1
    return group


def _have_met(one: Waiting, group: Sequence[Waiting]) -> bool:
    return any(one.key in other.met or other.key in one.met for other in group)


def seats_for(group: Sequence[Waiting], seats: Mapping[str, str], kept: Mapping[int, str]) -> dict[str, int]:
    """Who takes which seat: the one that was kept for a person where it is free, else another of its kind.

    Args:
        seats: the kind of each seat for a person, in order.
        kept: the seat kept for each person.

    Returns the person by seat; seats for which nobody is here are left out.
    """
    taken: dict[str, int] = {}
    for one in group:
        if kept.get(one.key) in seats and kept[one.key] not in taken:
            taken[kept[one.key]] = one.key
    for one in group:
        if one.key not in taken.values():
            taken[next(seat for seat, kind in seats.items() if kind == one.kind and seat not in taken)] = one.key
    return taken
