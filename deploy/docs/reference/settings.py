"""Every setting: its meaning from deploy/parley.env.example, its default from the code that reads it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from deploy.docs.reference.markdown import code, line, table

ROOT = Path(__file__).resolve().parents[3]
TEMPLATE = ROOT / "deploy" / "parley.env.example"
SETTINGS = ROOT / "platform" / "config" / "settings.py"
WRAPPER = ROOT / "deploy" / "parley"
_SHELL_DEFAULT = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")
_LINE = re.compile(r"#?([A-Z_]+)=(.*)")


def page() -> str:
    defaults = {**wrapper_defaults(), **code_defaults()}
    rows = [(code(name), line(meaning), defaults.get(name, "")) for name, meaning, _value in entries()]
    return (
        "# Settings\n\nParley reads its settings from the environment. On one machine, every default works; a server "
        "sets them in /etc/parley.env, which starts as a copy of `deploy/parley.env.example`. Everything else is set "
        "in the admin.\n\n"
        + table(("variable", "meaning", "default"), rows)
        + "Model providers' keys can also be stored in the admin, with the endpoint.\n"
    )


def entries() -> list[tuple[str, str, str]]:
    """Return (variable, meaning, value) of each line of the template.

    A comment describes the lines directly below it.
    """
    variables: list[tuple[str, str, str]] = []
    comment: list[str] = []
    in_comment = False
    for row in TEMPLATE.read_text(encoding="utf-8").splitlines():
        if setting := _LINE.fullmatch(row):
            variables.append((setting[1], " ".join(comment), setting[2]))
            in_comment = False
        elif row.startswith("#"):
            comment = [*comment, row.lstrip("# ")] if in_comment else [row.lstrip("# ")]
            in_comment = True
        else:
            comment, in_comment = [], False
    return variables


def code_defaults() -> dict[str, str]:
    """Return the default of each variable that settings.py reads, as Markdown."""
    defaults: dict[str, str] = {}
    for call in ast.walk(ast.parse(SETTINGS.read_text(encoding="utf-8"))):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
            continue
        owner, name = call.func.value, call.args[0]
        if not (isinstance(owner, ast.Name) and owner.id == "env" and isinstance(name, ast.Constant)):
            continue
        default_values = [keyword.value for keyword in call.keywords if keyword.arg == "default"]
        defaults.setdefault(str(name.value), _default_text(default_values[0]) if default_values else "")
    return defaults


def wrapper_defaults() -> dict[str, str]:
    """Return the default of each variable that `deploy/parley` reads, as Markdown."""
    defaults = _SHELL_DEFAULT.findall(WRAPPER.read_text(encoding="utf-8"))
    return {name: "" if "$" in default else code(default) for name, default in defaults if default}


_COMPUTED = {
    "str(BASE_DIR / 'var')": "`var/` in Parley's folder",
    "f\"sqlite:///{DATA_DIR / 'parley.sqlite3'}\"": "SQLite in `PARLEY_DATA`",
    "f\"unix://{DATA_DIR / 'redis.sock'}\"": "a socket in `PARLEY_DATA`",
    "BEHIND_TLS": "true if `SITE_URL` begins with https",
    "[] if BEHIND_TLS else ['127.0.0.1', 'localhost', '::1']": "this machine, unless `SITE_URL` begins with https",
}
"""Descriptions of the defaults that the code computes."""


def _default_text(default: ast.expr) -> str:
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return _COMPUTED[ast.unparse(default)]
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(",".join(value) if isinstance(value, list) else value)
