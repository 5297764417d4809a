"""Jinja's sandbox with limits, so that a researcher's text cannot keep a page or a worker busy.

The sandbox keeps texts from reaching anything but their variables, but not from running forever. Here texts may
only print, branch and count: no macros, methods or list literals; numbers, strings, loops and the finished text
have a maximum size; rendering may take at most one second.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from decimal import Decimal
from numbers import Real
from time import thread_time
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, nodes
from jinja2.exceptions import SecurityError, TemplateAssertionError
from jinja2.filters import FILTERS
from jinja2.sandbox import ImmutableSandboxedEnvironment

from games.words import gettext as _

MAX_CHARACTERS = 100_000
"""Maximum number of characters of a finished text and of any intermediate string."""
MAX_STEPS = 5_000
"""Maximum total number of steps of all loops in one text."""
MAX_RANGE = 1_000
MAX_LOOP_DEPTH = 2
MAX_NUMBER = 1e15
MAX_EXPONENT = 64
MAX_SECONDS = 1.0

PLAIN_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "e", "escape", "first", "float", "int", "last", "length", "lower",
    "max", "min", "round", "sort", "string", "sum", "title", "trim", "upper",
)  # fmt: skip
"""Jinja's own filters whose result is no larger than their input."""
_ALLOWED: tuple[type[nodes.Node], ...] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.FilterBlock,
    nodes.Name, nodes.Const, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Compare, nodes.Operand,
    nodes.And, nodes.Or, nodes.Not, nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Keyword, nodes.Concat,
    nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Neg, nodes.Pos,
)  # fmt: skip
_LOOP, _JOIN = "bounded loop", "bounded join"


class LimitExceeded(SecurityError):
    """A text exceeds a limit; the message says which."""


class _Usage:
    """The resources that one rendering has used so far."""

    def __init__(self) -> None:
        self.steps = 0
        self.until = thread_time() + MAX_SECONDS  # not what others on a busy machine take

    def count_step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise LimitExceeded(_("The loops of a text may take at most {most} steps in total.").format(most=MAX_STEPS))
        self.check_time()

    def check_time(self) -> None:
        if thread_time() > self.until:
            raise LimitExceeded(_("This text takes too long to render."))


_usage: ContextVar[_Usage] = ContextVar("effort")


def size_checked(value: Any) -> Any:
    """Return `value` if it is small enough.

    Raises:
        LimitExceeded
    """
    if isinstance(value, Real | Decimal) and not -MAX_NUMBER <= float(value) <= MAX_NUMBER:
        raise LimitExceeded(_("Numbers in a text must not exceed {most}.").format(most=f"{MAX_NUMBER:,.0f}"))
    if isinstance(value, str | list | tuple) and len(value) > MAX_CHARACTERS:
        raise LimitExceeded(_("A text may have at most {most} characters.").format(most=f"{MAX_CHARACTERS:,}"))
    return value


def _steps(values: Iterable[Any]) -> Iterator[Any]:
    usage = _usage.get()
    for value in values:
        usage.count_step()
        yield value


