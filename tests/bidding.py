"""Actions of the end-to-end tests of auctions, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

from typing import Any

from matches.models import Event, Match
from showcase.demo import create_demo
from studies.tests import kit


def launch_auction(
    slug: str, *, seats: dict[str, str], settings: dict[str, Any], further: dict[str, Any] | None = None, **fields: Any
) -> str:
    """Launch a study of the item auction with these seats; return its short name.

    Args:
        settings: of its models.
        further: agents that take no seat, such as fallbacks.
        fields: further parts of the plan (`studies.tests.kit.changed`).
    """
    agents = {
        spec: kit.agent(spec, **({} if spec.startswith("script:") else settings))
        for spec in set(seats.values()) - {"person"}
    }
    parts = {
        "title": "Bidding",
        "via": "open",
        "agents": {**agents, **(further or {})},
        "seats": seats,
        "code_word": None,
        "ready": 0,
    }
    fields["config"] = {"minimum_button": True, **fields.get("config", {})}
    return kit.launched(slug, game="item_auction", **{**parts, **fields}).slug


def match_record(slug: str) -> dict[str, Any]:
    """Return the study's only match: its key, status, metrics, and moves with who made them."""
    match = Match.objects.filter(seats__enrolment__placement__cell__version__study__slug=slug).distinct().get()
    moves = Event.objects.filter(match=match, kind="move").order_by("number")
    return {
        "pk": match.pk,
        "status": match.status,
        "metrics": match.metrics,
        "moves": [[event.role, event.data["move"], event.data.get("by")] for event in moves],
    }


def create_demo_studies() -> None:
    """Create the studies of `make demo` unless they exist."""
    create_demo()
