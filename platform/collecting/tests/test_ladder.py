"""Retries, fallbacks and spending limits of the models in a collection."""

from __future__ import annotations

import csv
import io
import json
import uuid
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from collecting import driver, services
from collecting.admin.status import status_of
from collecting.errors import WrongState
from collecting.models import Collection, Item
from collecting.planning import agents_in, models_of
from collecting.previewing import preview_source
from collecting.tests.kit import drive, new_collection
from exports.dataset import export
from games import registry
from games.lineups import Lineups
from games.tests.toys import Guessing
from llm_agents.standins.server import AnthropicStandIn, BothStandIn, Failure, OpenAIStandIn
from matches.models import Event, Match
from opponents.models import Call
from plans.asking import AgentSettings
from plans.reading import BadPlan
from studies.previewing import Selection, preview
from studies.tests.kit import use_standin

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Status = Collection.Status
OFFER = json.dumps({"alice_gain": 5000.0, "bob_gain": 5000.0})
ACCEPT = json.dumps({"decision": "accept"})
DOLLAR_A_CALL = {"input": "0", "output": str(Decimal(1_000_000) / 7)}
"""A stand-in server's answer has seven tokens."""


def planned(**changes) -> Collection:
    plan = {
        "title": "Models",
        "slug": "models",
        "game": "bargaining",
        "configurations": [{"rounds": 6}],
        "agents": ["openai:m"],
        "seed": 3,
    }
    return new_collection(**{**plan, **changes})


def settings_in(collection: Collection, label: str = "openai:m") -> AgentSettings:
    return agents_in(collection)[label].settings


def legal(request) -> str:
    return OFFER if "alice_gain" in request["messages"][-1]["content"] else ACCEPT


def movers() -> list[str | None]:
    return [event.data.get("by") for event in Event.objects.filter(kind="move").order_by("pk")]


# ---- the ladder ------------------------------------------------------------------------------------------


def test_fallback_model_is_flagged(monkeypatch):
    with OpenAIStandIn([Failure(500)]) as failing, AnthropicStandIn(legal) as fallback:
        use_standin(monkeypatch, failing, fallback)
        collection = drive(planned(asking={"retries": 1}, fallback="anthropic:n"))
    assert collection.status == Status.DONE
    assert movers() == ["anthropic:n", "anthropic:n"]
    records = [call.record for call in Call.objects.filter(role="alice").order_by("pk")]
    assert [(record["rung"], record["attempt"]) for record in records] == [(0, 1), (0, 2), (1, 1)]


def test_fallback_script_is_flagged(monkeypatch):
    with OpenAIStandIn(["I would rather not."]) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(planned(asking={"tries_after_first": 1}, fallback="script:fair"))
    assert (collection.status, set(movers())) == (Status.DONE, {"script:fair"})
    assert Item.objects.get().status == Item.Status.FINISHED
    assert len(standin.requests) == 2 * len(movers()), "each was asked once more before"


def test_match_without_a_fallback_fails_with_a_reason(monkeypatch):
    with OpenAIStandIn(["I would rather not."]) as standin:
        use_standin(monkeypatch, standin)
        drive(planned(asking={"tries_after_first": 0}))
    assert "legal move in its only" in Item.objects.get().problem


@pytest.mark.parametrize("strategy", ["plain", "chain_of_thought", "conversation", "fresh"])
@pytest.mark.parametrize("agent", ["openai:m", "anthropic:m"])
def test_own_texts_are_frozen_shown_and_sent(monkeypatch, agent, strategy):
    asking = {
        "strategy": strategy,
        "persona": "You are {{ role }}, a trader.",
        "prompt_question": "{{ news }}\n{{ question }}",
        "max_tokens": 99,
    }
    collection = planned(agents=[agent], asking=asking, instructions="Rules for {{ you }}.")
    assert settings_in(collection, agent).prompt_question == "{{ news }}\n{{ question }}"
    assert collection.sha256 != planned(slug="other", agents=[agent], instructions="Rules for {{ you }}.").sha256
    with BothStandIn(legal) as standin:
        use_standin(monkeypatch, standin)
        drive(collection)
    (first, _second) = standin.requests
    previewed = preview(preview_source(collection), Selection(agent, 1, "alice", 1, 1)).sent
    assert {name: json.dumps(value) for name, value in previewed.body.items()} == {
        name: json.dumps(value) for name, value in first.items()
    }
    assert "You are Alice, a trader." in json.dumps(first) and "Rules for Alice." in json.dumps(first)
    assert {call.record["prompt_sha256"] for call in Call.objects.all()} == {previewed.sha256}


