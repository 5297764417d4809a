"""Questions about the game: one on its outcomes, one on a rule of the mechanism."""

from __future__ import annotations

from games.interface import Question, Role
from games.social_dilemma.core import SocialDilemmaCore as SocialDilemma
from games.words import gettext as _
from games.words import number

MAX_OPTIONS = 4


def questions(game: SocialDilemma, role: Role) -> tuple[Question, ...]:
    """Return at most two questions, based only on the public payoffs and the mechanism."""
    return (*_outcome(game, role), *_mechanism(game))


def _outcome(game: SocialDilemma, role: Role) -> tuple[Question, ...]:
    """Return a question on the role's points in a profile with unequal payoffs; none if all are equal."""
    base, position = game.base, game.position(role)
    profile = next((p for p in base.profiles() if len(set(base.payoffs[p])) > 1), None)
    if profile is None:
        return ()
    own_points = base.payoffs[profile][position]
    all_points = dict.fromkeys(points[position] for points in base.payoffs.values())
    options = sorted([own_points, *[points for points in all_points if points != own_points][: MAX_OPTIONS - 1]])
    if len(options) < 2:
        return ()
    own_action = game.label(base.names(position)[profile[position]])
    other_actions = ", ".join(
        game.label(base.names(seat)[profile[seat]]) for seat in range(base.seats) if seat != position
    )
    prompt = (
        _("You play {mine} and the other plays {theirs}. How many points do you get?")
        if base.seats == 2
        else _("You play {mine} and the others play {theirs}. How many points do you get?")
    )
    return (
        Question(
            key="outcome",
            prompt=prompt.format(mine=own_action, theirs=other_actions),
            options=tuple(number(points) for points in options),
            answer=number(own_points),
        ),
    )


def _mechanism(game: SocialDilemma) -> tuple[Question, ...]:
    """Return a question about the mechanism."""
    match game.mechanism:
        case "repetition":
            same, different = _("With the same players in every round"), _("With different players in every round")
            return (Question("partners", _("Who did you play with?"), (same, different), same),)
        case "reputation_first_order" | "reputation_higher_order":
            same, different = (
                _("With the same players in every round"),
                _("The players could change from round to round"),
            )
            return (Question("partners", _("Who did you play with?"), (same, different), different),)
        case "mediation":
            return (
                Question.with_answer(
                    "delegating",
                    _("What happens if you are the only one who delegates to the mediator?"),
                    _("The mediator plays for you, using its action for one delegating player"),
                    _("Nothing: you choose again"),
                    _("The others must delegate too"),
                ),
            )
        case "contract":
            return (
                Question.with_answer(
                    "signing",
                    _("When does the chosen contract take effect?"),
                    _("Only if everybody signs"),
                    _("If most players sign"),
                    _("Only for those who sign"),
                    _("Always"),
                ),
            )
    return ()
