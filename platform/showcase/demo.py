"""The demo studies of a fresh installation: one per game, open to anyone, unpaid."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

from games import grids, registry
from games.interface import Json
from games.play import configure
from matches.models import Match
from opponents.agents import PERSON, agents_from_specs
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from studies.freezing import launch
from studies.models import Study
from studies.names import two_person_slug

ADMIN = "admin"
LOCAL, LOCAL_MODEL = "local", "smollm2-135m-instruct"
LOCAL_SETTINGS = {
    "structured": True,
    "short": True,
    "tries_after_first": 5,
    "max_tokens": 200,
    "call_seconds": 60.0,
    "limit_seconds": 180.0,
}
"""Settings for a very small model: more tries, fewer values to enter per move; its fallback is a scripted player."""


@dataclass(frozen=True)
class Demo:
    """What `make demo` prints: the (title, path) of each demo study, and the admin login."""

    links: list[tuple[str, str]]
    admin: str
    password: str


def create_demo(model_url: str | None = None) -> Demo:
    """Create missing demo studies and the admin user; keep existing ones.

    Args:
        model_url: address of a small model on this machine, which then also plays a study of every game.
    """
    links = [link for key in registry.keys() for link in _create_game_demos(key)]
    links += _create_two_person_demos()
    if model_url is not None:
        links += _create_local_model_demos(model_url)
    return Demo(links=links, admin=ADMIN, password=admin_password())


def _create_game_demos(key: str) -> list[tuple[str, str]]:
    """Create a study for each of the game's demos."""
    game = registry.get(key)
    links = []
    for slug, title, config in _demo_configurations(key):
        study, created = Study.objects.get_or_create(
            slug=slug,
            defaults={
                "title": title,
                "game": key,
                "config": dict(config),
                "purpose": Match.Purpose.DEMO,
                "entry": Study.Entry.OPEN,
                "agents": agents_from_specs(f"script:{game.default_script}", delay=1.5),
                "quota": 100_000,
            },
        )
        if created:
            launch(study)
        links.append((title, study.get_absolute_url()))
    return links


def _demo_configurations(key: str) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    """Yield the short name, title and configuration of each of the game's demos.

    These are the starting configuration and any that the game's folder adds (`published.DEMOS`).
    """
    game = registry.get(key)
    slug, title = f"demo-{key.replace('_', '-')}", str(game.title)
    yield slug, title, game.starting_config
    for name, config in getattr(grids.published(key), "DEMOS", {}).items():
        yield f"{slug}-{name}", f"{title}: {name}", config


def _create_two_person_demos() -> list[tuple[str, str]]:
    """Create a two-participant study for every demo that allows it; scripted players take the other seats."""
    links = []
    for key, slug, title, config in ((name, *demo) for name in registry.keys() for demo in _demo_configurations(name)):
        game = registry.get(key)
        configured = configure(game, config)
        human_roles = configured.people()[:2]
        if len(human_roles) < 2:
            continue
        fallback = f"script:{game.default_script}"
        others = {"*": fallback} if len(configured.roles()) > 2 else {}
        study, created = Study.objects.get_or_create(
            slug=two_person_slug(slug),
            defaults={
                "title": _("{game} with another person").format(game=title),
                "game": key,
                "config": dict(config),
                "purpose": Match.Purpose.DEMO,
                "entry": Study.Entry.OPEN,
                "roles": list(human_roles),
                "agents": agents_from_specs(fallback, delay=1.5),
                "lineups": [{"name": "", "seats": {**dict.fromkeys(human_roles, PERSON), **others}}],
                "lobby_after": "agents",
                "fills_in": fallback,
                "on_timeout": "agent",
                "quota": 100_000,
            },
        )
        if created:
            launch(study)
        links.append((study.title, study.get_absolute_url()))
    return links


def _create_local_model_demos(url: str) -> list[tuple[str, str]]:
    """Create a study of every game against the model at `url`."""
    Endpoint.objects.update_or_create(
        name=LOCAL,
        defaults={
            "title": "This machine",
            "protocol": "openai",
            "base_url": url,
            "structured": "json_schema",
            "concurrency": 2,
        },
    )
    MEMORY.expire()
    links = []
    for key in registry.keys():
        game = registry.get(key)
        study, created = Study.objects.get_or_create(
            slug=f"demo-llm-{key.replace('_', '-')}",
            defaults={
                "title": _("{game} with a model on this machine").format(game=game.title),
                "game": key,
                "config": dict(game.starting_config),
                "purpose": Match.Purpose.DEMO,
                "entry": Study.Entry.OPEN,
                "agents": agents_from_specs(
                    f"{LOCAL}:{LOCAL_MODEL}",
                    settings={**LOCAL_SETTINGS, "script": game.default_script, "cap_study": 1.0},
                ),
                "quota": 100_000,
            },
        )
        if created:
            launch(study)
        links.append((study.title, study.get_absolute_url()))
    return links


def admin_password() -> str:
    """Return the demo administrator's password, created once and stored beside the data, readable only by its owner."""
    password_file = Path(settings.DATA_DIR) / "admin_password"
    if not password_file.exists():
        password_file.touch(mode=0o600)
        password_file.write_text(secrets.token_urlsafe(12))
    password = password_file.read_text().strip()
    user, _new = get_user_model().objects.get_or_create(
        username=ADMIN, defaults={"is_staff": True, "is_superuser": True}
    )
    if not user.check_password(password):
        user.set_password(password)
        user.save()
    return password
