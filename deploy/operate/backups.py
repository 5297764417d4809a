"""Backups: a private folder with the database, the data folder, the settings and the machine's own files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from deploy.operate import environment, files
from deploy.operate.databases import database_of
from deploy.operate.machine import CODE, PRIVATE_FILE, Machine, Refused, run, say

DUMP, DATA, SETTINGS, MANIFEST, COPIES = "database.dump", "data.tar", "settings.env", "manifest.json", "machine"
REBUILT = ("static", "logs", "beat-schedule*", "*.lock", "*.sock", "*.sqlite3", "*.sqlite3-*", ".restoring")
"""Contents of PARLEY_DATA that a backup leaves out: made again by the services, or copied as the database."""
OF_THE_MACHINE = ("DATABASE_URL", "REDIS_URL", "PARLEY_DATA", "WEB_HOST", "WEB_PORT", "WEB_PROXIES", "WEB_CONCURRENCY")
"""Settings that a restored machine keeps; the others come from the backup."""
MARK = "last-backup"
"""File in PARLEY_DATA whose time of change is that of the last backup."""


def back_up(machine: Machine, folder: Path | None = None, *, services: list[str]) -> Path:
    """Write a backup into a new folder that only root (or the user) can enter; return it.

    Args:
        services: those that run, or ran until they were stopped for the backup.
    """
    os.umask(0o077)
    database = database_of(machine)
    made_at = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    target = (folder or machine.backups / made_at).resolve()
    if target.exists() and any(target.iterdir()):
        raise Refused(f"{target} is not empty. Name a new folder.")
    machine.make_private_folder(target.parent if folder is None else target)
    target.mkdir(exist_ok=True)
    database.dump(target / DUMP)
    machine.data.mkdir(parents=True, exist_ok=True)
    excluded = ["--anchored", "--no-wildcards-match-slash", *(f"--exclude=./{pattern}" for pattern in (*REBUILT, MARK))]
    archive = ["tar", "--create", f"--file={target / DATA}", f"--directory={machine.data}", *excluded, "."]
    run(archive, accepted=(0, 1))  # 1: a file changed meanwhile
    if machine.env_file.exists():
        shutil.copyfile(machine.env_file, target / SETTINGS)
    for file in _own_files(machine):
        copy = target / COPIES / file.relative_to(machine.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    described = {
        "made_at": made_at,
        "version": installed_version(machine),
        "services": services,
        "database": database.kind,
        "migrations": database.applied(),
        "sha256": {name: _sha256(target / name) for name in (DUMP, DATA)},
    }
    (target / MANIFEST).write_text(json.dumps(described, indent=1))
    for file in target.rglob("*"):
        if file.is_file():
            file.chmod(PRIVATE_FILE)
    (machine.data / MARK).touch()
    machine.give(machine.data / MARK)
    return target


def restore(
    machine: Machine, folder: Path, *, settings: Path | None = None, replace: bool = False, with_version: bool = False
) -> None:
    """Replace database, data folder and settings by those of a backup. The services must be stopped.

    Args:
        settings: the backup's settings, if they were kept elsewhere.
        replace: whether a database that contains something may be replaced.
        with_version: also go back to the version of Parley that the backup was made with, and to its units.

    Raises:
        Refused: nothing was changed.
    """
    folder = folder.resolve()
    described = check(folder)
    settings = settings or folder / SETTINGS
    if not settings.is_file():
        raise Refused(
            f"{settings} is missing. Without its SECRET_KEY, stored keys stay sealed: name it with --settings."
        )
    database = database_of(machine)
    if described["database"] != database.kind:
        raise Refused(f"The backup is one of {described['database']}, and DATABASE_URL names {database.kind}.")
    if database.applied() and not replace and _in_use(machine):
        raise Refused("The database is not empty. Back it up and add --replace to overwrite it.")
    if with_version and not files.git("cat-file", "-e", described["version"] or "none"):
        raise Refused(f"This clone does not have the backup's version {described['version'] or '(unknown)'}.")
    if with_version and not files.git("diff", "--quiet", "HEAD"):
        raise Refused(f"Files in {CODE} were changed: commit or discard that first (git diff shows it).")
    if not with_version and (unknown := sorted({*described["migrations"]} - known_migrations(machine))):
        raise Refused(
            f"The backup was made with a newer version of Parley ({described['version'] or 'unknown'}), which has "
            f"migrations that this one lacks, such as {unknown[0]}. Check out that version first."
        )
    database.load(folder / DUMP)
    say(f"restored: the database ({database.kind})")
    _restore_data(machine, folder / DATA)
    say(f"restored: {machine.data}")
    own = {name: value for name, value in machine.settings.items() if name in OF_THE_MACHINE}
    machine.write(machine.env_file, environment.fill(settings.read_text(), own), mode=PRIVATE_FILE, own=True)
    say(f"restored: {machine.env_file}, except {', '.join(sorted(own))}, which are this machine's own")
    if with_version:
        _return_to(machine, folder, described["version"])


def check(folder: Path) -> dict[str, Any]:
    """Return a backup's description.

    Raises:
        Refused: it is incomplete or damaged.
    """
    try:
        described: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        damaged = [name for name, expected in described["sha256"].items() if _sha256(folder / name) != expected]
    except FileNotFoundError as error:
        raise Refused(f"{folder} is not a complete backup: {error.filename} is missing.") from None
    if damaged:
        raise Refused(f"The backup is damaged: {', '.join(damaged)} in {folder} changed after it was made.")
    return described


def known_migrations(machine: Machine) -> set[str]:
    """Return the migrations of this version as app.name."""
    query = "from django.db.migrations.loader import MigrationLoader as L; "
    query += "print(*('.'.join(key) for key in L(None).disk_migrations))"
    return set(machine.manage("shell", "--no-imports", "-c", query).split())


def own_migrations() -> set[str]:
    """Return the migrations of Parley's own apps as app.name, without running Parley."""
    return {f"{file.parents[1].name}.{file.stem}" for file in (CODE / "platform").rglob("migrations/0*.py")}