def _joined(parts: Iterable[Any], between: str = "") -> str:
    strings, length = [], 0
    for part in parts:
        strings.append(str(part))
        length += len(strings[-1]) + len(between)
        if length > MAX_CHARACTERS:
            raise LimitExceeded(_("A text may have at most {most} characters.").format(most=f"{MAX_CHARACTERS:,}"))
    return between.join(strings)


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > MAX_RANGE:
        raise LimitExceeded(_("range() may have at most {most} numbers.").format(most=MAX_RANGE))
    return numbers


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Compiles and renders texts as described above; texts may use `filters` besides Jinja's harmless ones."""

    intercepted_binops = frozenset(["+", "-", "*", "/", "//", "%", "**"])
    _operators = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
                  "//": operator.floordiv, "%": operator.mod, "**": operator.pow}  # fmt: skip

    def __init__(self, filters: Mapping[str, Any]) -> None:
        super().__init__(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        self.filters = {name: FILTERS[name] for name in PLAIN_FILTERS} | dict(filters)
        self.filters |= {_LOOP: _steps, _JOIN: _joined, "join": _joined}
        self.globals = {"range": _range}

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        are_numbers = all(isinstance(operand, Real | Decimal | Undefined) for operand in (left, right))
        if operator != "+" and not are_numbers:
            raise LimitExceeded(_("“{sign}” works only with numbers.").format(sign=operator))
        if operator == "**" and not isinstance(right, Undefined) and abs(right) > MAX_EXPONENT:
            raise LimitExceeded(_("Exponents in a text must not exceed {most}.").format(most=MAX_EXPONENT))
        return size_checked(self._operators[operator](size_checked(left), size_checked(right)))

    def compiled_bounded(self, template: str) -> Any:
        """Return the compiled template.

        Raises:
            TemplateSyntaxError: it does not parse or uses something that is not allowed.
        """
        try:
            parsed = self.parse(template)
            self._refuse(parsed, depth=0)
            for loop in parsed.find_all(nodes.For):
                loop.iter = nodes.Filter(loop.iter, _LOOP, [], [], None, None, lineno=loop.lineno)
            return self.from_string(_with_bounded_joins(parsed).set_environment(self))
        except (RecursionError, SyntaxError, MemoryError):  # limits of Python, in Jinja's parser or its code
            raise TemplateSyntaxError(_("This text is nested too deeply."), 1) from None

    def _refuse(self, node: nodes.Node, *, depth: int) -> None:
        if isinstance(node, nodes.For):
            depth += 1
            if depth > MAX_LOOP_DEPTH:
                raise TemplateSyntaxError(_("Loops may be nested at most two deep."), node.lineno)
            if node.recursive:
                raise TemplateSyntaxError(_("Loops may not be recursive."), node.lineno)
        elif isinstance(node, nodes.Call):
            if not (isinstance(node.node, nodes.Name) and node.node.name == "range"):
                raise TemplateSyntaxError(_("Only range() can be called in a text."), node.lineno)
        elif isinstance(node, nodes.List | nodes.Tuple):
            if getattr(node, "ctx", "load") == "load" and not all(isinstance(item, nodes.Const) for item in node.items):
                raise TemplateSyntaxError(_("Lists in a text may hold only plain values."), node.lineno)
        elif not isinstance(node, _ALLOWED):
            kind = type(node).__name__.lower()
            raise TemplateSyntaxError(_("A text cannot use “{what}”.").format(what=kind), node.lineno)
        if isinstance(node, nodes.Filter):
            self._refuse_filter(node)
        for child in node.iter_child_nodes():
            self._refuse(child, depth=depth)

    def _refuse_filter(self, node: nodes.Filter) -> None:
        if node.name not in self.filters or node.name in (_LOOP, _JOIN):
            raise TemplateAssertionError(f"No filter named {node.name!r}.", node.lineno)
        arguments = [*node.args, *(keyword.value for keyword in node.kwargs)]
        if not all(isinstance(argument, nodes.Const | nodes.Name | nodes.Neg) for argument in arguments):
            raise TemplateSyntaxError(_("A filter's arguments must be plain values."), node.lineno)

    def rendered(self, compiled: Any, variables: Mapping[str, Any]) -> str:
        """Return the text of the compiled template with `variables` filled in.

        Raises:
            LimitExceeded, and any error from Jinja
        """
        usage = _Usage()
        token = _usage.set(usage)
        try:
            pieces, length = [], 0
            for piece in compiled.generate(variables):
                usage.check_time()
                length += len(piece)
                if length > MAX_CHARACTERS:
                    raise LimitExceeded(
                        _("A text may have at most {most} characters.").format(most=f"{MAX_CHARACTERS:,}")
                    )
                pieces.append(piece)
            return "".join(pieces)
        finally:
            _usage.reset(token)


def _with_bounded_joins(node: Any) -> Any:
    """Return the tree with every `a ~ b` replaced by a filter that checks the length."""
    for name, value in node.iter_fields():
        if isinstance(value, list):
            setattr(node, name, [_with_bounded_joins(item) if isinstance(item, nodes.Node) else item for item in value])
        elif isinstance(value, nodes.Node):
            setattr(node, name, _with_bounded_joins(value))
    if isinstance(node, nodes.Concat):
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, _JOIN, [], [], None, None, lineno=node.lineno)
    return node
