"""A stand-in for a model: plays any game from the request alone, without knowing the game.

It conforms to the answer's schema, respects sums and limits that the question or a correction names,
names amounts near those it reads, and does not accept an announced loss. Its random choices follow from
the seed, the request, and how often the same request has come.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Any

from llm_agents.standins.misbehaviours import Calls, Output, tool_kinds
from llm_agents.standins.protocols import Json
from llm_agents.standins.questions import Question, Schema, amounts, question_in
from llm_agents.standins.toolbox import Toolbox, in_plain_json, toolbox_in

MESSAGES = (
    "I think this is fair to both of us.",
    "Let us come to an agreement soon: waiting helps nobody.",
    "I have thought about it, and this is what I can do.",
    "You can rely on what I say.",
)
THOUGHTS = "I compare what each choice brings me, and take one that the other side may like as well."
GREETING = "Ready. I am a stand-in for a language model."
_REASONING = "reasoning"
_FIRST_CHOICE_RATE = 0.6
"""How often the first of two choices is taken, other things being equal."""
_LEAST_SHARE = 0.35
"""An offered part below this share of the whole is rejected."""


def answer(request: Mapping[str, Json], *, seed: int = 0, occurrence: int = 1, prose: bool = False) -> Output:
    """Return the answer to a call in either protocol: a JSON object or tool calls, if the call asks for them.

    Args:
        occurrence: how often the same request has come, including this one.
        prose: put text and a code fence around the object, unless the service enforces a schema.
    """
    rng = Random(f"{seed}/{occurrence}/{fingerprint(request)}")
    question = question_in(request)
    if toolbox := toolbox_in(request):
        return calls(toolbox, question, rng)
    if not question.schemas:
        return GREETING
    player = _Player(question, rng)
    move = json.dumps(player.move(), ensure_ascii=False)
    if not prose or question.enforced:
        return move
    return f"I have weighed what to do.\n\n```json\n{move}\n```\n\nThat is my answer."


def calls(toolbox: Toolbox, question: Question, rng: Random, *, submit: bool = False) -> Output:
    """Return the next tool calls; with `submit`, only the one that ends the turn."""
    chosen = toolbox.tools[-1:] if submit else toolbox.next_calls()
    filled = []
    for tool in chosen:
        tool_question = Question((tool.schema,), True, question.rules, question.text, toolbox.refusals)
        is_lookup = tool is not toolbox.tools[-1] and not tool.takes_notes
        filled.append((tool.name, _Player(tool_question, rng, is_lookup=is_lookup).move()))
    if toolbox.in_text:
        return in_plain_json(toolbox, *filled[0])
    return Calls(tuple((name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in filled))


def tool_misbehaviours(request: Mapping[str, Json], *, seed: int = 0, occurrence: int = 1) -> Mapping[str, Any]:
    """Return what a model that should call tools can do wrong now, by name; empty if no tools are offered."""
    toolbox = toolbox_in(request)
    if toolbox is None or toolbox.in_text:
        return {}
    rng, question = Random(f"{seed}/{occurrence}"), question_in(request)
    submission = calls(toolbox, question, rng, submit=True)
    lookup = calls(replace(toolbox, called_names=(), tools=(*toolbox.tools[:1], toolbox.tools[-1])), question, rng)
    assert isinstance(submission, Calls) and isinstance(lookup, Calls)
    return tool_kinds(lookup, submission, (toolbox.results or ("",))[-1])


def fingerprint(request: Mapping[str, Json]) -> str:
    """Return a hash that identifies a call's messages, as hex."""
    return sha256(json.dumps([request["messages"], request.get("system")], sort_keys=True).encode()).hexdigest()


