"""Forming groups: properties that hold for any arrivals in any order."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lobby.grouping import Waiting, find_group, partial_group, prospects, seats_for

KINDS = st.sampled_from("ab")
NEEDED = st.dictionaries(KINDS, st.integers(1, 4), min_size=1)


@st.composite
def arrivals(draw: st.DrawFn) -> list[Waiting]:
    number = draw(st.integers(0, 12))
    keys = range(number)
    past_partners = st.frozensets(st.sampled_from(list(keys)), max_size=3) if number else st.just(frozenset())
    return [Waiting(key, draw(KINDS), draw(past_partners) - {key}) for key in keys]


@given(arrivals(), NEEDED)
def test_group_has_exactly_the_needed_participants_once(waiting: list[Waiting], needed: dict[str, int]):
    group = find_group(waiting, needed)
    if group is not None:
        assert Counter(member.kind for member in group) == needed
        assert len({member.key for member in group}) == len(group)


@given(arrivals(), NEEDED)
def test_members_of_a_group_have_never_met(waiting: list[Waiting], needed: dict[str, int]):
    group = find_group(waiting, needed) or []
    assert not any(other.key in member.past_partners for member in group for other in group)


@given(arrivals(), NEEDED)
def test_enough_strangers_are_grouped_in_order_of_arrival(waiting: list[Waiting], needed: dict[str, int]):
    strangers = [Waiting(candidate.key, candidate.kind) for candidate in waiting]
    counts = Counter(stranger.kind for stranger in strangers)
    group = find_group(strangers, needed)
    if all(counts[kind] >= count for kind, count in needed.items()):
        keys_by_kind = {kind: [stranger.key for stranger in strangers if stranger.kind == kind] for kind in needed}
        assert group is not None
        expected = [key for kind, count in needed.items() for key in keys_by_kind[kind][:count]]
        assert sorted(member.key for member in group) == sorted(expected)
    else:
        assert group is None


@given(arrivals(), NEEDED)
def test_longest_waiting_participant_is_in_the_incomplete_group(waiting: list[Waiting], needed: dict[str, int]):
    for first in waiting:
        if first.kind in needed:
            group = partial_group(waiting, needed, first)
            assert group[0] == first
            assert not Counter(member.kind for member in group) - Counter(needed)


@given(st.lists(st.integers(1, 6), unique=True, min_size=1), st.data())
def test_everyone_gets_one_seat_and_the_reserved_one_if_free(keys: list[int], data: st.DataObject):
    seats = {f"p{number}": "p" for number in range(1, 7)}
    group = [Waiting(key, "p") for key in keys]
    reserved = {key: data.draw(st.sampled_from(sorted(seats))) for key in keys}
    assigned = seats_for(group, seats, reserved)
    assert sorted(assigned.values()) == sorted(keys)
    for seat, key in assigned.items():
        if list(reserved.values()).count(reserved[key]) == 1:
            assert seat == reserved[key]


def test_nobody_is_missing_for_a_complete_group_that_has_yet_to_be_formed():
    waiting = [Waiting(number, "player") for number in range(5)]
    told = prospects(waiting, {"player": 4})
    assert [told[number] for number in range(5)] == [(3, 0)] * 4 + [(0, 3)]
