"""What participants are told about the other players: before the match and, if anything was withheld, afterwards.

The text is frozen with each participant's steps, so it is on record for every match. By default, participants
are told that they play with a program, even if the consent text is the researchers' own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from llm_agents.agent import is_scripted
from matches.models import Seat
from opponents.agents import PERSON
from participants.models import Enrolment
from studies.formats import seats_in

TOLD, MIXED, NOTHING = "told", "either", "nothing"
"""Participants were told who the others are, only that they may be people or programs, or nothing."""


def disclosure_of(lineups: Iterable[Mapping[str, Any]], *, tells: bool) -> dict[str, str]:
    """Return what participants are told about the other players as {told, words}; empty if there are none.

    Args:
        lineups: who takes which seat in every cell.
        tells: if False, say only that others may be people or programs, and only if both occur.
    """
    seated = [list(seats.values()) for seats in lineups]
    other_count = max((len(seats) - 1 for seats in seated), default=0)
    if not other_count:
        return {}
    with_people = any(seats.count(PERSON) > 1 for seats in seated)
    with_agents = any(seats.count(PERSON) < len(seats) for seats in seated)
    if not tells and not (with_people and with_agents):
        return {"told": NOTHING, "words": ""}
    if with_people and with_agents:
        both_certain = tells and other_count > 1 and all(1 < seats.count(PERSON) < len(seats) for seats in seated)
        return {
            "told": TOLD if both_certain else MIXED,
            "words": _mixed_text(other_count, tells=tells, both_certain=both_certain),
        }
    if with_people:
        text = ngettext(
            "The other player is a person taking part in this study, like you.",
            "The other players are people taking part in this study, like you.",
            other_count,
        )
    else:
        text = ngettext(
            "The other player is a computer program, possibly a language model.",
            "The other players are computer programs, possibly language models.",
            other_count,
        )
    return {"told": TOLD, "words": text}


def _mixed_text(count: int, *, tells: bool, both_certain: bool) -> str:
    if both_certain:
        return _(
            "Some of the other players are people taking part in this study, like you; the others are computer "
            "programs, possibly language models."
        )
    if not tells or count == 1:
        return ngettext(
            "The other player may be a person or a computer program.",
            "The other players may be people or computer programs.",
            count,
        )
    return _(
        "The other players may be people taking part in this study, like you, or computer programs, possibly "
        "language models."
    )


def version_disclosure(content: Mapping[str, Any]) -> dict[str, str]:
    """Return what a frozen version tells about the other players, in the form that `disclosure_of` returns."""
    cells = [cell for part in (content, *content.get("further", ())) for cell in part["cells"]]
    return disclosure_of(map(seats_in, cells), tells=content.get("tells_opponent", True))


def recorded_disclosure(enrolment: Enrolment) -> dict[str, str]:
    """Return what this participant was told, as {told, words}; empty for enrolments older than this record."""
    disclosure: dict[str, str] = next(
        (step.get("others", {}) for step in enrolment.steps if step["kind"] == "consent"), {}
    )
    return disclosure


def late_disclosure(enrolment: Enrolment) -> list[str]:
    """Return the last page's sentences, one per match, for a participant who was not told who the others were."""
    disclosure = recorded_disclosure(enrolment).get("told", TOLD)
    if disclosure == TOLD:
        return []
    own_seats = list(Seat.objects.filter(enrolment=enrolment).order_by("step"))
    others = Seat.objects.filter(match__in=[seat.match_id for seat in own_seats]).exclude(enrolment=enrolment)
    by_match: dict[int, list[Seat]] = {}
    for seat in others:
        by_match.setdefault(seat.match_id, []).append(seat)
    descriptions = [_describe(by_match[seat.match_id]) for seat in own_seats if seat.match_id in by_match]
    if not descriptions:
        return []
    opening = (
        _("Before the game, we did not tell you who the other players were.")
        if disclosure == NOTHING
        else _("Before the game, we told you only that the other players might be people or computer programs.")
    )
    if len(set(descriptions)) == 1:
        return [opening, _("You played with {others}.").format(others=descriptions[0])]
    games = [
        _("Game {number}: you played with {others}.").format(number=number, others=description)
        for number, description in enumerate(descriptions, 1)
    ]
    return [opening, *games]


def _describe(seats: Sequence[Seat]) -> str:
    kinds = Counter("person" if not seat.agent else "script" if is_scripted(seat.agent) else "model" for seat in seats)
    phrases = {
        "person": ngettext("another participant", "{n} other participants", kinds["person"]),
        "model": ngettext("a language model", "{n} language models", kinds["model"]),
        "script": ngettext(
            "a computer program with fixed rules", "{n} computer programs with fixed rules", kinds["script"]
        ),
    }
    used_phrases = [phrase.format(n=kinds[kind]) for kind, phrase in phrases.items() if kinds[kind]]
    return (
        _(" and ").join([", ".join(used_phrases[:-1]), used_phrases[-1]]) if len(used_phrases) > 1 else used_phrases[0]
    )
