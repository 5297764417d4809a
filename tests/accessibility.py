"""Violations that axe finds on a page, without axe's costly report of everything that is correct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

DARK = ("color-contrast",)
"""The rules that a page can break in dark mode even if it breaks none in light mode."""
RUN = """async ([context, rules]) => {
    const options = { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) };
    return (await axe.run(context || document, options)).violations;
}"""


def violations(page: Page, *, within: str = "", rules: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return axe's violations on the current page, inside the selector `within`, by all rules or only by `rules`."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, [within, list(rules)])


def described(found: Sequence[dict[str, Any]], where: str) -> list[str]:
    """Return one line per violation: where it is, the rule, the elements and how to fix them."""
    return [
        f"{where}: {one['id']} ({one['help']}): "
        + "; ".join(f"{node['target']} {node['failureSummary']}" for node in one["nodes"][:3])
        for one in found
    ]
