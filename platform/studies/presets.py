"""Ready-made studies of published systems, by name. Each app registers the presets it can create."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.utils.functional import Promise

Created = Sequence[models.Model]


class PresetRefused(Exception):
    """Raised when a preset cannot be created; the message can be shown to the user."""


@dataclass(frozen=True)
class Preset:
    """One published system.

    Attributes:
        name: as used in commands.
        summary: what is created, in a sentence or two for researchers.
        source: the publication it follows.
        create: (user) → the drafts or collections created; raises PresetRefused without creating anything.
        find_existing: returns the object that already exists; None if the preset can be created.
    """

    name: str
    title: str | Promise
    summary: str | Promise
    source: str | Promise
    create: Callable[[AbstractBaseUser | None], Created]
    find_existing: Callable[[], models.Model | None]


_presets: dict[str, Preset] = {}


def register(preset: Preset) -> Preset:
    """Register a preset."""
    _presets[preset.name] = preset
    return preset


def all_presets() -> tuple[Preset, ...]:
    """Return every preset in the order of registration."""
    return tuple(_presets.values())


def find(name: str) -> Preset | None:
    """Return the preset of this name."""
    return _presets.get(name)
