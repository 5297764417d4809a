"""The states of a participant, and what the screen of each ending says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class State(models.TextChoices):
    """Where somebody is on the way through a study."""

    ARRIVED = "arrived", _("arrived")
    CONSENTED = "consented", _("consented")
    INSTRUCTED = "instructed", _("read the instructions")
    FAILED_CODE_WORD = "failed_code_word", _("failed the code word")
    PLAYING = "playing", _("playing")
    WAITING = "waiting", _("waiting for others")
    QUIZ = "quiz", _("answering the quiz")
    FAILED_QUIZ = "failed_quiz", _("failed the quiz")
    COMPLETED = "completed", _("completed")
    TIMED_OUT = "timed_out", _("ran out of time")
    DROPPED_OUT = "dropped_out", _("left without a word")
    OPPONENT_FAILED = "opponent_failed", _("opponent failed")
    PARTNER_LEFT = "partner_left", _("another player left")
    NO_PARTNER = "no_partner", _("found nobody to play with")
    REPLACED = "replaced", _("replaced by a program")
    SCREENED_OUT = "screened_out", _("screened out")
    RETURNED = "returned", _("returned the assignment")
    WITHDREW = "withdrew", _("withdrew")


@dataclass(frozen=True)
class Ending:
    """The words of a terminal screen."""

    title: str | Promise
    what_happened: str | Promise
    what_next: str | Promise
    gives_code: bool = False
    """Whether the completion code is shown, to be copied into the recruiter's page."""


_GIVE_CODE = _("Copy the code below into the page that brought you here, so that your work is recorded.")
_RETURN = _("Please return the assignment on the page that brought you here, so that it does not count against you.")
_RETURN_WITH_CODE = _(
    "Please return the assignment on the page that brought you here, so that it does not count against you. If you are "
    "asked for a return code, it is the one below."
)
_SHOW_CODE = _("Show or send the code below to the people who invited you, so that they can pay you.")
_NOTHING_TO_DO = _("There is nothing left for you to do here.")

ENDINGS: dict[str, Ending] = {
    State.COMPLETED: Ending(
        _("All done. Thank you!"),
        _("You played the whole game."),
        _GIVE_CODE,
        gives_code=True,
    ),
    State.FAILED_CODE_WORD: Ending(
        _("The study ends here"),
        _("You did not type the word that the instructions asked you to remember, so the game was not started."),
        _RETURN_WITH_CODE,
        gives_code=True,
    ),
    State.FAILED_QUIZ: Ending(
        _("The study ends here"),
        _("Your answer to the question about the game was not right, so your game does not enter the research data."),
        _GIVE_CODE,
        gives_code=True,
    ),
    State.TIMED_OUT: Ending(
        _("Your time ran out"),
        _("Your turn stayed unanswered until its time and the extra time were over, so the game was ended."),
        _RETURN,
    ),
    State.DROPPED_OUT: Ending(
        _("You were away for too long"),
        _("We did not hear from you for longer than this study allows, so your place was given to somebody else."),
        _RETURN,
    ),
    State.OPPONENT_FAILED: Ending(
        _("The game could not go on"),
        _("For a technical reason another player stopped answering. This is our fault, not yours."),
        _GIVE_CODE,
        gives_code=True,
    ),
    State.PARTNER_LEFT: Ending(
        _("Another player left"),
        _("Somebody in your group stopped playing, so the game could not go on. This is not your fault."),
        _GIVE_CODE,
        gives_code=True,
    ),
    State.NO_PARTNER: Ending(
        _("Nobody else came in time"),
        _("There were not enough people to begin the game. You did everything right, and your waiting is paid."),
        _GIVE_CODE,
        gives_code=True,
    ),
    State.REPLACED: Ending(
        _("A program plays on in your place"),
        _(
            "You did not answer within the time and the extra time, so a computer program took your seat and the "
            "others could go on. The game cannot be joined again."
        ),
        _RETURN,
    ),
    State.SCREENED_OUT: Ending(
        _("This study is not for you"),
        _("Your answers show that you are not among the people it asks for. You did nothing wrong."),
        _RETURN,
    ),
    State.RETURNED: Ending(
        _("You returned this assignment"),
        _("The page that brought you here told us that you gave it back."),
        _NOTHING_TO_DO,
    ),
    State.WITHDREW: Ending(
        _("You have left the study"),
        _("You chose to stop. What you did so far does not enter the research data."),
        _RETURN,
    ),
}

ENDED = frozenset(ENDINGS)
WITHOUT_ASSIGNMENT = frozenset({"codes", "open"})
"""Ways of entering after which there is no recruiter's page to go back to."""


def ending_of(state: str, *, paid: bool, entry: str, kinds: Collection[str] = (), by_hand: bool = False) -> Ending:
    """The words of a terminal screen for somebody who came by `entry` and is paid something, or is not.

    Whoever is paid gets the code, whatever ended the way: without it nobody could tell whose work it was.

    Args:
        kinds: of the steps that there were on the way: nobody is thanked for what they were not asked.
        by_hand: the game was ended by the people who run the study.
    """
    ending = ENDINGS[state]
    if by_hand and state == State.OPPONENT_FAILED:
        ending = replace(
            ending,
            title=_("The game was ended"),
            what_happened=_("The people who run this study ended the game. This is not your fault."),
        )
    if state == State.COMPLETED and "quiz" in kinds:
        ending = replace(ending, what_happened=_("You played the whole game and answered the question after it."))
    if entry in WITHOUT_ASSIGNMENT:
        return replace(ending, what_next=_SHOW_CODE if paid else _NOTHING_TO_DO, gives_code=paid)
    if paid:
        return replace(ending, what_next=_GIVE_CODE, gives_code=True)
    sends_code = ending.what_next is _GIVE_CODE and state != State.COMPLETED
    return replace(ending, what_next=_RETURN_WITH_CODE) if sends_code else ending
