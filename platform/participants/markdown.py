"""Renders the Markdown of researchers and games. Raw HTML is shown as text; images are disabled."""

from __future__ import annotations

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image"])


@lru_cache(maxsize=512)
def to_html(text: str) -> SafeString:
    """Return `text` as safe HTML, with headings one level down because the page has its own main heading.

    Cached, because all participants of a study read the same texts.
    """
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    return mark_safe(_markdown.renderer.render(tokens, _markdown.options, {}))
