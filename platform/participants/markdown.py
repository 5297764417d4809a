"""Markdown of researchers and games as HTML. Raw HTML in it is shown as text, links are not followed."""

from __future__ import annotations

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image"])


@lru_cache(maxsize=512)
def to_html(text: str) -> SafeString:
    """`text` as safe HTML, its headings one level down: the page around it has the main one.

    Kept, for the people of a study read the same texts.
    """
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    return mark_safe(_markdown.renderer.render(tokens, _markdown.options, {}))
