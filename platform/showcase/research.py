"""What the demo offers researchers: a study to set up, and finished samples to look at."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Link:
    """A page of the admin."""

    title: str
    url: str


@dataclass(frozen=True)
class Offer:
    """Something to try in the admin.

    Attributes:
        links: where it is; the first one is the most important.
        pending: why the links are not all here yet; empty if they are.
    """

    title: str
    line: str
    links: list[Link] = field(default_factory=list)
    pending: str = ""


def overview() -> list[Offer]:
    """Return what the home page offers researchers."""
    return []


def samples_of(key: str) -> list[Link]:
    """Return the finished samples of this game."""
    return []
