"""The machine that Parley is installed on: its folders, users and programs, and calls of Parley itself."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.operate import environment

CODE = Path(__file__).resolve().parents[2]
USER = "parley"
"""The user that Parley's services run as."""
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class Refused(Exception):
    """The command cannot be carried out; the message says why and what to do."""


class Machine:
    """The folders and users of an installation.

    With $PARLEY_ROOT, everything that would be below / is below that folder, belongs to the current user, and
    no program of the machine is changed: neither users, nor PostgreSQL, systemd and nginx.
    """

    def __init__(self) -> None:
        self.root = Path(os.environ.get("PARLEY_ROOT") or "/").resolve()
        self.env_file = Path(os.environ.get("PARLEY_ENV") or self.root / "etc/parley.env").resolve()
        self.units = self.root / "etc/systemd/system"
        self.nginx = self.root / "etc/nginx"
        self.backups = self.root / "var/backups/parley"
        self.version_file = self.root / "etc/parley.version"

    @property
    def whole(self) -> bool:
        """Whether this is the machine itself and not a folder for a trial."""
        return self.root == Path("/")

    @property
    def systemd(self) -> bool:
        return self.whole and Path("/run/systemd/system").is_dir()

    @property
    def user(self) -> pwd.struct_passwd:
        """The user that the services run as: `parley` if this is root and the user exists, else the current one."""
        if self.whole and os.geteuid() == 0:
            try:
                return pwd.getpwnam(USER)
            except KeyError:
                pass
        return pwd.getpwuid(os.geteuid())

    @property
    def settings(self) -> dict[str, str]:
        """The environment file's settings; without the file (in compose), those of this process."""
        return environment.read(self.env_file) or dict(os.environ)

    @property
    def data(self) -> Path:
        return Path(self.settings.get("PARLEY_DATA") or self.root / "var/lib/parley")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every process of Parley."""
        variables = {**os.environ, **environment.read(self.env_file), "PYTHONPATH": "platform:."}
        if (CODE / ".venv").is_dir():
            variables["PATH"] = f"{CODE}/.venv/bin:{variables.get('PATH', os.defpath)}"
        return variables

    def require_settings(self) -> None:
        if not self.environment.get("DATABASE_URL"):
            who = pwd.getpwuid(os.geteuid()).pw_name
            raise Refused(f"no DATABASE_URL: {self.env_file} is missing, not readable by {who}, or sets no database.")

    def become_user(self) -> None:
        """Give up root's rights for those of the services' user."""
        user = self.user
        if user.pw_uid != os.geteuid():
            os.initgroups(user.pw_name, user.pw_gid)
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
        os.umask(0o077)

    # ---- files ---------------------------------------------------------------------------------------

    def write(self, file: Path, content: str, *, mode: int = 0o644, own: bool = False) -> None:
        """Replace a file at once; with `own`, it belongs to the services' user."""
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(content)
        if own:
            self.give(new)
        new.replace(file)

    def make_private_folder(self, folder: Path, *, own: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(PRIVATE_FOLDER)
        if own:
            self.give(folder)

    def give(self, path: Path) -> None:
        """Give a file, or a folder with all its contents, to the services' user."""
        if os.geteuid() == 0:
            for each in (path, *path.rglob("*")):
                os.chown(each, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)

    # ---- programs ------------------------------------------------------------------------------------

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` as the services' user; return its output.

        Raises:
            Refused: the command failed; contains its errors.
        """
        user = self.user
        identity: dict[str, Any] = {}
        if user.pw_uid != os.geteuid():
            groups = [group.gr_gid for group in grp.getgrall() if user.pw_name in group.gr_mem]
            identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups}
        command = ["python", "manage.py", *arguments]
        return run(command, env=self.environment, cwd=CODE, umask=0o077, **identity)


def run(
    command: list[str], *, env: Mapping[str, str] | None = None, accepted: tuple[int, ...] = (0,), **options: object
) -> str:
    """Run a program; return its output.

    Raises:
        Refused: it is missing or failed; contains its errors.
    """
    program = shutil.which(command[0], path=(env or os.environ).get("PATH"))
    if program is None:
        raise Refused(f"{command[0]} is missing.")
    process = subprocess.run([program, *command[1:]], env=env, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if process.returncode not in accepted:
        errors = (process.stderr or process.stdout).strip()
        raise Refused(f"{' '.join(command[:3])} failed:\n{errors}")
    return str(process.stdout)


def say(line: str = "") -> None:
    print(line, flush=True)
