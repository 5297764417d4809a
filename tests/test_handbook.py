"""The commands of docs/operating.md run verbatim and in order, in a folder that represents the machine.

Commands that would change the machine (packages, units, the clone) are stubs. `parley`, the database's own programs
and every command that writes files are real; services run without systemd. Containers are not tested.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.examples import executed_blocks
from tests.operating import ROOT, SITE, Servers, Trial
from tests.test_deployment import HANDBOOK, production

pytestmark = pytest.mark.slow

STUBS = ("apt-get", "systemctl", "docker")
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/-])/(?=(?:opt|etc|var/lib|var/backups|usr/local)/)")
HELLO = "from django.contrib.auth.models import User; User.objects.create_user('NAME')"
NAMES = "from django.contrib.auth.models import User; print(*User.objects.values_list('username', flat=True))"
LATER_APPS = ("judging", "uptime")
"""Apps without which the other tables can be made: an earlier version lacks their migrations."""


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


def test_an_earlier_versions_database_is_upgraded(machine: Trial):
    """An installation by hand of an earlier version: its settings, units and a database with only its migrations."""
    units = machine.root / "etc/systemd/system"
    units.mkdir(parents=True)
    (units / "parley-worker.service").write_text("[Service]\nExecStart=/opt/parley/.venv/bin/celery\n")
    settings = {
        **production(machine.root / "var/lib/parley"), "DATABASE_URL": machine.database, "REDIS_URL": machine.redis,
        "WEB_PORT": machine.port, "REMOVED_SETTING": "8000",
    }  # fmt: skip
    del settings["LOG_FORMAT"]
    (machine.root / "etc/parley.env").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    (machine.root / "var/lib/parley").mkdir(parents=True)
    machine.shell(
        "from django.db import connection; from django.db.migrations.executor import MigrationExecutor\n"
        "executor = MigrationExecutor(connection)\n"
        f"targets = [node for node in executor.loader.graph.leaf_nodes() if node[0] not in {LATER_APPS}]\n"
        "apps = executor.migrate(targets).apps\n"
        "apps.get_model('auth', 'User').objects.create(username='NAME')\n"
        "apps.get_model('studies', 'Study').objects.create(slug='kept', title='Kept', game='bargaining')\n"
    )
    said = machine.parley("upgrade")
    assert "new setting: LOG_FORMAT" in said
    assert "unknown setting: REMOVED_SETTING" in said and "uptime.0001_initial" in said
    assert "removed" in said and not (units / "parley-worker.service").exists()
    assert (machine.root / "etc/parley.env").stat().st_mode & 0o777 == 0o600
    assert machine.shell(NAMES) == "NAME"
    assert machine.shell("from studies.models import Study; print(Study.objects.get().slug)") == "kept"
    assert machine.parley("check").endswith("Everything is in order.\n")
