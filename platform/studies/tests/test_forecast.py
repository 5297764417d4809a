"""Estimates of what a study takes before anyone has played it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from games.errors import GameError
from llm_agents.pricing import PRICES
from opponents.agents import agents_from_specs
from studies import forecast as forecasting
from studies.forecast import forecast
from studies.models import Study

pytestmark = pytest.mark.django_db


def study(**fields) -> Study:
    defaults = {
        "title": "S",
        "slug": "s",
        "game": "negotiation",
        "roles": ["alice"],
        "agents": agents_from_specs("script:haggler"),
        "quota": 3,
    }
    return Study(**{**defaults, **fields})


def test_forecast_counts_participants_and_is_reproducible():
    draft = study(design={"grid": {"rounds": [1, 10, None], "scale": [100, 1000]}}, roles=["alice", "bob"])
    expected = forecast(draft)
    assert (expected.configurations, expected.cells, expected.people) == (6, 12, 36)
    assert expected.sampled == 24
    assert forecast(draft) == expected


def test_large_study_is_sampled_evenly():
    expected = forecast(study(design={"table": "glee"}))
    assert (expected.cells, expected.sampled) == (576, forecasting.MAX_MATCHES)


def test_forecast_pay_lies_between_base_and_cap():
    fixed = forecast(study(pay_rule="fixed", base=Decimal("1.50"), announced_average=Decimal("0.75")))
    assert fixed.pay == (Decimal("2.25"),) * 3
    minimum, mean, maximum = forecast(study(base=Decimal(1), cap=Decimal("0.60"))).pay
    assert Decimal(1) <= minimum <= mean <= maximum <= Decimal("1.60")


def test_forecast_pay_follows_the_cells_average():
    averages = {"by": "scale", "amounts": {"100": "0.50", "1000": "3.00"}}
    draft = study(pay_rule="fixed", base=Decimal(1), design={"grid": {"scale": [100, 1000]}, "averages": averages})
    assert forecast(draft).pay == (Decimal("1.50"), Decimal("2.75"), Decimal("4.00"))


def test_forecast_cost_uses_model_prices():
    assert (forecast(study()).model_calls, forecast(study()).model_cost) == (0, 0)
    with_model = forecast(study(agents=agents_from_specs("openai:gpt-4o-mini")))
    answers = PRICES["openai:gpt-4o-mini"].output * forecasting.ANSWER_TOKENS / 1_000_000
    assert with_model.model_cost > answers * Decimal(with_model.model_calls) > 0
    assert forecast(study(agents=agents_from_specs("openai:gpt-4o"))).model_cost > with_model.model_cost
    reasoned = forecast(
        study(agents=agents_from_specs("openai:gpt-4o-mini", settings={"strategy": "chain_of_thought"}))
    )
    assert reasoned.model_cost > with_model.model_cost


def test_unknown_price_is_not_guessed():
    assert forecast(study(agents=agents_from_specs("openai:nobody-knows"))).model_cost is None


def test_slower_opponents_and_longer_texts_take_longer():
    quick = forecast(study())
    assert forecast(study(agents=agents_from_specs("script:haggler", delay=30))).minutes > quick.minutes
    questions = [{"kind": "long", "name": f"why_{i}", "text": "Why?"} for i in range(6)]
    assert forecast(study(survey_after=questions)).minutes > quick.minutes + 0.9
    assert forecast(study(consent="word " * 2000)).minutes > quick.minutes + 4


def test_unplayable_study_has_no_forecast():
    with pytest.raises(GameError):
        forecast(study(config={"scale": -1}))
