"""An answer takes as long as a human's, within bounds."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from matches.pacing import LONGEST, SHORTEST, human_delay

SEEDS = st.integers(0, 2**32)
TEXTS = st.text(max_size=2000)


@given(st.one_of(st.none(), TEXTS), st.one_of(st.none(), TEXTS), SEEDS)
def test_every_delay_is_within_bounds_and_follows_from_the_seed(own_message, seen_message, seed):
    seconds = human_delay({"message": own_message, "alice_gain": 10}, seen_message, Random(seed))
    assert SHORTEST <= seconds <= LONGEST
    assert seconds == human_delay({"message": own_message}, seen_message, Random(seed))


@given(TEXTS, TEXTS, TEXTS, SEEDS)
def test_longer_texts_never_take_less_time(own_message, seen_message, further_text, seed):
    shorter = human_delay({"message": own_message}, seen_message, Random(seed))
    assert human_delay({"message": own_message + further_text}, seen_message, Random(seed)) >= shorter
    assert human_delay({"message": own_message}, f"{seen_message}{further_text}", Random(seed)) >= shorter


def test_only_messages_take_typing_time():
    without_message = human_delay({}, None, Random(1))
    move = {"message": 12345, "reason": "long " * 300, "decision": "accept"}
    assert human_delay(move, None, Random(1)) == without_message


@given(st.integers(0, 10), SEEDS)
def test_more_fields_never_take_less_time(fields, seed):
    assert human_delay({}, None, Random(seed), fields=fields + 1) >= human_delay({}, None, Random(seed), fields=fields)


def test_a_sentence_takes_seconds():
    seconds = [human_delay({"message": "Let us share it evenly."}, "What do you offer?", Random(n)) for n in range(300)]
    assert 5 < sum(seconds) / len(seconds) < 15
    assert len(set(seconds)) == len(seconds)
