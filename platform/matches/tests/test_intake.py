"""A page's input is taken as a move; a legal but unusual move only after the player confirms it."""

from __future__ import annotations

import json
from concurrent.futures import Future
from datetime import timedelta

import pytest
from django.utils import timezone, translation

from games.play import replay_events
from matches import channels, forms, intake, screens, services
from matches.models import Event, Match, Seat
from matches.tests.kit import opened

pytestmark = pytest.mark.django_db


def seat(**config) -> Seat:
    """Return a participant's seat in a contest up to 100, against an agent that no worker runs."""
    players = {"p1": "person", "p2": services.Player(agent="script:random", delay=9)}
    return opened(players, game="beauty_contest", config={"players": 2, **config}).seats.get(role="p1")


def moves() -> int:
    return Event.objects.filter(kind="move").count()


def posted_fields(**fields: str) -> dict[str, str]:
    return {"answering": "1", "!form": "answer", **fields}


def test_move_with_warning_needs_confirmation():
    p1_seat = seat(people_may_foul=True)
    outcome = intake.handle_move(p1_seat, posted_fields(answer="150"))
    assert (outcome["type"], outcome["form"]) == ("warning", "answer") and outcome["words"]
    assert moves() == 0
    assert intake.handle_move(p1_seat, posted_fields(answer="150", **{forms.CONFIRMED: "yes"}))["type"] == "taken"
    assert Event.objects.get(kind="move").data["move"] == {"answer": 150.0}
    assert intake.handle_move(seat(people_may_foul=True), posted_fields(answer="50"))["type"] == "taken"


def test_page_refuses_moves_that_must_not_be_sent():
    p1_seat = seat(people_may_foul=False)
    outcome = intake.handle_move(p1_seat, posted_fields(answer="150", **{forms.CONFIRMED: "yes"}))
    assert outcome["type"] == "refused" and moves() == 0


def test_page_without_script_asks_and_keeps_entries():
    p1_seat = seat(people_may_foul=True)
    posted = posted_fields(answer="150")
    outcome = intake.handle_move(p1_seat, posted)
    errors = {forms.CONFIRMED + outcome["form"]: outcome["words"]}
    page = screens.render_screen(p1_seat.match.play(), "p1", posted=posted, errors=errors)
    assert 'value="150"' in page and outcome["words"] in page
    assert page.index("data-warning") < page.index('name="!sure"')
    assert 'data-warning role="alert" hidden' not in page


def test_page_without_script_confirms_a_button_that_chose_none():
    players = {"p1": "person", "p2": services.Player(agent="script:rational", delay=9)}
    match = opened(players, game="english_auction", config={"players": 2})
    p1_seat, question = match.seats.get(role="p1"), str(match.open_turns()["p1"].answering)
    posted = {"answering": question, "!form": "bid", "bid!none": "true"}
    outcome = intake.handle_move(p1_seat, posted)
    assert (outcome["type"], outcome["button"]) == ("warning", "Drop out for good")
    page = screens.render_screen(match.play(), "p1", posted=posted, errors={"!surebid": outcome["words"]})
    assert 'name="!sure" value="bid!none"' in page
    answer = {"answering": question, "!form": "bid", "bid": "", "!sure": "bid!none"}
    assert intake.handle_move(p1_seat, answer)["type"] == "taken"
    assert Event.objects.get(kind="move", role="p1").data["move"] == {"bid": None}


def seller_seat() -> Seat:
    """Return the seat of a participant who names a price."""
    players = {"alice": "person", "bob": services.Player(agent="script:random", delay=9)}
    return opened(players, game="negotiation").seats.get(role="alice")


def price(typed: str, **fields: str) -> dict[str, str]:
    return {"answering": "1", "!form": "offer", "price": typed, **fields}


