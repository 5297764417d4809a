"""Estimates of how long a person would take for what a simulated participant does at once.

Reading: 238 words a minute, the mean of adults for non-fiction (Brysbaert 2019, “How many words do we read
per minute?”, Journal of Memory and Language 109). Choosing and typing: our own assumptions. Moves in the
game: `matches.pacing`, which has its own sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from matches.models import Event, Match
from matches.pacing import human_delay
from opponents.agents import Agent
from piloting.reading import Page

WORDS_A_MINUTE = 238
CHOOSING, TYPING = 4.0, 10.0
"""Seconds for one choice, and for one text entry."""
_CHOICES = ("radio", "checkbox", "select", "range")


def seconds_of_page(page: Page) -> float:
    """Return the seconds for reading the page once and filling in its form."""
    filling = sum(CHOOSING if field.kind in _CHOICES else TYPING for field in page.visible_fields)
    return 60 * page.words / WORDS_A_MINUTE + filling


def seconds_of_match(match: Match, role: str, agents: Mapping[str, Agent]) -> tuple[float, float]:
    """Return the seconds that a participant would have taken for their moves and waited for others.

    Args:
        agents: the launched study's agents by role; their delay and answer display determine the waiting time.
    """
    deciding_seconds = waiting_seconds = 0.0
    previous_message: str | None = None
    for event in match.events.filter(kind="move").order_by("number"):
        rng = Random(f"{match.seed}/{event.number}/estimate")
        if event.role == role:
            deciding_seconds += human_delay(event.data["move"], previous_message, rng)
        else:
            waiting_seconds += _wait(event, agents.get(event.role), previous_message, rng, blind=match.blind)
        message = event.data["move"].get("message")
        previous_message = message if isinstance(message, str) else None
    return deciding_seconds, waiting_seconds


def _wait(event: Event, agent: Agent | None, previous_message: str | None, rng: Random, *, blind: bool) -> float:
    """Return the seconds from the question to the opponent's answer in a launched study."""
    measured = (event.at - event.asked_at).total_seconds() if event.asked_at else 0.0
    paced = agent is None or blind or agent.settings.appears == "delayed"
    delay = agent.delay if agent and not blind else 0.0
    return max(measured, delay, human_delay(event.data["move"], previous_message, rng) if paced else 0.0)
