"""The picture of all design tokens in docs/design.md, as a page that `deploy.screenshots` photographs."""

from __future__ import annotations

from html import escape

from games import tokens

SIZE = {"width": 1280, "height": 560}
COLOURS = ("ink", "muted", "paper", "card", "line", "accent", "accent-ink", "words")
STATES = ("good", "bad", "second", "focus")
STYLE = """
body { margin: 0; display: grid; grid-template-columns: 1fr 1fr; min-height: 100vh; }
body { font: 15px/1.4 system-ui, sans-serif; }
section { padding: 24px 28px; } h2 { font-size: 15px; margin: 0 0 10px; } h2:not(:first-child) { margin-top: 22px; }
.row { display: grid; grid-template-columns: repeat(4, 1fr); gap: 10px; }
.cell { display: flex; gap: 8px; align-items: center; }
.swatch { width: 30px; height: 30px; border-radius: 8px; flex: none; } svg { width: 30px; height: 30px; flex: none; }
.sizes { display: flex; align-items: baseline; gap: 16px; } .bar { height: 22px; border-radius: 6px; margin: 4px 0; }
"""


def page() -> str:
    """Return the page: both colour schemes side by side."""
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{_scheme(dark=False)}{_scheme(dark=True)}"


def _scheme(*, dark: bool) -> str:
    def colour(name: str) -> str:
        return tokens.colour(name, dark=dark)

    def swatch(name: str) -> str:
        style = f"background:{colour(name)};border:1px solid {colour('line')}"
        return f'<div class="cell"><span class="swatch" style="{style}"></span>--{name}</div>'

    def seat(number: int) -> str:
        path = f'<path d="{tokens.mark_path(number, size=26)}" fill="{colour(f"seat-{number}")}"/>'
        return f'<div class="cell"><svg viewBox="-15 -15 30 30">{path}</svg>--seat-{number}</div>'

    def bar(number: int, width: int) -> str:
        return f'<div class="bar" style="width:{width}%;background:{colour(f"seat-{number}")}"></div>'

    sizes = "".join(
        f'<span style="font-size:{escape(tokens.tokens()[f"text-{size}"])}">--text-{size}</span>'
        for size in range(1, 7)
    )
    return (
        f'<section style="color:{colour("ink")};background:{colour("card")}">'
        f'<h2>Colours</h2><div class="row">{"".join(map(swatch, COLOURS))}</div>'
        f'<h2>States</h2><div class="row">{"".join(map(swatch, STATES))}</div>'
        f'<h2>Seats</h2><div class="row">{"".join(map(seat, range(1, tokens.SEATS + 1)))}</div>'
        f'<h2>Sizes</h2><div class="sizes">{sizes}</div>'
        f"<h2>Results</h2>{bar(1, 38)}{bar(2, 62)}</section>"
    )
