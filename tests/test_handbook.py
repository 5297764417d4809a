"""docs/operating.md verbatim: its commands, run in order in a folder that represents the machine.

Commands that would change the machine (packages, users, units, the proxy) are stubs that record their calls;
parley, the database's own programs and everything that writes files are real. Containers are not tested.
"""

from __future__ import annotations

import re
import secrets
import subprocess
from pathlib import Path

import pytest

from config.postgres import PrivatePostgres, _program_folder
from tests.examples import executed
from tests.test_deployment import HANDBOOK, ROOT, production

pytestmark = pytest.mark.slow

STUBS = ("apt-get", "useradd", "git", "createuser", "createdb", "systemctl", "nginx", "docker", "curl")
ON_THE_MACHINE = re.compile(r"(?<![\w.:/-])/(?=(?:opt|etc|var/lib|usr/local)/)")


def program(folder: Path, name: str, does: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/bash\n{does}\n")
    file.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Create folders as on a fresh machine, and the stubs in bin/."""
    for path in ("bin", "opt/parley", "etc/systemd/system", "etc/nginx/conf.d", "etc/nginx/sites-enabled", "var/lib"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "usr/local/bin").mkdir(parents=True)
    (tmp_path / "etc/nginx/sites-enabled/default").touch()
    (tmp_path / "opt/parley/deploy").symlink_to(ROOT / "deploy")
    for name in STUBS:
        program(tmp_path / "bin", name, f'echo "{name} $*" >> {tmp_path}/called')
    program(tmp_path / "bin", "sudo", 'shift 2; exec "$@"')  # -u USER
    program(tmp_path / "bin", "install", 'exec /usr/bin/install $(sed -E "s/-[og] [a-z]+ ?//g" <<< "$*")')
    program(tmp_path / "bin", "editor", f'cp {tmp_path}/filled-in.env "$1"')
    return tmp_path


def test_operator_follows_it_from_installation_to_upgrade(machine: Path):
    postgres = PrivatePostgres()
    url = postgres.start()
    try:
        given = {**production(machine / "var/lib/parley"), "DATABASE_URL": url, "SECRET_KEY": secrets.token_urlsafe(50)}
        (machine / "filled-in.env").write_text("\n".join(f"{name}={value}" for name, value in given.items()))
        wanted = "\n".join(block.code for block in executed(HANDBOOK))
        script = ON_THE_MACHINE.sub(f"{machine}/", wanted).replace("deploy/setup/venv.sh", "true ")
        someone = 'parley shell --no-imports -c "from django.contrib.auth.models import User; {}"\n'
        made, there = "User.objects.create_user('NAME')", "assert User.objects.filter(username='NAME').exists()"
        script = script.replace("parley createsuperuser\n", f"parley createsuperuser\n{someone.format(made)}")
        done = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", f"{script}\n{someone.format(there)}"],
            cwd=machine, capture_output=True, text=True, timeout=900,
            env={
                "HOME": str(machine), "LANG": "C.UTF-8", "PARLEY_ENV": str(machine / "etc/parley.env"),
                "PATH": f"{machine}/bin:{machine}/usr/local/bin:{_program_folder()}:/usr/bin:/bin",
                "PGHOST": str(postgres.folder), "PGUSER": "postgres",
            },
        )  # fmt: skip
    finally:
        postgres.stop()
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    called = (machine / "called").read_text()
    for unit in ("parley-web", "parley-worker@1", "parley-collector", "parley-beat"):
        assert unit in called
        assert (machine / "etc/systemd/system" / f"{unit.rstrip('1')}.service").exists()
    proxy = (machine / "etc/nginx/conf.d/parley.conf").read_text()
    assert "127.0.0.1:8000" in proxy and "web:8000" not in proxy
    assert (machine / "var/lib/parley").stat().st_mode & 0o777 == 0o700
    for kept in ("parley.dump", "before-upgrade.dump", "parley.env.backup"):
        assert (machine / "opt/parley" / kept).stat().st_size > 0
