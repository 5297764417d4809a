"""Store a database of 0.2 as text: `PYTHONPATH=platform:. python -m tests.stored` rewrites both files in this folder.

Later versions are tested to upgrade from it. Until 0.2 is released, store it again whenever tables change; afterwards
never: a change of tables is then a new migration, which the tests apply to what is stored.

It holds what `SampleData` makes: two studies, each with a finished participant and everything that can belong to a
study, and two collections. All people, words and identifiers are made up, and nobody has a password.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

from tests.stored import FILES

SESSION = re.compile(r"^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*|)\n", re.MULTILINE)
"""Lines of pg_dump that say how it was made, or that differ between its versions."""


def dump() -> str:
    """Make and fill the tables of the tests' database of this process; return it as SQL."""
    import django

    import conftest  # names databases and Redis in the environment, and so comes before Django
    from config.postgres import _program_folder
    from config.private_redis import PrivateRedis

    redis = PrivateRedis(conftest.FOLDER)
    redis.start()
    if conftest.POSTGRES is not None:
        conftest.POSTGRES.start()
    try:
        django.setup()
        from django.contrib.auth.models import User
        from django.core.management import call_command
        from django.db import connection

        from tests.test_rights import SampleData

        call_command("migrate", verbosity=0)
        SampleData()
        User.objects.update(password="!")
        if conftest.POSTGRES is None:
            with closing(sqlite3.connect(connection.settings_dict["NAME"])) as database:
                return "\n".join(database.iterdump()) + "\n"
        command = [_program_folder() / "pg_dump", "--no-owner", "--no-privileges", f"--dbname={conftest.POSTGRES.url}"]
        return SESSION.sub("", subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    finally:
        redis.stop()


if __name__ == "__main__":
    kind = os.environ.get("TEST_DATABASE")
    if kind is None:
        for each in FILES:
            environment = {**os.environ, "TEST_DATABASE": each}
            subprocess.run([sys.executable, "-m", "tests.stored"], env=environment, check=True)
    else:
        FILES[kind].write_text(dump())
