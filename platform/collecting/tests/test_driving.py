"""Collections are played to the end, exactly once, despite interruptions, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import threading
import time
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

import games.play
from audit.models import Record
from collecting import driver, leases, playing, services, sweeps
from collecting.admin.status import status_of
from collecting.errors import LeaseLost, WrongState
from collecting.models import Collection, Driver, Item
from collecting.planning import planned_match
from collecting.progress import failures, progress
from collecting.tests.kit import new_collection
from games.play import start, submit
from llm_agents.standins.server import Failure, Hang, OpenAIStandIn
from matches.models import Event, Match
from matches.sweeps import requeue_waiting
from opponents.models import Call, Endpoint
from studies.tests.kit import use_standin

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Status = Collection.Status
ACCEPTED = '{"decision": "accept"}'


@pytest.fixture(autouse=True)
def short_leases(monkeypatch):
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.0)
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.2)


def running(**changes) -> Collection:
    plan = {
        "title": "A collection",
        "slug": "a-collection",
        "game": "bargaining",
        "configurations": [{"rounds": 6}],
        "agents": ["script:haggler", "script:random"],
        "repetitions": 5,
        "seed": 3,
    }
    return services.start(new_collection(**{**plan, **changes}))


def drive(collection: Collection) -> Collection:
    """Drive it to its end, in as many runs as the sweep would need."""
    end = time.monotonic() + 60
    while True:
        driver.drive(collection, slot=0)
        collection.refresh_from_db()
        if collection.status != Status.RUNNING:
            return collection
        assert time.monotonic() < end, "the collection does not end"
        time.sleep(0.1)


def in_background(collection: Collection) -> threading.Thread:
    def run() -> None:
        try:
            driver.drive(collection, slot=0)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def until(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.05)


def assert_complete(collection: Collection) -> None:
    """Assert that every planned match ended once and its log replays."""
    for item in collection.items.select_related("match"):
        assert item.status == Item.Status.FINISHED, item.problem
        log = item.match.log()
        assert [event.number for event in log] == list(range(1, len(log) + 1))
        play = games.play.replay_events(item.match.configured(), log)
        assert play.payoffs() == item.match.payoffs
        assert item.decisions == sum(event.kind == "move" for event in log)
    assert Match.objects.count() == collection.planned


def test_every_planned_match_follows_rules_and_scripts():
    collection = drive(running())
    assert collection.status == Status.DONE
    assert_complete(collection)
    for item in collection.items.select_related("match"):
        planned = planned_match(collection, item.number)
        play, _events = start(item.match.configured(), planned.seed)
        while not play.over:
            (role,) = play.waiting_for()
            script = planned.players[role].agent.removeprefix("script:")
            play, _events = submit(play, role, games.play.script_move(play, role, script))
        assert (item.match.seed, item.match.payoffs) == (planned.seed, play.payoffs())


def test_slow_players_play_concurrently():
    collection = running(agents=["script:random"], repetitions=30, delay=0.2, concurrency=30)
    started_at = time.monotonic()
    drive(collection)
    assert_complete(collection)
    assert time.monotonic() - started_at < 0.5 * 0.2 * progress(collection).decisions


def test_every_model_call_is_recorded_with_its_cost(monkeypatch):
    offer = json.dumps({"alice_gain": 5000, "bob_gain": 5000})
    with OpenAIStandIn(
        lambda request: offer if "alice_gain" in request["messages"][-1]["content"] else ACCEPTED
    ) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(
            running(agents=["openai:gpt-4o-mini"], repetitions=3, prices={"openai:gpt-4o-mini": _price(1000)})
        )
    assert_complete(collection)
    assert Call.objects.count() == progress(collection).decisions == 6
    assert progress(collection).cost == sum(call.cost for call in Call.objects.all()) > 0


def test_a_call_is_kept_if_its_move_came_too_late(monkeypatch):
    def answer(request) -> str:
        Item.objects.update(holder="another driver")
        return _one_offer_then_reject(request)

    with OpenAIStandIn(answer) as standin:
        use_standin(monkeypatch, standin)
        driver.drive(running(agents=["openai:m"], repetitions=1), slot=0)
    assert [call.outcome for call in Call.objects.all()] == [Call.Outcome.UNPLAYED]
    assert not Event.objects.filter(kind="move").exists()


def test_a_call_and_its_move_are_written_once_when_the_database_returns(monkeypatch):
    make_move, outages = playing.services.move_in_transaction, [True]

    def refuse_once(**move):
        result = make_move(**move)
        if outages:
            raise OperationalError(f"the server closed the connection: {outages.pop()}")
        return result

    monkeypatch.setattr(playing.services, "move_in_transaction", refuse_once)
    with OpenAIStandIn(_one_offer_then_reject) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(running(agents=["openai:m"], repetitions=1))
    assert_complete(collection)
    assert [call.outcome for call in Call.objects.all()] == [Call.Outcome.MOVE] * len(standin.requests)


def test_as_many_agents_are_asked_at_once_as_the_collection_says(monkeypatch):
    """While one match is written, another's agent is asked."""
    asked, most = [], []

    def answer(request) -> str:
        asked.append(None)
        most.append(len(asked))
        move = _one_offer_then_reject(request)
        asked.pop()
        return move

    with OpenAIStandIn(answer) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(running(agents=["openai:m"], repetitions=30, concurrency=2))
    assert_complete(collection)
    assert max(most) == 2


