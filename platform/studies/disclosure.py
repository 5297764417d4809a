"""What participants are told before the draw, and about the other players: before the match and afterwards.

What they see during the match is in `matches.disclosing`. The text is frozen with each participant's steps, so it is
on record for every match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.interface import Game
from llm_agents.agent import PROGRAM, SCRIPT, spec_of
from matches.change import agent_seconds
from matches.disclosing import Discloses, listed, shows_names
from matches.models import Seat
from opponents.agents import Agent, people_in
from participants.models import Enrolment
from plans import stages
from plans.agents import PERSON
from plans.plan import Plan
from plans.seats import Seats
from studies.models import configured, seats_of

TOLD, MIXED, NOTHING = "told", "either", "nothing"
"""Participants were told before consenting who the others are, only that they may be people or programs, or nothing."""


@dataclass(frozen=True)
class Outlook:
    """What participants are told before the draw, which therefore holds for every cell.

    Attributes:
        averages: the announced average bonuses.
        alike: whether every game's bonus is independent of the decisions.
        longest: the lobby with the longest wait; None if nobody plays with others.
        lengths: of the games, in words.
        questions: whether a quiz has several questions.
        reserved: words that are not allowed as names.
        visible: whether the other players see names in some cell.
        disclosures: what is told about the other players, by what the plan discloses.
    """

    averages: tuple[Any, ...]
    alike: bool
    longest: stages.Lobby | None
    lengths: tuple[str, ...]
    questions: bool
    reserved: tuple[str, ...]
    visible: bool
    disclosures: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, plans: Iterable[Plan]) -> Outlook:
        """Return the outlook of all cells' plans."""
        plans = list(plans)
        played: dict[int, tuple[stages.Game, Game[Any, Any], Seats, stages.Lobby]] = {}
        lineups: dict[str, dict[int, Seats]] = {}
        for plan in plans:
            for stage, lobby in all_games(plan.journey):
                if id(stage) not in played:
                    game = configured(stage)
                    played[id(stage)] = (stage, game, seats_of(stage), lobby)
                lineups.setdefault(plan.told.others, {})[id(stage)] = played[id(stage)][2]
        in_groups = [lobby for _stage, _game, seats, lobby in played.values() if len(people_in(seats)) > 1]
        kinds = {stage.game: type(game) for stage, game, _seats, _lobby in played.values()}
        words = [word for kind in kinds.values() for word in (str(kind.title), *kind.reserved_words.split())]
        roles = [role for _stage, _game, seats, _lobby in played.values() for role in seats]
        return cls(
            averages=tuple(sorted({plan.pay.bonus.average for plan in plans})),
            alike=all(game.pays_alike() for _stage, game, _seats, _lobby in played.values()),
            longest=max(in_groups, key=lambda lobby: lobby.wait, default=None),
            lengths=tuple(dict.fromkeys(game.length() or "" for _stage, game, _seats, _lobby in played.values())),
            questions=any(
                len(game.quiz(role)) > 1
                for stage, game, seats, _lobby in played.values()
                if stage.quiz
                for role in people_in(seats)
            ),
            reserved=tuple(dict.fromkeys([*words, *roles, "parley", "player", "opponent"])),
            visible=any(names_visible(seats, told) for told, found in lineups.items() for seats in found.values()),
            disclosures={
                told: disclosure_of(
                    found.values(), discloses=told, lobby_after={lobby.otherwise for lobby in in_groups}
                )
                for told, found in lineups.items()
            },
        )


def all_games(journey: Iterable[stages.Stage]) -> Iterator[tuple[stages.Game, stages.Lobby]]:
    """Yield every stage that plays a game, in every pass, with the lobby in which its participants wait."""
    for met in stages.walk(journey):
        if isinstance(met.stage, stages.Game):
            yield met.stage, met.lobby or met.stage.lobby


def names_visible(seats: Seats, told: str) -> bool:
    """Return whether participants in these seats see each other's names."""
    people = len(people_in(seats))
    return people > 1 and shows_names(told, programs=len(seats) - people)


def disclosure_of(
    lineups: Iterable[Mapping[str, Any]], *, discloses: str, lobby_after: Collection[str] = ()
) -> dict[str, str]:
    """Return what participants are told before they consent, as {others, told, words}; empty if nobody else plays.

    Args:
        lineups: who takes which seat in every cell.
        discloses: what the study discloses (`matches.disclosing.Discloses`).
        lobby_after: what may happen if too few people arrive: "agents" take the free seats, or "fewer" play.
    """
    numbers = {
        (seats.count(PERSON) - 1, len(seats) - seats.count(PERSON))
        for seats in (list(seats.values()) for seats in lineups)
    }
    count = max((people + programs for people, programs in numbers), default=0)
    if not count:
        return {}
    with_people, with_programs = any(people for people, _n in numbers), any(programs for _n, programs in numbers)
    fills = with_people and "agents" in lobby_after
    if discloses == Discloses.NONE:
        both = with_people and (with_programs or fills)
        return {"others": discloses, "told": MIXED if both else NOTHING, "words": _either_text(count) if both else ""}
    either = with_people and with_programs and not all(people and programs for people, programs in numbers)
    sentences = [_either_text(count) if either else _numbers_text(numbers)]
    if fills:
        sentences.append(_("If too few people come, computer programs take the free seats."))
    elif with_people and "fewer" in lobby_after:
        sentences.append(_("If too few people come, you play with fewer others."))
    both_kinds = with_people and (with_programs or fills)
    if both_kinds and discloses == Discloses.SEATS:
        sentences.append(_("Before the first move, you will see who is a person and who is a program."))
    elif both_kinds and (either or fills or len(numbers) > 1):
        sentences.append(
            ngettext(
                "Before the first move, you will see which.",
                "Before the first move, you will see how many are people and how many are programs.",
                count,
            )
        )
    return {"others": discloses, "told": MIXED if either or fills else TOLD, "words": " ".join(sentences)}


