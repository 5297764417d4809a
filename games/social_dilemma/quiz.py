"""Questions before play: on the outcomes, on what counts over several rounds, and on a rule of the mechanism."""

from __future__ import annotations

from games.interface import Question, Role
from games.social_dilemma.core import SocialDilemmaCore as SocialDilemma
from games.words import gettext as _
from games.words import number

MAX_OPTIONS = 4


def questions(game: SocialDilemma, role: Role) -> tuple[Question, ...]:
    """Return at most three questions, based only on the public payoffs, the rounds and the mechanism."""
    return (*_outcome(game, role), *_counting(game), *_mechanism(game))


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
    why = (
        _("If you play {mine} and the other plays {theirs}, you get {points}.")
        if base.seats == 2
        else _("If you play {mine} and the others play {theirs}, you get {points}.")
    )
    return (
        Question(
            key="outcome",
            prompt=prompt.format(mine=own_action, theirs=other_actions),
            options=tuple(number(points) for points in options),
            answer=number(own_points),
            explanation=why.format(mine=own_action, theirs=other_actions, points=number(own_points)),
        ),
    )


def _counting(game: SocialDilemma) -> tuple[Question, ...]:
    """Return a question on which rounds count, if players are told."""
    last, sum_of_all = _("Your points in the last round that is played"), _("The sum of your points in all rounds")
    weighted = _("The sum of your points, with each round's multiplied by its weight")
    if not game.repeated or game.config.stopping == "published" or game.last_round() == 1:
        return ()
    if game.config.stopping == "drawn":
        answer, why = last, _("Only the last round that is played counts, and you do not know which one it will be.")
    else:
        answer, why = weighted, _("Rounds do not count the same: each round's points are multiplied by its weight.")
    options = (sum_of_all, weighted, last)
    return (Question("counts", _("What is your result?"), options, answer, why),)


def _mechanism(game: SocialDilemma) -> tuple[Question, ...]:
    """Return a question about the mechanism."""
    match game.mechanism:
        case "repetition":
            same, different = _("With the same players in every round"), _("With different players in every round")
            why = _("You play with the same players in every round.")
            return (Question("partners", _("Who do you play with?"), (same, different), same, why),)
        case "reputation_first_order" | "reputation_higher_order":
            same, different = (
                _("With the same players in every round"),
                _("The players may change from round to round"),
            )
            why = _("Whom you meet may change from round to round.")
            return (Question("partners", _("Who do you play with?"), (same, different), different, why),)
        case "mediation":
            return (
                Question.with_answer(
                    "delegating",
                    _("What happens if you are the only one who delegates to the mediator?"),
                    _("The mediator plays for you, using its action for one delegating player"),
                    _("Nothing: you choose again"),
                    _("The others must delegate too"),
                    explanation=_(
                        "The mediator plays for everyone who delegates, with its action for that number: one."
                    ),
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
                    explanation=_(
                        "The contract takes effect only if everybody signs. One refusal is enough to stop it."
                    ),
                ),
            )
    return ()