def installed_version(machine: Machine) -> str:
    """Return the commit that the services run: the installed one, or for a manual installation the last one checked
    out before the present one; "" if it is unknown."""
    if machine.version_file.exists():
        return machine.version_file.read_text().strip()
    return files.git("rev-parse", "--quiet", "--verify", "HEAD@{1}") or files.git("rev-parse", "HEAD")


def newest(machine: Machine) -> float | None:
    """Return the time of the last backup as seconds since 1970; None if there is none."""
    mark = machine.data / MARK
    return mark.stat().st_mtime if mark.exists() else None


def _in_use(machine: Machine) -> bool:
    """Return whether anyone has an account here: `install` creates the tables but no user."""
    query = "from django.contrib.auth.models import User as U; print(U.objects.exists())"
    return machine.manage("shell", "--no-imports", "-c", query).strip().endswith("True")


def _restore_data(machine: Machine, archive: Path) -> None:
    """Replace the data folder's contents; the folder itself may be a mount point and stays."""
    machine.make_private_folder(machine.data, own=False)
    incoming = machine.data / ".restoring"
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.mkdir()
    with archive.open("rb") as stream:
        run(["tar", "--extract", "--no-same-owner", f"--directory={incoming}"], stdin=stream)
    kept = {path for pattern in REBUILT for path in machine.data.glob(pattern)}
    for path in set(machine.data.iterdir()) - kept:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in incoming.iterdir():
        path.replace(machine.data / path.name)
    incoming.rmdir()
    machine.give(machine.data)


def _return_to(machine: Machine, folder: Path, version: str) -> None:
    """Check the backup's version out and put its units and nginx's configuration back."""
    if not files.git("checkout", "--quiet", "--detach", version):
        raise Refused(f"git could not check {version} out in {CODE}.")
    for file in _own_files(machine):
        file.unlink()
    for copy in (folder / COPIES).rglob("*"):
        if copy.is_file():
            machine.write(machine.root / copy.relative_to(folder / COPIES), copy.read_text())
    machine.write(machine.version_file, f"{version}\n")
    say(f"checked out: {version}")


def _own_files(machine: Machine) -> list[Path]:
    """Return the installed units, with the operator's additions to them, and nginx's configuration."""
    units = [file for folder in machine.units.glob("parley-*") for file in (folder, *folder.rglob("*"))]
    return [file for file in (*units, machine.nginx / "conf.d/parley.conf") if file.is_file()]


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
