"""The operators' commands: each prints what it does, and refuses before it changes anything."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from deploy import health
from deploy.operate import backups, environment, files
from deploy.operate.databases import database_of
from deploy.operate.machine import CODE, PRIVATE_FILE, PRIVATE_FOLDER, USER, Machine, Refused, run, say
from deploy.operate.services import STANDARD, Systemd, manager

TEMPLATE = CODE / "deploy/parley.env.example"
REQUIRED = ("SECRET_KEY", "SITE_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "DATABASE_URL", "PARLEY_DATA")
LIBRARY_PREFIXES = ("OPENAI_", "ANTHROPIC_")
"""Settings that the models' own libraries read."""
READY_SECONDS = 180.0
"""How long a started installation may take until it is ready."""
OLD_BACKUP_SECONDS = 7 * 24 * 3600.0
PACKAGES = {
    "pg_dump": "postgresql-client", "pg_restore": "postgresql-client", "psql": "postgresql-client", "tar": "tar",
    "git": "git",
}  # fmt: skip


def install(machine: Machine, *, site: str, database: str, redis: str, port: str, nginx: bool) -> int:
    """Install everything; running it again completes what was missing. Return 1 if something is left to do."""
    _require_root(machine)
    programs = dict(PACKAGES)
    if machine.whole:
        programs |= {"nginx": "nginx"} if nginx else {}
        programs |= {} if database else {"runuser": "util-linux"}
        if machine.systemd and str(CODE).startswith(("/home/", "/root/")):
            raise Refused(f"The units cannot read {CODE}: move Parley's folder to /opt/parley.")
    _require_programs(programs)
    origin = _origin(site, machine)
    if machine.whole and machine.user.pw_name != USER:
        run(["useradd", "--system", "--home-dir", str(machine.data), "--shell", "/usr/sbin/nologin", USER])
        say(f"created: the user {USER}")
    if not machine.env_file.exists():
        database = database or _create_database(machine)
        values = {
            "SECRET_KEY": secrets.token_urlsafe(50),
            "SITE_URL": origin,
            "ALLOWED_HOSTS": urlsplit(origin).hostname or "",
            "CSRF_TRUSTED_ORIGINS": origin,
            "DATABASE_URL": database,
            "REDIS_URL": redis,
            "PARLEY_DATA": str(machine.root / "var/lib/parley"),
            "WEB_PORT": port,
        }
        machine.write(machine.env_file, environment.fill(TEMPLATE.read_text(), values), mode=PRIVATE_FILE, own=True)
        say(f"created: {machine.env_file}")
    _make_private(machine)
    _install_packages(machine)
    machine.manage("check", "--deploy")
    link = machine.root / "usr/local/bin/parley"
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(CODE / "deploy/parley")
        say(f"created: {link}")
    edited = _install_files(machine, nginx=nginx and _has_certificate(machine))
    manager(machine).enable(list(STANDARD))
    _start(machine, list(STANDARD))
    _record_version(machine)
    todo = [f"merge {file} into its neighbour" for file in edited]
    if nginx and not _has_certificate(machine):
        todo.append(f"put the certificate into {machine.nginx / 'tls'} (fullchain.pem, privkey.pem) and run this again")
    if machine.whole and nginx and (machine.nginx / "sites-enabled/default").exists():
        todo.append(
            f"remove the distribution's own site: rm {machine.nginx / 'sites-enabled/default'}, and reload nginx"
        )
    say(f"Parley is installed for {origin}. Next: `parley createsuperuser`, and `parley backup` every day.")
    for task in todo:
        say(f"To do: {task}.")
    return 1 if todo else 0


