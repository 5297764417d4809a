"""Every setting: its meaning from deploy/parley.env.example, its default from the code that reads it."""

from __future__ import annotations

import ast
from pathlib import Path

from deploy.docs.reference.markdown import code, line, table
from deploy.operate import environment
from deploy.operate.services import DEFAULTS

ROOT = Path(__file__).resolve().parents[3]
TEMPLATE = ROOT / "deploy" / "parley.env.example"
SETTINGS = ROOT / "platform" / "config" / "settings.py"


def page() -> str:
    defaults = {**{name: code(value) for name, value in DEFAULTS.items()}, **code_defaults()}
    entries = environment.entries(TEMPLATE.read_text(encoding="utf-8"))
    rows = [(code(name), line(meaning), defaults.get(name, "")) for name, meaning, _value in entries]
    return (
        "# Settings\n\nParley reads its settings from the environment. On one machine, every default works; a server "
        "sets them in /etc/parley.env, which starts as a copy of `deploy/parley.env.example`. Everything else is set "
        "in the admin.\n\n"
        + table(("variable", "meaning", "default"), rows)
        + "Model providers' keys can also be stored in the admin, with the endpoint.\n"
    )


def code_defaults() -> dict[str, str]:
    """Return the default of each variable that settings.py reads, as Markdown, but for those of `manage.py demo`."""
    defaults: dict[str, str] = {}
    for call in ast.walk(ast.parse(SETTINGS.read_text(encoding="utf-8"))):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
            continue
        owner, name = call.func.value, call.args[0]
        if not (isinstance(owner, ast.Name) and owner.id == "env" and isinstance(name, ast.Constant)):
            continue
        if str(name.value).startswith("PARLEY_DEMO"):
            continue
        default_values = [keyword.value for keyword in call.keywords if keyword.arg == "default"]
        defaults.setdefault(str(name.value), _default_text(default_values[0]) if default_values else "")
    return defaults


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
