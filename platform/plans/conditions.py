"""Conditions of a plan (`games.conditions`), as fields of its models."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from games.conditions import Condition
from games.errors import BadText

__all__ = ["Condition", "Expression"]


def _parsable(text: str) -> str:
    if text:
        try:
            Condition.parse(text)
        except BadText as error:
            raise PydanticCustomError("condition", "{reason}", {"reason": str(error)}) from None
    return text


Expression = Annotated[str, AfterValidator(_parsable)]
"""The type of a model's field that holds a condition; empty if there is none."""
