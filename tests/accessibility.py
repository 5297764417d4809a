"""What axe finds wrong with a page, at a fraction of the cost of asking for everything that it found right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

DARK = ("color-contrast",)
"""The rules that a page in dark colours can break when it breaks none in light ones."""
RUN = """async ([context, rules]) => {
    const options = { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) };
    return (await axe.run(context || document, options)).violations;
}"""


def violations(page: Page, *, within: str = "", rules: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return axe's violations on the page as it is now, inside the selector `within`, by all rules or only these."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, [within, list(rules)])


def described(found: Sequence[dict[str, Any]], where: str) -> list[str]:
    """One line for each violation: where, the rule, the elements and what to do about them."""
    return [
        f"{where}: {one['id']} ({one['help']}): "
        + "; ".join(f"{node['target']} {node['failureSummary']}" for node in one["nodes"][:3])
        for one in found
    ]