@pytest.mark.parametrize(
    ("changes", "expected_text"),
    [
        ({"asking": {"prompt_system": "{{ nobody }}"}}, "no variable “nobody”"),
        ({"fallback": "nowhere:m"}, "nowhere:m"),
        ({"fallback": "script:nobody"}, "no script “nobody”"),
    ],
)
def test_invalid_settings_make_no_collection(changes, expected_text):
    with pytest.raises(BadPlan, match=expected_text):
        planned(**changes)
    assert not Collection.objects.exists()


@pytest.mark.parametrize(("budget", "cap"), [("1", None), (None, 1.0)])
def test_spending_limit_needs_prices_of_fallbacks(budget, cap):
    prices = {"openai:m": {"input": 1, "output": 1}}
    with pytest.raises(BadPlan, match="the price of anthropic:n"):
        planned(budget=budget, prices=prices, asking={"cap_match": cap}, fallback="anthropic:n")


def test_paid_answer_counts_if_another_player_fails(monkeypatch):
    monkeypatch.setattr(registry, "known", lambda known=registry.known: (*known(), Guessing.key))
    monkeypatch.setattr(registry, "get", lambda key, get=registry.get: Guessing if key == Guessing.key else get(key))
    plan = {"game": Guessing.key, "configurations": [{"players": 2}], "agents": ["openai:m", "anthropic:n"]}
    with OpenAIStandIn(['{"answer": 20}']) as standin, AnthropicStandIn(["I would rather not."]) as refusing:
        use_standin(monkeypatch, standin, refusing)
        drive(planned(**plan, same=False, asking={"tries_after_first": 0}))
    assert Match.objects.count() == 2
    for match in Match.objects.all():
        assert match.status == Match.Status.ABANDONED
        assert [event.kind for event in match.log()][-2:] == ["move", "abandoned"]


def collect(*options: str) -> None:
    defaults = ("--game", "bargaining", "--agents", "openai:m", "--no-wait")
    call_command("collect", "mine", *defaults, *options, stdout=io.StringIO())


@pytest.mark.parametrize("from_file", [False, True])
def test_command_reads_settings_from_json_or_file(tmp_path, from_file):
    asking = {"persona": "A trader.", "fallback": ["anthropic:n", "script:fair"], "tries_after_first": 1}
    argument = json.dumps(asking)
    if from_file:
        (tmp_path / "asking.json").write_text(argument)
        argument = str(tmp_path / "asking.json")
    collect("--asking", argument)
    saved = settings_in(Collection.objects.get())
    assert (saved.persona, saved.tries_after_first, saved.limit_seconds) == ("A trader.", 1, 1800)
    assert (saved.fallbacks, saved.script) == (("anthropic:n",), "fair")


@pytest.mark.parametrize(
    ("argument", "expected_text"),
    [
        ('{"personality": "kind"}', "personality"),
        ('{"prompt_system": "{{ nobody }}"}', "no variable “nobody”"),
        ('{"appears": "typed"}', "no setting appears in collections"),
        ('{"tries_after_first": "many"}', "tries_after_first"),
        ('{"persona"', "is not valid JSON"),
        ("nowhere.json", "a readable file"),
    ],
)
def test_command_refuses_unknown_settings(argument, expected_text):
    with pytest.raises(CommandError, match=expected_text):
        collect("--asking", argument)
    assert not Collection.objects.exists()


# ---- caps ------------------------------------------------------------------------------------------------


