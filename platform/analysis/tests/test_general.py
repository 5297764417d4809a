"""The general analyses on small datasets with results computable by hand."""

from __future__ import annotations

import pytest

from analysis import load
from analysis.options import Options
from analysis.tests.building import dataset, match

QUICK = {"draws": 50}


@pytest.fixture
def dataset_of(tmp_path):
    """Return a function that writes a dataset with these tables and reads it."""

    def write(manifest=None, **tables):
        return load(dataset(tmp_path / "data", tables, **(manifest or {})))

    return write


def rows_of(outcome, table):
    assert outcome.status == "done", outcome.reason
    return outcome.tables[table].frame.to_dict("records")


def person(number, **columns):
    return {"participant": f"p{number}", "person": f"p{number}", "stage": "in_dataset", "role": "alice", "cell": 1,
            "version": 1, "in_dataset": True, **columns}  # fmt: skip


def test_effects_are_differences_of_means_with_two_levels(dataset_of):
    outcome = dataset_of(
        matches=[
            match(number, config_rounds=1 + number % 2, efficiency=[0.4, 0.7, 0.5, 0.9, 0.6, 0.8][number])
            for number in range(6)
        ]
    ).run("general.effects")
    row = rows_of(outcome, "coefficients")[1]
    assert (row["factor"], row["level"], row["reference"]) == ("Rounds", "2", "1")
    assert row["estimate"] == pytest.approx(0.3)
    assert row["se"] == pytest.approx((5 / 6 * 2 * 2 * 0.05**2) ** 0.5), "two matches of each level move it by ±.05"
    assert row["q"] == row["p"]


