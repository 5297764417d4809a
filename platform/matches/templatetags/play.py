"""Template tags that show the blocks of a view."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from games.interface import Chart, Said, Text
from matches.charts import draw

register = template.Library()


@register.filter
def kind(block: Any) -> str:
    """The block's kind in lower case, to choose its template by."""
    return type(block).__name__.lower()


@register.inclusion_tag("play/facts.html")
def facts(block: Any) -> dict[str, Any]:
    return {"block": block}


@register.inclusion_tag("play/table.html")
def table(block: Any) -> dict[str, Any]:
    return {"block": block}


@register.inclusion_tag("play/talk.html")
def talk(block: Any) -> dict[str, Any]:
    return {"block": block}


@register.inclusion_tag("play/text.html")
def text(block: Text) -> dict[str, Any]:
    return {"block": block}


@register.inclusion_tag("play/chart.html")
def chart(block: Chart) -> dict[str, Any]:
    """A line chart as SVG, with the same figures in a table for those who do not see it."""
    return {"block": block, "drawing": draw(block)}


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