def _either_text(count: int) -> str:
    return ngettext(
        "The other player may be a person taking part in this study, like you, or a computer program, possibly a "
        "language model.",
        "The other players may be people taking part in this study, like you, or computer programs, possibly language "
        "models.",
        count,
    )


def _numbers_text(numbers: Collection[tuple[int, int]]) -> str:
    """Return who the others are if this is certain; without numbers if they differ between the cells."""
    people, programs = max(numbers)
    count, certain = people + programs, len(numbers) == 1
    if people and programs:
        if not certain:
            return _(
                "Some of the other players are people taking part in this study, like you; the others are computer "
                "programs, possibly language models."
            )
        people_text = ngettext(
            "one person taking part in this study, like you,",
            "{n} people taking part in this study, like you,",
            people,
        )
        programs_text = ngettext(
            "one computer program, possibly a language model",
            "{n} computer programs, possibly language models",
            programs,
        )
        return _("The other players are {others}.").format(
            others=listed([people_text.format(n=people), programs_text.format(n=programs)])
        )
    if count > 1 and not certain:
        if people:
            return _("The other players are people taking part in this study, like you.")
        return _("The other players are computer programs, possibly language models.")
    if people:
        text = ngettext(
            "The other player is a person taking part in this study, like you.",
            "The {n} other players are people taking part in this study, like you.",
            count,
        )
    else:
        text = ngettext(
            "The other player is a computer program, possibly a language model.",
            "The {n} other players are computer programs, possibly language models.",
            count,
        )
    return text.format(n=count)


def longest_answer(timers: Mapping[str, Any], agents: Iterable[Agent]) -> float:
    """Return the seconds after which no player's answer is awaited any longer, no matter who plays.

    It does not depend on who plays in a match, so that pages may show it in a blind study.
    """
    person = sum(
        timers.get(name, 0)
        for name in ("turn_seconds", "extension_seconds", "report_seconds", "help_seconds", "absence", "grace")
    )
    if "standin" in timers:
        person += agent_seconds(Agent.model_validate(timers["standin"]))
    return max([person, *map(agent_seconds, agents)])


def recorded_disclosure(enrolment: Enrolment) -> dict[str, str]:
    """Return what this participant was told, as {others, told, words}."""
    disclosure: dict[str, str] = next(
        (step.get("others", {}) for step in enrolment.steps if step["kind"] == "consent"), {}
    )
    return disclosure


def late_disclosure(enrolment: Enrolment) -> list[str]:
    """Return the last page's sentences, one per match, for a participant of a blind study."""
    disclosure = recorded_disclosure(enrolment)
    if disclosure.get("others") != Discloses.NONE:
        return []
    own_seats = list(Seat.objects.filter(enrolment=enrolment).order_by("step"))
    others = Seat.objects.filter(match__in=[seat.match_id for seat in own_seats]).exclude(enrolment=enrolment)
    by_match: dict[int, list[Seat]] = {}
    for seat in others.select_related("match"):
        by_match.setdefault(seat.match_id, []).append(seat)
    sentences = [_describe(by_match[seat.match_id]) for seat in own_seats if seat.match_id in by_match]
    if not sentences:
        return []
    opening = (
        _("Before the game, we did not tell you who the other players were.")
        if disclosure["told"] == NOTHING
        else _("Before the game, we told you only that the other players might be people or computer programs.")
    )
    if len(set(sentences)) == 1:
        return [opening, sentences[0]]
    games = [_("Game {number}: {sentence}").format(number=n, sentence=text) for n, text in enumerate(sentences, 1)]
    return [opening, *games]


def _kind_of(seat: Seat) -> str:
    if not seat.agent or seat.role in seat.match.stand_ins:
        return "person"
    kind = spec_of(seat.agent).kind
    return kind if kind in (SCRIPT, PROGRAM) else "model"


def _describe(seats: Sequence[Seat]) -> str:
    kinds = Counter(map(_kind_of, seats))
    phrases = {
        "person": ngettext("another participant", "{n} other participants", kinds["person"]),
        "model": ngettext("a language model", "{n} language models", kinds["model"]),
        "program": ngettext("a computer program", "{n} computer programs", kinds["program"]),
        "script": ngettext(
            "a computer program with fixed rules", "{n} computer programs with fixed rules", kinds["script"]
        ),
    }
    used_phrases = [phrase.format(n=kinds[kind]) for kind, phrase in phrases.items() if kinds[kind]]
    sentences = [_("You played with {others}.").format(others=listed(used_phrases))]
    if taken_over := sum("agent" in seat.match.absences.get(seat.role, {}) for seat in seats):
        sentences.append(
            ngettext(
                "A computer program took over for a participant who stopped playing.",
                "Computer programs took over for {n} participants who stopped playing.",
                taken_over,
            ).format(n=taken_over)
        )
    return " ".join(sentences)
