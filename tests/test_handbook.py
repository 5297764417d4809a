"""The commands of docs/operating.md run verbatim and in order, in a folder that represents the machine.

Commands that would change the machine (packages, users, units, the proxy) are stubs that record their calls.
parley, the database's own programs and every command that writes files are real. Containers are not tested.
"""

from __future__ import annotations

import re
import secrets
import subprocess
from pathlib import Path

import pytest

from config.postgres import PrivatePostgres, _program_folder
from tests.examples import executed_blocks
from tests.test_deployment import HANDBOOK, ROOT, production

pytestmark = pytest.mark.slow

STUBS = ("apt-get", "useradd", "git", "createuser", "createdb", "systemctl", "nginx", "docker", "curl")
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/-])/(?=(?:opt|etc|var/lib|usr/local)/)")


def write_stub(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/bash\n{body}\n")
    file.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Create the folders of a fresh machine, with the stubs in bin/."""
    for path in ("bin", "opt/parley", "etc/systemd/system", "etc/nginx/conf.d", "etc/nginx/sites-enabled", "var/lib"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "usr/local/bin").mkdir(parents=True)
    (tmp_path / "etc/nginx/sites-enabled/default").touch()
    (tmp_path / "opt/parley/deploy").symlink_to(ROOT / "deploy")
    for name in STUBS:
        write_stub(tmp_path / "bin", name, f'echo "{name} $*" >> {tmp_path}/called')
    write_stub(tmp_path / "bin", "sudo", 'shift 2; exec "$@"')  # -u USER
    write_stub(tmp_path / "bin", "install", 'exec /usr/bin/install $(sed -E "s/-[og] [a-z]+ ?//g" <<< "$*")')
    write_stub(tmp_path / "bin", "editor", f'cp {tmp_path}/filled-in.env "$1"')
    return tmp_path


def test_manual_works_from_installation_to_upgrade(machine: Path):
    postgres = PrivatePostgres()
    url = postgres.start()
    try:
        values = {
            **production(machine / "var/lib/parley"),
            "DATABASE_URL": url,
            "SECRET_KEY": secrets.token_urlsafe(50),
        }
        (machine / "filled-in.env").write_text("\n".join(f"{name}={value}" for name, value in values.items()))
        commands = "\n".join(block.code for block in executed_blocks(HANDBOOK))
        script = ABSOLUTE_PATH.sub(f"{machine}/", commands).replace("deploy/setup/venv.sh", "true ")
        user_command = 'parley shell --no-imports -c "from django.contrib.auth.models import User; {}"\n'
        create_user, user_exists = (
            "User.objects.create_user('NAME')",
            "assert User.objects.filter(username='NAME').exists()",
        )
        script = script.replace(
            "parley createsuperuser\n", f"parley createsuperuser\n{user_command.format(create_user)}"
        )
        process = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", f"{script}\n{user_command.format(user_exists)}"],
            cwd=machine, capture_output=True, text=True, timeout=900,
            env={
                "HOME": str(machine), "LANG": "C.UTF-8", "PARLEY_ENV": str(machine / "etc/parley.env"),
                "PATH": f"{machine}/bin:{machine}/usr/local/bin:{_program_folder()}:/usr/bin:/bin",
                "PGHOST": str(postgres.folder), "PGUSER": "postgres",
            },
        )  # fmt: skip
    finally:
        postgres.stop()
    assert process.returncode == 0, f"{process.stdout[-2000:]}\n{process.stderr[-4000:]}"
    calls = (machine / "called").read_text()
    for unit in ("parley-web", "parley-worker@1", "parley-collector", "parley-beat"):
        assert unit in calls
        assert (machine / "etc/systemd/system" / f"{unit.rstrip('1')}.service").exists()
    proxy = (machine / "etc/nginx/conf.d/parley.conf").read_text()
    assert "127.0.0.1:8000" in proxy and "web:8000" not in proxy
    assert (machine / "var/lib/parley").stat().st_mode & 0o777 == 0o700
    for backup in ("parley.dump", "before-upgrade.dump", "parley.env.backup"):
        assert (machine / "opt/parley" / backup).stat().st_size > 0
