"""The server starts without the libraries of the analyses: `make demo` does not install them."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import importlib, json, sys

blocked, modules = json.load(sys.stdin)

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent)
import django

django.setup()
for module in modules:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        print(f"{module}: {error}")
print("done")
"""


def locked(layer: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", (ROOT / f"{layer}.lock").read_text(), re.MULTILINE))


def server_modules() -> list[str]:
    """Return every module but tests, migrations, programs of their own, analyses, and what compares their tables."""
    roots = (ROOT, "games/**/*.py"), (ROOT / "platform", "*/**/*.py")
    names = [path.relative_to(root).with_suffix("") for root, pattern in roots for path in root.glob(pattern)]
    left_out = {"tests", "migrations", "__main__", "analyses", "comparing", "reproducing"}
    return sorted(
        ".".join(name.parts).removesuffix(".__init__")
        for name in names
        if not left_out & set(name.parts) and name.parts[0] != "analysis"
    )


def test_server_imports_no_library_of_the_analyses():
    only_analyses = locked("requirements-analysis") - locked("requirements")
    provided = importlib.metadata.packages_distributions()
    blocked = [
        module
        for module, names in provided.items()
        if {re.sub(r"[-_.]+", "-", n).lower() for n in names} <= only_analyses
    ]
    assert {"pandas", "scipy", "statsmodels"} <= set(blocked)
    modules = server_modules()
    assert {"games.bargaining.rules", "config.asgi", "reports.background"} <= set(modules)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([blocked, modules]), capture_output=True, text=True,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": "platform:.", "DJANGO_SETTINGS_MODULE": "config.settings"},
    )  # fmt: skip
    assert result.stdout.splitlines() == ["done"], result.stdout + result.stderr
