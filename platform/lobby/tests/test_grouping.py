"""Forming groups: properties that hold for any arrivals in any order."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lobby.grouping import Waiting, find_group, partial_group, seats_for

KINDS = st.sampled_from("ab")
NEEDED = st.dictionaries(KINDS, st.integers(1, 4), min_size=1)


@st.composite
def arrivals(draw: st.DrawFn) -> list[Waiting]:
    number = draw(st.integers(0, 12))
    keys = range(number)
    met = st.frozensets(st.sampled_from(list(keys)), max_size=3) if number else st.just(frozenset())
    return [Waiting(key, draw(KINDS), draw(met) - {key}) for key in keys]


@given(arrivals(), NEEDED)
def test_group_has_exactly_the_needed_participants_once(waiting: list[Waiting], needed: dict[str, int]):
    group = find_group(waiting, needed)
    if group is not None:
        assert Counter(one.kind for one in group) == needed
        assert len({one.key for one in group}) == len(group)


@given(arrivals(), NEEDED)
def test_members_of_a_group_have_never_met(waiting: list[Waiting], needed: dict[str, int]):
    group = find_group(waiting, needed) or []
    assert not any(other.key in one.past_partners for one in group for other in group)


@given(arrivals(), NEEDED)
def test_enough_strangers_are_grouped_in_order_of_arrival(waiting: list[Waiting], needed: dict[str, int]):
    strangers = [Waiting(one.key, one.kind) for one in waiting]
    here = Counter(one.kind for one in strangers)
    group = find_group(strangers, needed)
    if all(here[kind] >= count for kind, count in needed.items()):
        first = {kind: [one.key for one in strangers if one.kind == kind][:count] for kind, count in needed.items()}
        assert group is not None
        assert sorted(one.key for one in group) == sorted(key for keys in first.values() for key in keys)
    else:
        assert group is None


@given(arrivals(), NEEDED)
def test_longest_waiting_participant_is_in_the_incomplete_group(waiting: list[Waiting], needed: dict[str, int]):
    for first in waiting:
        if first.kind in needed:
            part = partial_group(waiting, needed, first)
            assert part[0] == first
            assert not Counter(one.kind for one in part) - Counter(needed)


@given(st.lists(st.integers(1, 6), unique=True, min_size=1), st.data())
def test_everyone_gets_one_seat_and_the_reserved_one_if_free(keys: list[int], data: st.DataObject):
    seats = {f"p{number}": "p" for number in range(1, 7)}
    group = [Waiting(key, "p") for key in keys]
    kept = {key: data.draw(st.sampled_from(sorted(seats))) for key in keys}
    taken = seats_for(group, seats, kept)
    assert sorted(taken.values()) == sorted(keys)
    for seat, key in taken.items():
        if list(kept.values()).count(kept[key]) == 1:
            assert seat == kept[key]
