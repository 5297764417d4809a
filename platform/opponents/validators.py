"""What an endpoint's name, address, variable and prices may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import ValidationError as BadValues

from llm_agents.agent import SCRIPT
from llm_agents.endpoints import Price
from sealing.addresses import check_address

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
MOST_PRICES = 500


def validate_name(name: str) -> None:
    """Agents are called "NAME:MODEL", and scripted players "script:NAME"."""
    if name == SCRIPT:
        raise ValidationError(_("“%(name)s” stands for scripted players."), params={"name": name})


def validate_address(address: str) -> None:
    """Any address that may be kept; models are often served on a private network."""
    check_address(address, private=True)


def validate_variable(name: str) -> None:
    """Only variables that hold a model's key: an endpoint is sent what its variable holds."""
    if not _VARIABLE.fullmatch(name):
        raise ValidationError(_("The name of an environment variable that ends in _API_KEY, such as OPENAI_API_KEY."))


def validate_prices(prices: Any) -> None:
    """{model: {"input": …, "output": …}}, in US dollars per million tokens."""
    read_prices(prices)


def read_prices(prices: Any) -> dict[str, Price]:
    """Prices by model.

    Raises:
        ValidationError: says which model's price is none.
    """
    if not isinstance(prices, Mapping) or len(prices) > MOST_PRICES:
        raise ValidationError(_("Prices are two amounts in dollars for each of at most 500 models."))
    read = {}
    for model, price in prices.items():
        if not model:
            raise ValidationError(_("Name the model that each price is for."))
        try:
            read[model] = Price.model_validate(_exact(price))
        except BadValues:
            says = _("The price of “%(model)s” is not two amounts in dollars, “input” and “output”.")
            raise ValidationError(says, params={"model": model}) from None
    return read


def _exact(price: Any) -> Any:
    """Amounts as they are written: the binary 0.15 is not 0.15 dollars."""
    if not isinstance(price, Mapping):
        return price
    return {name: str(amount) if type(amount) in (int, float) else amount for name, amount in price.items()}
