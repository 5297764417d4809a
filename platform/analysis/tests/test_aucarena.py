"""AucArena's analyses on auctions with results known by hand."""

from __future__ import annotations

import json

import pytest

from analysis import load
from analysis.published.aucarena.bidding import bid_increments
from analysis.published.aucarena.results import concordance
from analysis.tests.building import dataset

PLAYERS = {"p1": "human", "p2": "openai:gpt-4-turbo", "p3": "script:rule"}


@pytest.fixture
def auctions(tmp_path):
    """Three auctions of two items with start price 1,000 and true value 2,000; p1 plans the second item first."""
    matches, seats, rounds, moves = [], [], [], []

    def decision(match, move_number, role, item, phase, move, refused=0):
        moves.append({"match": match, "move_number": move_number, "role": role, "round": item, "phase": phase,
                      "move": json.dumps(move, separators=(",", ":")), "move_bid": move.get("bid"),
                      "move_priorities": json.dumps(move["priorities"]) if "priorities" in move else None,
                      "refused": refused})  # fmt: skip

    for index in range(3):
        match = f"m{index}"
        matches.append({"match": match, "game": "item_auction", "config_budget": 20_000 if index < 2 else 40_000,
                        "config_order": "random", "config_objectives": json.dumps(["items", "profit", "profit"]),
                        "started_at": f"2026-01-0{index + 1}T00:00:00Z", "in_dataset": True,
                        **{f"player_{r}": player for r, player in PLAYERS.items()},
                        "participant_p1": f"p{index}"})  # fmt: skip
        for role, profit in {"p1": -100, "p2": 300, "p3": 900}.items():
            seats.append({"match": match, "role": role, "profit": profit, "items": int(role != "p2"), "bids": 3,
                          "withdrawals": 1, "belief_claims": 7 if role == "p1" else 0,
                          "belief_errors_budget": 0, "belief_errors_own": 1 if role == "p1" else 0,
                          "belief_errors_others": 0})  # fmt: skip
            for item_number, winner, price in ((1, "p3", 1100), (2, "p1", 2100)):
                rounds.append({"match": match, "round": item_number, "role": role, "item": f"L{item_number}",
                               "start_price": 1000, "discounts": 0, "true_value": 2000, "winner": winner,
                               "price": price,
                               "bids": {1: 1, 2: 4}[item_number] if role == "p1" else 2,
                               "priority_initial": {1: 1, 2: 3}[item_number] if role == "p1" else None,
                               "priority_current": {1: 1, 2: 2}[item_number] if role == "p1" else None,
                               "payoff": 2000 - price if winner == role else 0})  # fmt: skip
        decision(match, 1, "p1", 1, "round 1", {"priorities": {"L1": 1, "L2": 3}})
        decision(match, 2, "p1", 1, "round 1", {"bid": 1000}, refused=2)
        decision(match, 3, "p2", 1, "round 1", {"bid": 1050})
        decision(match, 4, "p1", 1, "round 2", {"bid": 1155})
        decision(match, 5, "p1", 2, "round 1", {"priorities": {"L2": 2}})
    return load(dataset(tmp_path / "d", {"matches": matches, "seats": seats, "rounds": rounds, "decisions": moves}))


def test_higher_earners_are_rated_higher_within_each_setting(auctions):
    table = auctions.run("aucarena.skill").tables["ratings"].frame
    first = table[table["setting"] == "20000, random"]
    assert first["player"].tolist() == ["script:rule", "openai:gpt-4-turbo", "human"]
    assert first["n"].tolist() == [2, 2, 2]
    assert table["setting"].tolist()[-1] == "40000, random"
    agreement = auctions.run("aucarena.robustness").tables
    assert agreement["ranks"].frame["estimate"].tolist() == [1.0]
    overpaid = agreement["overpaid"].frame.set_index("player")["k"]
    assert (overpaid["human"], overpaid["script:rule"]) == (3, 0)


def test_agreement_of_rankings():
    assert concordance([[1, 2, 3], [1, 2, 3]])["estimate"] == 1
    # rank sums 4, 4, 4: no agreement
    assert concordance([[1, 2, 3], [3, 2, 1]])["estimate"] == 0
    assert concordance([[1, 2, 3]])["estimate"] is None


def test_people_are_shown_next_to_published_values(auctions):
    row = auctions.run("aucarena.human").tables["bidders"].frame.set_index("player")
    assert (row.loc["human", "estimate"], row.loc["human", "published"]) == (-100, "7237.5, 3.8")
    assert row.loc["openai:gpt-4-turbo", "published"] == "8712.5, 5"


def test_failure_rates_count_refused_bids_and_wrong_beliefs(auctions):
    table = auctions.run("aucarena.errors", draws=20).tables["rates"].frame.set_index(["kind", "player"])
    # Two refused attempts in each of three auctions, and three bids and one withdrawal each.
    assert table.loc[("bids", "human"), "estimate"] == pytest.approx(6 / (6 + 12))
    own_beliefs = table.loc[("beliefs: own profit and items", "human")]
    assert (own_beliefs["failures"], own_beliefs["correct"], own_beliefs["estimate"]) == (3, 6, pytest.approx(1 / 3))
    assert table.loc[("beliefs: own budget", "script:rule"), "estimate"] != 0  # nothing to report


def test_plans_persist_until_changed(auctions):
    table = auctions.run("aucarena.priorities").tables["priorities"].frame.set_index(["step", "item"])
    assert table["estimate"].to_dict() == {(1, 1): 1, (1, 2): 3, (2, 1): 1, (2, 2): 2}
    assert table.loc[(2, 2), "change"] == -1
    assert table.loc[(2, 1), "past"]


def test_priorities_correlate_with_bids_and_wins(auctions):
    table = auctions.run("aucarena.faithful", draws=20).tables["correlations"].frame.set_index("player")
    assert table.loc["human", "initial_bids"] == pytest.approx(1)
    assert table.loc["human", "current_won"] == pytest.approx(1)
    assert table.loc["openai:gpt-4-turbo", "published"] == ".2348, .0715, .6423, .4328"


def test_bids_of_a_round_are_sealed(auctions):
    rows = bid_increments(auctions)
    increments = rows[rows["match"] == "m0"][["role", "own", "standing"]].to_dict("records")
    assert increments == [
        {"role": "p1", "own": 0, "standing": 0},
        {"role": "p1", "own": pytest.approx(15.5), "standing": pytest.approx(10)},
        {"role": "p2", "own": pytest.approx(5), "standing": pytest.approx(5)},
    ]
    table = auctions.run("aucarena.increments").tables["classes"].frame
    human = table[(table["player"] == "human") & (table["base"] == "standing bid")].set_index("class")["k"]
    assert human.to_dict() == {"0 to 10": 3, "10 to 11": 3, "11 to 15": 0, "15 to 20": 0, "20 and more": 0}


def test_winning_bids_are_compared_between_objectives(auctions):
    table = auctions.run("aucarena.niches").tables["distance"].frame.set_index("budget")
    # Each item costs 2,100 if the bidder who maximises items wins it, else 1,100: the distributions do not overlap.
    assert table.loc["20000", "estimate"] == 1
    items = auctions.run("aucarena.behaviour").tables["items"].frame
    rule_items = items[(items["player"] == "script:rule") & (items["setting"] == "20000, random")].iloc[0]
    assert (rule_items["estimate"], rule_items["won"], rule_items["bids"]) == (900, 2, 2)
