"""The site's source: the repository's Markdown and the reference generated from the code, in one folder."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from deploy.docs import reference

ROOT_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages outside docs/, and their names on the site."""
REFERENCE = "reference"
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s:]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def assemble(root: Path, source: Path) -> None:
    """Write the site's source into `source`."""
    shutil.copytree(root / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    for name, page in ROOT_PAGES.items():
        shutil.copy(root / name, source / page)
    source_paths = {page: name for name, page in ROOT_PAGES.items()}
    for path in source.rglob("*.md"):
        page = path.relative_to(source).as_posix()
        path.write_text(relink(path.read_text(encoding="utf-8"), page, source_paths.get(page, f"docs/{page}"), root))
    for name, text in reference.pages().items():
        (source / REFERENCE / name).parent.mkdir(parents=True, exist_ok=True)
        (source / REFERENCE / name).write_text(text, encoding="utf-8")


def relink(text: str, page: str, home: str, root: Path) -> str:
    """Return the Markdown of one page with its links adapted to the site.

    Links between pages point to the pages on the site; a link to another file of the repository becomes its path.

    Args:
        page: the page's path in the site's source.
        home: the page's path in the repository.
        root: the repository.
    """

    def replacement(match: re.Match[str]) -> str:
        label, target = match.groups()
        path, hash_sign, anchor = target.partition("#")
        if not path:
            return match[0]
        destination = os.path.normpath(os.path.join(os.path.dirname(home), path))
        if destination in ROOT_PAGES:
            destination = ROOT_PAGES[destination]
        elif destination.startswith("docs/"):
            destination = destination.removeprefix("docs/")
        elif (root / destination).exists():
            return label if label.strip("`") == path else f"{label} (`{destination}`)"
        else:
            return match[0]  # Sphinx reports the broken link
        return f"[{label}]({os.path.relpath(destination, os.path.dirname(page) or '.')}{hash_sign}{anchor})"

    sections = _FENCE.split(text)
    return "".join(section if section.startswith("```") else _LINK.sub(replacement, section) for section in sections)
