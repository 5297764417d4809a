"""Conditions of a plan: whether a stage or question is shown, or an answer ends the study.

A condition is an expression in the language of the games' texts: comparisons, `and`, `or`, `not`, `in`, arithmetic
and dotted names. It is kept as a tree of plain data, which pages evaluate too (static/parley/questions.js).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.parser import Parser

from games.bounded import BoundedEnvironment
from games.errors import BadText
from games.words import gettext as _

MAX_LENGTH = 1000
"""Maximum number of characters of a condition."""
MAX_DEPTH = 60
Path = tuple[str, ...]
Values = Mapping[str, Any] | Callable[[Path], Any]
Tree = list[Any]
"""An operator and its operands: ["value", constant], ["name", [part, …]], ["and", tree, tree], ["compare", tree,
[[operator, tree], …]], ["not", tree], ["-", tree], ["+", tree, tree], …"""

_environment = BoundedEnvironment({})
_COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
    "lt": ("<", operator.lt),
    "lteq": ("<=", operator.le),
    "gt": (">", operator.gt),
    "gteq": (">=", operator.ge),
    "in": ("in", lambda item, of: item in of),
    "notin": ("not in", lambda item, of: item not in of),
}
_compare = dict(_COMPARISONS.values())
_JOINED: dict[type[nodes.Node], str] = {nodes.And: "and", nodes.Or: "or"}


@dataclass(frozen=True)
class Condition:
    """A parsed condition."""

    tree: Tree

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition that `text` describes.

        Raises:
            BadText: it is too long, does not parse, or uses something that a condition may not contain.
        """
        return cls(_parsed(text))

    def references(self) -> tuple[Path, ...]:
        """Return the dotted names that the condition uses, each once: `talk.short.agreement` in three parts."""
        return tuple(dict.fromkeys(_references(self.tree)))

    def holds(self, values: Values) -> bool:
        """Return whether the condition is true of `values`, nested by name, or a function of a name's parts.

        A comparison with something missing or None is false, whatever the operator, and so is a missing value
        alone; so is a comparison of values that cannot be compared.
        """
        return _is_true(_value(self.tree, values))

    def given(self, values: Values, *, later: Collection[str]) -> Tree:
        """Return the tree with everything evaluated that depends on none of the names `later`.

        What a page gets for its script: it contains no other names, and their values only where an answer of
        the page itself is compared with them.
        """
        tree = _given(self.tree, values, frozenset(later))
        return ["value", _is_true(tree[1])] if tree[0] == "value" else tree


@lru_cache(maxsize=2048)
def _parsed(text: str) -> Tree:
    if len(text) > MAX_LENGTH:
        raise BadText(_("A condition can have at most {most} characters.").format(most=f"{MAX_LENGTH:,}"))
    if not text.strip():
        raise BadText(_("Please enter a condition, for example: age >= 18"))
    try:
        parser = Parser(_environment, text, state="variable")
        expression = parser.parse_expression()
        if not parser.stream.eos:
            raise BadText(_("A condition is one expression; “{what}” follows it.").format(what=parser.stream.current))
        return _tree(expression, 0)
    except TemplateError as error:
        raise BadText(_("This condition cannot be read: {reason}").format(reason=error.message)) from None
    except (RecursionError, MemoryError):
        raise BadText(_("This condition is nested too deeply.")) from None


