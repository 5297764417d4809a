"""Tests of playing a match against the kernel's specification."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.errors import BadConfig, LogMismatch, Refused, UnknownGame
from games.interface import Config, Event, Facts, Form, Message, Move, NoMessage, Turn
from games.play import (
    OwnMove,
    Play,
    abandon,
    check,
    configure,
    ends_turn,
    plain_move,
    record_moves,
    replay_events,
    replay_moves,
    restore,
    script_move,
    snapshot,
    start,
    story,
    submit,
    use_tool,
)
from games.registry import get
from games.tests.toys import ClockAuction, Guessing, Well


def play_after(game: Any, seed: int, *moves: tuple[str, dict[str, Any]]) -> tuple[Play, list[Event]]:
    """Return a match after some moves, with its log."""
    play, events = replay_moves(game, seed, moves)
    return play, list(events)


def guessing(**config: Any) -> Any:
    return configure(Guessing, {"players": 2, **config})


def auction(**config: Any) -> Any:
    return configure(ClockAuction, {"bidders": 3, **config})


def well(**config: Any) -> Any:
    return configure(Well, {"periods": 2, "highest_flow": 1, **config})


class FirstCome(Guessing):
    """A guessing game in which the first answer closes the run."""

    def turn(self, state: Any) -> Turn | None:
        turn = super().turn(state)
        return None if turn is None else replace(turn, closes="first")

    def apply(self, state: Any, moves: Any, chance: Any) -> Any:
        return replace(state, answers=(*state.answers, {role: move.answer for role, move in moves.items()}))

    def payoffs(self, state: Any) -> Any:
        return {role: float(sum(role in answers for answers in state.answers)) for role in self.roles()}


# ---- turns -------------------------------------------------------------------------------------


def test_match_starts_with_draws_and_open_turns():
    play, events = start(auction(), 7)
    assert events[0].as_dict() == {"number": 1, "kind": "start", "game": "clock_auction", "rules_version": 1, "seed": 7}
    assert [(event.kind, event.data["name"], event.data["known_to"]) for event in events[1:]] == [
        ("draw", "value of a", ["a"]),
        ("draw", "value of b", ["b"]),
        ("draw", "value of c", ["c"]),
    ]
    assert play.waiting_for() == ("a", "b", "c")
    assert play.opened == {"a": 4, "b": 4, "c": 4}


def test_move_stays_sealed_until_everybody_has_moved():
    opening, _events = start(guessing(), 1)
    sealed, events = submit(opening, "player_2", {"answer": 30})
    assert [event.kind for event in events] == ["move"]
    assert sealed.waiting_for() == ("player_1",)
    assert sealed.view("player_1") == opening.view("player_1")
    assert sealed.opened == opening.opened
    assert sealed.state == opening.state
    assert sealed.forms("player_2") == ()
    opened, _events = submit(sealed, "player_1", {"answer": 10})
    assert opened.state.answers == ({"player_1": 10.0, "player_2": 30.0},)
    assert opened.sealed == {}
    assert opened.waiting_for() == ("player_1", "player_2")
    assert opened.opened == {"player_1": 3, "player_2": 3}


def test_order_of_sealed_moves_changes_only_the_log():
    moves = [("player_1", {"answer": 10}), ("player_2", {"answer": 30})]
    in_order, _events = play_after(guessing(), 1, *moves)
    reversed_order, _events = play_after(guessing(), 1, *reversed(moves))
    assert in_order.state == reversed_order.state


def test_first_move_closes_a_turn_with_closes_first():
    play, _events = start(configure(FirstCome, {"players": 3}), 1)
    after, events = submit(play, "player_3", {"answer": 1})
    assert after.state.answers == ({"player_3": 1.0},)
    assert after.opened == dict.fromkeys(("player_1", "player_2", "player_3"), events[-1].number)


def test_only_remaining_bidders_are_asked():
    play, _events = play_after(auction(), 3, ("a", {"stay": "stay"}), ("b", {"stay": "drop"}), ("c", {"stay": "stay"}))
    assert play.waiting_for() == ("a", "c")
    with pytest.raises(Refused, match="not your turn"):
        submit(play, "b", {"stay": "stay"})


def test_tie_depends_on_the_seed_and_is_logged():
    drops = [(role, {"stay": "drop"}) for role in "abc"]
    winners = set()
    for seed in range(20):
        play, events = play_after(auction(), seed, *drops)
        repeated, _events = play_after(auction(), seed, *drops)
        assert play.state.winner == repeated.state.winner
        tie_draw = next(event for event in events if event.data.get("name") == "tie")
        assert tie_draw.data == {"name": "tie", "value": play.state.winner, "known_to": None}
        winners.add(play.state.winner)
    assert winners == {"a", "b", "c"}


def test_note_is_applied_at_once_and_leaves_the_turn_open():
    opening, _events = start(well(), 1)
    after, events = submit(opening, "keeper", {"note": "try 1"})
    assert after.state.notes == ("try 1",)
    assert after.waiting_for() == ("keeper",)
    assert after.opened["keeper"] == events[-1].number > opening.opened["keeper"]
    assert not ends_turn(opening, "keeper", {"note": "try 1"})
    assert ends_turn(opening, "keeper", {"amount": 1})


def test_note_does_not_affect_others_turns_or_sealed_moves():
    class Diary(Move):
        diary: str

    class WithDiary(Guessing):
        def turn(self, state: Any) -> Turn | None:
            turn = super().turn(state)
            diary = Form("diary", "Diary", Diary, ends_turn=False)
            return turn and replace(turn, forms={role: (*forms, diary) for role, forms in turn.forms.items()})

        def refuse(self, state: Any, role: str, move: Any) -> str | None:
            return None

        def apply(self, state: Any, moves: Any, chance: Any) -> Any:
            return state

    play, _events = start(configure(WithDiary, {"players": 3}), 1)
    play, _events = submit(play, "player_1", {"answer": 5})
    after_note, _events = submit(play, "player_2", {"diary": "hm"})
    assert after_note.sealed == play.sealed
    assert after_note.waiting_for() == ("player_2", "player_3")
    assert {role: after_note.opened[role] == play.opened[role] for role in play.opened} == {
        "player_1": True,
        "player_2": False,
        "player_3": True,
    }


def test_end_event_has_payoffs_and_metrics():
    play, events = play_after(well(), 1, ("keeper", {"amount": 1}), ("keeper", {"amount": 5}))
    assert play.over and play.finished and play.waiting_for() == ()
    assert events[-1].kind == "end"
    assert events[-1].data == {"payoffs": {"keeper": 1.0}, "metrics": {"score": 0.5}}
    assert play.payoffs() == {"keeper": 1.0}


def test_no_payoffs_or_metrics_before_the_end():
    play, _events = start(guessing(), 1)
    assert play.payoffs() == {"player_1": None, "player_2": None}
    assert play.metrics() == {}


def test_abandoned_match_is_over_without_a_result():
    play, events = start(guessing(), 1)
    play, new_events = abandon(play, "timed_out", "player_1")
    assert new_events[0].as_dict() == {"number": 2, "kind": "abandoned", "reason": "timed_out", "role": "player_1"}
    assert play.over and not play.finished
    assert play.waiting_for() == () and play.forms("player_1") == ()
    assert play.payoffs() == {"player_1": None, "player_2": None}
    for call in (lambda: submit(play, "player_1", {"answer": 1}), lambda: abandon(play, "again")):
        with pytest.raises(Refused, match="over"):
            call()
    assert replay_events(play.game, [*events, *new_events]) == play


def test_log_records_who_made_a_move():
    play, events = start(well(), 1)
    play, new_events = submit(play, "keeper", {"amount": 0}, by="clock")
    assert new_events[0].data == {"role": "keeper", "move": {"amount": 0}, "by": "clock"}
    assert replay_events(play.game, [*events, *new_events]) == play


def test_omitted_optional_fields_are_not_logged():
    play, _events = start(auction(), 1)
    for message in (None, ""):
        _after, events = submit(play, "a", {"stay": "drop", "message": message})
        assert events[0].data["move"] == {"stay": "drop"}


# ---- refusals ----------------------------------------------------------------------------------

NOT_OBJECTS = [None, True, 3, 1.5, "drop", ["drop"], []]


@pytest.mark.parametrize("move", NOT_OBJECTS, ids=repr)
def test_move_must_be_an_object(move):
    play, _events = start(guessing(), 1)
    with pytest.raises(Refused, match="must be a JSON object"):
        submit(play, "player_1", move)


@pytest.mark.parametrize(
    ("move", "reason", "field"),
    [
        ({}, "is required", "answer"),
        ({"answer": 5, "more": 1}, "is unknown", "more"),
        *(({"answer": value}, "must be a number", "answer") for value in ("5", None, True, [5])),
        *(({"answer": value}, "must be a finite number", "answer") for value in (math.nan, math.inf)),
        ({"answer": -1}, "must be at least 0", "answer"),
        ({"answer": 101}, "At most 100", None),
    ],
    ids=lambda value: repr(value) if isinstance(value, dict) else "",
)
def test_refusal_names_the_field_and_the_reason(move, reason, field):
    play, _events = start(guessing(), 1)
    with pytest.raises(Refused) as refusal:
        submit(play, "player_1", move)
    name, on_page = {"answer": ("Your number (answer) ", "“Your number” "), "more": ("“more” ",) * 2, None: ("", "")}[
        field
    ]
    assert (str(refusal.value), refusal.value.field) == (f"{name}{reason}.", field)
    assert refusal.value.plain in (f"{on_page}{reason}.", f"{on_page}{reason}, for example 12.5.")


def test_page_refusal_uses_the_label_and_gives_an_example():
    game = configure(get("bargaining"), {})
    play, _events = start(game, 1)
    with pytest.raises(Refused) as refusal:
        submit(play, "alice", {"alice_gain": "half", "bob_gain": 5000})
    assert str(refusal.value).startswith("Alice gets (alice_gain) ")
    assert refusal.value.plain.startswith("“You get” ") and "12.5" in refusal.value.plain


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        *(({"amount": value}, "Amount.*whole number") for value in (1.5, 2.0, False, {"a": 1})),
        ({"note": "x" * 201}, "Note.*at most 200"),
        ({"note": "a\x00b"}, "Note.*a character"),
        ({"note": "\ud800"}, "could not be read"),
        ({"amount": 10**400}, "could not be read"),
    ],
    ids=lambda value: "",
)
def test_whole_numbers_and_texts_are_checked(move, reason):
    play, _events = start(configure(Well, {}), 1)
    with pytest.raises(Refused, match=reason):
        submit(play, "keeper", move)


def test_second_move_and_unknown_role_are_refused():
    play, _events = start(guessing(), 1)
    play, _events = submit(play, "player_1", {"answer": 1})
    with pytest.raises(Refused, match="already moved"):
        submit(play, "player_1", {"answer": 2})
    with pytest.raises(Refused, match="no role “player_9”"):
        submit(play, "player_9", {"answer": 2})


def test_data_that_is_not_json_is_refused():
    play, _events = start(guessing(), 1)
    recursive: dict[str, Any] = {}
    recursive["answer"] = recursive
    for move in ({"answer": {1, 2}}, {"answer": object()}, recursive):
        with pytest.raises(Refused, match="could not be read"):
            submit(play, "player_1", move)


def test_message_is_refused_if_messages_are_not_allowed():
    class Quiet(Move):
        stay: str
        message: NoMessage = None

    assert "message" not in Quiet.model_json_schema()["properties"]
    assert plain_move(Quiet.model_validate_json('{"stay": "stay", "message": ""}')) == {"stay": "stay"}
    with pytest.raises(ValueError, match="played without messages"):
        Quiet.model_validate_json('{"stay": "stay", "message": "hello"}')


@given(st.text(max_size=50).filter(lambda text: text and "\x00" not in text))
def test_messages_are_stored_unchanged(text):
    class Saying(Move):
        message: Message = None

    try:
        stored = json.dumps({"message": text}).encode().decode()
        move = Saying.model_validate_json(stored)
    except ValueError:
        assert any(0xD800 <= ord(letter) <= 0xDFFF for letter in text)
    else:
        assert move.message == text


def test_message_has_a_maximum_length():
    play, _events = start(auction(), 1)
    submit(play, "a", {"stay": "stay", "message": "x" * 2000})
    with pytest.raises(Refused, match=r"Message.*at most 2000"):
        submit(play, "a", {"stay": "stay", "message": "x" * 2001})


def test_refusal_changes_nothing():
    play, _events = start(guessing(), 1)
    before = snapshot(play)
    for move in ({"answer": -1}, {"answer": 1000}, {}, None):
        with pytest.raises(Refused):
            submit(play, "player_1", move)
    assert snapshot(play) == before


def test_keys_of_a_move_identify_its_form():
    play, _events = start(well(), 1)
    assert check(play, "keeper", {"amount": 1})[0].name == "pump"
    assert check(play, "keeper", {"note": "x"})[0].name == "note"
    with pytest.raises(Refused, match="is unknown"):
        check(play, "keeper", {"note": "x", "amount": 1})


# ---- configurations ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"playrs": 3}, "playrs"), ({"players": 1}, "must be at least 2"),
        ({"players": True}, "must be a whole number"), ({"players": "3"}, "must be a whole number"),
        ({"fraction": 1}, "must be less than 1"), ({"upper": math.nan}, "must be a finite number"),
        ({"upper": math.inf}, "must be a finite number"), ({"upper": 10**400}, "too large"),
        ({"show_history": 1}, "must be true or false"),
    ],
    ids=str,
)  # fmt: skip
def test_invalid_configuration_error_names_key_and_problem(config, problem):
    with pytest.raises(BadConfig, match="guessing") as error:
        configure(Guessing, config)
    assert problem in str(error.value)
    assert problem == "too large" or next(iter(config)) in str(error.value)
    assert "\n" not in str(error.value)


def test_all_configuration_errors_are_named_at_once():
    with pytest.raises(BadConfig) as error:
        configure(Guessing, {"players": 1, "runs": 0})
    assert "players" in str(error.value) and "runs" in str(error.value)


def test_violated_rule_between_keys_is_a_configuration_error():
    from pydantic import model_validator

    class Paired(Config):
        low: int = 0
        high: int = 1

        @model_validator(mode="after")
        def ordered(self) -> Paired:
            if self.low > self.high:
                raise ValueError("low must not exceed high")
            return self

    class PairedGame(Guessing):
        Config = Paired

    with pytest.raises(BadConfig, match="low must not exceed high"):
        configure(PairedGame, {"low": 5})


# ---- tools -------------------------------------------------------------------------------------


def test_tools_answer_and_change_nothing():
    play, _events = play_after(configure(Well, {"periods": 5, "highest_flow": 1}), 1, ("keeper", {"amount": 1}))
    before = snapshot(play)
    assert use_tool(play, "keeper", "get_yields", {}) == [1]
    assert use_tool(play, "keeper", "get_yield", {"period": 1}) == 1
    assert use_tool(play, "keeper", "get_yield", {"period": 4}) is None
    assert snapshot(play) == before


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("dig", {}, "“dig”.*get_yields, get_yield"), ("get_yield", {}, "Period is required"),
        ("get_yield", {"period": 0}, "at least 1"), ("get_yield", {"period": True}, "whole number"),
        ("get_yields", {"period": 1}, "is unknown"), ("get_yields", [], "could not be read"),
    ],
)  # fmt: skip
def test_invalid_tool_call_is_refused(name, arguments, reason):
    play, _events = start(well(), 1)
    with pytest.raises(Refused, match=reason):
        use_tool(play, "keeper", name, arguments)


# ---- replaying ---------------------------------------------------------------------------------

DROPS = [("b", {"stay": "drop"}), ("a", {"stay": "stay", "message": "mine"}), ("c", {"stay": "drop"})]


def test_log_replays_to_the_same_play():
    play, events = play_after(auction(), 5, *DROPS)
    assert play.finished
    assert replay_events(play.game, events) == play


@pytest.mark.parametrize(
    "tamper",
    [
        lambda log: [],
        lambda log: log[1:],
        lambda log: log[:-1],
        lambda log: [*log, log[-1]],
        lambda log: _with(log, "end", payoffs={"a": 1000.0, "b": 0.0, "c": 0.0}),
        lambda log: _with(log, "end", metrics={}),
        lambda log: _with(log, "draw", value=10**6),
        lambda log: _with(log, "draw", known_to=None),
        lambda log: _with(log, "move", role="c"),
        lambda log: _with(log, "move", move={"stay": "perhaps"}),
        lambda log: _with(log, "start", seed=6),
        lambda log: _with(log, "start", rules_version=99),
        lambda log: [replace(event, number=event.number + 1) for event in log],
    ],
)
def test_altered_log_is_detected(tamper):
    play, events = play_after(auction(), 5, *DROPS)
    with pytest.raises(LogMismatch):
        replay_events(play.game, tamper(events))


def _with(log: list[Event], kind: str, **data: Any) -> list[Event]:
    """Return the log with other data in the first event of this kind."""
    index = next(index for index, event in enumerate(log) if event.kind == kind)
    return [*log[:index], replace(log[index], data={**log[index].data, **data}), *log[index + 1 :]]


def test_illegal_replayed_move_is_named_with_number_and_role():
    with pytest.raises(Refused) as refusal:
        replay_moves(guessing(), 1, [("player_1", {"answer": 1}), ("player_2", {"answer": -3})])
    assert str(refusal.value).startswith("Move 2 by player_2: Your number (answer) ")


def test_restored_snapshot_of_a_sealed_turn_continues_identically():
    play, _events = play_after(auction(), 5, *DROPS[:2])
    restored = restore(play.game, json.loads(json.dumps(snapshot(play))))
    assert restored == play
    assert submit(restored, *DROPS[2]) == submit(play, *DROPS[2])


# ---- what a role learns ------------------------------------------------------------------------


def test_story_lists_own_moves_and_notices_in_order():
    play, events = play_after(
        guessing(runs=2),
        1,
        ("player_2", {"answer": 30}),
        ("player_1", {"answer": 10}),
        ("player_1", {"answer": 7}),
    )
    first, notices, second = story(play, events, "player_1")
    assert isinstance(first, OwnMove) and (first.number, first.move) == (3, {"answer": 10.0})
    assert [form.name for form in first.forms] == ["guess"]
    assert isinstance(notices, tuple) and isinstance(notices[0], Facts)
    assert isinstance(second, OwnMove) and second.move == {"answer": 7.0}
    assert [type(entry) for entry in story(play, events, "player_2")] == [OwnMove, tuple]


def test_sealed_move_gives_no_notice():
    play, events = play_after(guessing(), 1, ("player_2", {"answer": 30}))
    assert story(play, events, "player_1") == []


def test_note_is_part_of_the_story():
    play, events = play_after(well(), 1, ("keeper", {"note": "hm"}), ("keeper", {"amount": 1}))
    assert [entry.move for entry in story(play, events, "keeper") if isinstance(entry, OwnMove)] == [
        {"note": "hm"},
        {"amount": 1},
    ]


# ---- randomness --------------------------------------------------------------------------------------


def test_draws_depend_only_on_seed_step_and_name():
    def values(seed: int) -> dict[str, int]:
        return start(auction(highest_value=100), seed)[0].state.values

    assert values(1) == values(1) != values(2)
    fewer = start(configure(ClockAuction, {"bidders": 2, "highest_value": 100}), 1)[0].state.values
    assert fewer.items() <= values(1).items()


def test_redrawing_keeps_what_the_role_knows():
    def values(redrawn_for: str | None) -> dict[str, int]:
        return start(auction(highest_value=100), 1, redraw_unknown_to=redrawn_for)[0].state.values

    assert values("a")["a"] == values(None)["a"]
    assert values("a")["b"] != values(None)["b"]


def test_repeated_draw_name_in_one_step_is_an_error():
    class Twice(ClockAuction):
        def setup(self, chance: Any) -> Any:
            super().setup(chance)
            return super().setup(chance)

    with pytest.raises(ValueError, match="drawn twice"):
        start(configure(Twice, {}), 1)


# ---- scripts -----------------------------------------------------------------------------------


def test_script_move_depends_only_on_seed_role_and_turn():
    play, _events = start(guessing(), 1)
    first = script_move(play, "player_1", "random")
    assert script_move(play, "player_1", "random") == first
    assert script_move(play, "player_2", "random") != first
    later, _events = play_after(guessing(), 1, ("player_1", {"answer": 1}), ("player_2", {"answer": 1}))
    assert script_move(later, "player_1", "random") != first


def test_sealed_moves_do_not_affect_scripts():
    play, _events = start(guessing(), 1)
    sealed, _events = submit(play, "player_2", {"answer": 99})
    assert script_move(sealed, "player_1", "random") == script_move(play, "player_1", "random")


def test_unknown_script_error_lists_existing_scripts():
    play, _events = start(guessing(), 1)
    with pytest.raises(UnknownGame, match=r"“clever”.*random, zero"):
        script_move(play, "player_1", "clever")


# ---- matches played elsewhere ------------------------------------------------------------------


def bargaining(**config: Any) -> Any:
    return configure(get("bargaining"), {"money": 100, **config})


def test_legal_recorded_match_equals_its_replay():
    moves = [("alice", {"alice_gain": 60, "bob_gain": 40}), ("bob", {"decision": "accept"})]
    game = bargaining()
    play, events, refusal = record_moves(game, 3, moves)
    assert refusal is None
    assert (play, events) == replay_moves(game, 3, moves)


@pytest.mark.parametrize(
    "offer",
    [
        {"alice_gain": 60, "bob_gain": 60},
        {"alice_gain": 120, "bob_gain": -20},
        {"alice_gain": 60, "bob_gain": 40, "message": "m" * 2001},
    ],
)
def test_recorded_move_beyond_a_limit_is_kept_and_named(offer):
    play, events, refusal = record_moves(bargaining(), 3, [("alice", offer), ("bob", {"decision": "accept"})])
    assert play.finished
    assert play.payoffs() == {"alice": offer["alice_gain"], "bob": offer["bob_gain"]}
    assert events[1].data["move"] == offer
    assert refusal is not None
    assert refusal.startswith("Move 1 by alice: ")


@pytest.mark.parametrize(
    ("role", "move"),
    [
        ("bob", {"decision": "accept"}), ("alice", {"decision": "accept"}),
        ("alice", {"alice_gain": "sixty", "bob_gain": 40}), ("alice", {"alice_gain": math.nan, "bob_gain": 40}),
        ("alice", {}),
    ],
)  # fmt: skip
def test_unreadable_or_untimely_move_is_not_recorded(role, move):
    with pytest.raises(Refused, match=f"Move 1 by {role}: "):
        record_moves(bargaining(), 3, [(role, move)])
