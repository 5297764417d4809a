"""Earlier rounds as shown: the window, co-players' matches and, in higher order, the matches that led to them."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from games.contract import seen
from games.play import configure, start, submit
from games.social_dilemma.rules import SocialDilemma
from games.social_dilemma.views import histories

SCHEDULE = [
    [["p1", "p2"], ["p3", "p4"]],
    [["p1", "p4"], ["p3", "p2"]],
    [["p1", "p2"], ["p3", "p4"]],
]


def after_rounds(rounds, **config):
    """Return the play after rounds of actions, each with one letter per seat ("C" or "D")."""
    schedule = config.get("schedule", SCHEDULE)
    game = configure(SocialDilemma, {"population": 2, "rounds": len(schedule), **config, "schedule": schedule})
    play, _events = start(game, 1)
    for actions in rounds:
        for role, letter in zip(game.roles(), actions, strict=True):
            play, _events = submit(play, role, {"action": "A0" if letter == "C" else "A1"})
    return play


def test_first_order_shows_only_co_players_own_matches():
    play = after_rounds(["CDCC", "CCCC"], mechanism="reputation_first_order")
    other_play = after_rounds(["CDCD", "CCCC"], mechanism="reputation_first_order")
    meetings_of = dict(histories(play.game, play.state, "p1"))
    assert [meeting.round for meeting in meetings_of["p2"]] == [2, 1]
    assert {seat for seat, _action, _points in meetings_of["p2"][0].players} == {"p3", "p2"}
    # p4 chose its action of round 1 against p3: neither p1 nor p2 was there.
    assert seen(play, "p1").count("p4") == seen(other_play, "p1").count("p4")


def test_higher_order_shows_partners_earlier_matches():
    first = after_rounds(["CDCC", "CCCC"], mechanism="reputation_higher_order")
    second = after_rounds(["CDCD", "CCCC"], mechanism="reputation_higher_order")
    assert seen(first, "p1") != seen(second, "p1")
    meetings_of = dict(histories(first.game, first.state, "p1"))
    ((partner, earlier_meetings),) = meetings_of["p2"][0].earlier
    assert partner == "p3"
    assert [meeting.round for meeting in earlier_meetings] == [1]


def test_rounds_outside_the_window_are_not_shown():
    first = after_rounds(["CDCC", "CCCC"], mechanism="reputation_higher_order", history_depth=1)
    second = after_rounds(["CCCC", "CCCC"], mechanism="reputation_higher_order", history_depth=1)
    assert seen(first, "p1") == seen(second, "p1")


def test_history_depth_zero_shows_nothing():
    for mechanism in ("repetition", "reputation_first_order", "reputation_higher_order"):
        config = {"mechanism": mechanism, "history_depth": 0}
        rounds = ("CDCC", "DDDD") if mechanism != "repetition" else ("CD", "DD")
        first, second = after_rounds([rounds[0]], **config), after_rounds([rounds[1]], **config)
        assert seen(first, "p1") == seen(second, "p1")


def test_schedule_is_hidden():
    other_schedule = [SCHEDULE[0], SCHEDULE[0], SCHEDULE[1]]
    first = after_rounds([], mechanism="reputation_first_order")
    second = after_rounds([], mechanism="reputation_first_order", schedule=other_schedule)
    assert all(seen(first, role) == seen(second, role) for role in first.game.roles())


MATCHINGS = [[["p1", a], ["p3", b], ["p5", c]] for a, b, c in permutations(("p2", "p4", "p6"))]
ACTIONS = list(product("CD", repeat=6))


@settings(max_examples=examples(40))
@given(
    schedule=st.lists(st.sampled_from(MATCHINGS), min_size=3, max_size=3),
    rounds=st.lists(st.sampled_from(ACTIONS), min_size=2, max_size=2),
    changed=st.tuples(st.integers(0, 1), st.integers(0, 5)),
    depth=st.integers(0, 3),
    role=st.sampled_from([f"p{number}" for number in range(1, 7)]),
)
def test_first_order_hides_matches_of_strangers(schedule, rounds, changed, depth, role):
    number, seat = changed
    changed_rounds = [list(actions) for actions in rounds]
    changed_rounds[number][seat] = "D" if changed_rounds[number][seat] == "C" else "C"
    config = {"population": 3, "schedule": schedule, "history_depth": depth}
    first_order, higher_order = "reputation_first_order", "reputation_higher_order"
    play, changed_play = (
        after_rounds(actions_by_round, mechanism=first_order, **config) for actions_by_round in (rounds, changed_rounds)
    )
    higher_play, higher_changed_play = (
        after_rounds(actions_by_round, mechanism=higher_order, **config)
        for actions_by_round in (rounds, changed_rounds)
    )
    changed_group = next(group for group in schedule[number] if f"p{seat + 1}" in group)
    if not set(changed_group) & set(play.state.group(role)):
        assert seen(play, role) == seen(changed_play, role)
    # Higher order also shows everything that first order shows.
    if seen(play, role) != seen(changed_play, role):
        assert seen(higher_play, role) != seen(higher_changed_play, role)


@settings(max_examples=examples(30))
@given(
    same_matchings=st.lists(st.sampled_from(MATCHINGS), min_size=1, max_size=2),
    later_matchings=st.tuples(*[st.sampled_from(MATCHINGS)] * 2, *[st.sampled_from(MATCHINGS)] * 2),
    mechanism=st.sampled_from(["reputation_first_order", "reputation_higher_order"]),
    role=st.sampled_from([f"p{number}" for number in range(1, 7)]),
)
def test_later_matchings_are_hidden(same_matchings, later_matchings, mechanism, role):
    config = {"population": 3, "mechanism": mechanism}
    rounds = ["CDCDCC"] * (len(same_matchings) - 1)
    first = after_rounds(rounds, **config, schedule=[*same_matchings, *later_matchings[:2]])
    second = after_rounds(rounds, **config, schedule=[*same_matchings, *later_matchings[2:]])
    assert seen(first, role) == seen(second, role)


def test_published_stopping_hides_the_number_of_rounds():
    for role in ("p1", "p2"):
        plays = [
            start(configure(SocialDilemma, {"mechanism": "repetition", "stopping": "published", "rounds": t}), 1)[0]
            for t in (3, 9)
        ]
        assert seen(plays[0], role) == seen(plays[1], role)


def instructions(**config):
    return configure(SocialDilemma, config).instructions("p1")


def test_published_stopping_tells_the_chance_alone():
    text = instructions(mechanism="repetition", stopping="published")
    assert "a chance of 80%" in text
    assert text.count("80%") == 1


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"matching": "random"}, "drawn at random in every round"),
        ({"matching": "rotation"}, "in a fixed order"),
        ({"population": 2, "rounds": 3, "schedule": SCHEDULE}, "fixed before the first round"),
    ],
)
def test_instructions_say_how_partners_are_matched(config, told):
    assert told in instructions(mechanism="reputation_first_order", **config)


def test_seat_is_a_player_wherever_people_may_sit():
    assert "Agent" not in instructions(mechanism="reputation_first_order")
    assert "Agent" in instructions(mechanism="reputation_first_order", stopping="published")


def test_interchangeable_co_players_get_a_short_table():
    def points(**config):
        game = configure(SocialDilemma, config)
        play, _events = start(game, 1)
        return next(block for block in play.view("p2") if block.key == "points")

    short = points(base_game="public_goods")
    assert short.columns[1:] == tuple(f"Others: {actions}" for actions in ("A0, A0", "A0, A1", "A1, A1"))
    assert short.rows[1] == ("A1", "you 2, others 1, 1", "you 1.5, others 0.5, 1.5", "you 1, others 1, 1")
    payoffs = {f"{a},{b},{c}": [a, b, c] for a, b, c in product((0, 1), repeat=3)}
    alike = points(base_game="custom", custom_game={"actions": [2, 2, 2], "payoffs": payoffs})
    assert len(alike.rows) == 2
    unlike = {**payoffs, "0,0,1": [9, 0, 1]}
    assert len(points(base_game="custom", custom_game={"actions": [2, 2, 2], "payoffs": unlike}).rows) == 8


def test_cards_describe_partners_earlier_choices():
    play = after_rounds(["CDCC", "CCCC"], mechanism="reputation_higher_order")
    (block,) = (block for block in play.view("p1") if block.key == "history_p2")
    headings = [row[4] for row in block.rows]
    assert headings == ["Earlier rounds of Player 2"] * 4 + [headings[4]] * 2
    assert "Player 3" in headings[4] and "before round 2" in headings[4]
    assert [row[:4] for row in block.rows[4:]] == [(1, "Player 3", "A0", "2"), (1, "Player 4", "A0", "2")]


def test_result_lists_every_own_round():
    play = after_rounds(["CDCC", "CCCC", "CCCC"], mechanism="reputation_higher_order", history_depth=1)
    ((_role, meetings),) = histories(play.game, play.state, "p1")
    assert play.over and [meeting.round for meeting in meetings] == [3, 2, 1]
    assert [meeting.round for meeting in meetings[-1].earlier] == []