def _tree(node: nodes.Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        raise BadText(_("This condition is nested too deeply."))

    def of(child: nodes.Node) -> Tree:
        return _tree(child, depth + 1)

    match node:
        case nodes.Const():
            return ["value", _constant(node)]
        case nodes.List() | nodes.Tuple():
            items = [item for item in node.items if isinstance(item, nodes.Const)]
            if len(items) < len(node.items):
                raise BadText(_("A list in a condition may hold only numbers and words in quotation marks."))
            return ["value", [_constant(item) for item in items]]
        case nodes.Name() | nodes.Getattr() | nodes.Getitem():
            return ["name", list(_path(node))]
        case nodes.And() | nodes.Or():
            return [_JOINED[type(node)], of(node.left), of(node.right)]
        case nodes.Not():
            return ["not", of(node.node)]
        case nodes.Compare():
            return ["compare", of(node.expr), [[_COMPARISONS[part.op][0], of(part.expr)] for part in node.ops]]
        case nodes.BinExpr():
            return [node.operator, of(node.left), of(node.right)]
        case nodes.UnaryExpr():
            return [node.operator, of(node.node)]
        case nodes.Call():
            raise BadText(_("A condition cannot call anything: write it without parentheses after a name."))
    _refuse(type(node).__name__.lower())


def _refuse(what: str) -> NoReturn:
    raise BadText(
        _("A condition can use comparisons, and, or, not, in, arithmetic and names, but not “{what}”.").format(
            what=what
        )
    )


def _constant(node: nodes.Const) -> Any:
    if node.value is None:
        raise BadText(_("Nothing equals “none” in a condition: a comparison with a missing value is always false."))
    return node.value


def _path(node: nodes.Node) -> Path:
    match node:
        case nodes.Name():
            return (node.name,)
        case nodes.Getattr():
            return (*_path(node.node), node.attr)
        case nodes.Getitem(arg=nodes.Const(value=str() | int() as part)):
            return (*_path(node.node), str(part))
    _refuse(type(node).__name__.lower())


def _references(tree: Tree) -> Iterator[Path]:
    if tree[0] == "name":
        yield tuple(tree[1])
    elif tree[0] == "compare":
        yield from _references(tree[1])
        for _operator, operand in tree[2]:
            yield from _references(operand)
    elif tree[0] != "value":
        for operand in tree[1:]:
            yield from _references(operand)


def _value(tree: Tree, values: Values) -> Any:
    """Return the tree's value; None if it, or anything that it is computed from, is missing."""
    kind, *operands = tree
    if kind == "value":
        return operands[0]
    if kind == "name":
        return _looked_up(operands[0], values)
    if kind == "compare":
        return _compared(operands[0], operands[1], values)
    if kind in ("and", "or"):
        decided = kind == "or"
        return decided if any(_is_true(_value(each, values)) == decided for each in operands) else not decided
    if kind == "not":
        return not _is_true(_value(operands[0], values))
    return _computed(kind, [_value(operand, values) for operand in operands])


def _is_true(value: Any) -> bool:
    return value is not None and bool(value)


def _looked_up(path: list[str], values: Values) -> Any:
    value: Any = values(tuple(path)) if callable(values) else values
    for part in () if callable(values) else path:
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return float(value) if isinstance(value, Decimal) else value


def _compared(first: Tree, rest: list[tuple[str, Tree]], values: Values) -> bool:
    left = _value(first, values)
    for sign, operand in rest:
        right = _value(operand, values)
        if left is None or right is None:
            return False
        try:
            if not _compare[sign](left, right):
                return False
        except TypeError:
            return False
        left = right
    return True


def _computed(sign: str, operands: list[Any]) -> Any:
    if any(operand is None for operand in operands):
        return None
    try:
        if len(operands) == 1:
            (operand,) = operands
            return (-operand if sign == "-" else +operand) if isinstance(operand, Real) else None
        return _environment.call_binop(None, sign, *operands)
    except (TemplateError, TypeError, ValueError, ArithmeticError):
        return None  # what cannot be computed is missing


def _given(tree: Tree, values: Values, later: frozenset[str]) -> Tree:
    if not any(path[0] in later for path in _references(tree)):
        value = _value(tree, values)
        return ["value", _is_true(value) if isinstance(value, Mapping) else value]
    kind, *operands = tree
    if kind == "name":
        return tree
    if kind == "compare":
        rest = [[sign, _given(operand, values, later)] for sign, operand in operands[1]]
        return ["compare", _given(operands[0], values, later), rest]
    if kind not in ("and", "or", "not"):
        return [kind, *(_given(operand, values, later) for operand in operands)]
    decided = kind == "or"
    undecided = []
    for operand in operands:
        if any(path[0] in later for path in _references(operand)):
            undecided.append(_given(operand, values, later))
        elif _is_true(_value(operand, values)) == decided:
            return ["value", decided]
    return [kind, *undecided]