def upgrade(machine: Machine, *, nginx: bool) -> int:
    """Bring the installation to the version of this folder; say what changes and how to go back."""
    _require_root(machine)
    _require_programs(PACKAGES)
    settings = machine.settings
    if missing := [name for name in REQUIRED if not settings.get(name)]:
        raise Refused(f"{machine.env_file} must set {', '.join(missing)}.")
    database, services = database_of(machine), manager(machine)
    earlier, version = backups.installed_version(machine), files.git("rev-parse", "HEAD")
    applied, own = {*database.applied()}, backups.own_migrations()
    labels = {name.partition(".")[0] for name in own}
    _refuse_unknown({name for name in applied - own if name.partition(".")[0] in labels}, earlier)
    say(f"Upgrading from {earlier[:8] or 'an unknown version'} to {version[:8] or 'this version'}.")
    _describe_settings(machine)
    _make_private(machine)
    _install_packages(machine)
    machine.manage("check", "--deploy")
    known = backups.known_migrations(machine)
    _refuse_unknown(applied - known, earlier)
    pending = sorted(known - applied)
    say(f"Migrations to apply: {', '.join(pending) or 'none'}.")

    running = services.running()
    wanted = running or list(STANDARD)
    services.stop(running)
    say(f"stopped: {', '.join(running) or 'nothing was running'}")
    try:
        backup = backups.back_up(machine, services=running)
    except Refused:
        services.start(running)
        raise
    say(f"backed up: {backup}")
    go_back = f"parley restore {backup} --replace --with-version"
    try:
        nginx = nginx and (machine.nginx / "conf.d/parley.conf").exists()
        edited = _install_files(machine, nginx=nginx)
        machine.manage("migrate", "--noinput")
        say("migrated: the database")
        services.enable(wanted)
        _start(machine, wanted)
    except Refused as error:
        raise Refused(
            f"{error}\nThe upgrade is not complete. To go back to the earlier version:\n    {go_back}"
        ) from None
    _record_version(machine)
    for file in edited:
        say(f"To do: merge {file} into its neighbour.")
    say(f"Upgraded. To go back, which loses everything that has happened since:\n    {go_back}")
    return 0


def backup(machine: Machine, *, to: str) -> int:
    folder = backups.back_up(machine, Path(to) if to else None, services=manager(machine).running())
    say(f"backed up: {folder}")
    say("It contains SECRET_KEY beside the data that this key seals: keep copies encrypted, or settings.env elsewhere.")
    return 0


def restore(machine: Machine, *, folder: str, settings: str, replace: bool, with_version: bool) -> int:
    """Restore a backup; the services run again afterwards."""
    _require_root(machine)
    _require_programs(PACKAGES)
    services = manager(machine)
    running = services.running()
    services.stop(running)
    try:
        backups.restore(
            machine, Path(folder), settings=Path(settings) if settings else None, replace=replace,
            with_version=with_version,
        )  # fmt: skip
    except Refused:
        services.start(running)
        raise
    _make_private(machine)
    _install_packages(machine)
    machine.manage("migrate", "--noinput")
    if with_version:
        running = backups.check(Path(folder))["services"]
        services.reload()
        services.enable(running)
    try:
        say(machine.manage("withdraw_approvals").strip())
    except Refused:
        say("To do: this version cannot withdraw approvals. Check each approved payment with its recruiter, then start")
        say(f"the services: {', '.join(running) or 'none was running'}.")
        return 1
    say(machine.manage("check_books").strip())
    _start(machine, running or list(STANDARD))
    say("Payments made after the backup are missing in it: check with the recruiter before you approve any again.")
    return 0


