"""A plan with every kind of variation, as tests use it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from plans.files import loads

FRAMING = loads(
    """
format: parley-study
version: 1
title: Offers and framing
shown_title: A decision study
factors:
  wording: {levels: [give, take]}
  opponent: {levels: [model, haggler]}
  stakes: {levels: {small: {money: 100, average: "0.50"}, large: {money: 10000, average: "1.50"}}}
  horizon: {levels: [short, long], within: games}
cells: {quota: 40}
agents:
  model: {endpoint: local, model: small, temperature: 0, fallback: haggler}
  haggler: {script: haggler}
journey:
  - {stage: consent}
  - {stage: page, name: opening, text: {by: wording, values: {give: "You give {{ stakes }}.", take: You take.}}}
  - stage: questions
    name: before
    items: [{name: age, kind: number, text: How old are you?, min: 1, ends_if: age < 18}]
  - stage: block
    name: games
    passes: random
    of:
      - stage: game
        name: talk
        game: bargaining
        config: {rounds: {by: horizon, values: {short: 1, long: 12}}, money: {by: stakes.money}}
        seats: {alice: person, bob: {by: opponent}}
  - stage: questions
    name: after
    items: [{name: why, kind: long, text: Why?}]
    show_if: wording == 'take' and talk.short.agreement
  - {stage: debriefing, text: Thank you.}
pay: {base: 1, bonus: {average: {by: stakes.average}}}
"""
)


def framing(**parts: Any) -> dict[str, Any]:
    """Return a copy of the plan with other parts."""
    return {**deepcopy(FRAMING), **parts}


def at(document: Any, path: str) -> Any:
    """Return the node at a dotted path."""
    for part in path.split("."):
        document = document[int(part) if isinstance(document, list) else part]
    return document


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the plan with another value at a dotted path; `...` removes it."""
    document = framing()
    *parents, last = path.split(".")
    node = at(document, ".".join(parents)) if parents else document
    key = int(last) if isinstance(node, list) else last
    if value is ...:
        del node[key]
    elif isinstance(node, list) and key == len(node):
        node.append(value)
    else:
        node[key] = value
    return document
