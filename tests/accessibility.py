"""Find accessibility violations on a page with axe, without its costly report of everything that is correct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

DARK = ("color-contrast",)
"""The rules that a page can break in dark mode even if it meets all of them in light mode."""
RUN_AXE = """async ([context, rules]) => {
    for (const animation of document.getAnimations())
        if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
    const options = { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) };
    return (await axe.run(context || document, options)).violations;
}"""


def violations(page: Page, *, within: str = "", rules: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return axe's violations on the current page, or inside the selector `within`; of all rules or only of `rules`.

    Animations are finished first, because colours that fade in have too little contrast for a moment.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN_AXE, [within, list(rules)])


def violation_lines(violations_found: Sequence[dict[str, Any]], page_name: str) -> list[str]:
    """Return one line per violation: the page, the rule, the elements and how to fix them."""
    return [
        f"{page_name}: {violation['id']} ({violation['help']}): "
        + "; ".join(f"{node['target']} {node['failureSummary']}" for node in violation["nodes"][:3])
        for violation in violations_found
    ]
