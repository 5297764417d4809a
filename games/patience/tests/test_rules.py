"""Patience against the specification's worked cases."""

from __future__ import annotations

import pytest

from games.errors import BadConfig, Refused
from games.patience.rules import Patience
from games.patience.state import published_amounts
from games.play import configure, start, submit
from games.tests.kit import finished


def play_questions(chooses_later, **config):
    """Return the play after every question; `chooses_later(amount, repetition)` answers each."""
    game = configure(Patience, {"order": "ascending", **config})
    play, _events = start(game, 1)
    times_asked = dict.fromkeys(game.later_amounts, 0)
    while not play.over:
        question = play.state.questions[len(play.state.choices)]
        later = chooses_later(question.amount, times_asked[question.amount])
        times_asked[question.amount] += 1
        play, _events = submit(play, "agent", {"choice": "A" if question.now_first != later else "B"})
    return play


def rates(play) -> tuple:
    metrics = play.metrics()
    return metrics["rate"], metrics["rate_low"], metrics["rate_high"], metrics["rate_annual"], metrics["reliability"]


YEAR = {"horizon": "1 year", "amounts": [102, 104, 106, 108]}


def test_switch_implies_the_rates_between_the_amounts():
    assert rates(play_questions(lambda amount, _n: amount >= 106, **YEAR)) == pytest.approx((4.9, 4.0, 5.8, 5.0, 1))


def test_inconsistent_choices_are_less_reliable():
    play = play_questions(lambda amount, number: amount >= 106 or (amount == 104 and number == 0), **YEAR)
    assert rates(play) == pytest.approx((3.9, 2.0, 5.8, 4.0, 0.875))


def test_never_later_implies_the_highest_rates():
    play = play_questions(lambda _amount, _n: False, horizon="5 years", amounts=[120, 140, 160])
    assert play.metrics()["rate"] == pytest.approx(14.75)
    assert play.metrics()["rate_annual"] == pytest.approx(14.95)


def test_always_later_implies_the_lowest_rates():
    play = play_questions(lambda _amount, _n: True, horizon="6 months", amounts=[102, 104, 106])
    assert play.metrics()["rate"] == pytest.approx(1.95)


def test_unreadable_answers_are_counted_but_are_no_choices():
    play = finished(configure(Patience, YEAR), "silent")
    metrics = play.metrics()
    assert metrics["unanswered"] == metrics["questions"] == 8
    assert metrics["rate"] is metrics["later_share"] is metrics["reliability"] is None
    assert play.payoffs() == {"agent": 0.5}


@pytest.mark.parametrize(("horizon", "number"), [("1 month", 50), ("6 months", 30), ("1 year", 20), ("5 years", 140)])
def test_published_amounts(horizon, number):
    assert len(published_amounts(horizon)) == number


def test_odd_repetitions_show_now_first():
    game = configure(Patience, {**YEAR, "order": "ascending"})
    play, _events = start(game, 1)
    assert [question.now_first for question in play.state.questions[:2]] == [True, False]


@pytest.mark.parametrize(
    "config", [{"amounts": [104, 102]}, {"amounts": [100]}, {"repetitions": 3}, {"amounts": []}, {"horizon": "2 years"}]
)
def test_invalid_configurations_are_refused(config):
    with pytest.raises(BadConfig):
        configure(Patience, config)


def test_all_choices_are_shown_after_the_last_question_and_none_before():
    play, _events = start(configure(Patience, {**YEAR, "order": "ascending"}), 1)
    while not play.over:
        assert [block.key for block in play.view("agent")] == ["status", "options", "progress"]
        play, _events = submit(play, "agent", {"choice": "A"})
    *_others, choices = play.view("agent")
    assert [row[2] for row in choices.rows[:2]] == ["the money now", "the money later"]


def test_other_letters_are_refused():
    play, _events = start(configure(Patience, YEAR), 1)
    with pytest.raises(Refused):
        submit(play, "agent", {"choice": "C"})
