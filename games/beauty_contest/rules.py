"""Beauty contest: the player whose number is closest to a fraction of the mean of all numbers wins the prize.

Source: Economics Arena, section 3 and appendix B (after Nagel 1995). All seats answer at once; the target is
the fraction times the mean of the valid numbers; the closest seats share the prize. With several runs, the
same seats play again and may see the most recent ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

from games.beauty_contest import baselines, quiz, views
from games.beauty_contest.state import Answer, BeautyContestCore, mean
from games.beauty_contest.told import TOLD
from games.interface import Payoffs, Prospect, Question, Role
from games.results import Count, Index, Price, Ratio, Row, Seat, column, in_unit
from games.sessions import Session
from games.words import gettext as _
from games.words import gettext_noop

OnScale = Annotated[float, in_unit("the numbers' scale", 0)]


class BeautyContest(BeautyContestCore):
    """All players choose a number; those closest to a fraction of the mean win."""

    told = TOLD
    title = gettext_noop("Beauty contest")
    summary = gettext_noop(
        "All players choose a number at once; the one closest to a fraction of the mean wins the prize."
    )
    scripts = baselines.SCRIPTS
    default_script = "level_2"
    shown_by = ("level_1", "level_2", "level_3", "adaptive", "random")
    starting_config = {"runs": 3, "history_depth": 3}
    seat_title = gettext_noop("Player")
    number_key = "answer"
    asks = gettext_noop("Choose your number")
    screen = views.SCREEN
    reserved_words = "player number mean target prize fraction run limit answer valid dollar"
    move_types = (Answer,)

    class Results(Row):
        runs_played: Count = column("Runs that were played.")
        target_first: OnScale | None = column(
            "The fraction times the mean of the valid numbers in the first run; empty if there are none."
        )
        target_last: OnScale | None = column("The same in the last run.")
        mean_choice: OnScale | None = column("Mean of all valid numbers; empty if there are none.")
        fouls: Count = column("Numbers outside the limits and answers without a number, over all seats and runs.")
        deviation: Index | None = column(
            "Mean of all valid numbers/upper limit, the distance from equilibrium; empty if there are none. Economics "
            "Arena (section 3.2) divides by the equilibrium, which is 0 here."
        )

    class SeatResults(Row):
        wins: Count = column("Runs in which the seat won the prize or a share of it.")
        fouls: Count = column("The seat's numbers outside the limits and its answers without a number.")
        deviation: Index | None = column("Mean of the seat's valid numbers/upper limit; empty if there are none.")
        payoff_ratio: Ratio = column("Payoff divided by the equilibrium payoff, prize/players (Economics Arena's r).")

    class Record(Row):
        run: int = column("Number of the run, from 1.")
        role: Seat = column("The seat.")
        answer: Annotated[float, in_unit("the numbers' scale")] | None = column(
            "The number it chose; empty if it chose none."
        )
        foul: bool = column("Whether that number was outside the limits or missing.")
        mean: OnScale | None = column("Mean of the run's valid numbers; empty if there are none.")
        target: OnScale | None = column("The fraction times that mean.")
        won: Price = column("The seat's share of the prize.")

    # ---- the rules -----------------------------------------------------------------------------------

    # ---- the result ----------------------------------------------------------------------------------

    result_bars = views.result_bars

    def payoffs(self, state: Session) -> Payoffs:
        """Return the mean over runs of the prize won."""
        return {role: self._payoff(state, role) for role in self.roles()}

    def _payoff(self, state: Session, role: Role) -> float:
        return math.fsum(self.won(run, role) / len(state.runs) for run in state.runs)

    def earned(self, state: Session, role: Role) -> float:
        return math.fsum(self.won(run, role) / self.config.runs for run in state.runs)

    def metrics(self, state: Session) -> Results:
        numbers = [number for role in self.roles() for number in self.valid_numbers(state, role)]
        return self.Results(
            runs_played=len(state.runs),
            target_first=self.target(state.runs[0]),
            target_last=self.target(state.runs[-1]),
            mean_choice=mean(numbers),
            fouls=sum(self.fouls(state, role) for role in self.roles()),
            deviation=self._deviation(numbers),
        )

    def seat_metrics(self, state: Session, role: Role) -> SeatResults:
        return self.SeatResults(
            wins=sum(role in self.winners(run) for run in state.runs),
            fouls=self.fouls(state, role),
            deviation=self._deviation(self.valid_numbers(state, role)),
            payoff_ratio=self._payoff(state, role) / self.config.prize * self.config.players,
        )

    def records(self, state: Session) -> Sequence[Record]:
        """Return a row for every run and seat."""
        return [
            self.Record(
                run=run_number,
                role=role,
                answer=number,
                foul=not self.valid(number),
                mean=self.mean(run),
                target=self.target(run),
                won=self.won(run, role),
            )
            for run_number, run in enumerate(state.runs, start=1)
            for role, number in zip(self.roles(), run, strict=True)
        ]

    def _deviation(self, numbers: Sequence[float]) -> float | None:
        return mean([number / self.config.upper for number in numbers])

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return ½ + (payoff/prize - 1/n)·n/(2(n - 1)), within [0, 1]: 1 for all prizes, ½ in equilibrium."""
        n = self.config.players
        share = 0.5 + (payoff / self.config.prize - 1 / n) * n / (2 * (n - 1))
        return min(max(share, 0.0), 1.0)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        prize = self.config.prize
        win = _("if you win {amount}") if self.config.runs == 1 else _("if you win {amount} in every run")
        return (
            self.prospect(_("if you win nothing"), role, 0.0),
            self.prospect(win.format(amount=self.money(prize)), role, prize),
        )

    # ---- texts and views -------------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {
            **super().text_variables(role),
            "upper": self.config.upper,
            "fraction": self.fraction_in_words(),
            "prize": self.config.prize,
            "others_known": self.config.told_of_others != "nothing",
        }

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return quiz.questions(self.config.fraction, self.fraction_in_words(), self.config.upper)
