"""Template tags that show the blocks of a view."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Any

from django import template
from django.template import Context
from django.template.loader import get_template, select_template
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from games.interface import Attempt, Chart, Facts, Said, Table, Talk, Text
from games.periods import as_number
from games.words import gettext, number
from matches.charts import draw
from matches.keeping import render_kept
from matches.picturing import SeatNames, mark_path_of

register = template.Library()
STATUS = "status"
"""The block in which a game says what to do now."""


@register.filter
def kind(block: Any) -> str:
    """Return the block's kind in lower case, which selects its template."""
    return type(block).__name__.lower()


@register.simple_tag(takes_context=True)
def kept(context: Context, template_name: str) -> str:
    """Include a template that is rendered once for all that it reads, in whatever match."""
    return render_kept(template_name, context)


@register.simple_tag(takes_context=True)
def moves(context: Context, forms: Sequence[tuple[Any, str, Any]], **numbers: int) -> str:
    """Show forms of moves, each with its template and the choices in it that end the game.

    Their fields are kept apart from what is around them, which names the question.

    Args:
        numbers: the question `answering` and the answer `replaces`, if the forms change a sealed answer.
    """
    shown = []
    for form, template_name, ends in forms:
        with context.push(form=form, ends=ends, form_fields=_FIELDS, **numbers):
            around = render_kept("play/move.html", context)
            shown.append(around.replace(_FIELDS, render_kept(template_name, context)))
    return mark_safe(("" if numbers else "\n\n").join(shown))


_FIELDS = mark_safe("<fields>")
"""Stands for the fields of a form in what is around them; people's words have no such brackets."""


@register.simple_tag
def seat_strip(seats: tuple[Any, ...], role: str) -> str:
    """Show who has answered (`screens.SeatMark` of each seat) to the player in the seat `role`."""
    return _seat_strip(seats, role, get_language())


@lru_cache(maxsize=2048)
def _seat_strip(seats: tuple[Any, ...], role: str, language: str) -> str:
    """Return the rendered seats, cached because they look the same at the start of every round."""
    return get_template("play/seats.html").render({"seats": seats, "role": role})


def _must_be(kind: type[Any], block: Any) -> None:
    """Refuse what is not a block of this kind, such as one whose key is misspelt: Django passes "" for it."""
    if not isinstance(block, kind):
        name = kind.__name__
        raise template.TemplateSyntaxError(f"a tag needs a {name} of the view, such as view.KEY, but got {block!r}")


@register.simple_tag(takes_context=True)
def text(context: Context, block: Text) -> str:
    """Show a sentence; below that of a match's end, the picture of its result."""
    _must_be(Text, block)
    is_news, is_status = " news" * (block.key == "news"), " data-status" * (block.key == STATUS)
    words = f'<p class="status {block.tone}{is_news}" data-announce{is_status}>{escape(named(block.body))}</p>\n'
    picture = context.get("picture") if is_status else None
    if picture is not None:
        words += context["picture_template"].render(Context({"picture": picture}))
    return mark_safe(words)


@register.simple_tag(takes_context=True)
def facts(context: Context, block: Facts) -> str:
    _must_be(Facts, block)
    return _facts(repr(block), block, _names(context), get_language())


@lru_cache(maxsize=2048)
def _facts(_written: str, block: Facts, names: SeatNames, _language: str) -> str:
    """Return facts as HTML; cached, since players of a study see the same blocks again and again.

    Its key has their repr: 1, 1.0 and True are equal but look different.
    """
    items = [
        f'<div class="fact-{escape(fact.key)}"><dt>{marked(fact.label, names)}</dt>'
        f"<dd>{marked(fact.shown, names) if fact.shown else said(fact.value)}</dd></div>"
        for fact in block.facts
    ]
    key = escape(block.key)
    head = f'<section class="card facts facts-{key}" data-block="{key}"><h2>{escape(block.title)}</h2>'
    return mark_safe(f"{head}\n<dl>{''.join(items)}</dl></section>\n")


@register.simple_tag(takes_context=True)
def facts_line(context: Context, block: Facts) -> str:
    """Show facts in one line above everything else."""
    _must_be(Facts, block)
    return _facts_line(repr(block), block, _names(context), get_language())


