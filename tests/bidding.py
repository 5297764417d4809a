"""Actions of the end-to-end tests of auctions, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

from typing import Any

from matches.models import Event, Match
from opponents.agents import agents_from_specs
from showcase.demo import create_demo
from studies.launching import launch
from studies.models import Study


def launch_auction(slug: str, *, seats: dict[str, str], settings: dict[str, Any], **fields: Any) -> str:
    """Launch a study of the item auction with these seats; return its short name."""
    agents: dict[str, Any] = {}
    for agent in set(seats.values()) - {"person"}:
        agents |= agents_from_specs(agent, settings={} if agent.startswith("script:") else settings)
    study = Study.objects.create(
        **{
            "slug": slug,
            "title": "Bidding",
            "game": "item_auction",
            "entry": "open",
            "agents": agents,
            "lineups": [{"name": "", "seats": seats}],
            "asks_code_word": False,
            "asks_quiz": False,
            "ready_seconds": 0,
            **fields,
        }
    )
    launch(study)
    return slug


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
