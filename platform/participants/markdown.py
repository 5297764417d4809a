"""Markdown of researchers and games as HTML. Raw HTML in it is shown as text, links are not followed."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image"])


def to_html(text: str) -> SafeString:
    """`text` as safe HTML."""
    return mark_safe(_markdown.render(text))
