"""The studies that a fresh installation shows: one of every game, open to anybody, paying nobody."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

from games import registry
from matches.models import Match
from studies.freezing import launch
from studies.models import Study

ADMIN = "admin"


@dataclass(frozen=True)
class Demo:
    """What `make demo` prints: (title, path) of each demo study, and the admin login."""

    links: list[tuple[str, str]]
    admin: str
    password: str


def create_demo() -> Demo:
    """Make the demo studies and the admin user where they are missing; keep what is there."""
    links = []
    for key in registry.keys():
        game = registry.get(key)
        study, new = Study.objects.get_or_create(
            slug=f"demo-{key.replace('_', '-')}",
            defaults={
                "title": game.title,
                "game": key,
                "purpose": Match.Purpose.DEMO,
                "entry": Study.Entry.OPEN,
                "agent": f"script:{game.sparring}",
                "quota": 100_000,
                "agent_delay": 1.5,
            },
        )
        if new:
            launch(study)
        links.append((str(game.title), study.get_absolute_url()))
    return Demo(links=links, admin=ADMIN, password=_admin_password())


def _admin_password() -> str:
    """The demo administrator's password, made once and kept beside the data, readable by its owner only."""
    kept = Path(settings.DATA_DIR) / "admin_password"
    if not kept.exists():
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_urlsafe(12))
    password = kept.read_text().strip()
    user, _new = get_user_model().objects.get_or_create(
        username=ADMIN, defaults={"is_staff": True, "is_superuser": True}
    )
    if not user.check_password(password):
        user.set_password(password)
        user.save()
    return password
