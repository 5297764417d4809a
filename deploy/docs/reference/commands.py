"""Every command: those of manage.py with their options, and the targets of the Makefile."""

from __future__ import annotations

import argparse
import re
from inspect import cleandoc
from pathlib import Path

from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from deploy.docs.reference.markdown import code, line, table, text

ROOT = Path(__file__).resolve().parents[3]
_TARGET = re.compile(r"^([a-z-]+):.*?##\s*(.+)$", re.MULTILINE)


def page() -> str:
    parts = [
        "# Commands\n\n",
        "Make's targets set up what they need. `manage.py` takes the commands below and Django's own, such as "
        "`migrate`, `createsuperuser` and `check --deploy`. On a server installed as in "
        "[Operating a server](../operating.md), `parley` stands for `.venv/bin/python manage.py`.\n\n",
        "## make\n\n",
        table(("command", "what it does"), [(code(f"make {name}"), line(does)) for name, does in targets()]),
        "## manage.py\n\n",
    ]
    own = own_commands()
    parts += [table(("command", "what it does"), [(f"[`{name}`](#{name})", line(made.help)) for name, made in own])]
    parts += [_command(name, made) for name, made in own]
    return "".join(parts)


def targets() -> list[tuple[str, str]]:
    """Return (target, what it does), as listed by `make help`."""
    return [(name, does) for name, does in _TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))]


def own_commands() -> list[tuple[str, BaseCommand]]:
    """Return (name, command) of each of Parley's own commands."""
    folder = ROOT / "platform"
    ours = {config.name for config in apps.get_app_configs() if Path(config.path).is_relative_to(folder)} | {"config"}
    found = get_commands()
    return [(name, load_command_class(found[name], name)) for name in sorted(found) if found[name] in ours]


def _command(name: str, command: BaseCommand) -> str:
    parser = command.create_parser("manage.py", name)
    common = {action.dest for action in BaseCommand().create_parser("manage.py", name)._actions}
    actions = [
        action
        for action in parser._actions
        if action.help is not argparse.SUPPRESS and (action.dest not in common or not action.option_strings)
    ]
    rows = [(_usage(action), line(_help(action, parser)), _default(action)) for action in actions]
    shown = " ".join(
        ["manage.py", name, *(_short(action) for action in actions if not action.option_strings or action.required)]
    )
    if any(action.option_strings and not action.required for action in actions):
        shown += " [options]"
    return f"### {name}\n\n{_prose(command.help)}\n\n```text\n{shown}\n```\n\n" + table(
        ("argument", "meaning", "default"), rows
    )


def _prose(words: str) -> str:
    """Return a command's help as Markdown; usages of several lines, some of them indented, become code blocks."""
    parts = cleandoc(words).split("\n\n")
    return "\n\n".join(f"```text\n{part}\n```" if "\n    " in part else text(part) for part in parts)


def _metavar(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    named = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    return " ".join(named) if isinstance(named, tuple) else str(named)


def _usage(action: argparse.Action) -> str:
    value = _metavar(action)
    names = action.option_strings or [value]
    return ", ".join(code(f"{name} {value}" if action.option_strings and value else name) for name in names)


def _short(action: argparse.Action) -> str:
    value = _metavar(action)
    shown = f"{action.option_strings[-1]} {value}" if action.option_strings else value
    if action.nargs in ("*", "+"):
        shown += " …"
    return f"[{shown}]" if action.nargs in ("*", "?") else shown


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    values = {**vars(action), "prog": parser.prog}
    return (action.help or "") % values


def _default(action: argparse.Action) -> str:
    without_default = (
        action.default is None or isinstance(action.default, bool) or action.default in ("", [], argparse.SUPPRESS)
    )
    if without_default or not action.option_strings:
        return ""
    given = action.default
    shown = " ".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    return code(shown)
