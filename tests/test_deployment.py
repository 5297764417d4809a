"""The environment template configures production without any of Django's deployment warnings."""

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

import pytest
from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "deploy" / "parley.env.example"


def production(folder: Path) -> dict[str, str]:
    """Return the template's environment, filled in as an administrator would."""
    lines = [line for line in TEMPLATE.read_text().splitlines() if line and not line.startswith("#")]
    template = dict(line.split("=", 1) for line in lines)
    assert template["SECRET_KEY"] == "", "a key in the template would be used in production"
    return {**template, "SECRET_KEY": secrets.token_urlsafe(50), "PARLEY_DATA": str(folder)}


def manage(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env={**environment, **production(folder), **changes}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_deployment_check_reports_no_issues(tmp_path):
    """The two silenced warnings are choices of the domain's owner: TLS for subdomains, and browsers' preload lists."""
    process = manage(tmp_path, "check", "--deploy", "--fail-level", "DEBUG")
    assert process.returncode == 0, process.stderr
    assert "no issues (2 silenced)" in process.stdout + process.stderr


@pytest.mark.slow
def test_second_factor_is_required_and_cookies_need_tls(tmp_path):
    names = ["REQUIRE_SECOND_FACTOR", "SESSION_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "CSRF_COOKIE_SECURE"]
    query = f"from django.conf import settings; print([getattr(settings, name) for name in {names}], settings.DEBUG)"
    process = manage(tmp_path, "shell", "--no-imports", "-c", query)
    assert process.stdout.strip().endswith("[True, True, True, True] False"), process.stderr


@pytest.mark.slow
def test_data_sealed_with_a_fallback_key_stays_readable(tmp_path):
    seal_command = "import sealing; print(sealing.seal('words', purpose=b'test'))"
    sealed = manage(tmp_path, "shell", "--no-imports", "-c", seal_command, SECRET_KEY="old" * 20).stdout.strip()
    unseal = f"import sealing; print(sealing.unseal({sealed!r}, purpose=b'test'))"
    for fallbacks, expected in (("", "None"), (f"older,{'old' * 20}", "words")):
        process = manage(tmp_path, "shell", "--no-imports", "-c", unseal, SECRET_KEY_FALLBACKS=fallbacks)
        assert process.stdout.strip() == expected, process.stderr


@pytest.mark.slow
def test_data_folder_is_private_to_its_owner(tmp_path):
    manage(tmp_path / "var", "check", SECRET_KEY="", SITE_URL="http://127.0.0.1:8000")
    assert (tmp_path / "var").stat().st_mode & 0o777 == 0o700


def test_production_without_a_key_does_not_start(tmp_path):
    process = manage(tmp_path, "check", SECRET_KEY="")
    assert process.returncode != 0
    assert "SECRET_KEY is empty" in process.stderr


def test_ambiguous_database_password_is_explained_and_not_quoted(tmp_path):
    process = manage(tmp_path, "collect", "x", DATABASE_URL="postgres://parley:a@b:c/d@127.0.0.1:5432/parley")
    assert process.returncode == 1
    assert process.stderr == f"{AMBIGUOUS}\n" and process.stdout == ""


AMBIGUOUS = "DATABASE_URL is ambiguous: write @ : / ? # % in its password as %40 %3A %2F %3F %23 %25."


@pytest.mark.parametrize("password", ["12/3", "a?b", "a#b", "[b", "%40%3A%2F"])
def test_password_is_read_only_if_it_is_unambiguous(monkeypatch, password: str):
    from config import settings as parleys

    url = f"postgres://parley:{password}@127.0.0.1:5432/parley"
    monkeypatch.setenv("DATABASE_URL", url)
    if password.startswith("%"):
        assert parleys.env.db_url_config(parleys._database_url())["PASSWORD"] == "@:/"
    else:
        with pytest.raises(ImproperlyConfigured) as refused:
            parleys._database_url()
        assert str(refused.value) == AMBIGUOUS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite:///{folder}/empty.sqlite3", r"\d+ migrations are missing.*migrate.*"),
        ("postgres://parley:x@127.0.0.1:1/parley", r"The database is unavailable \(.*refused\).*"),
    ],
    ids=["no tables", "no server"],
)
def test_first_command_without_a_database_says_what_to_do(tmp_path, url: str, reason: str):
    process = manage(tmp_path, "collect", "x", DATABASE_URL=url.format(folder=tmp_path))
    assert process.returncode == 1
    assert re.fullmatch(reason, process.stderr.strip()), process.stderr