def test_match_cap_triggers_the_fallback_script(monkeypatch):
    with OpenAIStandIn(legal) as standin:
        use_standin(monkeypatch, standin)
        asking = {"cap_match": 3.0, "max_tokens": 16}
        plan = planned(repetitions=2, prices={"openai:m": DOLLAR_A_CALL}, asking=asking, fallback="script:fair")
        collection = drive(plan)
    assert collection.status == Status.DONE
    assert [movers().count(by) for by in (None, "script:fair")] == [2, 2], "one call in each match"
    assert Call.objects.count() == len(standin.requests) == 2


def test_match_cap_without_a_script_ends_the_match(monkeypatch):
    with OpenAIStandIn(legal) as standin:
        use_standin(monkeypatch, standin)
        drive(planned(prices={"openai:m": DOLLAR_A_CALL}, asking={"cap_match": 3.0, "max_tokens": 16}))
    item = Item.objects.get()
    assert item.status == Item.Status.FAILED and "its limit is $3.00. $2.0000 is left" in item.problem
    assert (Call.objects.count(), item.cost) == (1, 1)


def test_daily_cap_pauses_a_collection_until_there_is_room(monkeypatch, settings):
    settings.SPEND_CAP_PER_DAY = "1"
    with OpenAIStandIn(legal) as standin:
        use_standin(monkeypatch, standin)
        collection = planned(fallback="script:fair")
        services.start(collection)
        Call.objects.create(match_uid=uuid.uuid4(), role="x", answering=1, record={}, cost="1.25")
        driver.drive(collection, slot=0)
        collection.refresh_from_db()
        assert collection.status == Status.OVER_BUDGET
        assert (standin.requests, movers()) == ([], []), "nothing was asked, and no fallback moved"
        assert Item.objects.get().status == Item.Status.WAITING
        assert Match.objects.get().status == Match.Status.LIVE
        notice = status_of(collection).notice
        assert "have cost $1.2500" in notice and "daily limit is $1.00" in notice
        with pytest.raises(WrongState, match=r"daily limit is \$1\.00"):
            services.start(collection)
        settings.SPEND_CAP_PER_DAY = "5"
        assert drive(collection).status == Status.DONE
    assert movers() == [None, None]
    assert Call.objects.count() == 3


def test_scripted_players_ignore_caps(settings):
    settings.SPEND_CAP_PER_DAY = "1"
    Call.objects.create(match_uid=uuid.uuid4(), role="x", answering=1, record={}, cost="1.25")
    collection = planned(agents=["script:fair"])
    assert models_of(agents_in(collection).values()) == []
    assert drive(collection).status == Status.DONE
    assert status_of(collection).notice == ""


# ---- scripts whose moves are data ------------------------------------------------------------------------------

CONTEST = {
    "game": "beauty_contest",
    "configurations": [{"players": 2, "runs": 2}],
    "agents": ["openai:m", "script:rational"],
    "lineups": Lineups(rule="each", agents=("openai:m",), fixed={"p2": "script:rational"}),
    "asking": {"tries_after_first": 0, "retries": 0, "script_counts": True},
    "fallback": "script:no_answer",
}
"""A model among rational scripts, asked as in Economics Arena."""


def test_unusable_answer_is_a_foul_and_data(monkeypatch, tmp_path):
    answers = iter(["I would rather not.", '{"answer": 20}'])
    with OpenAIStandIn(lambda request: next(answers)) as standin:
        use_standin(monkeypatch, standin)
        collection = drive(planned(**CONTEST))
    match = Match.objects.get()
    assert (collection.status, match.metrics["p1_fouls"], match.metrics["runs_played"]) == (Status.DONE, 1, 2)
    assert sorted(movers(), key=str) == [None, None, None, "script:no_answer"]
    assert len(standin.requests) == 2, "each run is asked once"
    folder = tmp_path / "dataset"
    export(collection, folder)
    with (folder / "matches.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 1


def test_unavailable_endpoint_is_not_a_foul(monkeypatch):
    with OpenAIStandIn([Failure(500)]) as standin:
        use_standin(monkeypatch, standin)
        drive(planned(**{**CONTEST, "asking": {**CONTEST["asking"], "limit_seconds": 3}}))
    item = Item.objects.get()
    assert (item.status, item.match.metrics) == (Item.Status.FAILED, None)
    assert "script:no_answer" not in movers()
