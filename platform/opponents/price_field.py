"""Prices as form rows: a model and its prices in dollars per million input and output tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

AMOUNTS = ("input", "output", "cached")
EMPTY_ROWS = 3


class PricesWidget(forms.Widget):
    """The value is the JSON text {model: {"input": …, "output": …}}, shown as rows.

    Args:
        of: what a row describes, "model" or "agent".
    """

    template_name = "admin/opponents/prices.html"

    def __init__(self, of: str = "model"):
        super().__init__()
        self.of = of

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        prices = _parsed(value)
        rows = [(model, [price.get(amount, "") for amount in AMOUNTS]) for model, price in prices.items()]
        context["widget"] |= {
            "of": _("Agent") if self.of == "agent" else _("Model"),
            "rows": [*rows, *[("", [""] * len(AMOUNTS))] * EMPTY_ROWS],
        }
        return context

    def _render(self, template_name: str, context: dict[str, Any], renderer: Any = None) -> str:
        """Render with the project's own templates, which widgets do not use by default."""
        return render_to_string(template_name, context)

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        if f"{name}-model" not in data:
            return data.get(name)
        getlist = data.getlist  # type: ignore[attr-defined]
        models = [model.strip() for model in getlist(f"{name}-model")]
        columns = [[amount.strip() for amount in getlist(f"{name}-{column}")] for column in AMOUNTS]
        rows = zip_longest(models, *columns, fillvalue="")
        entries = [f"{json.dumps(model)}: {_price(amounts)}" for model, *amounts in rows if model or any(amounts)]
        return "{" + ", ".join(entries) + "}"

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return name not in data and f"{name}-model" not in data

    def id_for_label(self, id_: str | None, index: str | None = None) -> str:
        return f"{id_}-0" if id_ else ""


def _price(amounts: list[str]) -> str:
    prices = [(name, amount) for name, amount in zip(AMOUNTS, amounts, strict=False) if amount]
    return "{" + ", ".join(f"{json.dumps(name)}: {_literal(amount)}" for name, amount in prices) + "}"


def _literal(amount: str) -> str:
    """Return a number as typed; anything else as a string, to be refused when prices are read."""
    return amount if re.fullmatch(r"-?(0|[1-9]\d{0,11})(\.\d{1,12})?", amount, re.ASCII) else json.dumps(amount)


def _parsed(value: Any) -> dict[str, Any]:
    try:
        prices = json.loads(value, parse_float=str) if isinstance(value, str) else value
    except ValueError:
        return {}
    if not isinstance(prices, dict):
        return {}
    return {model: price for model, price in prices.items() if isinstance(price, dict)}