def _price(dollars: int) -> dict[str, int]:
    return {"input": dollars, "output": dollars}


def test_budget_stops_the_collection_until_raised(monkeypatch):
    with OpenAIStandIn(_one_offer_then_reject) as standin:
        use_standin(monkeypatch, standin)
        collection = running(
            agents=["openai:m"],
            repetitions=40,
            concurrency=20,
            prices={"openai:m": {"input": 0, "output": 100}},
            asking={"max_tokens": 16, "limit_seconds": 1800},
            budget=Decimal("0.01"),
        )
        drive(collection)
        assert collection.status == Status.OVER_BUDGET
        spent, request_count = progress(collection).cost, len(standin.requests)
        assert Decimal("0.0084") < spent <= Decimal("0.01"), "a call costs $0.0007 and could cost $0.0016"
        notice = status_of(collection).notice
        assert "its limit is $0.01." in notice and "could cost up to $0.0016" in notice
        assert progress(collection).decisions > 0 and progress(collection).finished < 40
        drive(collection)
        assert len(standin.requests) == request_count
        services.raise_budget(collection, None)
        collection = drive(services.start(collection))
    assert collection.status == Status.DONE
    assert_complete(collection)


def _one_offer_then_reject(request) -> str:
    time.sleep(0.02)
    question = request["messages"][-1]["content"]
    return '{"alice_gain": 5000, "bob_gain": 5000}' if "alice_gain" in question else ACCEPTED


def test_broken_agent_fails_only_its_own_matches(monkeypatch):
    with OpenAIStandIn(lambda request: "I would rather not.") as standin:
        use_standin(monkeypatch, standin)
        collection = drive(running(agents=["openai:m", "script:fair"], repetitions=2))
    assert collection.status == Status.DONE
    for item in collection.items.all():
        agents = {player.agent for player in planned_match(collection, item.number).players.values()}
        assert item.status == (Item.Status.FAILED if "openai:m" in agents else Item.Status.FINISHED)
    assert progress(collection).failed == 6
    assert all("No legal move in 4 tries" in problem for problem, _count in failures(collection))
    assert Match.objects.filter(status=Match.Status.ABANDONED).count() == 6


def test_hung_model_does_not_slow_the_rest(monkeypatch):
    with OpenAIStandIn([Hang(60)]) as standin:
        use_standin(monkeypatch, standin)
        collection = running(agents=["openai:m", "script:fair"], repetitions=4, asking={"call_seconds": 3})
        thread = in_background(collection)
        finished = Item.objects.filter(collection=collection, status=Item.Status.FINISHED)
        until(lambda: finished.count() == 4, seconds=2.5)
        thread.join()
    assert progress(collection).failed == 12


def test_failed_matches_can_be_replayed(monkeypatch):
    with OpenAIStandIn([Failure(400)]) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(running(agents=["openai:m"], repetitions=2))
        assert progress(collection).failed == 2
    with OpenAIStandIn(_one_offer_then_reject) as standin:
        use_standin(monkeypatch, standin)
        assert services.retry_failed(collection) == 2
        collection = drive(services.start(collection))
    assert (collection.status, progress(collection).finished) == (Status.DONE, 2)


def test_paused_collection_resumes_where_it_stopped():
    collection = running(agents=["script:haggler"], repetitions=8, delay=0.1)
    thread = in_background(collection)
    until(lambda: Event.objects.filter(kind="move").count() > 10)
    services.pause(collection)
    thread.join()
    before = {event.pk for event in Event.objects.all()}
    assert Match.objects.filter(status=Match.Status.LIVE).count() == 8
    drive(collection)
    assert {event.pk for event in Event.objects.all()} == before
    collection = drive(services.start(collection))
    assert before < {event.pk for event in Event.objects.all()}
    assert_complete(collection)


