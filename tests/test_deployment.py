"""Production as its template of the environment sets it up: nothing that Django would warn of."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "deploy" / "parley.env.example"


def production(folder: Path) -> dict[str, str]:
    """The template as an administrator fills it in."""
    lines = [line for line in TEMPLATE.read_text().splitlines() if line and not line.startswith("#")]
    given = dict(line.split("=", 1) for line in lines)
    assert given["SECRET_KEY"] == "", "a template with a key would be used with it"
    return {**given, "SECRET_KEY": secrets.token_urlsafe(50), "PARLEY_DATA": str(folder)}


def manage(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env={**kept, **production(folder)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_the_deployment_check_finds_nothing(tmp_path):
    checked = manage(tmp_path, "check", "--deploy", "--fail-level", "DEBUG")
    assert checked.returncode == 0, checked.stderr
    assert "no issues (0 silenced)" in checked.stdout + checked.stderr


def test_the_second_factor_is_required_and_cookies_travel_by_tls_alone(tmp_path):
    names = ["REQUIRE_SECOND_FACTOR", "SESSION_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "CSRF_COOKIE_SECURE"]
    asked = f"from django.conf import settings; print([getattr(settings, name) for name in {names}], settings.DEBUG)"
    told = manage(tmp_path, "shell", "--no-imports", "-c", asked)
    assert told.stdout.strip().endswith("[True, True, True, True] False"), told.stderr