class _Player:
    """One answer to one question; with `is_lookup`, the arguments of a tool that looks at data."""

    def __init__(self, question: Question, rng: Random, *, is_lookup: bool = False):
        self._question, self._rng = question, rng
        self._tries = len(question.complaints)
        self._limits = _limits(question.complaints[-1]) if question.complaints else {}
        self._news, _turn, form_text = question.text.partition("It is your turn.")
        self._stated = {**_stated_range(self._news), **_limits(form_text.partition("JSON object")[0])}
        self._is_lookup = is_lookup

    def move(self) -> Json:
        return self._value(self._rng.choice(self._question.schemas), "", {})

    def _value(self, schema: Mapping[str, Any], name: str, definitions: Mapping[str, Any]) -> Json:
        definitions = schema.get("$defs", definitions)
        if "$ref" in schema:
            return self._value(definitions[schema["$ref"].rsplit("/", 1)[-1]], name, definitions)
        if alternatives := schema.get("anyOf") or schema.get("oneOf"):
            non_null = [option for option in alternatives if option.get("type") != "null"]
            if len(non_null) < len(alternatives) and (not non_null or self._answers_null()):
                return None
            return self._value(self._rng.choice(non_null), name, definitions)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return self._object(schema, definitions)
            case "array":
                count = max(schema.get("minItems", 1), 1 if self._tries < 2 else 0)
                count = min(count, schema.get("maxItems", count))
                return [self._value(schema.get("items", {}), name, definitions) for _entry in range(count)]
            case "boolean":
                return self._rng.random() < _FIRST_CHOICE_RATE
            case "null":
                return None
            case "integer" | "number":
                return self._number(schema)
        return self._text(schema, name)

    def _object(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Json:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        filled = {}
        matched = self._matching(properties)
        for name, field in properties.items():
            value = matched.get(name) or self._value(field, name, definitions)
            if value is not None or name in required:
                filled[name] = value
        numeric_names = [name for name in filled if properties[name].get("type") in ("integer", "number")]
        filled |= self._dictionary(schema, definitions)
        total = self._required_sum()
        if len(numeric_names) > 1 and total is not None:
            filled |= dict(
                zip(numeric_names, self._split(total, [properties[name] for name in numeric_names]), strict=True)
            )
        return filled

    def _dictionary(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Json]:
        """Return values under a dictionary's possible names: all if all are required, else a few."""
        names, value_schema = schema.get("propertyNames", {}).get("enum", ()), schema.get("additionalProperties")
        if not isinstance(value_schema, Mapping) or not names:
            return {}
        needed = max(schema.get("minProperties", 0), 1)
        chosen = names if needed >= len(names) else self._rng.sample(list(names), needed)
        properties = dict.fromkeys(chosen, value_schema)
        return {name: self._value(value_schema, name, definitions) for name in chosen} | self._matching(properties)

    def _matching(self, properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Json]:
        """Return a matching: where all keys have the same choices, and as many, each choice is taken once."""
        choices = [field.get("enum") for field in properties.values()]
        if (
            len(choices) < 2
            or not choices[0]
            or len(choices[0]) != len(choices)
            or choices != choices[:1] * len(choices)
        ):
            return {}
        return dict(zip(properties, self._rng.sample(list(choices[0]), len(choices)), strict=True))

    def _answers_null(self) -> bool:
        """Return whether to answer "null" where it is allowed."""
        if self._stated.get("low", 0) > self._stated.get("high", math.inf):
            return True
        if self._question.complaints and "can only" in self._question.complaints[-1]:
            return True
        return self._tries > 1 or self._rng.random() < 0.3

    # ---- choices, numbers, texts -----------------------------------------------------------------

    def _choice(self, options: Sequence[Json]) -> Json:
        if self._tries > 1:
            return self._rng.choice(options)
        if self._offer_is_bad():
            return options[min(1, len(options) - 1)]
        if self._rng.random() < _FIRST_CHOICE_RATE:
            return options[0]
        return self._rng.choice(options[:2])

    def _offer_is_bad(self) -> bool:
        """Return whether the last message mentions a loss, or a part that is too small."""
        last_block = self._news.strip().rsplit("\n\n", 1)[-1].lower()
        if "you would lose" in last_block:
            return True
        amount_by_name = {
            match[1]: amounts(match[0])[0] for match in re.finditer(r"- (.+?) would get: \$[0-9].*", last_block)
        }
        total = sum(amount_by_name.values())
        return "you" in amount_by_name and len(amount_by_name) > 1 and amount_by_name["you"] < _LEAST_SHARE * total

    def _required_sum(self) -> float | None:
        """Return the required sum of several numbers, if one is named."""
        for text in (*reversed(self._question.complaints), self._question.text, self._question.rules):
            if match := _TOTAL.search(text):
                return float(match[1].replace(",", ""))
        return None

    def _split(self, total: float, schemas: Sequence[Mapping[str, Any]]) -> list[float]:
        """Split `total` into parts of about the same size, round ones if possible."""
        must_be_whole = [schema.get("type") == "integer" for schema in schemas]
        amounts_so_far: list[float] = []
        for index, is_whole in enumerate(must_be_whole[:-1]):
            share = (total - sum(amounts_so_far)) / (len(must_be_whole) - index)
            amount = _rounded(share * self._rng.uniform(0.85, 1.15), digits=2) if self._tries < 2 else share
            amounts_so_far.append(math.floor(amount) if is_whole else amount)
        remainder = total - sum(amounts_so_far)
        return [*amounts_so_far, int(remainder) if must_be_whole[-1] and remainder == int(remainder) else remainder]

    def _number(self, schema: Mapping[str, Any]) -> float:
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        low, high = self._limits.get("low", low), self._limits.get("high", high)
        if low is not None and high is not None:
            number = low + (high - low) * self._rng.uniform(0.4, 0.6)
        elif self._tries > 1:
            number = low if low is not None else min(high or 0, 0)
        elif self._is_lookup:
            number = low or 0
        else:
            number = self._amount()
            low, high = self._stated.get("low", low), self._stated.get("high", high)
            if low is not None and high is not None and number > high:
                number = self._rng.uniform(low, high)
        return _clamped(_rounded(number), schema, low, high)

    def _amount(self) -> float:
        """Return an amount near what things are worth: above it for a seller, below it for a buyer."""
        values = [amounts(match[0])[0] for match in re.finditer(r"[Ww]orth to [^:\n]+: \$[0-9].*", self._news)]
        if values and max(values) > min(values):
            return self._rng.uniform(min(values), max(values))
        reference_amounts = values or amounts(self._question.text) or amounts(self._question.rules) or [10]
        is_seller, is_buyer = (
            re.search(rf"[Yy]ou are [^.]*\b{kind}", self._question.rules) for kind in ("seller", "buyer")
        )
        return reference_amounts[0] * self._rng.uniform(
            0.85 if is_buyer or not is_seller else 1.0, 1.15 if is_seller or not is_buyer else 1.0
        )

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        if name == _REASONING:
            return THOUGHTS
        message: str = self._rng.choice(MESSAGES)
        message += " " * max(0, schema.get("minLength", 0) - len(message))
        max_length = int(schema.get("maxLength", len(message)))
        return message[:max_length]


_TOTAL = re.compile(
    r"\b(?:sums?(?: up)?|adds? up) (?:to|of) (?:exactly )?\$?([0-9][0-9,]*(?:\.[0-9]+)?)(?!.*\bmust add up)"
)
_LIMIT = re.compile(
    r"(at least|more than|from|at most|less than|up to|only|sum to|to) \$?(-?[0-9][0-9,]*(?:\.[0-9]+)?)"
)


def _limits(complaint: str) -> dict[str, float]:
    """Return the minimum and maximum that a correction names."""
    limits: dict[str, float] = {}
    for bound, number in _LIMIT.findall(complaint):
        limits["low" if bound in ("at least", "more than", "from") else "high"] = float(number.replace(",", ""))
    return limits


_STATED = r"[^:\n]*: \$?([0-9][0-9,]*(?:\.[0-9]+)?)"
_STATED_BOUNDS = {
    "low": re.compile(rf"\b(?:[Ll]owest|[Mm]inimum) {_STATED}"),
    "high": re.compile(rf"\b[Mm]oney left{_STATED}"),
}


def _stated_range(news: str) -> dict[str, float]:
    """Return the lowest amount that counts now, and the money available, as the news states them."""
    matches_by_bound = {bound: pattern.findall(news) for bound, pattern in _STATED_BOUNDS.items()}
    return {bound: float(matches[-1].replace(",", "")) for bound, matches in matches_by_bound.items() if matches}


def _rounded(number: float, digits: int = 3) -> float:
    """Round to so many significant digits, as people name amounts."""
    if number == 0 or not math.isfinite(number):
        return 0.0
    return round(number, digits - 1 - math.floor(math.log10(abs(number))))


def _clamped(number: float, schema: Schema | Mapping[str, Any], low: float | None, high: float | None) -> float:
    step = schema.get("multipleOf") or (1 if schema.get("type") == "integer" else 0)
    if low is not None and (number < low or (number == low and "exclusiveMinimum" in schema)):
        number = low + (step or abs(low) * 0.01 or 0.01) * ("exclusiveMinimum" in schema)
    if high is not None and (number > high or (number == high and "exclusiveMaximum" in schema)):
        number = high - (step or abs(high) * 0.01 or 0.01) * ("exclusiveMaximum" in schema)
    if step:
        number = (math.ceil if low is not None and number - step < low else math.floor)(number / step) * step
    return int(number) if schema.get("type") == "integer" else number
