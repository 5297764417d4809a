"""Production as its environment template configures it, without any of Django's deployment warnings."""

from __future__ import annotations

import gzip
import json
import os
import re
import secrets
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "deploy" / "parley.env.example"


def production(folder: Path) -> dict[str, str]:
    """Return the template with an administrator's values filled in."""
    lines = [line for line in TEMPLATE.read_text().splitlines() if line and not line.startswith("#")]
    given = dict(line.split("=", 1) for line in lines)
    assert given["SECRET_KEY"] == "", "a key in the template would be used in production"
    return {**given, "SECRET_KEY": secrets.token_urlsafe(50), "PARLEY_DATA": str(folder)}


def manage(folder: Path, *arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env={**kept, **production(folder), **changed}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_the_deployment_check_finds_nothing(tmp_path):
    """Expect only the warnings that concern the domain owner's choices: TLS for subdomains, browsers' preload lists."""
    checked = manage(tmp_path, "check", "--deploy", "--fail-level", "DEBUG")
    assert checked.returncode == 0, checked.stderr
    assert "no issues (2 silenced)" in checked.stdout + checked.stderr


def test_second_factor_is_required_and_cookies_need_tls(tmp_path):
    names = ["REQUIRE_SECOND_FACTOR", "SESSION_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "CSRF_COOKIE_SECURE"]
    asked = f"from django.conf import settings; print([getattr(settings, name) for name in {names}], settings.DEBUG)"
    told = manage(tmp_path, "shell", "--no-imports", "-c", asked)
    assert told.stdout.strip().endswith("[True, True, True, True] False"), told.stderr


def test_data_sealed_with_a_fallback_key_stays_readable(tmp_path):
    seal = "import sealing; print(sealing.seal('words', purpose=b'test'))"
    sealed = manage(tmp_path, "shell", "--no-imports", "-c", seal, SECRET_KEY="old" * 20).stdout.strip()
    unseal = f"import sealing; print(sealing.unseal({sealed!r}, purpose=b'test'))"
    for fallbacks, read in (("", "None"), (f"older,{'old' * 20}", "words")):
        told = manage(tmp_path, "shell", "--no-imports", "-c", unseal, SECRET_KEY_FALLBACKS=fallbacks)
        assert told.stdout.strip() == read, told.stderr


def test_data_folder_is_private_to_its_owner(tmp_path):
    manage(tmp_path / "var", "check", SECRET_KEY="", SITE_URL="http://127.0.0.1:8000")
    assert (tmp_path / "var").stat().st_mode & 0o777 == 0o700


def test_production_without_a_key_does_not_start(tmp_path):
    checked = manage(tmp_path, "check", SECRET_KEY="")
    assert checked.returncode != 0
    assert "SECRET_KEY is empty" in checked.stderr


def test_subdomains_must_use_tls_only_if_set(tmp_path):
    ask = "from django.test import Client; print(Client().get('/health/', secure=True, headers={'host': HOST}).headers"
    ask = ask.replace("HOST", "'parley.example.org'") + "['Strict-Transport-Security'])"
    said = [
        manage(
            tmp_path, "shell", "--no-imports", "-c", ask, DATABASE_URL="sqlite:///:memory:", **changed
        ).stdout.strip()
        for changed in ({}, {"HSTS_SUBDOMAINS": "true", "HSTS_PRELOAD": "true"})
    ]
    assert said == ["max-age=31536000", "max-age=31536000; includeSubDomains; preload"]


def test_static_files_are_hashed_compressed_and_cached_for_a_year(tmp_path):
    collected = manage(tmp_path, "collectstatic", "--noinput")
    assert collected.returncode == 0, collected.stderr
    ask = (
        "from django.templatetags.static import static; from django.test import Client;"
        "url = static('parley/clock.js');"
        "page = Client().get(url, secure=True, headers={'host': 'parley.example.org', 'accept-encoding': 'gzip'});"
        "print(url, page.status_code, page.headers['Cache-Control'], page.headers['Content-Encoding'])"
    )
    told = manage(tmp_path, "shell", "--no-imports", "-c", ask)
    assert told.returncode == 0, told.stderr
    url, status, *kept, encoding = told.stdout.split()
    assert re.fullmatch(r"/static/parley/clock\.[0-9a-f]{12}\.js", url)
    assert (status, encoding) == ("200", "gzip")
    assert int(re.search(r"max-age=(\d+)", " ".join(kept))[1]) >= 365 * 24 * 3600


# ---- the wrapper and the manual --------------------------------------------------------------------------


def parley(file: Path, *arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [ROOT / "deploy" / "parley", *arguments],
        env={**kept, "PARLEY_ENV": str(file), **given}, cwd="/", capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_wrapper_reads_the_environment_verbatim(tmp_path):
    file = tmp_path / "parley.env"
    given = {**production(tmp_path), "SECRET_KEY": "a $HOME `id` 'b'" + "x" * 50, "LOG_LEVEL": '"ERROR"'}
    file.write_text("# a comment\n\n" + "\n".join(f"{name}={value}" for name, value in given.items()))
    ask = (
        "from django.conf import settings as s; print(s.SECRET_KEY, s.DATABASES['default']['NAME'], s.LOGGING['root'])"
    )
    told = parley(file, "shell", "--no-imports", "-c", ask)
    assert told.returncode == 0, told.stderr
    assert given["SECRET_KEY"] in told.stdout and " parley " in told.stdout and "'ERROR'" in told.stdout


def test_wrapper_refuses_to_start_without_a_configured_database(tmp_path):
    told = parley(tmp_path / "none.env", "check")
    assert told.returncode == 1
    assert "DATABASE_URL" in told.stderr


HANDBOOK = ROOT / "docs" / "operating.md"


def test_every_command_and_unit_in_the_manual_exists():
    """Names and options are as the commands define them."""
    from django.core.management import get_commands, load_command_class

    words = HANDBOOK.read_text()
    known, services = get_commands(), {"web", "worker", "collector", "beat"}
    used = re.findall(r"^(?:sudo -u parley )?parley ([a-z_]+)(.*)$", words, re.MULTILINE)
    assert {"migrate", "createsuperuser", "check"} <= {name for name, _rest in used}
    for name, rest in used:
        if name in services:
            continue
        parser = load_command_class(known[name], name).create_parser("parley", name)
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in parser._option_string_actions, f"{name} {option}"
    for unit in re.findall(r"parley-[a-z]+@?", words):
        if unit.rstrip("@") in ("parley-web", "parley-worker", "parley-collector", "parley-beat"):
            files = list((ROOT / "deploy" / "systemd").glob(f"{unit.rstrip('@')}*.service"))
            assert files, unit
    for path in re.findall(r"`?(deploy/[\w./@-]+\w)", words):
        assert (ROOT / path).exists() or path in ("deploy/parley.env", "deploy/tls"), path
    template = TEMPLATE.read_text()
    for name in re.findall(r"`([A-Z]+_[A-Z_]+)`", words):
        assert f"{name}=" in template, name


def test_two_webs_two_workers_and_a_collector_fit_postgresqls_default_connections():
    """The sum follows docs/operating.md; three of the hundred connections are reserved for the superuser."""
    from django.conf import settings

    from collecting.driver import WRITERS
    from config.supervisor import COLLECTOR_THREADS
    from matches.agents import _writers

    lines = dict(line.split("=", 1) for line in TEMPLATE.read_text().splitlines() if "=" in line and line[0] != "#")
    assert int(lines["PAGE_THREADS"]) == settings.PAGE_THREADS
    assert int(lines["PLAY_THREADS"]) == settings.PLAY_THREADS
    web = settings.PAGE_THREADS + settings.PLAY_THREADS
    worker = int(lines["WORKER_THREADS"]) + _writers._threads + 2
    collector = COLLECTOR_THREADS * (1 + WRITERS) + 2
    assert 2 * 2 * web + 2 * worker + collector <= 97 - 5
    words = HANDBOOK.read_text()
    assert f"**{web}**" in words and f"**{worker}**" in words and f"**{collector}**" in words


# ---- logs and errors ---------------------------------------------------------------------------------------


def test_logs_as_json_hide_tokens_too(tmp_path):
    say = "import logging; logging.getLogger('x').error('no %s', '/p/abcdef0123456789/ here')"
    told = manage(tmp_path, "shell", "--no-imports", "-c", say, LOG_FORMAT="json")
    line = json.loads(told.stderr.strip().splitlines()[-1])
    assert (line["levelname"], line["name"], line["message"]) == ("ERROR", "x", "no /p/…/ here")


def test_errors_reach_sentry_without_tokens_or_peoples_words(tmp_path):
    got = []

    class Project(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Project) as project:
        threading.Thread(target=project.serve_forever, daemon=True).start()
        fail = (
            "import logging, sentry_sdk\ntry:\n    secret = 'said-by-somebody'; raise ValueError('said-by-somebody')\n"
            "except ValueError:\n    logging.getLogger('x').exception('failed at /p/token0123456789/')\n"
            "sentry_sdk.flush()"
        )
        dsn = f"http://key@127.0.0.1:{project.server_port}/1"
        told = manage(tmp_path, "shell", "--no-imports", "-c", fail, SENTRY_DSN=dsn, LOG_LEVEL="ERROR")
        project.shutdown()
    assert told.returncode == 0, told.stderr
    sent = b"".join(got)
    assert b"ValueError" in sent and b"failed at" in sent
    assert b"token0123456789" not in sent
    assert b"said-by-somebody" not in sent
