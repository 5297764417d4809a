"""Find the JSON object in a model's text, or say what is wrong with it; never repair it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from games.interface import Json
from llm_agents.errors import BadAnswer

NO_OBJECT = "There is no complete JSON object in your answer"

_POSSIBLE_START = re.compile(r"""\{(?=\s*["}'“‘„\w])""")
_OPENING = re.compile(
    r"""\{\s{0,200}(?:"(?:[^"\\]|\\.){0,200}"|'[^'{}]{0,200}'|[“‘„][^”’{}]{0,200}[”’“]|[^\W\d]\w{0,200})\s{0,200}[:=]"""
)
_BRACES_OUTSIDE_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_THINKING_BEGINS = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINKING_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_MAX_OPENINGS = 50
"""Broken openings that are examined; more are skipped, so that no text takes long to read."""


class _Ambiguous(ValueError):
    """The text follows JSON's grammar but is ambiguous."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _value in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise _Ambiguous(f"the key {json.dumps(duplicate, ensure_ascii=False)} appears twice")
    return mapping


def _refuse_constant(constant: str) -> NoReturn:
    raise _Ambiguous(f"{constant} is not a JSON number")


_decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


@dataclass(frozen=True)
class _Candidate:
    """An object, or what looks like one, and where it begins and ends; `problem` says why it is not one."""

    begin: int
    end: int
    value: Mapping[str, Json] | None = None
    problem: str = ""


def last_object(text: str) -> dict[str, Json]:
    """Return the last complete JSON object of `text` that is not inside another one.

    A closed but broken object counts too, and is refused: the object before it is not what was
    meant. An opening without a closing brace does not count next to a complete object.

    Raises:
        BadAnswer: there is none; the message tells the model what is wrong.
    """
    candidate = _find_last(text)
    if candidate is None:
        raise BadAnswer(f"{NO_OBJECT}.")
    if candidate.value is None:
        raise BadAnswer(candidate.problem)
    if _THINKING_ENDS.search(text, candidate.end) or (_THINKING_BEGINS.match(text) and not _THINKING_ENDS.search(text)):
        raise BadAnswer(f"{NO_OBJECT}: the only one is part of your thinking. Give it after your thinking has ended.")
    return dict(candidate.value)


def around_object(text: str) -> str:
    """Return the text around the JSON object that `last_object` reads; the whole text if there is none."""
    candidate = _find_last(text)
    return text if candidate is None or candidate.value is None else f"{text[: candidate.begin]}{text[candidate.end :]}"


def _find_last(text: str) -> _Candidate | None:
    last: _Candidate | None = None
    unclosed: _Candidate | None = None
    openings = 0
    end = 0
    while begin := _POSSIBLE_START.search(text, end):
        start = begin.start()
        try:
            value, end = _decoder.raw_decode(text, start)
            last = _Candidate(start, end, value)
        except RecursionError:
            return last or _Candidate(start, len(text), problem=f"{NO_OBJECT}: it is nested too deeply.")
        except ValueError as error:
            end = start + 1
            if openings < _MAX_OPENINGS and _OPENING.match(text, start):
                openings += 1
                closing = _closing_position(text, start)
                if closing is not None:
                    end = closing
                    problem = f"The JSON object in your answer cannot be read: {_explain(error, text)}."
                    last = _Candidate(start, end, problem=problem)
                elif _is_cut_off(error, text):
                    unclosed = _Candidate(
                        start, len(text), problem=f"{NO_OBJECT}: it is cut off before its closing }}."
                    )
                    break
                else:
                    end = max(end, getattr(error, "pos", end))
                    unclosed = _Candidate(start, end, problem=f"{NO_OBJECT}: {_explain(error, text)}.")
    return last or unclosed


def _closing_position(text: str, start: int) -> int | None:
    """Return where the brace at `start` is closed, ignoring braces in quoted text; None if it never is."""
    depth = 0
    for brace in _BRACES_OUTSIDE_TEXT.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.end()
    return None


def _is_cut_off(error: ValueError, text: str) -> bool:
    """Return whether the text before the error begins an object and nothing follows it."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :].strip()
    unfinished = ("true", "false", "null")
    return rest in ("", "-") or any(word.startswith(rest) for word in unfinished) or bool(_HALF_ESCAPE.fullmatch(rest))


_HALF_ESCAPE = re.compile(r"\\?u?[0-9a-fA-F]{0,3}")
_THOUSANDS = re.compile(r"([0-9]{1,3})((?:,[0-9]{3})+)(?![0-9])")
_LITERALS = {"True": "true", "False": "false", "None": "null", "NaN": "null", "undefined": "null"}


def _explain(error: ValueError, text: str) -> str:
    """Return what is wrong with the object, for the model."""
    if isinstance(error, _Ambiguous):
        return str(error)
    if not isinstance(error, json.JSONDecodeError):
        return "a number in it is too long"
    position = error.pos
    before, rest = text[:position].rstrip(), text[position:].lstrip()
    if error.msg.startswith("Invalid control character"):
        return "a line break or tab inside text must be written as \\n or \\t"
    if error.msg.startswith(("Invalid \\escape", "Invalid \\uXXXX")):
        return "a backslash inside text must be written as \\\\"
    if number := _grouped_number(text, position):
        return f"numbers have no thousands separators, so write {number.replace(',', '')} and not {number}"
    if (rest[:1] in ("}", "]") and before.endswith(",")) or (rest[:1] == "," and rest[1:].lstrip()[:1] in ("}", "]")):
        return f"there is a comma before the closing {rest.lstrip(', ')[:1] or '}'}"
    if rest.startswith("```"):
        return "its closing } is missing"
    if rest.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if rest[:1] in tuple("'‘’“”„«`"):
        return 'keys and text must be in straight double quotes (")'
    for word, json_word in _LITERALS.items():
        if rest.startswith(word):
            return f"write {json_word} and not {word}"
    if rest[:1] in tuple("$€£¥"):
        return f"numbers have no currency sign, so remove {rest[0]}"
    if rest[:1] == "%":
        return "numbers have no percent sign: give the number itself"
    if error.msg.startswith("Expecting property name"):
        return f"a key in double quotes is missing at {_excerpt(rest)}"
    if error.msg.startswith("Expecting ':'"):
        return f"a colon is missing before {_excerpt(rest)}"
    if error.msg.startswith("Expecting ','"):
        return f"a comma or a closing brace is missing before {_excerpt(rest)}"
    return f"{_excerpt(rest)} is not a number, quoted text, true, false, null, list or object"


def _grouped_number(text: str, position: int) -> str | None:
    """Return the number with separators around `position`, where JSON's grammar stopped."""
    for number in _THOUSANDS.finditer(text, max(0, position - 30), position + 30):
        if number.start() < position <= number.end():
            return number[0]
    return None


def _excerpt(text: str) -> str:
    first = text.split("\n", 1)[0][:20].strip()
    return f"“{first}”" if first else "the end"