def check(machine: Machine) -> int:
    """Report everything that is wrong with the installation; return 1 if anything is."""
    machine.require_settings()
    settings, problems = machine.settings, []
    problems += [f"{machine.env_file} does not set {name}." for name in REQUIRED if not settings.get(name)]
    problems += _exposed(machine)
    for attempt in (("check", "--deploy", "--fail-level", "WARNING"), ("migrate", "--check")):
        try:
            machine.manage(*attempt)
        except Refused as error:
            problems.append(str(error))
    if machine.units.is_dir():
        nginx = (machine.nginx / "conf.d/parley.conf").exists()
        for copy in files.copies(machine, nginx=nginx):
            if copy.installed != copy.content:
                problems.append(f"{copy.place} is not this version's: run `parley upgrade`, or merge its .new file.")
        running = manager(machine).running()
        problems += [f"{name} is not running." for name in STANDARD if name not in running]
    age = time.time() - (backups.newest(machine) or 0)
    if age > OLD_BACKUP_SECONDS:
        problems.append("The last backup is more than a week old, or there is none: run `parley backup` every day.")
    problems += _unready(machine)
    say(f"nginx: {sockets_allowed(machine)}")
    for problem in problems:
        say(f"Problem: {problem}")
    say(f"{len(problems)} problems." if problems else "Everything is in order.")
    return 1 if problems else 0


def sockets_allowed(machine: Machine) -> str:
    """Return in words how many sockets nginx allows: each takes one connection to the visitor and one to Parley."""
    try:
        words = (machine.nginx / "nginx.conf").read_text().replace(";", " ").split()
        connections = int(words[words.index("worker_connections") + 1])
        processes = words[words.index("worker_processes") + 1]
    except (OSError, ValueError, IndexError):
        return "its own configuration states no worker_connections (its default of 512 allows 256 sockets a process)."
    number = len(os.sched_getaffinity(0)) if processes == "auto" else int(processes)
    return f"{number} processes with {connections} worker_connections allow {number * connections // 2} open pages."


# ---- steps -----------------------------------------------------------------------------------------


def _require_root(machine: Machine) -> None:
    if machine.whole and os.geteuid() != 0:
        raise Refused("This needs root: run it with sudo.")


def _refuse_unknown(migrations: set[str], earlier: str) -> None:
    """Refuse a database with migrations that this version lacks; 0.1 had others for the same tables."""
    if migrations:
        raise Refused(
            f"The database has migrations that this version lacks, such as {min(migrations)}: it is of a newer "
            "version, or of 0.1, from which there is no upgrade. Go back to its version with "
            f"`git -C {CODE} checkout {earlier or 'VERSION'}`. From 0.1, export every study there "
            "(`manage.py export_dataset STUDY --to DIR`), and then install this version with an empty database. "
            "Nothing was changed."
        )


def _require_programs(programs: dict[str, str]) -> None:
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    os.environ["PATH"] = path
    if missing := {package for program, package in programs.items() if not shutil.which(program, path=path)}:
        raise Refused(f"Programs are missing: apt-get install {' '.join(sorted(missing))}")


def _origin(site: str, machine: Machine) -> str:
    """Return the site's address without a path; the installed one if `site` is empty."""
    site = site or machine.settings.get("SITE_URL", "")
    address = urlsplit(site)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise Refused("Say where participants will reach Parley: --site https://parley.example.org")
    return f"{address.scheme}://{address.netloc}"


def _create_database(machine: Machine) -> str:
    """Create role and database in this machine's PostgreSQL; return the address."""
    if not machine.whole:
        raise Refused("A trial below $PARLEY_ROOT creates no database: name one with --database.")
    password = secrets.token_urlsafe(24)
    ask = ["runuser", "-u", "postgres", "--", "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    try:
        run([*ask, "--file=-"], cwd="/", input=f"CREATE ROLE {USER} LOGIN PASSWORD '{password}';\n"
            f"CREATE DATABASE {USER} OWNER {USER};\n")  # fmt: skip
    except Refused as error:
        raise Refused(f"{error}\nTo use a database that exists, name it with --database postgres://…") from None
    say(f"created: the PostgreSQL role and database {USER}")
    return f"postgres://{USER}:{password}@127.0.0.1:5432/{USER}"


def _make_private(machine: Machine) -> None:
    """Give settings and data to the services' user alone, and backups to root."""
    machine.make_private_folder(machine.data, own=True)
    if machine.env_file.exists():
        machine.env_file.chmod(PRIVATE_FILE)
        machine.give(machine.env_file)
    if machine.backups.exists():
        machine.make_private_folder(machine.backups)


def _exposed(machine: Machine) -> list[str]:
    """Return which settings, data and backups other users of the machine can read."""
    private = {machine.env_file: PRIVATE_FILE, machine.data: PRIVATE_FOLDER, machine.backups: PRIVATE_FOLDER}
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in private if path.exists()}
    return [
        f"Other users can use {path}: chmod {private[path]:o} {path}" for path, mode in found.items() if mode & 0o077
    ]