@lru_cache(maxsize=2048)
def _facts_line(_written: str, block: Facts, names: SeatNames, _language: str) -> str:
    items = [
        f'<li class="fact-{escape(fact.key)}"><span>{escape(fact.label)}</span>'
        f" <strong>{marked(fact.shown, names)}</strong></li>"
        for fact in block.facts
    ]
    head = f'<ul class="facts-line" data-block="{escape(block.key)}" aria-label="{escape(block.title)}">'
    return mark_safe(f"{head}{''.join(items)}</ul>\n")


@register.simple_tag
def offered(block: Facts) -> str:
    """Show what the player is offered: a loss is marked, and a message is quoted."""
    terms, message = "", ""
    for fact in block.facts:
        if fact.key == "message":
            message += f'<blockquote><p class="help">{escape(fact.label)}</p> {said(fact.value)}</blockquote>'
        else:
            loss = " loss" * (fact.key == "your_gain" and isinstance(fact.value, int | float) and fact.value < 0)
            terms += f'<div class="fact-{escape(fact.key)}{loss}"><dt>{escape(fact.label)}</dt>'
            terms += f" <dd>{escape(fact.shown)}</dd></div> "
    return mark_safe(f"<dl>{terms}</dl>\n  {message}")


@register.simple_tag(takes_context=True)
def choice(context: Context, name: str, value: str, label: str, note: str = "") -> str:
    """Show one answer of a form as a button; if it replaces an answer, which of them the player has given.

    Args:
        note: what follows from the answer.
    """
    is_answer = bool(context.get("replaces")) and context["form"].fields[0].value == value
    notes = [
        f' <small class="note">{conditional_escape(note)}</small>' if note else "",
        f" <small>{_('this ends the game')}</small>" if value in (context.get("ends") or ()) else "",
        f" <small>{_('your answer now')}</small>" if is_answer else "",
    ]
    pressed = ' aria-pressed="true"' if is_answer else ""
    button = f'<button type="submit" name="{escape(name)}" value="{escape(value)}" class="choice"{pressed}>'
    return mark_safe(f"{button}{conditional_escape(label)}{''.join(notes)}</button>\n")


@register.simple_tag(takes_context=True)
def talk(context: Context, block: Talk) -> str:
    return get_template("play/talk.html").render({"block": block, "names": _names(context)})


@register.simple_tag(takes_context=True)
def table(context: Context, block: Table) -> str:
    """Show a table, newest row first if its rows are chronological."""
    _must_be(Table, block)
    names = _names(context)
    ordered_rows = reversed(block.rows) if block.newest_first else block.rows
    labels = ("",) * len(block.columns) if block.sortable else block.columns
    rows = [_row(labels, repr(cells), cells, names) for cells in ordered_rows]
    rest = Table(block.key, block.title, block.columns, (), block.sortable, folds=block.folds)
    before, after = _around_rows(rest, len(rows), names, get_language())
    return mark_safe("".join((before, *rows, after)))


@lru_cache(maxsize=2048)
def _around_rows(block: Table, number: int, names: SeatNames, language: str) -> tuple[str, str]:
    """Return a table's HTML before and after its rows; its titles and columns recur in every frame."""
    html = get_template("play/table.html").render({"block": block, "number": number, "names": names})
    before, mark, after = html.partition("<tbody>")
    return before + mark, after


@register.simple_tag(takes_context=True)
def chart(context: Context, block: Chart) -> str:
    """Show a line chart as SVG, with the same numbers in a table for screen readers."""
    return _chart(repr(block), block, _names(context), get_language())


@lru_cache(maxsize=2048)
def _chart(_written: str, block: Chart, names: SeatNames, _language: str) -> str:
    return get_template("play/chart.html").render({"block": block, "names": names, "drawing": draw(block, names)})


def _names(context: Context) -> SeatNames:
    return tuple(context.get("names") or ())


@lru_cache(maxsize=8192)
def _row(labels: tuple[str, ...], _written: str, cells: tuple[Any, ...], names: SeatNames) -> str:
    """Return a table row, cached because rows of earlier rounds recur in every later frame.

    Each cell carries its column's name, if there is one: for narrow screens, where cells are stacked.
    """
    shown = [
        f"<td{_label(label)}{_css_class(cell)}>{marked(cell, names)}</td>"
        for label, cell in zip(labels, cells, strict=True)
    ]
    return mark_safe(f"<tr>{''.join(shown)}</tr>")


@lru_cache(maxsize=512)
def _label(column: str) -> str:
    return f' data-label="{escape(column)}"' if column else ""


