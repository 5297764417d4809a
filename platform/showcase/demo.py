"""The demo's studies, one per game, open to anyone and unpaid, and its administrator."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

from games import grids, registry
from games.interface import Game, Json
from games.play import configure
from matches.models import Match
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from plans.agents import PERSON
from plans.starting import COMPREHENSION, plan_for
from showcase import watching
from showcase.local_model import LOCAL, LOCAL_MODEL, LOCAL_SETTINGS
from studies.launching import launch
from studies.models import Study
from studies.names import two_person_slug

ADMIN = "admin"


@dataclass(frozen=True)
class Demo:
    """The sign-in of the demo's administrator, which `make demo` prints."""

    admin: str
    password: str


@dataclass(frozen=True)
class Variant:
    """One demo of a game: its starting configuration, or another one that its folder names (`published.DEMOS`)."""

    game: type[Game[Any, Any]]
    name: str
    config: Mapping[str, Json]

    @property
    def slug(self) -> str:
        return "-".join(filter(None, ["demo", self.game.key.replace("_", "-"), self.name]))

    @property
    def title(self) -> str:
        return f"{self.game.title}: {self.name}" if self.name else str(self.game.title)

    @property
    def together_slug(self) -> str:
        """The short name of the study for two people."""
        return two_person_slug(self.slug)

    @property
    def slugs(self) -> tuple[str, ...]:
        """The short names of all its studies."""
        return self.slug, self.together_slug, self.model_slug

    @property
    def model_slug(self) -> str:
        """The short name of the study against the model on this computer."""
        return self.slug.replace("demo-", "demo-llm-", 1)


def variants_of(key: str) -> list[Variant]:
    """Return the game's demos, the main one first."""
    game = registry.get(key)
    others = getattr(grids.published(key), "DEMOS", {})
    return [Variant(game, name, config) for name, config in {"": game.starting_config, **others}.items()]


def create_demo(model_url: str | None = None) -> Demo:
    """Create missing demo studies, a first match of every game and the admin user; keep existing ones.

    Args:
        model_url: address of a small model on this machine, which then also plays a study of every game.
    """
    for key in registry.keys():
        for variant in variants_of(key):
            agents = {variant.game.default_script: _script(variant)}
            _launch(variant, variant.slug, variant.title, agents=agents, roles=_roles_to_choose(variant))
            _launch_for_two(variant)
    _set_up_model(model_url)
    watching.play_examples()
    return Demo(admin=ADMIN, password=admin_password())


def _launch(variant: Variant, slug: str, title: str, *, stage: Mapping[str, Json] | None = None, **parts: Any) -> None:
    """Create and launch a demo study unless it exists; wrong answers about the rules send nobody away."""
    if Study.objects.filter(slug=slug).exists():
        return
    plan = plan_for(
        variant.game.key,
        title=title,
        config=variant.config,
        purpose=str(Match.Purpose.DEMO),
        cells={"quota": 100_000},
        entry={"via": str(Study.Entry.OPEN)},
        stage={"comprehension": {**COMPREHENSION, "failed": "continue"}, **(stage or {})},
        **parts,
    )
    launch(Study.objects.create(slug=slug, draft=plan))


def _script(variant: Variant) -> dict[str, Json]:
    return {"script": variant.game.default_script, "delay": 1.5}


def _roles_to_choose(variant: Variant) -> list[str]:
    """Return the roles between which people choose: one of several that are alike."""
    game = configure(variant.game, variant.config)
    return list({game.alike(role): role for role in reversed(game.people())}.values())[::-1]


def _launch_for_two(variant: Variant) -> None:
    """Launch a study for two people, if the game allows it; scripted players take the other seats."""
    game = configure(variant.game, variant.config)
    human_roles = game.people()[:2]
    if len(human_roles) < 2:
        return
    script = variant.game.default_script
    others = {"*": script} if len(game.roles()) > 2 else {}
    _launch(
        variant,
        variant.together_slug,
        _("{game} with another person").format(game=variant.title),
        agents={script: _script(variant)},
        stage={
            "seats": {**dict.fromkeys(human_roles, PERSON), **others},
            "timing": {"on_timeout": "agent", "stand_in": script},
            "lobby": {"otherwise": "agents", "fill": script},
        },
    )


def _set_up_model(url: str | None) -> None:
    """Create a study of every game against the model at `url`; without one, let nothing offer or ask it."""
    if url is None:
        Endpoint.objects.filter(name=LOCAL).update(enabled=False)
        MEMORY.expire()
        return
    Endpoint.objects.update_or_create(
        name=LOCAL,
        defaults={
            "title": "This machine",
            "protocol": "openai",
            "base_url": url,
            "structured": "json_schema",
            "concurrency": 2,
            "enabled": True,
        },
    )
    MEMORY.expire()
    for variant in (variants_of(key)[0] for key in registry.keys()):
        script = variant.game.default_script
        model = {"endpoint": LOCAL, "model": LOCAL_MODEL, **LOCAL_SETTINGS, "fallback": script, "cap_study": 1.0}
        agents = {LOCAL_MODEL: model, script: {"script": script}}
        title = _("{game} with a model on this machine").format(game=variant.title)
        _launch(variant, variant.model_slug, title, agents=agents, roles=_roles_to_choose(variant))


def admin_password() -> str:
    """Return the demo administrator's password, created once and stored beside the data, readable only by its owner."""
    password_file = Path(settings.DATA_DIR) / "admin_password"
    if not password_file.exists():
        password_file.touch(mode=0o600)
        password_file.write_text(secrets.token_urlsafe(12))
    password = password_file.read_text().strip()
    user, is_new = get_user_model().objects.get_or_create(
        username=ADMIN, defaults={"is_staff": True, "is_superuser": True}
    )
    if is_new or not user.check_password(password):
        user.set_password(password)
        user.save()
    return password