def test_a_factor_stands_for_the_parameters_and_players_that_it_determines(dataset_of):
    outcome = dataset_of(
        matches=[
            match(number, factor_frame="give" if number % 2 else "take", config_money=100 * (1 + number % 2),
                  player_bob=f"script:{number % 2}", config_rounds=1 + number // 4, efficiency=number / 10)
            for number in range(8)
        ]
    ).run("general.effects")  # fmt: skip
    factors = {row["factor"]: row["level"] for row in rows_of(outcome, "coefficients")[1:3]}
    assert factors == {"frame": "give", "Rounds": "2"}


def test_people_are_compared_by_factors_and_by_what_no_factor_determines(dataset_of):
    arms = [("give", 1, "x"), ("give", 2, "y"), ("take", 3, "x"), ("take", 4, "y")]
    people = [person(i, factor_frame=arms[i % 4][0], cell=arms[i % 4][1], in_dataset=i < 9) for i in range(12)]
    cells = [{"version": 1, "cell": cell, "seats": f'{{"a": "person", "b": "{agent}"}}',
              "config_money": 9 if frame == "give" else 7} for frame, cell, agent in arms]  # fmt: skip
    outcome = dataset_of(matches=[match(1)], participants=people, cells=cells).run("general.attrition")
    assert {row["factor"] for row in rows_of(outcome, "tests")} == {"Cell", "frame", "Opponents"}


def test_people_and_models_are_compared_within_strata(dataset_of):
    def played(number, player, rounds, efficiency):
        return match(number, player_alice=player, participant_alice=f"p{number}" if player == "human" else None,
                     config_rounds=rounds, efficiency=efficiency)  # fmt: skip

    outcome = dataset_of(matches=[
        played(1, "human", 1, 0.6), played(2, "script:a", 1, 0.5), played(3, "human", 9, 0.9),
        played(4, "script:a", 9, 0.5), played(5, "script:a", 5, 0.0),
    ]).run("general.human_vs_model")  # fmt: skip
    row = rows_of(outcome, "differences")[0]
    assert (row["people"], row["models"], row["strata"]) == (2, 2, 2)
    assert row["estimate"] == pytest.approx((0.1 + 0.4) / 2)


def test_flow_shares_have_the_right_denominators(dataset_of):
    flow = {
        "arrived": 10, "in_dataset": 6, "matches": {"seen": 6, "in_dataset": 6, "unverified": 0, "excluded": {}},
        "stages": [{"stage": "arrived", "reached": 10, "left": {"withdrew": 4}},
                   {"stage": "in_dataset", "reached": 6, "left": {}}],
    }  # fmt: skip
    rows = rows_of(dataset_of({"flow": flow}, matches=[match(1)]).run("general.flow"), "stages")
    assert [(row["what"], row["number"], row["estimate"]) for row in rows] == [
        ("reached", 10, 1.0), ("chose to leave", 4, 0.4), ("reached", 6, 0.6),
    ]  # fmt: skip


def test_checks_count_those_who_reached_them(dataset_of):
    people = [
        person(number, check_quiz_passed=[True, False, True, None][number], cell=1 + number % 2) for number in range(4)
    ]
    rows = rows_of(dataset_of(matches=[match(1)], participants=people).run("general.checks"), "passed")
    assert (rows[0]["n"], rows[0]["passed"]) == (3, 2)
    assert {row["level"]: (row["passed"], row["n"]) for row in rows[1:]} == {"cell 1": (2, 2), "cell 2": (0, 1)}


def test_attrition_in_two_cells_is_tested_exactly(dataset_of):
    people = [
        person(number, cell=1 + number % 2, in_dataset=number % 2 == 0 or number == 1, stage="began")
        for number in range(12)
    ]
    outcome = dataset_of(matches=[match(1)], participants=people).run("general.attrition")
    shares = {row["level"]: row["estimate"] for row in rows_of(outcome, "shares")}
    assert shares == {"": pytest.approx(5 / 12), "cell 1": 0.0, "cell 2": pytest.approx(5 / 6)}
    test = rows_of(outcome, "tests")[0]
    assert (test["test"], test["groups"]) == ("Fisher", "cell 2 − cell 1")
    assert test["p"] == pytest.approx(2 * 6 / 792)  # (C(6,5)·C(6,0)·2)/C(12,5)


def test_balance_of_arrivals_and_of_answers(dataset_of):
    cells = [{"version": 1, "cell": number, "quota": 10, "seats": '{"alice": "person"}'} for number in (1, 2)]
    people = [person(number, cell=1 + number % 2, survey_before_age=20 + number % 2 + number) for number in range(12)]
    outcome = dataset_of(matches=[match(1)], participants=people, cells=cells).run("general.balance")
    assert [(row["arrived"], row["expected"]) for row in rows_of(outcome, "arrivals")] == [(6, 6.0), (6, 6.0)]
    assert outcome.numbers["arrivals"]["p"] == pytest.approx(1)
    assert rows_of(outcome, "answers")[0]["smd"] == pytest.approx(-2 / 14**0.5)


def test_groups_below_the_minimum_size_are_hidden(dataset_of):
    people = [person(number, cell=1 + number % 2, survey_before_age=20 + number) for number in range(6)]
    outcome = dataset_of(matches=[match(1)], participants=people).run("general.balance")
    assert outcome.status == "skipped"


def turn(number, role="bob", **columns):
    return {"match": "m000001", "move_number": number, "role": role, "round": number, "player": "human",
            "seconds": 1.0, "shown_at": "2026-01-01T00:00:00Z", **columns}  # fmt: skip


def test_response_times_exclude_agents_and_censor_unanswered(dataset_of):
    matches = [match(number, player_bob="human", participant_bob=f"p{number}") for number in range(6)]
    turns = [
        {
            **turn(1),
            "match": f"m{number:06}",
            "seconds": float(number + 1),
            "answered": number != 5,
            "by": None if number != 5 else "clock",
        }
        for number in range(6)
    ]
    outcome = dataset_of(matches=matches, decisions=[*turns, turn(2, "alice", player="script:a", seconds=90.0)]).run(
        "general.response_times"
    )
    assert rows_of(outcome, "seconds")[0]["median"] == 3.0
    assert "1 turns were never answered" in " ".join(outcome.result.warnings)


def test_times_of_few_people_are_not_shown(dataset_of):
    outcome = dataset_of(matches=[match(1, player_bob="human", participant_bob="p1")], decisions=[turn(1)]).run(
        "general.response_times"
    )
    assert rows_of(outcome, "seconds")[0]["people"] == "fewer than 5"
    assert not outcome.figures and not outcome.numbers


def test_agreement_by_round_and_by_offer(dataset_of):
    moves = []
    for number in range(4):
        name = f"m{number:06}"
        moves.append({**turn(1, "alice"), "match": name, "move_bob_gain": 10.0 * (number + 1)})
        moves.append({**turn(2, "bob"), "match": name, "round": 1 + number % 2, "move_bob_gain": None,
                      "move_decision": "accept" if number > 1 else "reject"})  # fmt: skip
    outcome = dataset_of(matches=[match(number, agreement=number > 1) for number in range(4)], decisions=moves).run(
        "general.agreement"
    )
    # Of four in the first round one agrees and one leaves; of the two in the second round one agrees.
    assert [(row["n"], row["agreed"]) for row in rows_of(outcome, "open")] == [(4, 0), (4, 1), (2, 1)]
    assert [row["estimate"] for row in rows_of(outcome, "open")] == [1, 0.75, 0.375]
    offers = rows_of(outcome, "offers")
    assert [(row["offered"], row["estimate"]) for row in offers] == [(10, 0), (20, 0), (30, 1), (40, 1)]


@pytest.mark.slow
def test_different_offers_are_joined_only_if_there_are_ten(dataset_of):
    def offers(number):
        moves = []
        for index in range(30):
            offer, name = float(index % number), f"m{index:06}"
            moves.append({**turn(1, "alice"), "match": name, "move_bob_gain": offer})
            moves.append({**turn(2), "match": name, "move_bob_gain": None, "move_decision": "accept"})
        return moves

    for number, bins in ((3, 3), (9, 9), (30, 10)):
        data = dataset_of(matches=[match(index, agreement=True) for index in range(30)], decisions=offers(number))
        assert len(rows_of(data.run("general.agreement", draws=50), "offers")) == bins


def test_slopes_are_within_matches(dataset_of):
    rounds = [
        {"match": f"m{m:06}", "row": r, "round": r, "answer": 100.0 * m + 2 * r} for m in range(3) for r in (1, 2, 3)
    ]
    outcome = dataset_of(matches=[match(number) for number in range(3)], rounds=rounds).run("general.rounds")
    assert rows_of(outcome, "slopes")[0]["estimate"] == pytest.approx(2)
    assert [row["estimate"] for row in rows_of(outcome, "means")] == pytest.approx([102, 104, 106])


def test_messages_by_player_and_silence(dataset_of):
    messages = [{"match": "m000001", "role": "alice", "words": words, "characters": 5 * words} for words in (2, 4)]
    outcome = dataset_of(matches=[match(1), match(2)], messages=messages).run("general.messages")
    lengths = {(row["measure"], row["player"]): row["estimate"] for row in rows_of(outcome, "lengths")}
    assert lengths["Words per message", "script:a"] == 3
    assert lengths["Words per match", "script:a"] == 6
    assert {row["player"]: row["estimate"] for row in rows_of(outcome, "silent")} == {"script:a": 0.0, "script:b": 1.0}


def call(number, **columns):
    return {"match": f"m{number:06}", "role": "alice", "answering": 1, "model": "m", "outcome": "move", "try_number": 1,
            "rung": 0, "error": None, "fault": None, "refused": None, "input_tokens": 10, "output_tokens": 2,
            "cost": 0.5, "latency": 1.0 + number, **columns}  # fmt: skip


def test_cost_covers_calls_with_known_prices(dataset_of):
    outcome = dataset_of(matches=[match(1), match(2)], llm_calls=[call(1), call(2), call(2, cost=None)]).run(
        "general.models"
    )
    row = rows_of(outcome, "models")[0]
    assert (row["calls"], row["cost"], row["cost_per_match"], row["priced"]) == (3, 1.0, 0.5, pytest.approx(2 / 3))
    assert (row["input_tokens"], row["output_tokens"]) == (30, 6)


def test_failure_rates_of_calls_answers_and_turns(dataset_of):
    calls = [
        call(1), call(1, answering=2, fault="illegal"), call(1, answering=2, try_number=2),
        call(2, error="timeout", fault=None), call(2, try_number=1, rung=1),
    ]  # fmt: skip
    rows = rows_of(dataset_of(matches=[match(1), match(2)], llm_calls=calls).run("general.failures"), "shares")
    assert {row["what"]: (row["count"], row["n"]) for row in rows} == {
        "No answer": (1, 5), "Unreadable": (0, 4), "Illegal": (1, 4), "Refused": (0, 4), "Asked again": (1, 3),
        "Another model took over": (1, 3),
    }  # fmt: skip


def test_pay_per_hour_and_correlation_of_bonus_and_payoff(dataset_of):
    people = [
        person(number, arrived_at="2026-01-01T00:00:00Z", ended_at="2026-01-01T00:30:00Z") for number in range(5)
    ]  # fmt: skip
    payments = [
        {"participant": f"p{number}", "reason": reason, "amount": amount, "currency": "USD", "payoff": float(number)}
        for number in range(5) for reason, amount in (("base", 1.0), ("bonus", number / 2))
    ]  # fmt: skip
    outcome = dataset_of(matches=[match(1)], participants=people, payments=payments).run("general.pay")
    assert outcome.numbers["per hour (USD)"]["estimate"] == pytest.approx(4)
    assert outcome.numbers["bonus and payoff (USD)"]["estimate"] == pytest.approx(1)


def test_power_uses_the_sd_within_cells(dataset_of):
    matches = [
        match(number, config_rounds=1 + number % 2, efficiency=10.0 * (number % 2) + number // 2 % 2)
        for number in range(100)
    ]
    row = rows_of(dataset_of(matches=matches).run("general.power"), "smallest")[0]
    assert row["sd"] == pytest.approx((100 * 0.25 / 98) ** 0.5)
    assert row["mde_80"] == pytest.approx(0.565882 * row["sd"], rel=1e-3)


def test_outcomes_without_participants_with_most_signals(dataset_of):
    signals = [
        {"participant": f"p{number}", "step": "match", "times_hidden": 50 if number == 0 else 1} for number in range(20)
    ]
    matches = [
        match(number, player_alice="human", participant_alice=f"p{number}", efficiency=0.0 if number == 0 else 1.0)
        for number in range(20)
    ]
    outcome = dataset_of(matches=matches, signals=signals, participants=[person(number) for number in range(20)]).run(
        "general.signals"
    )
    assert rows_of(outcome, "counts")[0]["median"] == 1
    assert [row["estimate"] for row in rows_of(outcome, "robustness")] == [0.95, 1.0]


def test_outcomes_without_unverified_matches_have_their_own_row(dataset_of):
    matches = [match(1, efficiency=0.2, unverified="a sum"), match(2, efficiency=0.4), match(3, efficiency=0.6)]
    rows = {
        row["factor"]: row for row in rows_of(dataset_of(matches=matches).run("general.outcomes", **QUICK), "factors")
    }
    assert rows["All matches"]["estimate"] == pytest.approx(0.4)
    assert rows["Without unverified ones"]["estimate"] == pytest.approx(0.5)


def test_one_model_with_two_prompts_is_two_players(dataset_of):
    matches = [match(number, player_alice="openai:m", agent_alice=f"m {strategy}", agent_alice_hash=f"{number}")
               for number, strategy in enumerate(["plain", "tools"])]  # fmt: skip
    assert dataset_of(matches=matches).players == ["m plain", "m tools", "script:b"]
    assert Options().level == 0.95
