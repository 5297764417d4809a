"""The command `parley`: operate an installation, run one of its services, or call manage.py with its settings.

Settings are read from $PARLEY_ENV (/etc/parley.env), or are already set (in compose). As root, everything that
needs no root runs as the services' user.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from deploy.operate import commands, services
from deploy.operate.machine import CODE, Machine, Refused


def parser() -> argparse.ArgumentParser:
    """Return the parser of the operators' commands."""
    main = argparse.ArgumentParser(
        prog="parley",
        description="Operates an installation. Every other command is one of manage.py, with the installation's "
        "settings and as its user: parley createsuperuser, parley help.",
    )
    names = main.add_subparsers(dest="command", required=True)
    install = names.add_parser("install", help="install Parley on this machine, or complete an installation")
    install.add_argument("--site", default="", help="the public address: https://parley.example.org")
    install.add_argument(
        "--database", default="", help="postgres://… (default: create one in this machine's PostgreSQL)"
    )
    install.add_argument("--redis", default="redis://127.0.0.1:6379/0", help="(default: %(default)s)")
    install.add_argument(
        "--port", default="8000", help="where the web server listens on 127.0.0.1 (default: %(default)s)"
    )
    upgrade = names.add_parser("upgrade", help="after `git pull`: back up, migrate, restart, and say what changed")
    for command in (install, upgrade):
        command.add_argument("--no-nginx", dest="nginx", action="store_false", help="another proxy is in front")
    backup = names.add_parser("backup", help="back up database, data folder and settings")
    backup.add_argument("--to", default="", help="a new folder (default: in /var/backups/parley)")
    restore = names.add_parser("restore", help="replace database, data folder and settings by a backup's")
    restore.add_argument("folder", help="the backup")
    restore.add_argument("--settings", default="", help="the backup's settings.env, if it was kept elsewhere")
    restore.add_argument("--replace", action="store_true", help="overwrite a database that is in use")
    restore.add_argument("--with-version", action="store_true", help="also go back to the backup's version of Parley")
    names.add_parser("check", help="report what is wrong with the installation")
    for kind in services.KINDS:
        names.add_parser(kind, help="run this service in the foreground").add_argument("number", nargs="?", default="1")
    return main


def main(arguments: list[str]) -> int:
    machine = Machine()
    name = arguments[0] if arguments else "--help"
    if name == "supervise":
        services.Runner(machine).supervise(arguments[1])
    elif name in services.KINDS:
        services.become(machine, name, *arguments[1:2])
    elif name in ("install", "upgrade", "backup", "restore", "check", "-h", "--help"):
        options = vars(parser().parse_args([name, *arguments[1:]]))
        return int(getattr(commands, options.pop("command"))(machine, **options))
    else:
        machine.require_settings()
        machine.become_user()
        os.chdir(CODE)
        os.execvpe("python", ["python", "manage.py", *arguments], machine.environment)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, OSError) as error:
        print(f"parley: {error}", file=sys.stderr)
        sys.exit(1)
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
