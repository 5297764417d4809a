"""The states of a participant, and the text of each ending's page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class State(models.TextChoices):
    """Where a participant is in a study."""

    ARRIVED = "arrived", _("arrived")
    CONSENTED = "consented", _("consented")
    INSTRUCTED = "instructed", _("read the instructions")
    FAILED_CODE_WORD = "failed_code_word", _("failed the attention check")
    FAILED_COMPREHENSION = "failed_comprehension", _("failed the comprehension quiz")
    PLAYING = "playing", _("playing")
    WAITING = "waiting", _("waiting for others")
    QUIZ = "quiz", _("answering the quiz")
    FAILED_QUIZ = "failed_quiz", _("failed the quiz")
    COMPLETED = "completed", _("completed")
    TIMED_OUT = "timed_out", _("ran out of time")
    DROPPED_OUT = "dropped_out", _("dropped out")
    OPPONENT_FAILED = "opponent_failed", _("opponent failed")
    OUR_OUTAGE = "our_outage", _("our outage")
    PARTNER_LEFT = "partner_left", _("another player left")
    NO_PARTNER = "no_partner", _("found no partner")
    REPLACED = "replaced", _("replaced by a program")
    SCREENED_OUT = "screened_out", _("screened out")
    RETURNED = "returned", _("returned the assignment")
    WITHDREW = "withdrew", _("withdrew")


@dataclass(frozen=True)
class Ending:
    """The text of an ending's page."""

    title: str | Promise
    what_happened: str | Promise
    what_next: str | Promise

    @property
    def gives_code(self) -> bool:
        """Whether the page shows the completion code, to be copied into the recruiter's page."""
        return any(self.what_next is text for text in (_GIVE_CODE, _RETURN_WITH_CODE, _SHOW_CODE))


_GIVE_CODE = _("Copy the code below and paste it into the page that sent you here. It shows that you took part.")
_RETURN = _("Please return the assignment on the page that sent you here, so that it does not count against you.")
_RETURN_WITH_CODE = _(
    "Please return the assignment on the page that sent you here, so that it does not count against you. If you are "
    "asked for a return code, use the one below."
)
_SHOW_CODE = _("Show or send the code below to the people who invited you, so that they can pay you.")
_NOTHING_TO_DO = _("You don't need to do anything else.")

ENDINGS: dict[str, Ending] = {
    State.COMPLETED: Ending(_("All done. Thank you!"), _("You played the whole game."), _GIVE_CODE),
    State.FAILED_CODE_WORD: Ending(
        _("The study ends here"),
        _("You did not enter the word that the instructions asked you to remember, so the game did not start."),
        _RETURN_WITH_CODE,
    ),
    State.FAILED_COMPREHENSION: Ending(
        _("The study ends here"),
        _("You got a question about the rules wrong too often, so the game did not start."),
        _RETURN_WITH_CODE,
    ),
    State.FAILED_QUIZ: Ending(
        _("The study ends here"),
        _("You got a question about the game wrong, so your game will not be part of the research data."),
        _GIVE_CODE,
    ),
    State.TIMED_OUT: Ending(
        _("Your time ran out"), _("You did not answer your turn in time, so the game ended."), _RETURN
    ),
    State.DROPPED_OUT: Ending(
        _("You were away for too long"),
        _("You were inactive for longer than this study allows, so we gave your place to someone else."),
        _RETURN,
    ),
    State.OPPONENT_FAILED: Ending(
        _("The game could not continue"),
        _("Another player stopped answering for technical reasons. This is our fault, not yours."),
        _GIVE_CODE,
    ),
    State.OUR_OUTAGE: Ending(
        _("Our server was unavailable"),
        _("The study could not continue because our server was unavailable. This is our fault, not yours."),
        _GIVE_CODE,
    ),
    State.PARTNER_LEFT: Ending(
        _("Another player left"),
        _("Someone in your group stopped playing, so the game could not continue. This is not your fault."),
        _GIVE_CODE,
    ),
    State.NO_PARTNER: Ending(
        _("Not enough players"),
        _("Not enough people joined in time to start the game. You did everything right. We pay you for waiting."),
        _GIVE_CODE,
    ),
    State.REPLACED: Ending(
        _("A program took your seat"),
        _(
            "You did not answer in time, so a computer program took your seat and the others could continue. You can't "
            "rejoin the game."
        ),
        _RETURN,
    ),
    State.SCREENED_OUT: Ending(
        _("You can't take part in this study"),
        _("Your answers show that you are not in the group this study is looking for. You did nothing wrong."),
        _RETURN,
    ),
    State.RETURNED: Ending(
        _("You returned this assignment"),
        _("The site that sent you here told us that you returned it."),
        _NOTHING_TO_DO,
    ),
    State.WITHDREW: Ending(
        _("You have left the study"),
        _("You chose to stop. What you did will not be part of the research data."),
        _RETURN,
    ),
}

ENDED = frozenset(ENDINGS)
WITHOUT_ASSIGNMENT = frozenset({"codes", "open"})
"""Entries without a recruiter's page to go back to."""


def ending_of(
    state: str,
    *,
    paid: bool,
    entry: str,
    kinds: Collection[str] = (),
    unanswered: bool = False,
    by_hand: bool = False,
    missed: int = 0,
) -> Ending:
    """Return the text of the ending's page for a participant who came by `entry`.

    Participants who are paid always get the completion code, which identifies their work.

    Args:
        paid: whether this participant is paid anything.
        kinds: the kinds of the path's steps; the text mentions only what the participant was asked.
        unanswered: whether steps were left at the end.
        by_hand: whether the researchers ended the game.
        missed: how many starts of a game the participant missed in the lobby.
    """
    ending = ENDINGS[state]
    if missed and state == State.NO_PARTNER:
        ending = replace(ending, title=_("The study ends here"), what_happened=_missed_starts(missed))
    if by_hand and state == State.OPPONENT_FAILED:
        ending = replace(
            ending,
            title=_("The game was ended"),
            what_happened=_("The people who run this study ended the game. This is not your fault."),
        )
    if state == State.COMPLETED and unanswered:
        ending = replace(ending, what_happened=_("You played the whole game. The questions after it stay unanswered."))
    elif state == State.COMPLETED and "quiz" in kinds:
        ending = replace(ending, what_happened=_("You played the whole game and answered correctly after it."))
    if entry in WITHOUT_ASSIGNMENT:
        return replace(ending, what_next=_SHOW_CODE if paid else _NOTHING_TO_DO)
    if paid:
        return replace(ending, what_next=_GIVE_CODE)
    needs_return_code = ending.what_next is _GIVE_CODE and state != State.COMPLETED
    return replace(ending, what_next=_RETURN_WITH_CODE) if needs_return_code else ending


def _missed_starts(missed: int) -> str | Promise:
    if missed > 1:
        return _(
            "Twice, your group was complete, and we did not hear in time that you were ready. The study ends for you, "
            "and we pay you for waiting."
        )
    return _(
        "Your group was complete, and we did not hear in time that you were ready. No other group was complete before "
        "the waiting time ended. We pay you for waiting."
    )
