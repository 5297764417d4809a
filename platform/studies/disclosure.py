"""What participants are told about the other players before the match, and afterwards about anything withheld.

What is told is frozen with each participant's steps, so it is on record for every match. By default, participants
are told that they play with a program, even if the consent text is the researchers' own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from llm_agents.agent import parse_spec
from matches.models import Seat
from opponents.agents import PERSON
from participants.models import Enrolment
from studies.formats import seats_in

TOLD, EITHER, NOTHING = "told", "either", "nothing"
"""Told who the others are; told that they may be people or programs; told nothing."""


def disclosed(lineups: Iterable[Mapping[str, Any]], *, tells: bool) -> dict[str, str]:
    """Return what is said about the other players as {told, words}; empty if there are no others.

    Args:
        lineups: who takes which seat in every cell.
        tells: if False, say only that others may be people or programs, and only if both occur.
    """
    seated = [list(seats.values()) for seats in lineups]
    most = max((len(seats) - 1 for seats in seated), default=0)
    if not most:
        return {}
    people = any(seats.count(PERSON) > 1 for seats in seated)
    agents = any(seats.count(PERSON) < len(seats) for seats in seated)
    if not tells and not (people and agents):
        return {"told": NOTHING, "words": ""}
    if people and agents:
        always_both = tells and most > 1 and all(1 < seats.count(PERSON) < len(seats) for seats in seated)
        return {"told": TOLD if always_both else EITHER, "words": _of_both(most, tells=tells, always_both=always_both)}
    if people:
        words = ngettext(
            "The other player is a person who takes part like you.",
            "The other players are people who take part like you.",
            most,
        )
    else:
        words = ngettext(
            "The other player is a computer program, possibly a language model.",
            "The other players are computer programs, possibly language models.",
            most,
        )
    return {"told": TOLD, "words": words}


def _of_both(most: int, *, tells: bool, always_both: bool) -> str:
    if always_both:
        return _(
            "Of the other players, some are people who take part like you, and some are computer programs, "
            "possibly language models."
        )
    if not tells or most == 1:
        return ngettext(
            "The other player may be a person or a computer program.",
            "The other players may be people or computer programs.",
            most,
        )
    return _("The other players may be people who take part like you, or computer programs, possibly language models.")


def of_version(content: Mapping[str, Any]) -> dict[str, str]:
    """Return what a frozen version says about the other players, as `disclosed` does."""
    cells = [cell for part in (content, *content.get("further", ())) for cell in part["cells"]]
    return disclosed(map(seats_in, cells), tells=content.get("tells_opponent", True))


def recorded(enrolment: Enrolment) -> dict[str, str]:
    """Return what this participant was told, as {told, words}; empty for enrolments from before it was recorded."""
    told: dict[str, str] = next((step.get("others", {}) for step in enrolment.steps if step["kind"] == "consent"), {})
    return told


def kept_back(enrolment: Enrolment) -> list[str]:
    """Return the last page's sentences, one per match, for a participant who was not told who the others were."""
    told = recorded(enrolment).get("told", TOLD)
    if told == TOLD:
        return []
    own = list(Seat.objects.filter(enrolment=enrolment).order_by("step"))
    others = Seat.objects.filter(match__in=[seat.match_id for seat in own]).exclude(enrolment=enrolment)
    by_match: dict[int, list[Seat]] = {}
    for seat in others:
        by_match.setdefault(seat.match_id, []).append(seat)
    met = [_met(by_match[seat.match_id]) for seat in own if seat.match_id in by_match]
    if not met:
        return []
    before = (
        _("Before the game, we did not tell you who the other players were.")
        if told == NOTHING
        else _("Before the game, we told you only that the other players might be people or computer programs.")
    )
    if len(set(met)) == 1:
        return [before, _("You played with {others}.").format(others=met[0])]
    games = [_("Game {number}: you played with {others}.").format(number=n, others=who) for n, who in enumerate(met, 1)]
    return [before, *games]


def _met(seats: Sequence[Seat]) -> str:
    kinds = Counter(
        "person" if not seat.agent else "script" if parse_spec(seat.agent).scripted else "model" for seat in seats
    )
    words = {
        "person": ngettext("a person who took part like you", "{n} people who took part like you", kinds["person"]),
        "model": ngettext("a language model", "{n} language models", kinds["model"]),
        "script": ngettext(
            "a computer program with fixed rules", "{n} computer programs with fixed rules", kinds["script"]
        ),
    }
    told = [said.format(n=kinds[kind]) for kind, said in words.items() if kinds[kind]]
    return _(" and ").join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else told[0]
