"""A database of 0.2, stored as text for SQLite and PostgreSQL; `__main__` makes it."""

from pathlib import Path

FILES = {kind: Path(__file__).with_name(f"parley-0.2-{kind}.sql") for kind in ("sqlite", "postgres")}
