from decimal import Decimal

import pytest

from llm_agents.pricing import LISTED, Price, PriceList
from llm_agents.record import CallRecord


def call(model: str, tokens_in: int | None, tokens_out: int | None) -> CallRecord:
    provider, _colon, name = model.partition(":")
    return CallRecord(provider, name, [], {}, 1, 0.1, input_tokens=tokens_in, output_tokens=tokens_out)


def test_a_call_costs_its_tokens_times_the_price_per_million():
    assert LISTED.cost(call("openai:gpt-4o-mini", 2_000, 500)) == Decimal("0.0006")


def test_dated_name_costs_the_same_as_the_model():
    assert LISTED.of("openai:gpt-4o-mini-2024-07-18") == LISTED.of("openai:gpt-4o-mini")
    assert LISTED.of("anthropic:claude-sonnet-4-20250514") == LISTED.of("anthropic:claude-sonnet-4")


def test_model_with_the_same_prefix_has_its_own_price_or_none():
    assert LISTED.of("openai:gpt-4o-mini") != LISTED.of("openai:gpt-4o")
    assert LISTED.of("openai:gpt-4o-audio") is None


def test_a_researchers_own_price_comes_first():
    own_prices = PriceList({"openai:gpt-4o": Price(input=1, output=2), "openai:local": Price(input=0, output=0)})
    assert own_prices.cost(call("openai:gpt-4o", 1_000_000, 1_000_000)) == 3
    assert own_prices.cost(call("openai:local", 5, 5)) == 0


@pytest.mark.parametrize("unknown", [call("openai:nobody-knows", 1, 1), call("openai:gpt-4o", None, 1)])
def test_unknown_costs_are_not_guessed(unknown):
    assert LISTED.cost(unknown) is None
