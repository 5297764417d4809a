"""Estimates of what a study takes before anyone has played it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from games.errors import GameError
from llm_agents.pricing import PRICES
from plans.reading import BadPlan
from plans.starting import plan_for
from studies import forecast as forecasting
from studies import simulating
from studies.forecast import cells_of, forecast, minutes_of

pytestmark = pytest.mark.django_db
HAGGLER = {"haggler": {"script": "haggler"}}
MINI = {"mini": {"endpoint": "openai", "model": "gpt-4o-mini"}}


def plan(*, config=None, **changes):
    defaults = {"roles": ["alice"], "agents": HAGGLER, "cells": {"quota": 3}}
    document = plan_for("negotiation", **{**defaults, **changes})
    document["journey"][1]["config"] = config or {}
    return document


def minutes(document):
    (cell,) = forecast(document).cells
    return cell.minutes


def test_every_cell_has_its_figures_and_they_are_reproducible():
    factors = {"rounds": {"levels": [1, 10]}, "scale": {"levels": [100, 1000]}}
    config = {"rounds": {"by": "rounds"}, "scale": {"by": "scale"}}
    document = plan(roles=["alice", "bob"], factors=factors, config=config)
    expected = forecast(document)
    assert (len(expected.cells), expected.places) == (8, 24)
    assert expected.cells[0].factors == {"rounds": "1", "scale": "100", "seat": "alice"}
    assert forecast(document) == expected


def test_published_table_is_sampled():
    document = plan(factors={"row": {"rows": {"game": "negotiation", "table": "glee"}}}, config={"by": "row.config"})
    expected = forecast(document)
    assert (expected.number, len(expected.cells), expected.places) == (576, forecasting.MAX_FORECAST, 1728)


def test_pay_as_a_treatment_gives_each_cell_its_own():
    average = {"by": "stakes", "values": {"low": "0.50", "high": "3.00"}}
    document = plan(
        factors={"stakes": {"levels": ["low", "high"]}},
        pay={"base": "1.00", "bonus": {"rule": "fixed", "average": average}},
    )
    low, high = forecast(document).cells
    assert (low.pay, high.pay) == (Decimal("1.50"), Decimal("4.00"))
    assert high.hourly > low.hourly


def test_game_with_its_own_bonus_pays_by_it_within_the_studys_cap():
    own = {"rule": "fixed", "average": "8.00"}
    (cell,) = cells_of(plan(stage={"pay": own}, pay={"base": "1.00", "bonus": {"cap": "5.00"}}))
    assert (cell.average, cell.highest) == (Decimal(5), Decimal(5))


def test_model_calls_take_tokens_and_cost_their_price():
    assert forecast(plan()).models == forecasting.ModelCosts()
    models = forecast(plan(agents=MINI)).models
    assert models.calls and models.read and models.written == models.calls * simulating.ANSWER_TOKENS
    answers = PRICES["openai:gpt-4o-mini"].output * models.written / 1_000_000
    assert models.at_most > models.expected > answers
    larger = {"large": {"endpoint": "openai", "model": "gpt-4o"}}
    assert forecast(plan(agents=larger)).models.expected > models.expected
    reasoning = {"mini": {**MINI["mini"], "strategy": "chain_of_thought"}}
    assert forecast(plan(agents=reasoning)).models.expected > models.expected


@pytest.mark.parametrize(
    ("chat", "calls"),
    [
        ({"messages": 5}, 5),
        ({"messages": 5, "models": {"opens": True}}, 6),
        ({"messages": 5, "mode": "turns"}, 5),
        ({"messages": 5, "models": {"speaks": "never"}}, 0),
        ({"messages": 5, "mediator": {"agent": "other"}}, 10 + 10),
    ],
)
def test_chat_counts_as_if_everybody_wrote_all_messages(chat, calls):
    document = plan(agents=MINI, cells={"quota": 1})
    document["agents"]["other"] = {**MINI["mini"], "max_tokens": 50}
    silent = forecast(document).models
    document["journey"][1]["chat"] = chat
    talking = forecast(document).models
    assert talking.calls == silent.calls + calls
    assert (talking.at_most > silent.at_most and talking.expected > silent.expected) == bool(calls)


def test_chat_without_a_game_costs_only_its_messages():
    document = plan(agents=MINI, cells={"quota": 1})
    talk = {"stage": "chat", "name": "talk", "seats": {"p1": "person", "p2": "mini"}, "chat": {"messages": 5}}
    document["journey"].insert(1, talk)
    document["agents"]["haggler"] = HAGGLER["haggler"]
    document["journey"][2]["seats"] = {"alice": "person", "bob": "haggler"}
    assert forecast(document).models.calls == 5


def test_unknown_price_is_not_guessed():
    assert forecast(plan(agents={"new": {"endpoint": "openai", "model": "nobody-knows"}})).models.expected is None


def test_slower_opponents_and_longer_texts_take_longer():
    quick = minutes(plan())
    assert minutes(plan(agents={"haggler": {"script": "haggler", "delay": 30}})) > quick
    document = plan()
    document["journey"].append(
        {
            "stage": "questions",
            "name": "after",
            "items": [{"name": f"q{i}", "kind": "text", "text": "Why?"} for i in range(6)],
        }
    )
    assert minutes(document) > quick + 0.9
    document["journey"][0]["text"] = "word " * 2000
    assert minutes(document) > quick + 4


def test_passes_of_a_block_count_as_often_as_they_are_taken():
    game = plan()["journey"][1] | {"config": {"rounds": {"by": "horizon"}}}
    block = {"stage": "block", "name": "games", "of": [game]}
    factors = {"horizon": {"levels": [1, 5, 9], "within": "games"}}
    document = {**plan(), "factors": factors, "journey": [block]}
    assert cells_of(document)[0].matches == 3
    block["take"] = 2
    assert cells_of(document)[0].matches == 2


def test_announced_minutes_are_rounded_up():
    assert minutes(plan()) <= minutes_of(plan()) <= minutes(plan()) + 5
    assert minutes_of(plan(config={"scale": -1})) is None


def test_plan_that_cannot_be_played_has_no_forecast():
    with pytest.raises(GameError):
        forecast(plan(config={"scale": -1}))
    with pytest.raises(BadPlan):
        forecast(plan(pay={"base": "much"}))
