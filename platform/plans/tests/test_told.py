"""What models of the published collections are told, against the facts of each system's program."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from games.errors import UnknownGame
from plans.library import ready_made
from plans.telling import ToldSeat, collections_named, told_in

ALWAYS = ["right answer", "bonus", "dollars per", "undefined"]
"""Never told by any system."""
PERIODS = ["call(ing)? tools", "Let the data decide", "reasons, your strategies", "then wiped", "read_notes"]
NOT_IN_PERIODS = [r"[Pp]eriod \d", "<message", "last call", "whatever you like", "no right"]
PUSH = ["trial and error", "costly"]

FACTS: dict[str, tuple[str, list[str], list[str]]] = {
    # collection: (parameters, told, not told)
    "econevals-procurement": (
        "{}",
        [
            *PERIODS,
            *PUSH,
            "workers",
            "within the budget",
            "Explore everything",
            r"minimum order quantity: 4",
            r"\$16\.46 for",
        ],
        [*NOT_IN_PERIODS, "categor", "supports nobody", "[Uu]nspent", "attempts", "effective .* counts", "equally"],
    ),
    "econevals-procurement-horizon": ("{}", ["100 attempts"], ["judged by the best"]),
    "econevals-procurement-horizon-goal": ("{}", ["100 attempts", "judged by the best"], ["categor"]),
    "econevals-scheduling": (
        "{}",
        [*PERIODS, "trial and error", "valid", "would have preferred", "suits T"],
        [*NOT_IN_PERIODS, "blocking", "preferences", "always exists", "game ends", "Explore"],
    ),
    "econevals-pricing": (
        "{}",
        [*PERIODS, *PUSH, "for a user", "highest profit", r"above \d+\.\d\d are not recommended"],
        [*NOT_IN_PERIODS, "currenc", "exchange rate", "customers", "changes over time", "count"],
    ),
    "econevals-task-allocation": (
        "{}",
        [*PERIODS, "conflict", "revenue for the company", "total pay", "no data yet"],
        [*NOT_IN_PERIODS, "productiv", "larger the task", "weigh", "wage", "Explore", "trial and error"],
    ),
    "econevals-duopoly": (
        '{"alpha": 10.0}',
        [*PERIODS, *PUSH, "for a user", "competitor 1", r'"cost": 1\.0'],
        [*NOT_IN_PERIODS, "rival", "other firm", "same time", "customers", "difference between", r'"cost": 10'],
    ),
    "econevals-duopoly-alone": ("{}", [*PERIODS, r'"cost": 1\.0'], ["compet", "rival", "other firm"]),
    "econevals-patience": (
        "{}",
        ["for a user", r"\$100 now", "in one month from today", "A", "B"],
        ["certain", "right or wrong", "really prefer", r"of \d+ questions", "Question"],
    ),
    "coopeval-none": ("{}", ["A0, A1", "in total", "whole percent", "Player 1"], ["again and again", "80%"]),
    "coopeval-repetition": (
        "{}",
        ["again and again", "may influence later decisions", "chance of 80%", "Rounds played so far: 2"],
        ["counts 80", "weight", r"of 15", "15 rounds", r"A0 \(2\)", "last 3"],
    ),
    "coopeval-reputation-first-order": (
        "{}",
        ["change at random", "will see", "80%"],
        ["population", "take part", "weight"],
    ),
    "coopeval-reputation-higher-order": (
        "{}",
        ["change at random", "had done before round"],
        ["population", "take part"],
    ),
    "coopeval-mediation": (
        "{}",
        ["how many players delegate", "same action for all", "most approvals", "equal chances"],
        ["Approvals:", "Votes:"],
    ),
    "coopeval-contract": (
        "{}",
        ["whole number for every action", "equal parts", "only if all players accept"],
        ["Votes:", r"-\d+ to \d+", "at most 3", "at most 1000000", "signed it"],
    ),
    "econarena-contest-melee": (
        "{}",
        [
            "real number from 0 to 31",
            "2/3 of the mean of all numbers",
            "share it",
            "best chance of the prize",
            "clever",
        ],
        [r"\$1\b", "not valid", "unpredictable", "[Rr]un ", "times"],
    ),
    "econarena-contest-melee-history": ("{}", ["played 2 times", "adjust"], ["mean over", r"last \d runs", "target"]),
    "econarena-contest-rational": ("{}", ["perfectly rational"], ["unpredictable"]),
    "econarena-sealed-melee": (
        "{}",
        ["unpredictable", "second-highest bid", "lowest number", "need not win", "bidder"],
        ["not valid", "[Rr]un ", "Nobody else"],
    ),
    "econarena-sealed-rational": ("{}", ["perfectly rational"], ["unpredictable"]),
    "aucarena-standard": (
        "{}",
        ["one bidder is left", "too high or too low", "Start price", "estimate"],
        ["Description", "drawn at random", "half", "10%", "at the same time", "private"],
    ),
    "aucarena-modules": ("{}", ["Items left", "as you reported it", "must raise this by at least"], ["Description"]),
    "aucarena-objectives": ("{}", ["than the other bidders"], ["Description"]),
    "glee-llm-bargaining": (
        '{"delta_alice": 0.9, "delta_bob": 0.8, "complete_information": true}',
        ["Alice", "describe it in a few words", "10% less to you", "20% less to Bob", "neither of you gets", "Round 2"],
        ["as much as you can", "worth in each round", "Worth to you now", "would get"],
    ),
    "glee-llm-negotiation": (
        '{"rounds": 10}',
        ["no less than", "no more than", "John", "earn as much", "save as much", "10 rounds", "Round 2"],
        ["lose", "would earn", "If you accept", "keeps its value"],
    ),
    "glee-llm-persuasion": (
        "{}",
        ["Your aim is to sell", "no discounts", "no refunds", "thrown away", "20 rounds", "did not buy"],
        [
            "would earn",
            "may or may not be true",
            "independently",
            "You have earned",
            "as much as you can",
            "costs nothing",
        ],
    ),
}


def words(seat: ToldSeat) -> str:
    """Return everything that a seat is told: messages, tools and their results, schemas, corrections."""
    return "\n".join(
        "\n".join(
            [
                *(message["content"] for message in turn.request.messages),
                *(f"{tool.name}: {tool.help}" for tool in turn.request.tools),
                *turn.results.values(),
                turn.correction,
            ]
        )
        for turn in seat.turns
    )


def everything(name: str, config: str = "{}", turns: int = 12) -> str:
    (ready,) = collections_named(name)
    return "\n".join(
        words(seat)
        for environment in told_in(ready, config=json.loads(config), turns=turns)
        for seat in environment.seats
    )


@pytest.mark.every_case
@pytest.mark.parametrize("name", FACTS)
def test_models_are_told_the_published_facts_and_no_others(name: str):
    config, told, not_told = FACTS[name]
    text = everything(name, config, turns=3 if name.startswith(("coopeval", "econarena", "glee")) else 12)
    assert [fact for fact in told if not re.search(fact, text)] == []
    assert [fact for fact in [*not_told, *ALWAYS] if re.search(fact, text)] == []


@pytest.mark.parametrize(("rounds", "told"), [("null", False), ("10", True)])
def test_traders_are_told_the_round_only_if_there_is_a_last_one(rounds: str, told: bool):
    assert ("Round 2" in everything("glee-llm-negotiation", f'{{"rounds": {rounds}}}', turns=2)) is told


def test_buyers_without_memory_are_told_counts_and_no_round():
    (ready,) = collections_named("glee-llm-persuasion")
    (environment,) = told_in(ready, config={"buyer_type": "myopic"}, seat="bob", turns=3)
    text = words(environment.seats[0])
    assert "Products bought so far: 0. Of these, of high quality: 0." in text
    assert "Round" not in text and "20 rounds" not in text


def test_a_bidder_without_plans_sees_no_estimates():
    (ready,) = collections_named("aucarena-modules")
    (environment,) = told_in(ready, turns=8)
    by_agent = {seat.agent: words(seat) for seat in environment.seats}
    assert "Your estimate" in by_agent["static"] and "Your estimate" not in by_agent["none"]


def test_the_last_period_is_announced_only_then():
    (ready,) = collections_named("econevals-scheduling")
    (environment,) = told_in(ready, config={"periods": 3}, turns=3)
    turns = [words(ToldSeat("agent", "", seat.settings, [turn])) for seat in environment.seats for turn in seat.turns]
    assert ["last period" in text for text in turns] == [False, False, True]


def test_every_published_collection_is_told_as_published():
    for name, ready in ready_made("collections").items():
        for environment in told_in(ready):
            assert {seat.settings.information for seat in environment.seats} == {"published"}, name


class TestCommand:
    def told(self, capsys: Any, *arguments: str) -> dict[str, Any]:
        call_command("told", *arguments, "--json")
        return json.loads(capsys.readouterr().out)

    def test_names_the_mode_and_what_is_sent(self, capsys: Any):
        answer = self.told(capsys, "econevals-procurement", "--agents", "openai:a,openai:b", "--turns", "2")
        assert (answer["preset"], answer["mode"]) == ("econevals-procurement", "published")
        (seat,) = answer["environments"][0]["seats"]
        assert seat["agent"] == "openai:a" and seat["settings"]["tries"] == 4 and seat["settings"]["restarts"] == 9
        assert [turn["turn"] for turn in seat["turns"]] == [1, 2]
        assert set(seat["turns"][0]["results"]) >= {"get_budget", "read_notes"}
        assert {tool["name"] for tool in seat["turns"][0]["tools"]} >= {"submit_purchase_plan"}

    def test_a_name_may_stand_for_several_collections(self, capsys: Any):
        answer = self.told(capsys, "glee-llm", "--config", '{"buyer_type": "myopic"}')
        assert [environment["game"] for environment in answer["environments"]] == ["persuasion"]

    @pytest.mark.parametrize(
        "arguments", [["nothing"], ["coopeval-none", "--seat", "p9"], ["coopeval-none", "--turns", "0"]]
    )
    def test_refuses_what_does_not_exist(self, arguments: list[str]):
        with pytest.raises(CommandError) as refused:
            call_command("told", *arguments)
        assert refused.value.returncode == 2

    def test_lists_the_known_names(self):
        with pytest.raises(UnknownGame, match="coopeval-none"):
            collections_named("nothing")
