"""What an endpoint's name, address, variable and prices may be."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import ValidationError as BadValues

from llm_agents.agent import SCRIPT
from llm_agents.endpoints import Price

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
MOST_PRICES = 500


def validate_name(name: str) -> None:
    """Agents are called "NAME:MODEL", and scripted players "script:NAME"."""
    if name == SCRIPT:
        raise ValidationError(_("“%(name)s” stands for scripted players."), params={"name": name})


def validate_address(address: str) -> None:
    """An http or https address that holds no credentials; the message never repeats it."""
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise ValidationError(_("This is no address.")) from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", address):
        raise ValidationError(_("An address begins with http:// or https:// and a host."))
    if parts.username is not None or parts.password is not None:
        raise ValidationError(_("No user name, password or key in the address: keys have their own field."))
    if parts.query or parts.fragment or "?" in address or "#" in address:
        raise ValidationError(_("The address ends with its path: nothing after “?” or “#”."))
    if _is_nobodys_server(host):
        raise ValidationError(_("No model is served at such an address."))


def _is_nobodys_server(host: str) -> bool:
    """Link-local addresses hold cloud machines' own credentials; the others are no single machine's."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified


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
        raise ValidationError(_('Prices are written as {"model": {"input": 0.15, "output": 0.60}}.'))
    read = {}
    for model, price in prices.items():
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
