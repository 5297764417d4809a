"""Checks the built site: no internal link is broken, external ones are listed, nothing is loaded from the network."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("link", "href")}
"""Attributes whose address a browser fetches automatically."""


@dataclass
class Findings:
    """What `check` found.

    Attributes:
        pages: number of pages.
        internal: number of links within the site.
        external: addresses outside the site that a reader may follow.
        problems: one sentence for each link that is broken or loads something from the network.
    """

    pages: int = 0
    internal: int = 0
    external: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


class _Page(HTMLParser):
    """The addresses and anchors of one page."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in FETCHED:
                self.targets.append((value, True))
            elif (tag, name) == ("a", "href"):
                self.targets.append((value, False))


def check(html: Path) -> Findings:
    """Check every page under `html` and return the findings."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(html.rglob("*.html"))}
    findings = Findings(pages=len(pages))
    for path, page in pages.items():
        name = path.relative_to(html)
        for target, loads in page.targets:
            address = urlsplit(target)
            if address.scheme in ("data", "mailto"):
                continue
            if address.scheme or address.netloc:
                findings.external.add(target)
                if loads:
                    findings.problems.append(f"{name} loads {target} from the network.")
                continue
            findings.internal += 1
            destination = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not destination.exists():
                findings.problems.append(f"{name} links to {target}, which does not exist.")
            elif (
                address.fragment
                and destination in pages
                and unquote(address.fragment) not in pages[destination].anchors
            ):
                findings.problems.append(f"{name} links to {target}, but that page has no such anchor.")
    for sheet in html.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            findings.problems.append(f"{sheet.relative_to(html)} loads something from the network.")
    return findings
