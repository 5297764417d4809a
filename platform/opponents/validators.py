"""Validation of an endpoint's name, address, variable and prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import ValidationError as BadValues

from llm_agents.agent import PROGRAM, SCRIPT
from llm_agents.endpoints import Price
from llm_agents.scrubbing import without_key
from sealing.addresses import check_address, is_private

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:\d+)?(/[\w./~-]*)?", re.ASCII)
MAX_PRICES = 500


def validate_name(name: str) -> None:
    """Refuse reserved names: agents are called "NAME:MODEL", "script:NAME" or "program:NAME"."""
    if name in (SCRIPT, PROGRAM):
        reserved_for = _("scripted players") if name == SCRIPT else _("researchers' own programs")
        raise ValidationError(
            _("“%(name)s” is reserved for %(what)s. Choose another name."), params={"name": name, "what": reserved_for}
        )


def validate_address(address: str) -> None:
    """Accept any web address; models are often served on a private network."""
    check_address(address, private=True)


def completed_address(typed: str) -> str:
    """Return an address with the scheme that someone left out: http for a private host, otherwise https.

    Anything that does not look like a host with a port, path or domain is returned as typed: it may be a key.
    """
    host = typed.partition("/")[0].partition(":")[0]
    looks_like_host = _HOST.fullmatch(typed) and ("." in host or host == "localhost" or f"{host}:" in typed)
    if not looks_like_host or without_key(typed, None) != typed:
        return typed
    return f"{'http' if is_private(host) else 'https'}://{typed}"


def validate_variable(name: str) -> None:
    """Accept only variables for model keys, because the variable's value is sent to the endpoint."""
    if not _VARIABLE.fullmatch(name):
        raise ValidationError(
            _("Enter the name of an environment variable that ends in _API_KEY, such as OPENAI_API_KEY.")
        )


def validate_prices(prices: Any) -> None:
    """Check prices: {model: {"input": …, "output": …}}, in US dollars per million tokens."""
    read_prices(prices)


def read_prices(prices: Any) -> dict[str, Price]:
    """Return prices by model.

    Raises:
        ValidationError: naming the first model with an invalid price.
    """
    if not isinstance(prices, Mapping) or len(prices) > MAX_PRICES:
        raise ValidationError(_("Enter two prices in dollars for each of at most 500 models."))
    parsed = {}
    for model, price in prices.items():
        if not model:
            raise ValidationError(_("Enter the name of the model that each price is for."))
        try:
            parsed[model] = Price.model_validate(_exact(price))
        except BadValues:
            message = _("Enter two prices in dollars for “%(model)s”: input and output, such as 0.15 and 0.60.")
            raise ValidationError(message, params={"model": model}) from None
    return parsed


def _exact(price: Any) -> Any:
    """Return amounts as strings, because the binary float 0.15 is not exactly 0.15 dollars."""
    if not isinstance(price, Mapping):
        return price
    return {name: str(amount) if type(amount) in (int, float) else amount for name, amount in price.items()}
