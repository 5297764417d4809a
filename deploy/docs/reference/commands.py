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
    sections = [
        "# Commands\n\n",
        "Make's targets set up what they need. `manage.py` takes the commands below and Django's own, such as "
        "`migrate`, `createsuperuser` and `check --deploy`. On a server installed as in "
        "[Operating a server](../operating.md), `parley` stands for `.venv/bin/python manage.py`.\n\n",
        "## make\n\n",
        table(("command", "what it does"), [(code(f"make {name}"), line(does)) for name, does in targets()]),
        "## manage.py\n\n",
    ]
    commands = own_commands()
    sections += [
        table(("command", "what it does"), [(f"[`{name}`](#{name})", line(command.help)) for name, command in commands])
    ]
    sections += [_command(name, command) for name, command in commands]
    return "".join(sections)


def targets() -> list[tuple[str, str]]:
    """Return (target, what it does), as listed by `make help`."""
    return [(name, meaning) for name, meaning in _TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))]


def own_commands() -> list[tuple[str, BaseCommand]]:
    """Return (name, command) of each of Parley's own commands."""
    folder = ROOT / "platform"
    own_apps = {config.name for config in apps.get_app_configs() if Path(config.path).is_relative_to(folder)}
    own_apps.add("config")
    app_of_command = get_commands()
    return [
        (name, load_command_class(app_of_command[name], name))
        for name in sorted(app_of_command)
        if app_of_command[name] in own_apps
    ]


def _command(name: str, command: BaseCommand) -> str:
    parser = command.create_parser("manage.py", name)
    common = {action.dest for action in BaseCommand().create_parser("manage.py", name)._actions}
    actions = [
        action
        for action in parser._actions
        if action.help is not argparse.SUPPRESS and (action.dest not in common or not action.option_strings)
    ]
    rows = [(_usage(action), line(_help(action, parser)), _default(action)) for action in actions]
    usage = " ".join(
        ["manage.py", name, *(_synopsis(action) for action in actions if not action.option_strings or action.required)]
    )
    if any(action.option_strings and not action.required for action in actions):
        usage += " [options]"
    return f"### {name}\n\n{_prose(command.help)}\n\n```text\n{usage}\n```\n\n" + table(
        ("argument", "meaning", "default"), rows
    )


def _prose(help_text: str) -> str:
    """Return a command's help as Markdown; usages of several lines, some of them indented, become code blocks."""
    paragraphs = cleandoc(help_text).split("\n\n")
    return "\n\n".join(
        f"```text\n{paragraph}\n```" if "\n    " in paragraph else text(paragraph) for paragraph in paragraphs
    )


def _metavar(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    metavar = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    return " ".join(metavar) if isinstance(metavar, tuple) else str(metavar)


def _usage(action: argparse.Action) -> str:
    value = _metavar(action)
    names = action.option_strings or [value]
    return ", ".join(code(f"{name} {value}" if action.option_strings and value else name) for name in names)


def _synopsis(action: argparse.Action) -> str:
    value = _metavar(action)
    usage = f"{action.option_strings[-1]} {value}" if action.option_strings else value
    if action.nargs in ("*", "+"):
        usage += " …"
    return f"[{usage}]" if action.nargs in ("*", "?") else usage


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    values = {**vars(action), "prog": parser.prog}
    return (action.help or "") % values


def _default(action: argparse.Action) -> str:
    without_default = (
        action.default is None or isinstance(action.default, bool) or action.default in ("", [], argparse.SUPPRESS)
    )
    if without_default or not action.option_strings:
        return ""
    default = action.default
    default_text = " ".join(map(str, default)) if isinstance(default, list | tuple) else str(default)
    return code(default_text)
