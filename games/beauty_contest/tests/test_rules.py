"""The beauty contest against its specification: worked cases, and the prize is paid exactly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.beauty_contest.rules import BeautyContest
from games.contract import seen
from games.errors import BadConfig, Refused
from games.play import Play
from games.tests import kit

NUMBERS = st.none() | st.floats(0, 100) | st.floats(-1e9, 1e9) | st.sampled_from([0, 50, 100])


def contest(**config: Any) -> BeautyContest:
    return games.play.configure(BeautyContest, config)


def play_runs(*runs: tuple[float | None, ...], **config: Any) -> Play:
    """Return a contest whose seats choose these numbers, run after run."""
    game = contest(**{"players": len(runs[0]), "runs": len(runs), **config})
    return kit.played(game, *({"answer": number} for run in runs for number in run))


class TestResult:
    def test_closest_to_two_thirds_of_the_mean_wins(self):
        play = play_runs((10, 20, 40, 60))
        assert play.metrics()["target_first"] == pytest.approx(21.6667, abs=1e-4)
        assert play.payoffs() == {"p1": 0, "p2": 1, "p3": 0, "p4": 0}
        assert play.metrics()["deviation"] == pytest.approx(0.325)
        assert play.metrics()["p2_payoff_ratio"] == pytest.approx(4)

    def test_foul_wins_nothing_and_leaves_the_mean_unchanged(self):
        play = play_runs((10, 14, 52), upper=50, fraction=0.5)
        assert play.payoffs() == {"p1": 1, "p2": 0, "p3": 0}
        metrics = play.metrics()
        assert (metrics["fouls"], metrics["target_last"]) == (1, 6)
        assert metrics["deviation"] == pytest.approx(0.24)
        assert metrics["p3_deviation"] is None

    def test_equally_close_seats_share_the_prize(self):
        assert play_runs((18, 18, 30, 42)).payoffs() == {"p1": 0.5, "p2": 0.5, "p3": 0, "p4": 0}

    def test_payoff_is_the_mean_over_runs(self):
        play = play_runs((30, 60, 90), (20, 30, 40), prize=6)
        assert play.payoffs() == {"p1": 6, "p2": 0, "p3": 0}
        assert play.metrics()["mean_choice"] == pytest.approx(45)
        assert (play.metrics()["p1_wins"], play.metrics()["runs_played"]) == (2, 2)

    def test_without_a_valid_number_nobody_wins(self):
        play = play_runs((None, 101, -0.5))
        assert set(play.payoffs().values()) == {0}
        metrics = play.metrics()
        assert metrics["fouls"] == 3
        assert (
            metrics["target_first"] is metrics["target_last"] is metrics["mean_choice"] is metrics["deviation"] is None
        )

    @given(st.integers(2, 6).flatmap(lambda n: st.lists(st.tuples(*[NUMBERS] * n), min_size=1, max_size=4)))
    def test_prize_is_paid_exactly(self, runs):
        play = play_runs(*runs, prize=7)
        game = play.game
        runs_won = sum(any(game.valid(number) for number in run) for run in runs)
        assert sum(play.payoffs().values()) == pytest.approx(7 * runs_won / len(runs))
        for row in game.records(play.state):
            assert not (row.foul and row.won)

    @given(st.lists(st.floats(0, 100), min_size=5, max_size=5))
    def test_bonus_averages_one_half(self, numbers):
        play = play_runs(tuple(numbers))
        shares = [play.game.bonus_share(role, payoff) for role, payoff in play.payoffs().items()]
        assert sum(shares) / 5 == pytest.approx(0.5)

    def test_winning_all_runs_alone_pays_the_whole_bonus(self):
        assert contest(players=3, prize=9).bonus_share("p1", 9) == 1

    def test_records_have_a_row_for_every_run_and_seat(self):
        rows = play_runs((30, 60, None), (20, 30, 40)).records()
        assert [(row["run"], row["role"], row["answer"], row["foul"]) for row in rows[:3]] == [
            (1, "p1", 30, False),
            (1, "p2", 60, False),
            (1, "p3", None, True),
        ]
        assert len(rows) == 6


class TestMoves:
    @pytest.mark.parametrize("answer", ["10", True, {}, [1], 1e400])
    def test_invalid_numbers_are_refused(self, answer):
        play, _events = games.play.start(contest(), 1)
        with pytest.raises(Refused, match="from 0 to 100"):
            games.play.submit(play, "p1", {"answer": answer})

    @pytest.mark.parametrize("number", [-0.1, 100.1])
    def test_numbers_outside_the_limits_are_refused_if_fouls_are(self, number):
        play, _events = games.play.start(contest(fouls="refuse"), 1)
        with pytest.raises(Refused, match="from 0 to 100"):
            games.play.submit(play, "p1", {"answer": number})
        games.play.submit(play, "p1", {"answer": None})

    def test_people_are_stopped_or_warned_before_a_foul(self):
        number = games.play.check(games.play.start(contest(), 1)[0], "p1", {"answer": 101})[1]
        for allowed in (False, True):
            game = contest(people_may_foul=allowed)
            warning = game.warning(game.setup(None), "p1", number)
            assert warning is not None and warning.may_send is allowed and "100" in warning.words

    def test_forms_and_schemas_require_a_number(self):
        (form,) = games.play.start(contest(), 1)[0].forms("p1")
        assert form.model.model_json_schema()["properties"]["answer"]["type"] == "number"

    @pytest.mark.parametrize("config", [{"players": 1}, {"players": 21}, {"fraction": 1}, {"upper": 0}, {"runs": 51}])
    def test_invalid_configurations_are_refused(self, config):
        with pytest.raises(BadConfig, match=next(iter(config))):
            contest(**config)


class TestHistory:
    @given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=5, max_size=5), st.integers(0, 6))
    def test_no_more_is_shown_than_the_depth_allows(self, runs, depth):
        """Change the numbers in runs beyond the depth: nothing that is shown changes."""
        game = contest(players=2, runs=6, history_depth=depth)
        actual, altered = games.play.start(game, 1)[0], games.play.start(game, 1)[0]
        for index, run in enumerate(runs):
            hidden = index < len(runs) - depth
            for role, number in zip(game.roles(), run, strict=True):
                actual, _events = games.play.submit(actual, role, {"answer": number})
                altered, _events = games.play.submit(altered, role, {"answer": 33 if hidden else number})
        assert all(seen(actual, role) == seen(altered, role) for role in game.roles())
        history = next(block for block in actual.view("p1") if block.key == "history")
        assert [row[0] for row in history.rows] == list(range(6 - min(depth, 5), 6))

    def test_all_runs_are_shown_after_the_last(self):
        play = play_runs((1 / 3, 101), (20, None), history_depth=0)
        history = next(block for block in play.view("p2") if block.key == "history")
        assert [row[1:3] for row in history.rows] == [("0.33", "not valid"), ("20", "not valid")]


class TestScripts:
    def moves(self, script: str, *earlier: tuple[float | None, ...], **config: Any) -> Any:
        game = contest(players=2, runs=9, **config)
        play = kit.played(game, *({"answer": number} for run in earlier for number in run))
        return games.play.script_move(play, "p1", script)["answer"]

    def test_each_level_thinks_one_step_further(self):
        assert [self.moves(f"level_{k}", fraction=0.5) for k in (1, 2, 3, 4)] == [25, 12.5, 6.25, 3.125]

    def test_adaptive_follows_the_last_visible_mean(self):
        assert self.moves("adaptive", (40, 60), fraction=0.5, history_depth=1) == 25
        assert self.moves("adaptive", (10, 20), fraction=0.5, history_depth=1) == 7.5
        assert self.moves("adaptive", (10, 20), fraction=0.5, history_depth=0) == 25

    def test_other_scripts(self):
        assert self.moves("rational") == 0
        assert (self.moves("fouler"), self.moves("fouler", fouls="refuse")) == (101, 100)
        assert self.moves("no_answer") is None
        assert 0 <= self.moves("random") <= 100
