"""Forms groups of waiting participants. It contains only pure functions."""

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
        past_partners: keys of participants this one has played with and should not meet again.
    """

    key: int
    kind: str
    past_partners: frozenset[int] = field(default_factory=frozenset)


def find_group(waiting: Sequence[Waiting], needed: Mapping[str, int]) -> list[Waiting] | None:
    """Return a complete group, earliest arrivals first; None if no complete group can be formed.

    No two members have met before. The first to arrive is in the group if any group can include them.

    Args:
        waiting: participants in order of arrival.
        needed: number of participants per kind of seat.
    """
    size = sum(needed.values())
    for number, first in enumerate(waiting):
        group = _extended([first] if needed.get(first.kind) else [], waiting[number + 1 :], needed)
        if len(group) == size:
            return group
    return None


def partial_group(waiting: Sequence[Waiting], needed: Mapping[str, int], first: Waiting) -> list[Waiting]:
    """Return a possibly incomplete group around `first`; members may have met before."""
    others = [other for other in waiting if other.key != first.key]
    return _extended([first], [Waiting(other.key, other.kind) for other in others], needed)


def prospects(waiting: Sequence[Waiting], needed: Mapping[str, int]) -> dict[int, tuple[int, int]]:
    """Return, for each waiting participant, how many others are here for their group and how many must still arrive.

    Those who arrived first are served first. For a group that is complete but not yet formed, nobody must arrive.
    """
    size, missing = sum(needed.values()), 0
    found: dict[int, tuple[int, int]] = {}
    remaining = [candidate for candidate in waiting if needed.get(candidate.kind)]
    while remaining:
        group = _extended(remaining[:1], remaining[1:], needed)
        missing += size - len(group)
        found |= {member.key: (len(group) - 1, missing) for member in group}
        remaining = [candidate for candidate in remaining if candidate.key not in found]
    return found


def _extended(group: list[Waiting], others: Sequence[Waiting], needed: Mapping[str, int]) -> list[Waiting]:
    """Return `group` extended by the others that still fit, in order."""
    counts = Counter(candidate.kind for candidate in group)
    for candidate in others:
        if counts[candidate.kind] < needed.get(candidate.kind, 0) and not _have_met(candidate, group):
            group.append(candidate)
            counts[candidate.kind] += 1
    return group


def _have_met(candidate: Waiting, group: Sequence[Waiting]) -> bool:
    return any(candidate.key in member.past_partners or member.key in candidate.past_partners for member in group)


def seats_for(group: Sequence[Waiting], seats: Mapping[str, str], reserved: Mapping[int, str]) -> dict[str, int]:
    """Assign seats: the reserved seat if it is free, otherwise another of the same kind.

    Args:
        seats: the kind of each participant's seat, in order.
        reserved: the seat reserved for each participant.

    Returns the participant's key by seat; seats without a participant are left out.
    """
    assigned: dict[str, int] = {}
    for member in group:
        if reserved.get(member.key) in seats and reserved[member.key] not in assigned:
            assigned[reserved[member.key]] = member.key
    for member in group:
        if member.key not in assigned.values():
            assigned[next(seat for seat, kind in seats.items() if kind == member.kind and seat not in assigned)] = (
                member.key
            )
    return assigned
