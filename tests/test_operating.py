"""What `deploy/parley` installs and keeps: units, nginx's configuration, private settings and backups."""

from __future__ import annotations

import re
import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from deploy.operate import backups, commands, environment, files
from deploy.operate.machine import CODE, Machine, Refused
from tests.operating import PARLEY
from tests.test_deployment import HANDBOOK, TEMPLATE, production

UNITS = sorted((CODE / "deploy/systemd").glob("*.service"))
MOST_EXPOSED = 3.0
"""Limit of systemd-analyze's exposure level, from 0 to 10."""
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing: apt-get install systemd"
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine below a folder, with settings, on SQLite; without services."""
    monkeypatch.setenv("PARLEY_ROOT", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    trial = Machine()
    values = {**production(trial.root / "var/lib/parley"), "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"}
    trial.write(trial.env_file, environment.fill(TEMPLATE.read_text(), values), mode=0o600)
    trial.make_private_folder(trial.data)
    return trial


@needs_systemd
def test_installed_units_are_valid(machine: Machine):
    for copy in files.copies(machine, nginx=False):
        assert files.install(machine, copy).startswith("new: ")
    units = sorted(machine.units.glob("*.service"))
    assert [unit.name for unit in units] == [unit.name for unit in UNITS]
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_services_are_sandboxed(unit: Path):
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", unit], capture_output=True, text=True, check=True
    )
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", rated.stdout)
    assert exposure and float(exposure[1]) < MOST_EXPOSED


def test_edited_files_are_kept_and_others_replaced(machine: Machine):
    """A file that is a version of the repository's is replaced; one that an operator has edited stays."""
    unit, *_others, proxy = files.copies(machine, nginx=True)
    first_version = files.git("log", "--format=%h", "--diff-filter=A", "--", "deploy/nginx.conf").splitlines()
    if not first_version:
        pytest.skip("not a git clone with its history: every difference counts as an operator's")
    old = files.git("show", f"{first_version[-1]}:deploy/nginx.conf") + "\n"
    machine.write(proxy.place, old.replace("web:8000", "127.0.0.1:8000"))
    machine.write(unit.place, "[Service]\nExecStart=/opt/mine\n")
    assert files.install(machine, proxy).startswith(f"changed: {proxy.place}\n    -")
    assert "127.0.0.1:8000" in proxy.place.read_text() and files.install(machine, proxy) == ""
    assert files.install(machine, unit).startswith(f"kept: {unit.place} has been edited")
    assert unit.place.read_text() == "[Service]\nExecStart=/opt/mine\n"
    assert files.kept_beside(unit).read_text() == unit.content


def test_sockets_allowed_by_nginx_are_stated(machine: Machine):
    machine.write(machine.nginx / "nginx.conf", "worker_processes 2;\nevents {\n  worker_connections 768;\n}\n")
    assert "768 open pages" in commands.sockets_allowed(machine)
    assert "384 open pages per" in (CODE / "deploy/nginx.conf").read_text() and "384" in HANDBOOK.read_text()


def test_settings_are_filled_in_and_kept(machine: Machine):
    text = environment.fill("# why\nA=1\nB=\n#C=\n", {"B": "x y", "D": "4"})
    assert text == "# why\nA=1\nB=x y\n#C=\nD=4\n"
    assert environment.parse(text + "E='a $b'\n") == {"A": "1", "B": "x y", "D": "4", "E": "a $b"}


def test_check_names_what_others_can_read(machine: Machine):
    assert commands._exposed(machine) == []
    machine.env_file.chmod(0o644)
    machine.data.chmod(0o755)
    assert [line.split(": ")[1] for line in commands._exposed(machine)] == [
        f"chmod 600 {machine.env_file}", f"chmod 700 {machine.data}",
    ]  # fmt: skip


@pytest.mark.parametrize("command", [["upgrade"], ["backup"], ["restore", "nowhere"], ["check"]])
def test_commands_refuse_without_settings(tmp_path: Path, command: list[str]):
    process = subprocess.run(
        [PARLEY, *command], env={"PATH": "/usr/bin:/bin", "PARLEY_ROOT": str(tmp_path)}, capture_output=True, text=True
    )
    assert process.returncode == 1 and process.stderr.startswith("parley: ") and "Traceback" not in process.stderr


def statement(machine: Machine, *sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(machine.root / "db.sqlite3")) as database, database:
        return [row for each in sql for row in database.execute(each)]


@pytest.fixture
def backup(machine: Machine) -> Path:
    """A backup of a small database and a data folder; afterwards, both have changed."""
    statement(machine, "CREATE TABLE said (words TEXT)", "INSERT INTO said VALUES ('before')")
    (machine.data / "datasets").mkdir()
    (machine.data / "datasets" / "rows.lock").write_text("before")
    (machine.data / "static").mkdir()
    machine.env_file.chmod(0o644)
    machine.write(machine.units / "parley-web.service.d" / "override.conf", "[Service]\n")
    folder = backups.back_up(machine, services=[])
    statement(machine, "UPDATE said SET words = 'after'")
    (machine.data / "datasets" / "rows.lock").write_text("after")
    (machine.data / "later").touch()
    return folder


def test_backup_is_private_and_restores_database_data_and_settings(machine: Machine, backup: Path):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (backup, *backup.rglob("*"))}
    assert {stat.S_IMODE(path.stat().st_mode) for path in backup.rglob("*") if path.is_file()} == {0o600}
    assert modes[backup.name] == modes["machine"] == 0o700 and "override.conf" in modes
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700 and backup.parent == machine.backups
    earlier_key = machine.settings["SECRET_KEY"]
    machine.write(
        machine.env_file,
        environment.fill(machine.env_file.read_text(), {"SECRET_KEY": "new", "REDIS_URL": "redis://here"}),
    )
    backups.restore(machine, backup)
    assert statement(machine, "SELECT words FROM said") == [("before",)]
    assert (machine.data / "datasets" / "rows.lock").read_text() == "before"
    assert not (machine.data / "later").exists() and (machine.data / "static").is_dir()
    assert (machine.settings["SECRET_KEY"], machine.settings["REDIS_URL"]) == (earlier_key, "redis://here")
    assert stat.S_IMODE(machine.env_file.stat().st_mode) == 0o600


@pytest.mark.slow
def test_damaged_or_newer_backup_is_refused_and_changes_nothing(machine: Machine, backup: Path):
    manifest = backup / backups.MANIFEST
    described = manifest.read_text()
    manifest.write_text(described.replace('"migrations": []', '"migrations": ["studies.9999_future"]'))
    with pytest.raises(Refused, match=r"newer version.*studies\.9999_future"):
        backups.restore(machine, backup)
    manifest.write_text(described)
    with (backup / backups.DUMP).open("ab") as dump:
        dump.write(b"x")
    with pytest.raises(Refused, match=r"damaged: database\.dump"):
        backups.restore(machine, backup)
    (backup / backups.DATA).unlink()
    with pytest.raises(Refused, match=r"data\.tar is missing"):
        backups.restore(machine, backup)
    assert statement(machine, "SELECT words FROM said") == [("after",)]
    assert (machine.data / "later").exists()
