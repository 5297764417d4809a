"""What participants learn about who plays: decides every word, mark, socket field and delay that depends on it.

What is said before and after the match is in `studies.disclosure`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from games.interface import Game, Role
from games.play import Play
from games.registry import CONVERSATION
from games.words import cached_by_language
from matches.absences import Absence, is_away

if TYPE_CHECKING:  # its models load only with the apps, which `show` needs not
    from opponents.agents import Agent


class Discloses(TextChoices):
    """What a study tells its participants about the other players."""

    NONE = "none", gettext_lazy("Nothing (blind): they don't learn whether the others are people or programs")
    COUNTS = "counts", gettext_lazy("Numbers: how many of the others are people and how many are programs")
    SEATS = "seats", gettext_lazy("Seats: also which of the others are people and which are programs")


@dataclass(frozen=True)
class Absent:
    """A line about a participant for whom the game waits `seconds` more."""

    text: str
    seconds: int

    @property
    def time(self) -> str:
        return f"{self.seconds // 60}:{self.seconds % 60:02}"


@dataclass(frozen=True)
class Disclosure:
    """What the participants of one match may learn about who plays in it now.

    Attributes:
        told: what the study discloses; empty outside studies, where pages show everything without words about it.
        seated: the agents of the line-up by role.
        filling_in: those of them for whose seats nobody arrived.
        longest_answer: seconds after which the game waits for nobody's answer any longer, at the usual time per
            turn; 0 if unknown.
        turn_seconds: the usual time per turn.
    """

    game: Game[Any, Any]
    told: str = ""
    seated: Mapping[Role, Agent] = field(default_factory=dict)
    filling_in: Collection[Role] = ()
    absences: Mapping[Role, Absence] = field(default_factory=dict)
    longest_answer: float = 0
    turn_seconds: float = 0

    @property
    def is_talk(self) -> bool:
        """Whether this is a chat without a game."""
        return self.game.key == CONVERSATION

    @property
    def shows_seats(self) -> bool:
        """Whether pages may show which seats agents play.

        If only numbers are disclosed, they may if the others of every participant were all of one kind at the start.
        """
        if self.told != Discloses.COUNTS:
            return self.told != Discloses.NONE
        return not self.seated or len(self.game.roles()) - len(self.seated) == 1

    @property
    def shows_names(self) -> bool:
        """Whether pages show the names that participants chose, and so who is one."""
        return shows_names(self.told, programs=len(self.seated))

    @property
    def taken_over(self) -> list[Role]:
        """The seats in which an agent plays for a participant who stopped playing."""
        return [role for role in self.game.roles() if "agent" in self.absences.get(role, {})]

    def note(self, role: Role) -> str:
        """Return what everyone sees of a seat: "program" if an agent took it over, "away" if the clock moves in it."""
        absence = self.absences.get(role, {})
        if not self.shows_seats or not absence:
            return ""
        return "program" if "agent" in absence else "away" if is_away(absence) else ""

    def others(self, role: Role) -> str:
        """Return the sentences that tell `role` who the others are; empty if blind, or if there are no others."""
        others = [seat for seat in self.game.roles() if seat != role]
        if self.told not in (Discloses.COUNTS, Discloses.SEATS) or not others:
            return ""
        taken_over = [seat for seat in self.taken_over if seat != role]
        programs = [seat for seat in others if seat in self.seated or seat in taken_over]
        people = [seat for seat in others if seat not in programs]
        by_seat = self.told == Discloses.SEATS and people and programs
        sentences = [
            self._seats_sentence(people, programs)
            if by_seat
            else numbers_sentence(len(people), len(programs), talk=self.is_talk)
        ]
        if filling_in := len([seat for seat in self.filling_in if seat != role]):
            sentences.append(
                ngettext(
                    "Too few people came, so a program plays in the free seat.",
                    "Too few people came, so programs play in the {n} free seats.",
                    filling_in,
                ).format(n=filling_in)
            )
        if taken_over:
            sentences.append(self._takeover_sentence(taken_over, programs))
        return " ".join(sentences)

    def _seats_sentence(self, people: Sequence[Role], programs: Sequence[Role]) -> str:
        people_text = ngettext("{names} is a person", "{names} are people", len(people))
        programs_text = ngettext("{names} is a computer program", "{names} are computer programs", len(programs))
        return _("{people}; {programs}.").format(
            people=people_text.format(names=self._names(people)),
            programs=programs_text.format(names=self._names(programs)),
        )

    def _takeover_sentence(self, seats: Sequence[Role], programs: Sequence[Role]) -> str:
        if self.shows_seats:
            names = self._names(seats)
        elif len(seats) < len(programs):
            names = ngettext("One of these programs", "{n} of these programs", len(seats)).format(n=len(seats))
        else:
            names = ngettext("The program", "The programs", len(seats))
        template = ngettext(
            "{names} plays for a person who stopped playing.",
            "{names} play for people who stopped playing.",
            len(seats),
        )
        return template.format(names=names)

    def _names(self, seats: Sequence[Role]) -> str:
        return listed([self.game.role_title(seat) for seat in seats])

    def awaited(self, play: Play) -> str:
        """Return the text that names the players whose answers are awaited, for those who wait.

        If pages may not show which seats agents play, it also gives the limit that applies to every kind of player.
        """
        waiting = [role for role in play.game.roles() if role in play.waiting_for()]
        if not waiting:
            return ""
        text = _("Waiting for {names}.").format(names=self._names(waiting))
        if self.is_talk:
            return f"{text} {_('You can write until everyone is ready or the time is up.')}"
        updates = _("This page updates automatically.")
        if self.shows_seats or not self.longest_answer:
            return f"{text} {updates}"
        factor = max(play.game.time_factor(play.state, role) for role in waiting)
        minutes = math.ceil((self.longest_answer + (factor - 1) * self.turn_seconds) / 60)
        limit = ngettext(
            "An answer takes at most {minutes} minute; after that, the game goes on without it or ends.",
            "An answer takes at most {minutes} minutes; after that, the game goes on without it or ends.",
            minutes,
        )
        return f"{text} {limit.format(minutes=minutes)} {updates}"

    def absent(self, away: Mapping[Role, int], asking: Mapping[Role, int]) -> tuple[Absent, ...]:
        """Return a line for each participant for whom the game waits longer: what everyone who waits may read.

        Args:
            away: for how many seconds the game still waits for those who have lost the connection, by role.
            asking: the same of those whose question to the researchers has paused their clock.
        """
        if self.told == Discloses.NONE or not (away or asking):
            return ()
        return (
            *self._waited_for(
                away,
                _("{name} has lost the connection."),
                ngettext(
                    "One of the others has lost the connection.", "{n} others have lost the connection.", len(away)
                ),
            ),
            *self._waited_for(
                asking,
                _("{name} has asked the researchers a question."),
                ngettext(
                    "One of the others has asked the researchers a question.",
                    "{n} others have asked the researchers a question.",
                    len(asking),
                ),
            ),
        )

    def _waited_for(self, seconds: Mapping[Role, int], named: str, counted: str) -> tuple[Absent, ...]:
        if not seconds:
            return ()
        if not self.shows_seats:
            return (Absent(counted.format(n=len(seconds)), max(seconds.values())),)
        return tuple(Absent(named.format(name=self.game.role_title(role)), seconds[role]) for role in seconds)


def shows_names(told: str, *, programs: int) -> bool:
    """Return whether participants' pages show the names of those who play with that many agents."""
    return told == Discloses.SEATS or (told != Discloses.NONE and not programs)


@cached_by_language
def numbers_sentence(people: int, programs: int, *, talk: bool = False) -> str:
    """Return whom a participant plays with, or talks with in a chat without a game, as numbers."""
    people_text = ngettext("another person", "{n} other people", people).format(n=people)
    programs_text = ngettext("a computer program", "{n} computer programs", programs).format(n=programs)
    phrases = [*([people_text] if people else []), *([programs_text] if programs else [])]
    words = _("You talk with {others}.") if talk else _("You play with {others}.")
    return words.format(others=listed(phrases))


def listed(names: Sequence[str]) -> str:
    """Return the names as "A, B and C"."""
    *most, last = names
    return _("{names} and {last}").format(names=", ".join(most), last=last) if most else last