@pytest.mark.slow
def test_subdomains_require_tls_only_if_configured(tmp_path):
    query = (
        "from django.test import Client; print(Client().get('/health/', secure=True, headers={'host': HOST}).headers"
    )
    query = query.replace("HOST", "'parley.example.org'") + "['Strict-Transport-Security'])"
    headers = [
        manage(
            tmp_path, "shell", "--no-imports", "-c", query, DATABASE_URL="sqlite:///:memory:", **changes
        ).stdout.strip()
        for changes in ({}, {"HSTS_SUBDOMAINS": "true", "HSTS_PRELOAD": "true"})
    ]
    assert headers == ["max-age=31536000", "max-age=31536000; includeSubDomains; preload"]


@pytest.mark.slow
def test_static_files_are_hashed_compressed_and_cached(tmp_path):
    collected = manage(tmp_path, "collectstatic", "--noinput")
    assert collected.returncode == 0, collected.stderr
    query = (
        "from django.templatetags.static import static; from django.test import Client;"
        "url = static('parley/clock.js');"
        "page = Client().get(url, secure=True, headers={'host': 'parley.example.org', 'accept-encoding': 'gzip'});"
        "print(url, page.status_code, page.headers['Cache-Control'], page.headers['Content-Encoding'])"
    )
    process = manage(tmp_path, "shell", "--no-imports", "-c", query)
    assert process.returncode == 0, process.stderr
    url, status, *environment, encoding = process.stdout.split()
    assert re.fullmatch(r"/static/parley/clock\.[0-9a-f]{12}\.js", url)
    assert (status, encoding) == ("200", "gzip")
    assert int(re.search(r"max-age=(\d+)", " ".join(environment))[1]) >= 365 * 24 * 3600


ASK = """
from django.core.management import call_command
from django.test import Client
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
for host in ("parley.example.org:8443", "evil.example.net"):
    for secure in (True, False):
        page = Client(enforce_csrf_checks=True).get("/admin/login/", secure=secure, headers={"host": host})
        print(page.status_code, page.headers.get("Location", ""))
browser = Client(enforce_csrf_checks=True)
browser.get("/admin/login/", secure=True, headers={"host": "parley.example.org:8443"})
for origin in ("https://parley.example.org:8443", "https://parley.example.org:9000"):
    sent = browser.post("/admin/login/", {"csrfmiddlewaretoken": browser.cookies["csrftoken"].value}, secure=True,
                        headers={"host": "parley.example.org:8443", "origin": origin})
    print(sent.status_code)
"""


