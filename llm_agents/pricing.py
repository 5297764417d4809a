"""What a call costs: tokens times a dated price list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from llm_agents.agent import PROGRAM
from llm_agents.endpoints import Price, endpoint, endpoint_exists
from llm_agents.providers.base import LONGEST_ANSWER, Request
from llm_agents.record import CallRecord

__all__ = ["AS_OF", "LISTED", "PRICES", "Price", "PriceList"]

AS_OF = "2025-11-01"
"""The date of the list below. Prices change, but a collection keeps those it was started with."""
MILLION = Decimal(1_000_000)
ADDED_TOKENS = 1_000
"""More than providers add to a request of their own, such as instructions for calling tools."""


def _price(per_million_in: str, per_million_out: str, per_million_cached: str) -> Price:
    return Price(input=Decimal(per_million_in), output=Decimal(per_million_out), cached=Decimal(per_million_cached))


PRICES: Mapping[str, Price] = {
    "openai:gpt-5": _price("1.25", "10", "0.125"),
    "openai:gpt-5-mini": _price("0.25", "2", "0.025"),
    "openai:gpt-5-nano": _price("0.05", "0.40", "0.005"),
    "openai:gpt-4.1": _price("2", "8", "0.50"),
    "openai:gpt-4.1-mini": _price("0.40", "1.60", "0.10"),
    "openai:gpt-4.1-nano": _price("0.10", "0.40", "0.025"),
    "openai:gpt-4o": _price("2.50", "10", "1.25"),
    "openai:gpt-4o-mini": _price("0.15", "0.60", "0.075"),
    "openai:o3": _price("2", "8", "0.50"),
    "openai:o4-mini": _price("1.10", "4.40", "0.275"),
    "anthropic:claude-opus-4-1": _price("15", "75", "1.50"),
    "anthropic:claude-opus-4": _price("15", "75", "1.50"),
    "anthropic:claude-sonnet-4-5": _price("3", "15", "0.30"),
    "anthropic:claude-sonnet-4": _price("3", "15", "0.30"),
    "anthropic:claude-haiku-4-5": _price("1", "5", "0.10"),
    "anthropic:claude-3-7-sonnet": _price("3", "15", "0.30"),
    "anthropic:claude-3-5-haiku": _price("0.80", "4", "0.08"),
}
"""List prices by agent; a model's dated names ("gpt-4o-2024-08-06") cost the same as the undated one."""


@dataclass(frozen=True)
class PriceList:
    """Known prices: first a researcher's own, then the endpoint's, then the list above."""

    own_prices: Mapping[str, Price]

    def of(self, agent: str) -> Price | None:
        """Return the price of an agent such as "openai:gpt-4o-mini"; None if unknown."""
        endpoint_name = agent.partition(":")[0]
        if endpoint_name == PROGRAM:
            return Price(input=Decimal(0), output=Decimal(0))
        endpoint_prices = endpoint(endpoint_name).prices if endpoint_exists(endpoint_name) else {}
        prices = {
            **PRICES,
            **{f"{endpoint_name}:{model}": price for model, price in endpoint_prices.items()},
            **self.own_prices,
        }
        if agent in prices:
            return prices[agent]
        undated = [name for name in prices if agent.startswith(f"{name}-") and agent[len(name) + 1 :][:1].isdigit()]
        return prices[max(undated, key=len)] if undated else None

    def cost(self, call: CallRecord) -> Decimal | None:
        """Return the US dollars for one call; None if the price or the tokens are unknown."""
        price = self.of(f"{call.endpoint or call.provider}:{call.model}")
        if price is None or call.input_tokens is None or call.output_tokens is None:
            return None
        cached = min(call.cached_tokens or 0, call.input_tokens)
        input_cost = (
            price.input * (call.input_tokens - cached)
            + (price.input if price.cached is None else price.cached) * cached
        )
        return (input_cost + price.output * call.output_tokens) / MILLION

    def largest(self, agent: str, request: Request) -> Decimal | None:
        """Return the most that a call can cost in US dollars; None if the agent's price is unknown.

        A token is at least one byte, so the request has at most as many tokens as bytes.
        """
        if self.of(agent) is None:
            return None
        tools = [(tool.name, tool.help, tool.parameters) for tool in request.tools]
        sent = json.dumps([request.messages, request.schema, tools], ensure_ascii=False, default=str)
        return self.largest_of(agent, size=len(sent.encode()), max_tokens=request.parameters.get("max_tokens"))

    def largest_of(self, agent: str, *, size: int, max_tokens: int | None) -> Decimal | None:
        """Return the most that a call with a request of `size` bytes can cost; None if the agent's price is unknown."""
        price = self.of(agent)
        if price is None:
            return None
        input_cost = max(price.input, price.cached or 0) * (size + ADDED_TOKENS)
        return (input_cost + price.output * longest_answer(agent, max_tokens)) / MILLION


LISTED = PriceList({})


def longest_answer(agent: str, max_tokens: int | None) -> int:
    """Return the maximum tokens of one answer of an agent such as "openai:gpt-4o-mini".

    Args:
        max_tokens: the limit in the agent's settings, if there is one.
    """
    if agent.startswith(f"{PROGRAM}:"):
        return 0
    return max_tokens or LONGEST_ANSWER[endpoint(agent.partition(":")[0]).protocol]
