"""Seats look the same to everyone, and a result is a picture before it is told in numbers."""

from __future__ import annotations

import re

import pytest

from games import registry
from games.examples import cases
from games.interface import Bar, Bars
from games.play import configure, script_move, start, submit
from games.tests.ours import OURS
from matches.picturing import MOST_BARS, picture, seat_class, seat_names
from matches.screens import render_screen

BARGAINING = configure(registry.get("bargaining"), {})
SEAT = re.compile(r'<li class="(seat-\d(?: mark-\d)?)" data-seat="(\w+)"')


@pytest.mark.parametrize("key", OURS)
def test_every_game_shows_its_result_as_a_picture(key):
    case = cases(key)[0]
    end = case.walk().end
    for role in case.game.people():
        screen = render_screen(end, role)
        assert 'class="card bars"' in screen
        if "facts-result" in screen:
            assert screen.index('class="card bars"') < screen.index("facts-result")
        for seat in re.findall(r"seat-(\d+)", screen):
            assert 1 <= int(seat) <= 8


def test_a_seat_has_the_same_colour_and_mark_for_everyone():
    play, _events = start(configure(registry.get("beauty_contest"), {"players": 10}), 1)
    for role in ("p1", "p2", "p9"):
        styles = {seat: style for style, seat in SEAT.findall(render_screen(play, role))}
        assert styles == {seat: seat_class(play.game, seat) for seat in play.game.roles()}
    assert styles["p2"] == "seat-2"
    assert styles["p9"] == "seat-1 mark-2"


def test_words_for_a_seat_have_its_mark():
    names = dict(seat_names(BARGAINING, "bob"))
    assert names["Bob"] == names["Bob (you)"] == names["You"] == "seat-2"
    assert names["Alice"] == "seat-1"
    play, _events = start(BARGAINING, 1)
    for _move in range(2):
        (mover,) = play.waiting_for()
        play, _events = submit(play, mover, script_move(play, mover, "fair"))
    assert '<i class="mark seat-1" aria-hidden="true"></i> Alice' in render_screen(play, "bob")


def test_who_is_asked_shows_while_others_wait():
    play, _events = start(BARGAINING, 1)
    for role in ("alice", "bob"):
        screen = render_screen(play, role)
        assert 'data-seat="alice" data-mark="asked"' in screen
        assert 'data-seat="bob" data-mark=""' in screen


def drawn(*bars: Bar, **picture_options: object):
    return picture(BARGAINING, Bars("Who got what", bars, **picture_options), "alice")  # type: ignore[arg-type]


def test_bars_share_one_axis():
    shares = drawn(Bar("Alice", "30", 30, role="alice"), Bar("Bob", "70", 100, 30, role="bob"), high=100)
    assert [(bar.x, bar.width, bar.style, bar.own) for bar in shares.bars] == [
        (0, 30, "seat-1", True),
        (30, 70, "seat-2", False),
    ]


def test_losses_go_left_from_zero():
    profits = drawn(Bar("Alice", "-50", -50, role="alice"), Bar("Bob", "150", 150, role="bob"))
    assert profits.zero == 25
    assert [(bar.x, bar.width) for bar in profits.bars] == [(0, 25), (25, 75)]


def test_what_the_reader_may_not_know_has_words_but_no_bar():
    gains = drawn(Bar("Alice", "5", 5, role="alice"), Bar("Bob", "only Bob knows", None, role="bob"))
    assert (gains.bars[1].shown, gains.bars[1].width) == ("only Bob knows", None)


def test_nothing_is_gained_by_anyone():
    nothing = drawn(Bar("Alice", "0", 0, role="alice"), Bar("Bob", "0", 0, role="bob"))
    assert [bar.width for bar in nothing.bars] == [0, 0]


def test_a_picture_of_many_keeps_the_largest_and_the_readers_own():
    others = [Bar(f"Bidder {number}", str(number), number) for number in range(1, 41)]
    crowd = drawn(Bar("Alice", "0", 0, role="alice"), *others)
    assert [bar.label for bar in crowd.bars] == ["Alice", *(f"Bidder {n}" for n in range(41 - MOST_BARS + 1, 41))]
    assert crowd.left_out.startswith(str(41 - MOST_BARS))
