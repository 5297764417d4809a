"""Social dilemma: a base game played under one of five mechanisms that may sustain cooperation.

Source: CoopEval. Each mechanism is a sequence of turns in which all seats move at once and nobody sees another's
move before all have moved. Repetition and reputation play many rounds; reputation pairs the seats of a population
again in each round. In mediation and contract, players propose, choose and enter an arrangement before they act.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any

from games.interface import Chance, Form, Move, MoveData, Payoffs, Prospect, Role, Turn, View
from games.results import Count, Ratio, RoundRecord, Row, Share, column
from games.seats import number_of
from games.social_dilemma import baselines, moves, quiz, views
from games.social_dilemma.base_games import Action, Earned
from games.social_dilemma.core import SocialDilemmaCore
from games.social_dilemma.designs import played_profile, with_payments
from games.social_dilemma.state import Dilemma, Groups, Round, Stage
from games.social_dilemma.told import TOLD
from games.words import gettext as _
from games.words import gettext_noop, points


class SocialDilemma(SocialDilemmaCore):
    """Each player gains by not cooperating, but all are better off if all cooperate."""

    told = TOLD
    title = gettext_noop("Social dilemma")
    summary = gettext_noop(
        "A conflict between private and common interest, under mechanisms that may sustain cooperation."
    )
    system = "CoopEval"
    scripts = baselines.SCRIPTS
    default_script = "tit_for_tat"
    shown_by = ("tit_for_tat", "random")
    starting_config = {"mechanism": "repetition", "rounds": 5, "framing": "words"}
    reserved_words = "action points round agent player mediator contract delegate sign approve proposal group"

    class Results(Row):
        rounds_played: Count = column("Rounds in which everybody acted.")
        mean_payoff: Earned = column("Mean payoff over seats.")
        normalised_score: Ratio | None = column(
            "(mean payoff - equilibrium) / (cooperation - equilibrium); may be empty."
        )
        cooperation_rate: Share | None = column("Cooperative actions over seats and rounds, after mediation.")
        coop_after_coop: Share | None = column("Cooperation rate after the co-player cooperated.")
        coop_after_other: Share | None = column("Cooperation rate after the co-player did not cooperate.")
        winner: int | None = column("Number of the seat whose proposal was chosen.")
        winner_approvals: Count | None = column("Approvals of the chosen proposal.")
        approval_rate: Share | None = column("Approvals given as a share of all possible approvals.")
        design_nash: bool | None = column("Whether cooperating is an equilibrium under the chosen proposal.")
        design_dominant: bool | None = column("Whether cooperating is weakly dominant under the chosen proposal.")
        delegation_rate: Share | None = column("Share of seats that delegated to the mediator.")
        signatures: Count | None = column("Seats that signed the contract.")
        contract_active: bool | None = column("Whether everybody signed.")

    class Record(RoundRecord):
        group: int = column("Number of the group it played in, from 1.")
        action: Action = column("The action played, after any random draw and mediation.")
        cooperated: bool | None = column("Whether the action was the cooperative one; empty if the game has none.")
        delegated: bool | None = column("Whether the mediator acted for the seat; empty without a mediator.")
        points: Earned = column("Points in the round, including payments.")
        weight: Share = column("Weight of the round in the payoff.")
        payoff: Earned = column("Points times weight.")

    # ---- parameters --------------------------------------------------------------------------------

    def seats(self) -> int:
        return self.base.seats * (self.config.population if self.in_population else 1)

    def people(self) -> tuple[Role, ...]:
        """Return no roles if the stated chance of another round is never drawn: people are never deceived."""
        misleading = self.repeated and self.config.stopping == "published"
        return () if misleading else self.roles()

    def kind(self, role: Role) -> str:
        """Return the position: seats with the same position in the base game are interchangeable."""
        return str(self.position(role) + 1)

    def alike(self, role: Role) -> str:
        return "" if self.base.symmetric else self.kind(role)

    def role_title(self, role: Role) -> str:
        # People never play under the published stopping rule: nobody calls a person an agent.
        agents_alone = self.in_population and self.config.stopping == "published"
        words = _("Agent {number}") if agents_alone else _("Player {number}")
        return words.format(number=number_of(role))

    def _choice_label(self, choice: str) -> str:
        return _("Delegate to the mediator") if choice == moves.DELEGATE else self.label(choice)

    def secrets(self, role: Role) -> frozenset[str]:
        """Return the keys that determine when the match ends, if players are not told.

        The schedule is not among them, although a seat learns only whom it meets in each round; the tests of
        hidden information compare schedules that differ only in later rounds.
        """
        hidden = {"stop_after"}
        if self.config.stopping == "published":
            hidden.add("rounds")
        return frozenset(hidden)

    def remembers(self, role: Role) -> bool:
        """Return False: every decision is based only on the rules and the current view."""
        return False

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> Dilemma:
        stage: Stage = "propose" if self.mechanism in ("mediation", "contract") else "act"
        return Dilemma(stage, self._groups(0, chance))

    def _groups(self, t: int, chance: Chance) -> Groups:
        """Return who meets whom in round t (from 0)."""
        roles, seats = self.roles(), self.base.seats
        if not self.in_population:
            return (roles,)
        if self.config.schedule is not None:
            return self.config.schedule[t]
        by_position = [roles[position::seats] for position in range(seats)]
        groups = self.config.population
        if self.config.matching == "rotation":
            columns = [[by_position[j][(g + j * t) % groups] for g in range(groups)] for j in range(seats)]
        else:
            columns = [list(by_position[0])]
            for j in range(1, seats):
                columns.append(chance.draw(f"matching/{j + 1}", _shuffled(by_position[j])))
        return tuple(zip(*columns, strict=True))

    @property
    def move_types(self) -> tuple[type[Move], ...]:
        forms = (form for phase in self.phases for role in self.roles() for form in self._forms(phase, role))
        return tuple(dict.fromkeys(form.model for form in forms))

    def turn(self, state: Dilemma) -> Turn | None:
        if state.stage == "over":
            return None
        return Turn({role: self._forms(state.stage, role) for role in self.roles()})

    def _forms(self, stage: Stage, role: Role) -> tuple[Form, ...]:
        mediated = self.mechanism == "mediation"
        match stage:
            case "propose" if mediated:
                return moves.proposing_mediator(self.actions(role), self.base.seats, self.labels(self.actions(role)))
            case "propose":
                return moves.proposing_contract(self.all_actions, self.contract_bound, self.labels(self.all_actions))
            case "approve":
                return moves.approving("M" if mediated else "C", self.base.seats)
            case "sign":
                return moves.SIGNING
        return moves.acting(self.choices(role), self.config.answer_with, self.labels(self.choices(role)))

    def refuse(self, state: Dilemma, role: Role, move: Any) -> str | None:
        if not isinstance(move, moves.Mix):
            return None
        total = sum(move.shares().values())
        if total == 100:
            return None
        return _("The percentages add up to {total}; they must add up to 100.").format(total=total)

    def apply(self, state: Dilemma, moves: Mapping[Role, Any], chance: Chance) -> Dilemma:
        match state.stage:
            case "propose":
                return replace(state, stage="approve", proposals={role: moves[role].design() for role in self.roles()})
            case "approve":
                return self._chosen(state, {role: moves[role].votes() for role in self.roles()}, chance)
            case "sign":
                return replace(state, stage="act", signed={role: moves[role].sign for role in self.roles()})
        return self._acted(state, moves, chance)

    def _chosen(self, state: Dilemma, votes: Mapping[Role, tuple[int, ...]], chance: Chance) -> Dilemma:
        """Return the state after the vote: the proposal with the most approvals wins, even with none."""
        counts = {
            number: sum(number in approved for approved in votes.values()) for number in range(1, self.base.seats + 1)
        }
        leaders = [number for number, count in counts.items() if count == max(counts.values())]
        winner = leaders[0] if len(leaders) == 1 else chance.draw("winner", lambda rng: rng.choice(leaders))
        stage: Stage = "sign" if self.mechanism == "contract" else "act"
        return replace(state, stage=stage, votes=votes, winner=winner)

    def _acted(self, state: Dilemma, choices: Mapping[Role, Any], chance: Chance) -> Dilemma:
        chosen = {role: self._realised(role, choices[role], chance) for role in self.roles()}
        actions: dict[Role, int] = {}
        points: dict[Role, float] = {}
        delegated: list[Role] = []
        for group in state.groups:
            profile = tuple(self.choices(role).index(chosen[role]) for role in group)
            if self.mechanism == "mediation":
                delegated += [role for role in group if chosen[role] == moves.DELEGATE]
                profile = played_profile(self.base, self.mediator(state), profile)
            actions |= dict(zip(group, profile, strict=True))
            points |= dict(zip(group, self._points(state, profile), strict=True))
        new_round = Round(state.groups, actions, points, tuple(delegated))
        rounds = (*state.rounds, new_round)
        if self._stops(len(rounds), chance):
            return replace(state, stage="over", rounds=rounds)
        return replace(state, rounds=rounds, groups=self._groups(len(rounds), chance))

    def _realised(self, role: Role, move: Any, chance: Chance) -> str:
        """Return the action of a move: the chosen one, or one drawn by its percentages."""
        if isinstance(move, moves.Act):
            return move.action
        shares = move.shares()
        if (name := moves.certain(shares)) is not None:
            return name
        drawn: str = chance.draw(f"action/{role}", lambda rng: rng.choices(list(shares), list(shares.values()))[0])
        return drawn

    def _points(self, state: Dilemma, profile: tuple[int, ...]) -> tuple[float, ...]:
        if self.contract_active(state):
            return with_payments(self.base, self.contract(state), profile)
        return self.base.payoffs[profile]

    def _stops(self, rounds_played: int, chance: Chance) -> bool:
        """Return whether the match is over after this many rounds."""
        if rounds_played >= self.last_round():
            return True
        if self.config.stopping != "drawn":
            return False
        if self.config.stop_after is not None:
            return rounds_played >= self.config.stop_after
        return not chance.draw("goes_on", lambda rng: rng.random() < self.config.continuation)

    def default(self, state: Dilemma, role: Role) -> MoveData:
        """Return a move that does not cooperate, proposes nothing useful, and approves and signs nothing."""
        return baselines.always_defect(self, state, role, Random(0))

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: Dilemma) -> Payoffs:
        weights = self.weights(len(state.rounds))
        return {
            role: sum(
                weight * past_round.points[role] for weight, past_round in zip(weights, state.rounds, strict=True)
            )
            for role in self.roles()
        }

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return the payoff's position between the base game's smallest and largest payoff of the seat's position."""
        low, high = self.base.range(self.position(role))
        if low == high:
            return 0.5
        return min(max((payoff - low) / (high - low), 0.0), 1.0)

    def cooperated(self, role: Role, action: int) -> bool | None:
        """Return whether the action is the seat's cooperative one; None if the game has none."""
        return None if self.base.cooperate is None else action == self.base.cooperate[self.position(role)]

    def metrics(self, state: Dilemma) -> Results:
        mean_payoff, reference = fmean(self.payoffs(state).values()), self.base.reference
        actions = [item for past_round in state.rounds for item in past_round.actions.items()]
        reactions = list(self._reactions(state))
        return self.Results(
            rounds_played=len(state.rounds),
            mean_payoff=mean_payoff,
            normalised_score=None if reference is None else reference.normalised(mean_payoff),
            cooperation_rate=_share([self.cooperated(role, action) for role, action in actions]),
            coop_after_coop=_share([own for own, partners in reactions if partners]),
            coop_after_other=_share([own for own, partners in reactions if not partners]),
            **self._design_results(state),
        )

    def _reactions(self, state: Dilemma) -> Iterator[tuple[bool, bool]]:
        """Return (a seat cooperated, its co-player cooperated in the round before) for every ordered pair that met."""
        if self.base.cooperate is None:
            return
        for last_round, this_round in pairwise(state.rounds):
            for group in this_round.groups:
                for role in group:
                    for partner in group:
                        if partner != role:
                            reaction = self.cooperated(role, this_round.actions[role])
                            yield bool(reaction), bool(self.cooperated(partner, last_round.actions[partner]))

    def _design_results(self, state: Dilemma) -> dict[str, Any]:
        if state.winner is None:
            return dict.fromkeys(
                "winner winner_approvals approval_rate design_nash design_dominant delegation_rate signatures "
                "contract_active".split()
            )
        seats = self.base.seats
        quality = self.quality(self.design_of(state, state.winner)) if self.base.cooperate is not None else None
        mediated = self.mechanism == "mediation"
        return {
            "winner": state.winner,
            "winner_approvals": sum(state.winner in approved for approved in state.votes.values()),
            "approval_rate": sum(len(approved) for approved in state.votes.values()) / seats**2,
            "design_nash": quality and quality.nash,
            "design_dominant": quality and quality.dominant,
            "delegation_rate": len(state.rounds[-1].delegated) / seats if mediated else None,
            "signatures": None if mediated else sum(state.signed.values()),
            "contract_active": None if mediated else self.contract_active(state),
        }

    def records(self, state: Dilemma) -> Sequence[Record]:
        """Return one row per round and seat."""
        weights = self.weights(len(state.rounds))
        return [
            self.Record(
                round=number,
                role=role,
                group=next(g for g, group in enumerate(past_round.groups, start=1) if role in group),
                action=self.actions(role)[past_round.actions[role]],
                cooperated=self.cooperated(role, past_round.actions[role]),
                delegated=role in past_round.delegated if self.mechanism == "mediation" else None,
                points=past_round.points[role],
                weight=weight,
                payoff=weight * past_round.points[role],
            )
            for number, (past_round, weight) in enumerate(zip(state.rounds, weights, strict=True), start=1)
            for role in self.roles()
        ]

    def length(self) -> str:
        if not self.repeated or (self.config.stopping != "published" and self.last_round() == 1):
            return _("one round")
        if self.config.stopping == "published":
            return _("a number of rounds that is not announced")
        words = _("up to {rounds} rounds") if self.config.stopping == "drawn" else _("{rounds} rounds")
        return words.format(rounds=self.last_round())

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return the smallest and the largest payoff of the base game."""
        low, high = self.base.range(self.position(role))
        words = _("if your result is {amount}")
        return tuple(self.prospect(words.format(amount=points(amount)), role, amount) for amount in sorted({low, high}))

    def prospects(self, state: Dilemma, role: Role) -> tuple[Prospect, ...]:
        """Return the least and the most that the game can still earn; where it can stop now, what it would earn.

        Rounds outside the window of the history are not shown, so what they earned is not told either.
        """
        if state.stage == "over":
            return (self.prospect(_("For this game"), role, float(self.payoffs(state)[role])),)
        depends = _("It depends on your points.")
        if state.rounds and self.config.history_depth and self.config.stopping == "drawn":
            return (self.prospect(_("If that was the last round"), role, float(state.rounds[-1].points[role])),)
        if len(state.rounds) > self.config.history_depth or self.config.stopping == "published":
            return (Prospect("", unknown=depends),)
        weights = self.weights(self.last_round())
        earned = sum(weight * past.points[role] for weight, past in zip(weights, state.rounds, strict=False))
        left = sum(weights[len(state.rounds) :])
        low, high = (float(earned + left * points) for points in self.base.range(self.position(role)))
        least, most = self.prospect(_("At least"), role, low), self.prospect(_("At most"), role, high)
        if self.mechanism == "contract":  # its payments go beyond the base game's points, and beyond what shares count
            least, most = (replace(limit, payoff=None, unknown=depends) for limit in (least, most))
        return least, most

    def stage(self, state: Dilemma) -> tuple[int | None, str | None]:
        return (None, None) if state.stage == "over" else (len(state.rounds) + 1, state.stage)

    @property
    def phases(self) -> tuple[Stage, ...]:
        """The turns of a round, in order."""
        first_phases: Mapping[str, tuple[Stage, ...]] = {
            "mediation": ("propose", "approve"),
            "contract": ("propose", "approve", "sign"),
        }
        return (*first_phases.get(self.mechanism, ()), "act")

    def progress(self, state: Dilemma) -> tuple[float, float]:
        """Return the turns played, of all in the most rounds there can be."""
        phase = 0 if state.stage == "over" else self.phases.index(state.stage)
        return len(state.rounds) * len(self.phases) + phase, len(self.phases) * self.last_round()

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        """Return round and phase of each move: all seats move once per turn, so its number determines the turn."""
        phases = self.phases
        turns = (index // self.seats() for index in range(len(moves)))
        return [(turn // len(phases) + 1, phases[turn % len(phases)]) for turn in turns]

    def ended_how(self, moves: Sequence[tuple[Role, MoveData]]) -> str | None:
        """Return how the match stopped; None if it could not stop at random."""
        if not self.repeated or self.config.stopping != "drawn":
            return None
        return "last round" if len(moves) >= self.seats() * self.last_round() else "stopped by chance"

    # ---- what players see --------------------------------------------------------------------------

    def players_write(self) -> bool:
        """Return False: players send no words to each other."""
        return False

    def text_variables(self, role: Role) -> dict[str, Any]:
        stopping = self.config.stopping
        return {
            "you": self.role_title(role),
            "players": self.base.seats,
            "seats": self.seats(),
            "actions": list(self.labels(self.actions(role))),
            "renamed": [
                f"{action}: {self.label(action)}" for action in self.actions(role) if self.label(action) != action
            ],
            "choices": {name: self._choice_label(name) for name in self.choices(role)},
            "position": self.position(role),
            "outcomes": views.outcomes(self, role),
            "mechanism": self.mechanism,
            "rounds": None if stopping == "published" else self.last_round(),
            "continuation": self.config.continuation,
            "weights": None if stopping != "weighted" else self.weights(self.last_round()),
            "stopping": stopping,
            "history_depth": self.config.history_depth,
            "matching": self.config.matching if self.config.schedule is None else "schedule",
            "contract_bound": self.contract_bound,
            "mixing": self.config.answer_with,
        }

    comprehension = quiz.questions
    view = views.view
    result_bars = views.result_bars

    def notices(self, before: Dilemma, moves: Mapping[Role, Any], after: Dilemma, role: Role) -> View:
        return views.notices(self, before, after, role)


def _share(cases: Sequence[bool | None]) -> float | None:
    """Return the share of true cases; None without any cases, or if a case has no value."""
    return None if not cases or None in cases else fmean(bool(case) for case in cases)


def _shuffled(roles: Sequence[Role]) -> Any:
    def sample(rng: Random) -> list[Role]:
        return rng.sample(list(roles), len(roles))

    return sample