def test_second_driver_of_a_slot_does_nothing():
    collection = running()
    assert leases.take_slot(collection, 0, "somebody")
    driver.drive(collection, slot=0)
    assert not Match.objects.exists()


def test_dead_drivers_items_are_claimed_after_their_lease():
    collection = running(agents=["script:haggler"], repetitions=4, delay=0.05)
    leases.take_slot(collection, 0, "dead")
    items = leases.claim(collection, "dead", 4)
    match = playing.begin(collection, items[0], "dead")
    driver.drive(collection, slot=0)
    assert not Event.objects.filter(kind="move").exists()
    until(lambda: collection.pk in sweeps.undriven())
    drive(collection)
    assert_complete(collection)
    assert Item.objects.get(pk=items[0].pk).match_id == match.pk


def test_driver_with_an_expired_lease_changes_nothing():
    collection = running(agents=["script:haggler"], repetitions=1, delay=0.05)
    (item,) = leases.claim(collection, "slow", 1)
    Item.objects.update(until=timezone.now())
    (same,) = leases.claim(collection, "quick", 1)
    playing.begin(collection, same, "quick")
    with pytest.raises(LeaseLost):
        playing.begin(collection, item, "slow")
    with pytest.raises(LeaseLost):
        playing.fail(item=item, holder="slow", problem="late")
    assert Match.objects.count() == 1


def test_item_that_kills_its_workers_fails_alone():
    collection = running(agents=["script:fair"], repetitions=2)
    [first] = leases.claim(collection, "somebody", 1)
    leases.give_back([first.pk], "somebody")
    Item.objects.filter(number=1).update(attempts=leases.MAX_ATTEMPTS)
    drive(collection)
    states = list(collection.items.order_by("number").values_list("status", flat=True))
    assert states == [Item.Status.FAILED, Item.Status.FINISHED]
    assert "Started too often" in collection.items.get(number=1).problem


def test_match_that_cannot_begin_fails_alone_though_others_begin_with_it(monkeypatch):
    def without_the_second(collection, number):
        if number == 2:
            raise ValueError("its plan is broken")
        return planned_match(collection, number)

    collection = running(agents=["script:fair"], repetitions=3)
    monkeypatch.setattr(playing.planning, "planned_match", without_the_second)
    drive(collection)
    states = list(collection.items.order_by("number").values_list("status", flat=True))
    assert states == [Item.Status.FINISHED, Item.Status.FAILED, Item.Status.FINISHED]
    assert Match.objects.count() == 2


def test_live_match_sweep_ignores_collections():
    collection = running(agents=["script:haggler"], repetitions=1, delay=5)
    (item,) = leases.claim(collection, "holder", 1)
    match = playing.begin(collection, item, "holder")
    Match.objects.filter(pk=match.pk).update(started_at=timezone.now())
    assert (match.deadline, match.requeue_at) == (None, None)
    assert requeue_waiting() == 0


@pytest.mark.parametrize(
    ("status", "action"),
    [
        (Status.RUNNING, services.start),
        (Status.DONE, services.start),
        (Status.READY, services.pause),
        (Status.DONE, services.pause),
        (Status.RUNNING, services.retry_failed),
    ],
)
def test_impossible_action_is_refused_and_changes_nothing(status, action):
    collection = running()
    Collection.objects.update(status=status)
    with pytest.raises(WrongState, match="You cannot"):
        action(collection)
    assert Collection.objects.get().status == status


def test_progress_counts_everything_once():
    collection = running(repetitions=3)
    now = progress(collection)
    assert (now.planned, now.waiting, now.finished, now.seconds_left) == (12, 12, 0, None)
    drive(collection)
    now = progress(collection)
    assert (now.waiting, now.playing, now.finished, now.failed, now.share) == (0, 0, 12, 0, 1.0)
    assert now.decisions == Event.objects.filter(kind="move").count()
    assert now.seconds_left == 0
    assert now.decisions_per_second > 0
    assert not Driver.objects.filter(until__gt=timezone.now()).exists()


def test_command_actions_are_recorded():
    call_command("collect", "noted", "--game", "bargaining", "--config", "{}", "--agents", "script:fair", "--no-wait")
    call_command("collect", "noted", "--pause", "--no-wait")
    assert list(Record.objects.order_by("pk").values_list("action", "title")) == [
        (action, "noted") for action in ("made", "started", "paused")
    ]


def test_command_knows_the_endpoints_of_the_admin():
    Endpoint.objects.create(name="ours", title="Ours", protocol="openai", base_url="http://127.0.0.1:1/v1")
    call_command("collect", "mine", "--game", "bargaining", "--agents", "ours:small", "--no-wait")
    assert Collection.objects.get(slug="mine").status == Collection.Status.RUNNING
