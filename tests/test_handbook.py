"""The commands of docs/operating.md run verbatim and in order, in a folder that represents the machine.

Commands that would change the machine (packages, units, the clone) are stubs. `parley`, the database's own programs
and every command that writes files are real; services run without systemd. Containers are not tested.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import executed_blocks
from tests.operating import ROOT, SITE, Servers, Trial
from tests.stored import FILES
from tests.test_deployment import HANDBOOK, production

pytestmark = pytest.mark.slow

STUBS = ("apt-get", "systemctl", "docker")
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/-])/(?=(?:opt|etc|var/lib|var/backups|usr/local)/)")
HELLO = "from django.contrib.auth.models import User; User.objects.create_user('NAME')"
NAMES = "from django.contrib.auth.models import User; print(*User.objects.values_list('username', flat=True))"
ASK = "from django.db import connection as c; q = c.cursor(); q.execute({!r}); print(*q.fetchall(), sep=chr(10))"
STUDIES = ASK.format("SELECT slug FROM studies_study ORDER BY id")
MADE_UP = ASK.format("SELECT made_up FROM studies_study ORDER BY id")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Servers(tmp_path_factory.mktemp("machines")) as running:
        yield running


@pytest.fixture
def machine(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Trial]:
    trial = servers.trial(re.sub(r"\W", "_", request.node.name)[:40])
    yield trial
    trial.stop()


def test_manual_works_from_installation_to_upgrade(machine: Trial, servers: Servers):
    (machine.root / "bin").mkdir()
    for path in ("etc/cron.d", "opt/parley"):
        (machine.root / path).mkdir(parents=True)
    (machine.root / "opt/parley/deploy").symlink_to(ROOT / "deploy")
    stubs = {name: f'echo "{name} $*" >> {machine.root}/called' for name in STUBS}
    # The clone is this repository, which `parley` reads with git as well.
    stubs["git"] = f'[[ " $* " == *" clone "* || " $* " == *" pull "* ]] || exec {shutil.which("git")} "$@"'
    for name, body in stubs.items():
        (machine.root / "bin" / name).write_text(f"#!/bin/bash\n{body}\n")
        (machine.root / "bin" / name).chmod(0o755)
    script = ABSOLUTE_PATH.sub(f"{machine.root}/", "\n".join(block.code for block in executed_blocks(HANDBOOK)))
    assert f"install --site {SITE}" in script
    script = script.replace(f"--site {SITE}", f"--site {SITE} {shlex.join(machine.install_options)}")
    add_user = (
        f"parley shell --no-imports -c {shlex.quote(HELLO)}; echo words > {machine.root}/var/lib/parley/dataset\n"
    )
    script = script.replace("parley createsuperuser\n", f"parley createsuperuser\n{add_user}")
    environment = machine.environment
    process = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", script], cwd=machine.root, capture_output=True, text=True, timeout=900,
        env={**environment, "PATH": f"{machine.root}/bin:{environment['PATH']}"},
    )  # fmt: skip
    assert process.returncode == 0, f"{process.stdout[-2000:]}\n{process.stderr[-4000:]}"
    assert machine.shell(NAMES) == "NAME"
    assert (machine.root / "var/lib/parley/dataset").read_text() == "words\n"
    backups = machine.root / "var/backups/parley"
    assert backups.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in backups.rglob("*") if path.is_file()} == {0o600}

    elsewhere = servers.trial("elsewhere")
    try:
        elsewhere.parley("install", "--site", "https://other.example.org", *elsewhere.install_options)
        elsewhere.parley("restore", backups / "moving")
        assert elsewhere.shell(NAMES) == "NAME"
        assert (elsewhere.root / "var/lib/parley/dataset").read_text() == "words\n"
        key = "from django.conf import settings; print(settings.SECRET_KEY, settings.SITE_URL)"
        assert elsewhere.shell(key) == machine.shell(key)
        elsewhere.parley("backup")
        assert elsewhere.parley("check").endswith("Everything is in order.\n")
        again = elsewhere.run("restore", backups / "moving")
        assert again.returncode == 1 and "add --replace" in again.stderr
    finally:
        elsewhere.stop()


@pytest.fixture
def stored(machine: Trial, tmp_path: Path) -> Trial:
    """An installation of 0.2 with its stored database, in a clone of its own."""
    machine.code = tmp_path / "parley"
    shutil.copytree(ROOT, machine.code, ignore=shutil.ignore_patterns(".*", "__pycache__", "var", "docs"))
    (machine.code / ".venv").symlink_to(Path(sys.prefix))
    git(machine, "init", "--quiet")
    commit(machine)
    settings = {
        **production(machine.root / "var/lib/parley"), "DATABASE_URL": machine.database, "REDIS_URL": machine.redis,
        "WEB_PORT": machine.port, "REMOVED_SETTING": "8000",
    }  # fmt: skip
    del settings["LOG_FORMAT"]
    for folder in ("etc", "var/lib/parley"):
        (machine.root / folder).mkdir(parents=True)
    (machine.root / "etc/parley.env").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    units = machine.code / "deploy/systemd"
    for unit in (file for file in units.rglob("*") if file.is_file()):
        installed = machine.root / "etc/systemd/system" / unit.relative_to(units)
        installed.parent.mkdir(parents=True, exist_ok=True)
        text = unit.read_text().replace("/opt/parley", str(machine.code))
        installed.write_text(text.replace("/var/lib/parley", str(machine.root / "var/lib/parley")))
    load = ["psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={FILES['postgres']}", machine.database]
    subprocess.run(load, env=machine.environment, stdout=subprocess.DEVNULL, check=True)
    return machine


def git(machine: Trial, *arguments: str) -> str:
    person = ["-c", "user.name=NAME", "-c", "user.email=name@example.org"]
    command = ["git", *person, "-C", machine.code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(machine: Trial) -> str:
    git(machine, "add", "--all")
    git(machine, "commit", "--quiet", "--message=A version")
    return git(machine, "rev-parse", "HEAD")


def test_stored_database_is_upgraded_and_restored(stored: Trial):
    """0.2 becomes a made-up next version with one more migration, and is 0.2 again after the way back."""
    earlier = git(stored, "rev-parse", "HEAD")
    shutil.copy(FILES["postgres"].parent / "next/0002_made_up.py", stored.code / "platform/studies/migrations")
    later, studies = commit(stored), "('seen-slug',)\n('hidden-slug',)\n('seen-draft',)"

    said = stored.parley("upgrade")
    assert f"from {earlier[:8]} to {later[:8]}" in said and "Migrations to apply: studies.0002_made_up.\n" in said
    assert "new setting: LOG_FORMAT" in said and "unknown setting: REMOVED_SETTING" in said
    assert (stored.root / "etc/parley.env").stat().st_mode & 0o777 == 0o600
    assert stored.shell(STUDIES) == studies
    assert stored.shell(MADE_UP).startswith("('seen-slug: Title that is seen',)")
    assert stored.parley("check").endswith("Everything is in order.\n")

    way_back = re.search(r"^ +parley (restore .*)$", said, re.MULTILINE)
    assert way_back is not None
    stored.parley(*way_back[1].split())
    assert git(stored, "rev-parse", "HEAD") == earlier
    assert stored.shell(STUDIES) == studies
    assert "made_up" not in stored.shell(ASK.format("SELECT * FROM studies_study LIMIT 1") + "; print(q.description)")
    stored.parley("backup")
    assert stored.parley("check").endswith("Everything is in order.\n")


def test_database_of_0_1_is_refused_before_anything_changes(stored: Trial):
    stored.shell(ASK.format("INSERT INTO django_migrations VALUES (999, 'studies', '0002_more', now()) RETURNING 1"))
    settings, earlier = (stored.root / "etc/parley.env").stat().st_mode, git(stored, "rev-parse", "HEAD")
    refused = stored.run("upgrade")
    assert refused.returncode == 1 and "studies.0002_more" in refused.stderr
    assert f"checkout {earlier}`. From 0.1, export every study there" in refused.stderr
    assert (stored.root / "etc/parley.env").stat().st_mode == settings and not (stored.root / "var/backups").exists()
