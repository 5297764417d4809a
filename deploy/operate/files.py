"""The files that an installation copies onto the machine: units and nginx's configuration."""

from __future__ import annotations

import difflib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deploy.operate.machine import CODE, Machine


@dataclass(frozen=True)
class Copy:
    """One installed file: its template in the repository, its place on the machine, and the texts replaced in it."""

    template: Path
    place: Path
    texts: tuple[tuple[str, str], ...]

    @property
    def content(self) -> str:
        return self._rendered(self.template.read_text())

    @property
    def installed(self) -> str | None:
        """The file as it is on the machine; None if it is missing."""
        return self.place.read_text() if self.place.exists() else None

    @property
    def is_edited(self) -> bool:
        """Whether the installed file is no version of the template: an operator has changed it."""
        path = self.template.relative_to(CODE)
        versions = git("log", "--format=%H", "--", str(path)).split()
        originals = (git("show", f"{version}:{path}") for version in versions)
        return all(self._rendered(original).strip() != (self.installed or "").strip() for original in originals)

    def _rendered(self, content: str) -> str:
        for text, replacement in self.texts:
            content = content.replace(text, replacement)
        return content

    def describe_change(self) -> str:
        """Return how the new file differs from the installed one, as lines of a message."""
        if self.installed is None:
            return f"new: {self.place}"
        lines = list(difflib.unified_diff(self.installed.splitlines(), self.content.splitlines(), lineterm="", n=0))[2:]
        changes = [f"    {line}" for line in lines if line[1:].strip() and not line.startswith("@@")]
        return "\n".join([f"changed: {self.place}", *changes])


def copies(machine: Machine, *, nginx: bool) -> list[Copy]:
    """Return every file that this version installs."""
    paths = (("/opt/parley", str(CODE)), ("/var/lib/parley", str(machine.data)))
    folder = CODE / "deploy/systemd"
    templates = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [Copy(template, machine.units / template.relative_to(folder), paths) for template in templates]
    if nginx:
        texts = (("web:8000", f"127.0.0.1:{machine.settings.get('WEB_PORT') or '8000'}"),)
        files.append(Copy(CODE / "deploy/nginx.conf", machine.nginx / "conf.d/parley.conf", texts))
    return files


def kept_beside(copy: Copy) -> Path:
    """Return where the new version of an edited file is put, for the operator to merge."""
    return copy.place.with_name(f"{copy.place.name}.new")


def install(machine: Machine, copy: Copy) -> str:
    """Install one file; return what was done in words, or "" if it was up to date.

    A file that the operator has edited stays; the new version is put beside it.
    """
    if copy.installed == copy.content:
        kept_beside(copy).unlink(missing_ok=True)
        return ""
    if copy.installed is not None and copy.is_edited:
        machine.write(kept_beside(copy), copy.content)
        return (
            f"kept: {copy.place} has been edited on this machine. The new version is {kept_beside(copy)}: take over "
            "what it changes. Your own settings last longer in a drop-in: `systemctl edit UNIT`, or a file "
            "/etc/nginx/parley.d/NAME.conf."
        )
    change = copy.describe_change()
    machine.write(copy.place, copy.content)
    return change


def git(*arguments: str) -> str:
    """Run git in Parley's folder; return its output, or "" if it fails or this is no clone."""
    command = ["git", "-c", "safe.directory=*", "-C", str(CODE), *arguments]
    try:
        process = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return "" if process.returncode else process.stdout.strip() or "done"