def _install_packages(machine: Machine) -> None:
    if not machine.whole and (CODE / ".venv").is_dir():
        return  # a trial uses the environment that is there
    say("installing Python packages …")
    run([str(CODE / "deploy/setup/venv.sh"), "--compile", "requirements.lock"])


def _install_files(machine: Machine, *, nginx: bool) -> list[Path]:
    """Install units and nginx's configuration; return new versions of files that operators have edited."""
    edited, changed = [], []
    for copy in files.copies(machine, nginx=nginx):
        before = copy.installed
        if said := files.install(machine, copy):
            say(said)
            changed.append((copy, before))
            edited += [files.kept_beside(copy)] if files.kept_beside(copy).exists() else []
    manager(machine).reload()
    proxy = [(copy, before) for copy, before in changed if copy.place.parent.name == "conf.d"]
    if machine.whole and nginx:
        try:
            run(["nginx", "-t"])
        except Refused as error:
            for copy, before in proxy:
                copy.place.unlink() if before is None else machine.write(copy.place, before)
            raise Refused(f"{error}\nnginx keeps its earlier configuration.") from None
        if machine.systemd:
            run(["systemctl", "reload-or-restart", "nginx"])
    return edited


def _has_certificate(machine: Machine) -> bool:
    return all((machine.nginx / "tls" / name).exists() for name in ("fullchain.pem", "privkey.pem"))


def _describe_settings(machine: Machine) -> None:
    offered = environment.entries(TEMPLATE.read_text())
    present = environment.read(machine.env_file)
    for name, meaning, value in offered:
        if name not in present and value:
            say(f"new setting: {name} (as if {name}={value}). {meaning}")
    known = {name for name, _meaning, _value in offered} | {"WEB_HOST", "WEB_PORT", "WEB_PROXIES"}
    for name in present:
        if name not in known and not name.startswith(LIBRARY_PREFIXES):
            say(f"unknown setting: {name} in {machine.env_file}; Parley does not read it.")


def _start(machine: Machine, names: list[str]) -> None:
    """Start services in order, each once the one before it serves pages, and wait until all is ready."""
    services = manager(machine)
    services.start(names[:1])
    _wait(lambda: [] if _answers(machine, "/health/") else ["the web server does not answer"], names[0], services)
    services.start(names[1:])
    say(f"started: {', '.join(names)}")
    _wait(lambda: _unready(machine), "Parley", services)
    say("ready: /health/ready")


def _wait(problems: Callable[[], list[str]], name: str, services: object) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while found := problems():
        if time.monotonic() > deadline:
            logs = "journalctl -u 'parley-*'" if isinstance(services, Systemd) else "the files in var/log/parley"
            raise Refused(f"{name} is not ready: {'; '.join(found)}. See {logs}.")
        time.sleep(0.2)


def _answers(machine: Machine, path: str) -> bool:
    try:
        return health.ask(path, machine.settings)[0] == 200
    except OSError:
        return False


def _unready(machine: Machine) -> list[str]:
    """Return what /health/ready says is missing."""
    try:
        status, body = health.ask("/health/ready", machine.settings)
        report = json.loads(body)
    except (OSError, ValueError):
        return ["the web server does not answer"]
    return [] if status == 200 else [str(problem) for problem in report["problems"]]


def _record_version(machine: Machine) -> None:
    if version := files.git("rev-parse", "HEAD"):
        machine.write(machine.version_file, f"{version}\n")