@pytest.mark.parametrize("typed", ["12.500", " $12.500 "])
def test_number_with_a_doubtful_point_is_asked_about(typed):
    seller = seller_seat()
    question = intake.handle_move(seller, price(typed))
    assert (question["type"], question["button"], moves()) == ("warning", "Send 12.5", 0)
    assert "12.500, which is read as 12.5 (12 point 5)." in question["words"]
    assert "If you mean 12,500 (12 thousand 500), write 12500." in question["words"]
    assert intake.handle_move(seller, price(typed, **{forms.CONFIRMED: "yes"}))["type"] == "taken"
    warned = Event.objects.get(kind="move").warned
    assert warned == {"shown": [question["words"]], "confirmed": True}


def test_numbers_are_read_by_the_pages_language():
    seller = seller_seat()
    with translation.override("de"):
        assert intake.handle_move(seller, price("12.500"))["type"] == "taken"
    assert Event.objects.get(kind="move").data["move"] == {"price": 12500}


@pytest.mark.parametrize("typed", ["12,500", "12500", "12500.125", "12.500,50", "12 500"])
def test_clear_number_is_not_asked_about(typed):
    assert intake.handle_move(seller_seat(), price(typed))["type"] == "taken"
    assert Event.objects.get(kind="move").warned is None


def test_number_far_from_all_before_is_asked_about_and_what_was_shown_is_recorded():
    seller = seller_seat()
    question = intake.handle_move(seller, price("125000"))
    assert question["words"].startswith("125,000 is at least ten times")
    assert intake.handle_move(seller, price("12500"))["type"] == "taken"
    assert Event.objects.get(kind="move").warned == {"shown": [question["words"]], "confirmed": False}


def test_number_is_not_asked_about_if_its_other_reading_is_against_the_rules():
    assert intake.handle_move(seat(people_may_foul=False), posted_fields(answer="55.000"))["type"] == "taken"


@pytest.mark.parametrize(
    ("age", "seconds"), [("1500", 1.5), ("0", 0), ("", 0), ("-5", 0), ("x", 0), ("²", 0), ("9" * 99, 86_400)]
)
def test_move_tells_when_it_was_made(monkeypatch, age, seconds):
    told = []
    monkeypatch.setattr(services, "submit_move", lambda **given: told.append(given["made_at"]) or Made())
    now = timezone.now()
    intake.handle_move(seat(), posted_fields(answer="50", **{forms.AGE: age}))
    assert abs(now - told[0] - timedelta(seconds=seconds)) < timedelta(seconds=5)


class Made:
    last, over = 2, False


def test_answer_of_the_clock_is_not_the_participants():
    p1_seat = seat()
    services.submit_move(match_id=p1_seat.match_id, role="p1", answering=1, move={"answer": 50}, by="clock")
    assert "moved on" in intake.handle_move(p1_seat, posted_fields(answer="50"))["reason"]


@pytest.mark.parametrize(
    ("posted", "kept"),
    [
        ('{"situation": 1200, "history": 0}', {"situation": 1200, "history": 0}),
        ("", None),
        ("{}", None),
        ("not JSON", None),
        ('{"situation": -1}', None),
        ('{"<b>": 5}', None),
        ('{"situation": 1e12}', None),
    ],
)
def test_time_in_sight_is_recorded_with_the_move(posted, kept):
    assert intake.handle_move(seat(), posted_fields(answer="50", **{forms.SIGHT: posted}))["type"] == "taken"
    assert Event.objects.get(kind="move").sight == kept


@pytest.mark.parametrize(
    ("posted", "kept"),
    [
        ('[[9, "answer", 40], [15, "!copy", 2]]', [[9, "answer", 40], [15, "!copy", 2]]),
        ('[[9, "answer", null]]', [[9, "answer", None]]),
        ('[[900, "my name is Jo", 1], [950, "answer", 7.5]]', [[950, "answer", 7.5]]),
        ("[]", None),
        ("", None),
        ('[[900, "answer", "Jo"]]', None),
        ('[[900, "answer", NaN]]', None),
        ('[[-1, "answer", 3]]', None),
        (json.dumps([[1, "answer", 1]] * 201), None),
    ],
)  # fmt: skip
def test_what_was_tried_is_recorded_as_numbers_of_the_forms_own_controls(posted, kept):
    assert intake.handle_move(seat(), posted_fields(answer="50", **{forms.TRIES: posted}))["type"] == "taken"
    assert Event.objects.get(kind="move").tries == kept


