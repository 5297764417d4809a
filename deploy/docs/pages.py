"""The site's source: the repository's Markdown, and the reference made from code, in one folder."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from deploy.docs import reference

AT_THE_ROOT = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages beside docs/, and what the site calls them."""
REFERENCE = "reference"
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s:]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def assemble(root: Path, source: Path) -> None:
    """Write the source of the site into `source`."""
    shutil.copytree(root / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    for name, page in AT_THE_ROOT.items():
        shutil.copy(root / name, source / page)
    homes = {page: name for name, page in AT_THE_ROOT.items()}
    for path in source.rglob("*.md"):
        page = path.relative_to(source).as_posix()
        path.write_text(relink(path.read_text(encoding="utf-8"), page, homes.get(page, f"docs/{page}"), root))
    for name, text in reference.pages().items():
        (source / REFERENCE / name).parent.mkdir(parents=True, exist_ok=True)
        (source / REFERENCE / name).write_text(text, encoding="utf-8")


def relink(text: str, page: str, home: str, root: Path) -> str:
    """The Markdown of one page with its links as the site needs them.

    Links between pages follow the pages; a link to another file of the repository becomes the file's path.

    Args:
        page: the page's path in the site's source.
        home: its path in the repository.
        root: the repository.
    """

    def linked(found: re.Match[str]) -> str:
        label, target = found.groups()
        path, hash_sign, anchor = target.partition("#")
        if not path:
            return found[0]
        there = os.path.normpath(os.path.join(os.path.dirname(home), path))
        if there in AT_THE_ROOT:
            there = AT_THE_ROOT[there]
        elif there.startswith("docs/"):
            there = there.removeprefix("docs/")
        elif (root / there).exists():
            return label if label.strip("`") == path else f"{label} (`{there}`)"
        else:
            return found[0]  # Sphinx reports it
        return f"[{label}]({os.path.relpath(there, os.path.dirname(page) or '.')}{hash_sign}{anchor})"

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(linked, part) for part in parts)