@register.filter
def marked(cell: Any, names: SeatNames) -> str:
    """Return a cell; one that names a seat begins with the seat's mark."""
    if not isinstance(cell, str):
        return said(cell)
    style = dict(names).get(cell)
    mark = "" if style is None else f'<i class="mark {style}" aria-hidden="true"></i> '
    return mark_safe(mark + escape(named(cell)))


LONG_NUMBER = re.compile(r"-?[0-9][0-9.e+-]{9,}")
"""An unrounded number: too wide for one of a phone's columns."""


def _css_class(cell: Any) -> str:
    """Return the attribute of a cell that takes a whole line on a phone; empty for other cells."""
    if isinstance(cell, Said):
        return ' class="words"'
    return ' class="long-number"' if LONG_NUMBER.fullmatch(str(cell)) else ""


@register.simple_tag
def said(cell: Any) -> str:
    """Return a cell; a player's own text is marked as such, and everything is escaped."""
    if isinstance(cell, Said):
        return mark_safe(f'<q class="said">{escape(cell.words)}</q>')
    return "" if cell is None else mark_safe(escape(str(cell)))


@register.filter
def style_of(names: SeatNames, role: str) -> str:
    """Return the classes of a seat's colour and mark."""
    return dict(names).get(role, "")


@register.filter
def mark_of(names: SeatNames, role: str) -> str:
    """Return a seat's mark as an SVG path, ten units wide."""
    return mark_path_of(style_of(names, role))


@register.filter
def as_json(data: Any) -> str:
    """Return plain data for a page's script, to be put in an attribute."""
    return json.dumps(data)


_NAME = re.compile(r"\b([A-Za-z]+)_(\d+)\b")
_OF_GAMES = {"Offer", "Product"}
"""What games call things that they draw; what researchers name keeps its name."""


@register.filter
def named(text: Any) -> str:
    """Return text with names as people write them: "Offer_1" → "Offer 1", in German "Angebot 1"."""
    words = str(text)
    if "_" not in words:
        return words
    return _NAME.sub(lambda name: f"{gettext(name[1]) if name[1] in _OF_GAMES else name[1]} {name[2]}", words)


@register.filter
def plain(value: float) -> str:
    """Return a number for scripts: no thousands separators in any language."""
    return repr(float(value)).removesuffix(".0")


@register.simple_tag
def assets(game: str) -> str:
    """Return the style sheets and scripts of a game's own screen; without any, what the default layout needs."""
    return mark_safe(select_template([f"{game}/assets.html", "play/assets.html"]).render())


@register.filter
def fact(block: Any, key: str) -> Any:
    """Return the fact with this key of a Facts block, or None."""
    return next((item for item in getattr(block, "facts", ()) if item.key == key), None)


@register.filter
def row(block: Any, first: Any) -> Any:
    """Return the row of a Table with this first cell, or None."""
    return next((cells for cells in getattr(block, "rows", ()) if str(cells[0]) == str(first)), None)


@register.filter
def total(block: Table, column: int) -> str:
    """Return the sum of a column's numbers; empty without rows."""
    return number(sum(as_number(str(cells[column])) or 0 for cells in block.rows)) if block.rows else ""


NEWEST = 3
"""Number of the newest attempts that a page shows without unfolding the earlier ones."""


@register.filter
def folded(attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    """Return the attempts that are shown at once, the best first and then the newest, and the earlier ones."""
    pinned = [attempt for attempt in attempts if attempt.best]
    newest = [attempt for attempt in reversed(attempts) if not attempt.best]
    return {"shown": [*pinned, *newest[:NEWEST]], "earlier": newest[NEWEST:]}


@register.filter
def split(text: str, between: str) -> list[str]:
    """Return the parts of a text that lists several."""
    return [part for part in text.split(between) if part]


@register.filter
def common(names: str) -> str:
    """Return what to call several names that differ only in their numbers ("A1, A2" → "A"); else by the first."""
    several = names.split(", ")
    stems = {name.rstrip("0123456789_ ") for name in several}
    return stems.pop() if len(stems) == 1 and "" not in stems else f"{several[0]} …"


@register.filter
def without(block: Facts, keys: str) -> Facts:
    """Return the facts except those with these keys, which the page shows elsewhere."""
    kept = tuple(item for item in getattr(block, "facts", ()) if item.key not in keys.split())
    return replace(block, facts=kept) if kept else block