def two_seats() -> tuple[Seat, Seat]:
    """Return the seats of two participants in a contest of two runs."""
    match = opened({"p1": "person", "p2": "person"}, game="beauty_contest", config={"players": 2, "runs": 2})
    first, second = match.seats.order_by("role")
    return first, second


def test_a_sealed_answer_can_be_replaced_until_everybody_has_answered():
    first, second = two_seats()
    assert intake.handle_move(first, posted_fields(answer="50"))["type"] == "taken"
    change = posted_fields(answer="40", **{forms.REPLACES: "2"})
    assert intake.handle_move(first, change)["type"] == "taken"
    assert intake.handle_move(first, change) == {"type": "taken", "last": 3, "over": False, "again": True}
    assert intake.handle_move(first, {**change, "answer": "30"})["type"] == "stale", "it replaces what is replaced"
    assert intake.handle_move(first, posted_fields(answer="50"))["again"], "the first one was delivered twice"
    assert intake.handle_move(second, posted_fields(answer="20"))["type"] == "taken"
    match = Match.objects.get(pk=first.match_id)
    logged = [
        (event.number, event.role, event.data["move"]["answer"])
        for event in match.events.filter(kind="move").order_by("number")
    ]
    assert logged == [(2, "p1", 50.0), (3, "p1", 40.0), (4, "p2", 20.0)]
    assert match.events.get(number=3).asked_at == match.events.get(number=2).asked_at
    assert match.play().state.runs == ((40.0, 20.0),)
    assert replay_events(match.configured(), match.log()).state == match.play().state
    late = intake.handle_move(first, posted_fields(answer="10", **{forms.REPLACES: "3"}))
    assert late["type"] == "stale" and match.play().state.runs == ((40.0, 20.0),)


def test_nobody_else_is_told_that_an_answer_was_replaced(monkeypatch, django_capture_on_commit_callbacks):
    first, _second = two_seats()
    intake.handle_move(first, posted_fields(answer="50"))
    sent = []
    monkeypatch.setattr(channels, "send_to_pages", lambda match, message: sent.append(message) or Future())
    before = screens.frame(Match.objects.get(pk=first.match_id), "p2")
    with django_capture_on_commit_callbacks(execute=True):
        intake.handle_move(first, posted_fields(answer="40", **{forms.REPLACES: "2"}))
    assert [(message["type"], list(message["frames"])) for message in sent] == [("match.moved", ["p1"])]
    after = screens.frame(Match.objects.get(pk=first.match_id), "p2")
    assert before["html"] == after["html"] and "Change my answer" not in after["html"]


def test_the_page_offers_to_change_ones_own_answer_but_not_one_of_the_clock():
    first, second = two_seats()
    intake.handle_move(first, posted_fields(answer="50"))
    page = screens.frame(Match.objects.get(pk=first.match_id), "p1")
    assert page["answering"] is None and 'name="!replaces" value="2"' in page["html"] and 'value="50"' in page["html"]
    services.submit_move(match_id=first.match_id, role="p2", answering=1, move={"answer": 5}, by="clock")
    services.submit_move(match_id=first.match_id, role="p2", answering=3, move={"answer": 5}, by="clock")
    match = Match.objects.get(pk=first.match_id)
    assert "Change my answer" not in screens.frame(match, "p2")["html"]
    refused = intake.handle_move(second, {**posted_fields(answer="9", **{forms.REPLACES: "4"}), "answering": "3"})
    assert refused["type"] == "stale"
