"""The environment file: one setting per line, as deploy/parley.env.example explains them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_OFFERED = re.compile(r"#?([A-Z_]+)=(.*)")


def parse(text: str) -> dict[str, str]:
    """Return the settings; values are taken verbatim, without quotes around the whole."""
    settings = {}
    for line in text.splitlines():
        if setting := _SETTING.fullmatch(line):
            name, value = setting.groups()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            settings[name] = value[1:-1] if quoted else value
    return settings


def read(file: Path) -> dict[str, str]:
    """Return the settings in a file; none if it is missing or unreadable."""
    try:
        return parse(file.read_text())
    except (FileNotFoundError, PermissionError):
        return {}


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return the file's text with these values; settings it lacks are appended."""
    missing = dict(values)
    lines = []
    for line in text.splitlines():
        setting = _SETTING.fullmatch(line)
        name = setting[1] if setting else ""
        lines.append(f"{name}={missing.pop(name)}" if name in missing else line)
    return "\n".join([*lines, *(f"{name}={value}" for name, value in missing.items())]) + "\n"


def entries(template: str) -> list[tuple[str, str, str]]:
    """Return (name, meaning, value) of each setting that the template offers.

    A comment describes the lines directly below it.
    """
    settings: list[tuple[str, str, str]] = []
    comment: list[str] = []
    in_comment = False
    for line in template.splitlines():
        if setting := _OFFERED.fullmatch(line):
            settings.append((setting[1], " ".join(comment), setting[2]))
            in_comment = False
        elif line.startswith("#"):
            comment = [*comment, line.lstrip("# ")] if in_comment else [line.lstrip("# ")]
            in_comment = True
        else:
            comment, in_comment = [], False
    return settings