@pytest.mark.slow
def test_foreign_hosts_are_refused_and_other_ports_work(tmp_path):
    port = {"SITE_URL": "https://parley.example.org:8443", "CSRF_TRUSTED_ORIGINS": "https://parley.example.org:8443"}
    database = {"DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "REQUIRE_SECOND_FACTOR": "false"}
    process = manage(tmp_path, "shell", "--no-imports", "-c", ASK, **port, **database)
    site = "https://parley.example.org:8443/admin/login/"
    assert process.stdout.splitlines() == ["200 ", f"301 {site}", "400 ", f"301 {site}", "200", "403"], process.stderr
    assert "Traceback" not in process.stderr and "evil" not in process.stderr


def parley(file: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [ROOT / "deploy" / "parley", *arguments],
        env={**environment, "PARLEY_ENV": str(file), **variables}, cwd="/", capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_wrapper_reads_the_environment_verbatim_and_json_logs_hide_tokens(tmp_path):
    file = tmp_path / "parley.env"
    own = {"SECRET_KEY": "a $HOME `id` 'b'" + "x" * 50, "LOG_LEVEL": '"ERROR"', "LOG_FORMAT": "json"}
    variables = {**production(tmp_path), **own}
    file.write_text("# a comment\n\n" + "\n".join(f"{name}={value}" for name, value in variables.items()))
    query = (
        "from django.conf import settings as s; print(s.SECRET_KEY, s.DATABASES['default']['NAME'], s.LOGGING['root']);"
        "import logging; logging.getLogger('x').error('no %s', '/p/abcdef0123456789/ here')"
    )
    process = parley(file, "shell", "--no-imports", "-c", query)
    assert process.returncode == 0, process.stderr
    assert variables["SECRET_KEY"] in process.stdout and " parley " in process.stdout and "'ERROR'" in process.stdout
    line = json.loads(process.stderr.strip().splitlines()[-1])
    assert (line["levelname"], line["name"], line["message"]) == ("ERROR", "x", "no /p/…/ here")


def test_wrapper_refuses_to_start_without_a_configured_database(tmp_path):
    process = parley(tmp_path / "none.env", "check")
    assert process.returncode == 1
    assert "DATABASE_URL" in process.stderr


HANDBOOK = ROOT / "docs" / "operating.md"


def test_every_command_and_unit_in_the_manual_exists():
    """Commands, options, units, paths and settings in docs/operating.md must exist."""
    from django.core.management import get_commands, load_command_class

    from deploy.operate.__main__ import parser as operating

    manual = HANDBOOK.read_text()
    commands, own_commands = get_commands(), operating()._subparsers._group_actions[0].choices
    examples = re.findall(r"(?:^|`|deploy/)parley ([a-z_]+)([^`\n]*)", manual, re.MULTILINE)
    assert {"install", "upgrade", "backup", "restore", "check", "createsuperuser"} <= {name for name, _ in examples}
    for name, arguments in examples:
        if name == "help":
            continue
        parser = own_commands.get(name) or load_command_class(commands[name], name).create_parser("parley", name)
        for option in re.findall(r"--[a-z-]+", arguments):
            assert option in parser._option_string_actions, f"{name} {option}"
    for unit in re.findall(r"parley-[a-z]+@?", manual):
        if unit.rstrip("@") in ("parley-web", "parley-worker", "parley-collector", "parley-beat"):
            files = list((ROOT / "deploy" / "systemd").glob(f"{unit.rstrip('@')}*.service"))
            assert files, unit
    compose = re.findall(r"docker compose (.*)", f"{manual}\n{(ROOT / 'deploy' / 'compose.yaml').read_text()}")
    assert compose and all(options.startswith("--env-file deploy/parley.env ") for options in compose)
    ignored = subprocess.run(["git", "check-ignore", "deploy/parley.env", "deploy/tls"], cwd=ROOT, capture_output=True)
    assert ignored.returncode != 1, "secrets could be committed"
    for path in re.findall(r"`?(deploy/[\w./@-]+\w)", manual):
        assert (ROOT / path).exists() or path in ("deploy/parley.env", "deploy/tls"), path
    template = TEMPLATE.read_text()
    for name in re.findall(r"`([A-Z]+_[A-Z_]+)`", manual):
        assert f"{name}=" in template, name


def test_documented_services_fit_default_connection_limit():
    """The sum is that of docs/operating.md; three of the hundred connections are reserved for the superuser."""
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
    manual = HANDBOOK.read_text()
    assert f"**{web}**" in manual and f"**{worker}**" in manual and f"**{collector}**" in manual


@pytest.mark.slow
def test_sentry_gets_errors_without_tokens_or_local_values(tmp_path):
    bodies = []

    class SentryProject(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            bodies.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), SentryProject) as project:
        threading.Thread(target=project.serve_forever, daemon=True).start()
        fail = (
            "import logging, sentry_sdk\ntry:\n    secret = 'said-by-somebody'; raise ValueError('said-by-somebody')\n"
            "except ValueError:\n    logging.getLogger('x').exception('failed at /p/token0123456789/')\n"
            "sentry_sdk.flush()"
        )
        dsn = f"http://key@127.0.0.1:{project.server_port}/1"
        process = manage(tmp_path, "shell", "--no-imports", "-c", fail, SENTRY_DSN=dsn, LOG_LEVEL="ERROR")
        project.shutdown()
    assert process.returncode == 0, process.stderr
    sent_text = b"".join(bodies)
    assert b"ValueError" in sent_text and b"failed at" in sent_text
    assert b"token0123456789" not in sent_text
    assert b"said-by-somebody" not in sent_text


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("PARLEY_DEMO", "1"), ("PRIVACY_URL", "javascript:alert(1)")])
def test_a_server_refuses_to_be_a_demo_and_to_link_to_scripts(tmp_path, name: str, value: str):
    process = manage(tmp_path, "check", **{name: value})
    assert process.returncode != 0 and name in process.stderr
