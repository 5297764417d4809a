"""Ready-made studies of published systems, by name: whoever knows a system registers what it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.utils.functional import Promise

Made = Sequence[models.Model]


class PresetRefused(Exception):
    """The preset could not be made; `str(error)` is fit to show."""


@dataclass(frozen=True)
class Preset:
    """One published system.

    Attributes:
        name: as commands write it.
        summary: what is made, in a sentence or two for a researcher.
        source: the publication it follows.
        make: (who asks) → the drafts or collections that were made; raises PresetRefused, and then made nothing.
        made: what of it is there already; None where nothing is and it can be made.
    """

    name: str
    title: str | Promise
    summary: str | Promise
    source: str | Promise
    make: Callable[[AbstractBaseUser | None], Made]
    made: Callable[[], models.Model | None]


_presets: dict[str, Preset] = {}


def register(preset: Preset) -> Preset:
    """Offer a preset."""
    _presets[preset.name] = preset
    return preset


def listed() -> tuple[Preset, ...]:
    """Every preset, in the order in which they were registered."""
    return tuple(_presets.values())


def called(name: str) -> Preset | None:
    """The preset of this name."""
    return _presets.get(name)
