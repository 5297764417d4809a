"""Every game passes the contract's checks, and the checks catch games that break it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from conftest import slow_except
from games import contract, examples, registry
from games.examples import Case, ContractBroken, Examples, cases_of
from games.interface import Fact, Facts, MoveWarning, Text, Turn, Words
from games.results import Row, column
from games.tests.toys import CLOCK_AUCTION_EXAMPLES, WELL_EXAMPLES, ClockAuction, Guessing, Well
from games.tests.toys.clock_auction import Call
from games.tests.toys.well import Note, Pump

CASES = [
    *(case for key in registry.known() for case in examples.cases(key)),
    *cases_of(Guessing, Examples()),
    *cases_of(ClockAuction, CLOCK_AUCTION_EXAMPLES),
    *cases_of(Well, WELL_EXAMPLES),
]
QUICK = [Case(type(case.game), case.config, case.seed, case.examples, moments=6) for case in CASES if case.seed == 1]


@pytest.mark.every_case
@pytest.mark.parametrize("check", contract.CHECKS.values(), ids=contract.CHECKS)
@pytest.mark.parametrize("case", slow_except([*QUICK, *CASES], QUICK), ids=str)
def test_game_passes_check(case: Case, check: contract.Check) -> None:
    check(case)


class ShowsValues(ClockAuction):
    def view(self, state: Any, role: str) -> Any:
        return (*super().view(state, role), Text("leak", f"All values: {state.values}"))


class ShowsReserves(ClockAuction):
    def text_variables(self, role: str) -> Mapping[str, Any]:
        return {**super().text_variables(role), "all": self.config.reserves}


def _peeking(game: ClockAuction, state: Any, role: str, rng: Any) -> dict[str, str]:
    return {"stay": "stay" if state.values[role] == max(state.values.values()) else "drop"}


class ScriptPeeks(ClockAuction):
    scripts = {**ClockAuction.scripts, "peeking": _peeking}


class GivesNoNotices(ClockAuction):
    def notices(self, before: Any, moves: Any, after: Any, role: str) -> Any:
        return ()


class BadScript(Guessing):
    scripts = {**Guessing.scripts, "bad": lambda game, state, role, rng: {"answer": -1.0}}


class IllegalDefault(Guessing):
    def default(self, state: Any, role: str) -> Any:
        return {"answer": -1.0}


class LosesPayoffs(Guessing):
    def payoffs(self, state: Any) -> Any:
        return {"player_1": float("nan")}


class OverpaysBonus(Guessing):
    def bonus_share(self, role: str, payoff: float) -> float:
        return payoff


class RepeatsKeys(Guessing):
    def view(self, state: Any, role: str) -> Any:
        return Text("same", "one"), Text("same", "two")


class ForgetsAfterRestoring(Guessing):
    def view(self, state: Any, role: str) -> Any:
        fact = Fact("run", "Run", len(state.answers), str(id(state)))
        return (Facts("facts", "", (fact,)),)


class UsesOwnRandomness(Guessing):
    counter = count()
    scripts = {**Guessing.scripts, "restless": lambda game, state, role, rng: {"answer": next(game.counter) % 90 + 0.5}}


class AnswersWithoutOption(ClockAuction):
    def comprehension(self, role: str) -> Any:
        return tuple(replace(question, answer="Perhaps") for question in super().comprehension(role))


class ForgetsSeats(ClockAuction):
    def seat_metrics(self, state: Any, role: str) -> Any:
        return Row() if role == "b" else super().seat_metrics(state, role)


class RecordsUntypedRows(ClockAuction):
    def records(self, state: Any) -> Any:
        return [{"line": 1, "role": "a"}]


class RecordsLists(ClockAuction):
    class Record(Row):
        bids: list[int] = column("All bids.")


class MeansNothing(ClockAuction):
    class Record(Row):
        line: int


class MeasuresInNoUnit(ClockAuction):
    class Record(Row):
        price: float = column("The price.")


class RepeatsAMetric(ClockAuction):
    class Results(ClockAuction.Results):
        a_won: bool = column("Whether a buys.")


class ExceedsItsRange(Well):
    def metrics(self, state: Any) -> Any:
        return self.Results(score=1.5)


class HidesAForm(Well):
    move_types = (Pump, Note)


class FreeCall(Call):
    stay: Words


class CallsAChoiceFree(ClockAuction):
    move_types = (FreeCall,)


class OverpaysShare(Guessing):
    def pay_share(self, state: Any, role: str) -> float:
        return 2.0


class IllegalForfeit(Well):
    def forfeit(self, state: Any, role: str) -> Any:
        return {"amount": -1}


class ForfeitLeavesOpen(Well):
    def forfeit(self, state: Any, role: str) -> Any:
        return {"note": "nothing to say"}


class RefusesItsDefault(Well):
    def warning(self, state: Any, role: str, move: Any) -> Any:
        return MoveWarning("No.", may_send=False)


class WarningPeeks(ClockAuction):
    def warning(self, state: Any, role: str, move: Any) -> Any:
        return None if state.values[role] < max(state.values.values()) else MoveWarning("You would win. Really?")


class OracleAgainstPeople(ClockAuction):
    default_script = "knowing"


class NothingShown(Guessing):
    def turn(self, state: Any) -> Any:
        turn = super().turn(state)
        return turn and Turn(
            {role: tuple(replace(form, on_request=True) for form in forms) for role, forms in turn.forms.items()}
        )


class KeepsTooMuch(Well):
    def setup(self, chance: Any) -> Any:
        return replace(super().setup(chance), notes=("x" * 600_000,))


class ShowsOthersReserves(ClockAuction):
    def text_variables(self, role: str) -> Mapping[str, Any]:
        return {**super().text_variables(role), "first": self.config.reserves[0]}


class NeverClosesTurns(Well):
    open_moves = 0


@pytest.mark.parametrize(
    ("game", "shared", "check"),
    [
        (ForgetsSeats, CLOCK_AUCTION_EXAMPLES, "results_fit_their_types"),
        (RecordsUntypedRows, CLOCK_AUCTION_EXAMPLES, "results_fit_their_types"),
        (RecordsLists, CLOCK_AUCTION_EXAMPLES, "results_are_described"),
        (MeansNothing, CLOCK_AUCTION_EXAMPLES, "results_are_described"),
        (MeasuresInNoUnit, CLOCK_AUCTION_EXAMPLES, "results_are_described"),
        (RepeatsAMetric, CLOCK_AUCTION_EXAMPLES, "results_are_described"),
        (ExceedsItsRange, WELL_EXAMPLES, "results_fit_their_types"),
        (HidesAForm, WELL_EXAMPLES, "moves_are_declared"),
        (CallsAChoiceFree, CLOCK_AUCTION_EXAMPLES, "moves_are_declared"),
        (OverpaysShare, Examples(), "bonus_share_is_within_bounds"),
        (IllegalForfeit, WELL_EXAMPLES, "defaults_are_legal"),
        (ForfeitLeavesOpen, WELL_EXAMPLES, "defaults_are_legal"),
        (RefusesItsDefault, WELL_EXAMPLES, "warnings_change_nothing"),
        (WarningPeeks, CLOCK_AUCTION_EXAMPLES, "hidden_draws_stay_hidden"),
        (OracleAgainstPeople, CLOCK_AUCTION_EXAMPLES, "texts_are_complete"),
        (NothingShown, Examples(), "forms_can_be_told_apart"),
        (KeepsTooMuch, WELL_EXAMPLES, "snapshots_change_nothing"),
        (ShowsOthersReserves, CLOCK_AUCTION_EXAMPLES, "secret_parameters_stay_secret"),
        (ShowsOthersReserves, CLOCK_AUCTION_EXAMPLES, "paired_configurations_look_alike"),
        (NeverClosesTurns, WELL_EXAMPLES, "turns_do_not_stay_open"),
        (ShowsValues, CLOCK_AUCTION_EXAMPLES, "hidden_draws_stay_hidden"),
        (ShowsReserves, CLOCK_AUCTION_EXAMPLES, "secret_parameters_stay_secret"),
        (ScriptPeeks, CLOCK_AUCTION_EXAMPLES, "hidden_draws_stay_hidden"),
        (GivesNoNotices, CLOCK_AUCTION_EXAMPLES, "notices_report_others_moves"),
        (Well, Examples(), "hidden_draws_stay_hidden"),
        (IllegalDefault, Examples(), "defaults_are_legal"),
        (BadScript, Examples(), "scripts_play_legally_to_the_end"),
        (LosesPayoffs, Examples(), "scripts_play_legally_to_the_end"),
        (OverpaysBonus, Examples(), "bonus_share_is_within_bounds"),
        (RepeatsKeys, Examples(), "views_can_be_rendered"),
        (ForgetsAfterRestoring, Examples(), "snapshots_change_nothing"),
        (UsesOwnRandomness, Examples(), "same_seed_same_log"),
        (AnswersWithoutOption, CLOCK_AUCTION_EXAMPLES, "texts_are_complete"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or (value if isinstance(value, str) else ""),
)
def test_broken_game_fails_its_check(game: Any, shared: Examples, check: str) -> None:
    with pytest.raises(ContractBroken):
        contract.CHECKS[check](Case(game, {}, 1, shared))


class NamesRolesInATuple(Well):
    roles = ("p1", "p2")  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("game", "check", "said"),
    [
        (NamesRolesInATuple, "texts_are_complete", "for role in case.game.roles():"),
        (Well, "hidden_draws_stay_hidden", "Examples.reveals"),
    ],
)
def test_failed_check_says_where_or_what_to_do(monkeypatch, game: Any, check: str, said: str) -> None:
    monkeypatch.setattr(contract, "cases", lambda key: [Case(game, {}, 1, Examples())])
    monkeypatch.setattr(contract, "CHECKS", {check: contract.CHECKS[check]})
    (problem,) = contract.failed_checks("well")
    assert problem.startswith(f"{check}: ") and said in problem


def test_missing_parts_of_a_folder_are_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(contract, "FOLDER", tmp_path)
    (tmp_path / "go" / "texts").mkdir(parents=True)
    (tmp_path / "go" / "rules.py").touch()
    (tmp_path / "go" / "texts" / "instructions.md").touch()
    missing_parts = "\n".join(contract.missing_parts("go"))
    assert "rules.py" not in missing_parts and "instructions.md" not in missing_parts
    assert "tests/test_*.py" in missing_parts


def test_unknown_game_fails(capsys) -> None:
    assert contract.main(["no_such_game"]) == 1
    assert "There is no game" in capsys.readouterr().out


def test_a_problem_of_several_configurations_is_reported_once() -> None:
    found = [("a screen is missing", case) for case in cases_of(Guessing, Examples())]
    (line,) = examples.each_once(found)
    assert line.startswith("a screen is missing [") and f"seed 1; and {len(found) - 1} more" in line
