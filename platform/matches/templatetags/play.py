"""Template tags that show the blocks of a view."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import get_template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import get_language

from games.interface import Chart, Facts, Said, Table, Talk, Text
from matches.charts import draw

register = template.Library()


@register.filter
def kind(block: Any) -> str:
    """The block's kind in lower case, to choose its template by."""
    return type(block).__name__.lower()


@dataclass(frozen=True)
class _Exactly:
    """A key for caches of what something looks like: 1, 1.0 and True are equal, but not alike."""

    shown: str
    thing: Any = field(compare=False)

    @classmethod
    def of(cls, thing: Any) -> _Exactly:
        return cls(repr(thing), thing)


@register.simple_tag
def text(block: Text) -> str:
    return _rendered("play/text.html", _Exactly.of(block), get_language())


@register.simple_tag
def facts(block: Facts) -> str:
    return _rendered("play/facts.html", _Exactly.of(block), get_language())


@register.simple_tag
def talk(block: Talk) -> str:
    return get_template("play/talk.html").render({"block": block})


@register.simple_tag
def table(block: Table) -> str:
    rows = [_row(_Exactly.of(cells)) for cells in block.rows]
    return get_template("play/table.html").render({"block": block, "rows": rows})


@register.simple_tag
def chart(block: Chart) -> str:
    """A line chart as SVG, with the same figures in a table for those who do not see it."""
    return _rendered("play/chart.html", _Exactly.of(block), get_language())


@lru_cache(maxsize=2048)
def _rendered(template_name: str, block: _Exactly, language: str) -> str:
    """A block as HTML. Kept, for the players of a study meet the same blocks, and a page the same ones again."""
    context = {"block": block.thing}
    if isinstance(block.thing, Chart):
        context["drawing"] = draw(block.thing)
    return get_template(template_name).render(context)


@lru_cache(maxsize=8192)
def _row(cells: _Exactly) -> str:
    """A table row; those of earlier rounds are the same in every later frame."""
    return format_html("<tr>{}</tr>", format_html_join("", "<td>{}</td>", ((said(cell),) for cell in cells.thing)))


@register.simple_tag
def said(cell: Any) -> str:
    """A cell: a player's own words are marked as such, and escaped like everything else."""
    if isinstance(cell, Said):
        return format_html('<q class="said">{}</q>', cell.words)
    return "" if cell is None else format_html("{}", cell)


@register.filter
def plain(value: float) -> str:
    """A number for scripts to read: no thousands separators, whatever the language."""
    return repr(float(value)).removesuffix(".0")


@register.simple_tag
def assets(game: str) -> str:
    """The style sheets and scripts that a game's folder brings for its screen, if it brings any."""
    try:
        return mark_safe(get_template(f"{game}/assets.html").render())
    except template.TemplateDoesNotExist:
        return ""


@register.filter
def fact(block: Any, key: str) -> Any:
    """The fact called `key` of a Facts block, or None."""
    return next((item for item in getattr(block, "facts", ()) if item.key == key), None)
