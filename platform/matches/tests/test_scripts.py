"""Scripts answer in the transaction of a person's move, unless that would show or break something."""

from __future__ import annotations

import pytest

from games.bargaining import baselines
from games.bargaining.rules import Bargaining
from games.errors import Refused
from matches import agents, announce, services
from matches.errors import Stale
from matches.models import Event, Match
from matches.tests.kit import opened

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("scripts_at_once")]

GREEDY = {"alice_gain": 9990, "bob_gain": 10}


@pytest.fixture(autouse=True)
def queued(monkeypatch) -> list[str]:
    """Collect the roles whose turns are queued for the worker."""
    roles: list[str] = []
    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: roles.append(turn.role))
    return roles


@pytest.fixture(autouse=True)
def announced(monkeypatch) -> list[dict]:
    """Collect what pages are sent."""
    messages: list[dict] = []
    monkeypatch.setattr(announce, "_send", lambda match, message: messages.append(message))
    return messages


def open_match(agent: str = "script:fair", *, delay: float = 0, **options) -> Match:
    bob = services.Player(agent=agent, delay=delay)
    return opened({"alice": "person", "bob": bob}, config={"rounds": 50}, **options)


def offer(match: Match, move: dict | None = None) -> services.MoveResult:
    return services.submit_move(match_id=match.pk, role="alice", move=move or GREEDY, answering=1)


def movers(match: Match) -> list[str]:
    return list(Event.objects.filter(match=match, kind="move").order_by("number").values_list("role", flat=True))


def test_a_script_answers_and_offers_before_the_person_hears_of_it(queued, announced):
    match = open_match()
    announced.clear()
    result = offer(match)
    assert movers(match) == ["alice", "bob", "bob"]  # bob rejects and makes an offer
    assert (result.last, queued) == (Event.objects.filter(match=match).count(), [])
    (message,) = announced
    assert message["frames"]["alice"]["last"] == result.last


def test_the_same_answer_as_from_the_worker():
    at_once, later = open_match(), open_match()
    offer(at_once)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "MOST_AT_ONCE", 0)
        offer(later)
        while (turn := Match.objects.get(pk=later.pk).open_turns().get("bob")) is not None:
            agents.answer_turn(match_uid=later.uid, role="bob", answering=turn.answering)
    assert [event.data for event in at_once.log()] == [event.data for event in later.log()]


def test_a_refused_move_gets_no_answer(queued):
    match = open_match()
    with pytest.raises(Refused):
        offer(match, {"alice_gain": 1, "bob_gain": 1})
    assert (movers(match), queued) == ([], [])


def test_a_second_delivery_changes_nothing():
    match = open_match()
    offer(match)
    with pytest.raises(Stale):
        offer(match)
    assert movers(match) == ["alice", "bob", "bob"]


@pytest.mark.every_case
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"delay": 1}, id="thinks"),
        pytest.param({"agent": "openai:any"}, id="model"),
        pytest.param({"timers": {"told": {"others": "none"}}}, id="nobody may notice"),
    ],
)
def test_others_are_left_to_the_worker(options, queued):
    match = open_match(**options)
    offer(match)
    assert (movers(match), queued) == (["alice"], ["bob"])


@pytest.mark.every_case
@pytest.mark.parametrize("error", [Refused("no"), KeyError("bug")], ids=["refused", "bug"])
def test_a_script_that_fails_leaves_the_persons_move_and_its_turn(error, queued, monkeypatch):
    def fail(*_arguments):
        raise error

    monkeypatch.setattr(Bargaining, "scripts", {**baselines.SCRIPTS, "fair": fail})
    match = open_match()
    offer(match)
    assert (movers(match), queued) == (["alice"], ["bob"])


def test_what_is_too_much_for_a_person_to_wait_for_is_left_to_the_worker(queued, monkeypatch):
    monkeypatch.setattr(services, "MOST_AT_ONCE", 1)
    match = open_match()
    offer(match)
    assert (movers(match), queued) == (["alice", "bob"], ["bob"])
