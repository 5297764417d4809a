"""Builds a folder of HTML from the repository's Markdown and the code."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deploy.docs import links
from deploy.docs.pages import assemble

ROOT = Path(__file__).resolve().parents[2]
SPHINX = ROOT / ".venv-docs" / "bin" / "python"


class BuildFailed(Exception):
    """A page cannot be built, or a link is broken. The message lists the problems."""


@dataclass(frozen=True)
class Report:
    """What was built.

    Attributes:
        pages: number of HTML pages.
        links: number of internal links that were checked.
        listing: the file with the external addresses, which are not fetched.
    """

    pages: int
    links: int
    listing: Path


def build(folder: Path) -> Report:
    """Build the site into `folder`/html, from scratch.

    Raises:
        BuildFailed: Sphinx warned, a link is broken, or a page loads something from the network.
    """
    if not SPHINX.exists():
        raise BuildFailed(f"{SPHINX} is missing: run `make docs`.")
    source, html = folder / "source", folder / "html"
    for output in (source, html):
        shutil.rmtree(output, ignore_errors=True)
    assemble(ROOT, source)
    command = [str(SPHINX), "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    sphinx = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), "-E", str(source), str(html)],
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    if sphinx.returncode:
        raise BuildFailed(sphinx.stderr.replace(f"{source}/", ""))
    findings = links.check(html)
    if findings.problems:
        raise BuildFailed("\n".join(findings.problems))
    listing = folder / "external-links.txt"
    listing.write_text("".join(f"{address}\n" for address in sorted(findings.external)))
    return Report(findings.pages, findings.internal, listing)
