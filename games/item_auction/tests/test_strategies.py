"""The questions to models under the published strategies, with stand-in servers of both protocols."""

from __future__ import annotations

import json

import pytest

from games.item_auction.rules import ItemAuction
from games.play import configure
from llm_agents import breaker
from llm_agents.agent import AgentSpec
from llm_agents.endpoints import Endpoint, use_endpoints
from llm_agents.match import play_match
from llm_agents.settings import bare
from llm_agents.standins import BothStandIn
from llm_agents.standins.player import answer

LOTS = [{"name": f"L{number}", "start_price": 100 * number, "true_value": 777 + number} for number in (1, 2, 3)]
CONFIG = {"items": LOTS, "order": "listed", "players": 2, "budget": 1000, "tie_break": "first_seat"}


@pytest.fixture(autouse=True)
def reset_breaker():
    breaker.reset()
    yield
    breaker.reset()


def auction_record(strategy: str, reply, *, tries_after_first: int = 3, left_out: tuple[str, ...] = (), **config):
    """Return the record of an auction of p1, with this strategy, against the rule bidder, and the requests."""
    settings = bare(strategy=strategy, left_out=left_out, tries_after_first=tries_after_first)
    with BothStandIn(reply) as standin:
        use_endpoints(lambda name: Endpoint("stand-in", "openai", standin.environment["OPENAI_BASE_URL"]))
        record = play_match(
            configure(ItemAuction, {**CONFIG, "rule_limit": 1, **config}),
            1,
            {
                "p1": AgentSpec("stand-in", "stand-in", settings, fallbacks=(AgentSpec("script", "withdraw"),)),
                "p2": AgentSpec("script", "rule"),
            },
        )
        return record, [request["messages"] for request in standin.requests]


def asks_for(request) -> str:
    """Return what a request's last question asks for."""
    question = next(
        message["content"] for message in reversed(request["messages"]) if "It is your turn." in message["content"]
    )
    return next(key for key in ("priorities", "remaining_budget", "bid") if f'"{key}"' in question)


def bidder(request) -> str:
    """Plan, report a wrong belief, and bid 300 for the first item only."""
    match asks_for(request):
        case "priorities":
            return 'The expensive ones. {"priorities": {"L1": 1, "L2": 2, "L3": 3}}'
        case "remaining_budget":
            return 'I think so. {"remaining_budget": 1, "total_profits": {}, "winning_bids": {}}'
    first = "round 1 on L1" in request["messages"][-1]["content"]
    return 'Cheap. {"bid": 300}' if first else 'Too expensive. {"bid": null}'


@pytest.mark.parametrize(
    ("strategy", "purposes"),
    [
        ("adaptive", ["plan", "move", "belief", "replan", "move", "belief", "replan", "move"]),
        ("static", ["plan", "move", "belief", "move", "belief", "move"]),
        ("none", ["move", "belief", "move", "belief", "move"]),
    ],
)
def test_calls_come_in_the_published_order(strategy, purposes):
    record, _requests = auction_record(strategy, bidder)
    assert record.failed is None
    assert [call.purpose for call in record.calls] == purposes
    assert record.play.metrics()["p1_belief_claims"] == 10
    assert record.play.metrics()["p1_belief_errors_budget"] == 2


@pytest.mark.parametrize(
    ("left_out", "purposes"),
    [
        ((), ["plan", "move", "belief", "replan", "move"]),
        (("belief",), ["plan", "move", "replan", "move"]),
        (("plan", "belief"), ["move", "replan", "move"]),
        (("plan", "belief", "replan"), ["move", "move"]),
    ],
)
def test_each_call_before_a_bid_can_be_omitted(left_out, purposes):
    record, _requests = auction_record("plan_bid_believe", bidder, left_out=left_out)
    assert record.failed is None
    assert [call.purpose for call in record.calls][: len(purposes)] == purposes
    assert not {call.purpose for call in record.calls} & set(left_out)


def test_each_call_shows_only_its_own_content():
    record, requests = auction_record("adaptive", bidder)
    by_purpose = [(call.purpose, messages) for call, messages in zip(record.calls, requests, strict=True)]
    (_plan, plan), (_bid, bid), (_belief, belief), (_replan, replan) = by_purpose[:4]
    assert len(plan) == 2 and "Your estimate (may be wrong)" in plan[1]["content"]
    assert all(name in plan[1]["content"] for name in ("L1", "L2", "L3"))
    # The bid follows the plan's question and answer, and shows this item.
    assert bid[1] == plan[1] and "The expensive ones." in bid[2]["content"]
    assert "Start at the start price" in bid[3]["content"] and "L3" not in bid[3]["content"]
    # The belief report shows the last item and the facts before it, not the current facts.
    assert len(belief) == 2 and "$300" in belief[1]["content"] and "$778" in belief[1]["content"]
    assert "Money left: $1,000" in belief[1]["content"] and "$700" not in belief[1]["content"]
    # The new plan follows the last plan, and shows the facts in spite of the wrong belief.
    assert replan[1] == plan[1]
    assert "Money left: $700" in replan[3]["content"] and "$478" in replan[3]["content"]
    assert "L1 " not in replan[3]["content"].split("Items to come")[1]
    # The next bid follows the new plan, and shows nothing of the item before.
    assert by_purpose[4][1][1] == replan[3] and len(by_purpose[4][1]) == 4


def test_next_bid_follows_own_answers_on_the_item():
    def raises(request):
        if asks_for(request) != "bid":
            return bidder(request)
        bids_made = sum(message["role"] == "assistant" for message in request["messages"])
        return json.dumps({"bid": 100 if bids_made == 0 else 120 if "lowest bid is $120" in str(request) else None})

    record, requests = auction_record("none", raises, items=LOTS[:1], rule_limit=2)
    assert [call.purpose for call in record.calls] == ["move"] * len(requests) and len(requests) > 1
    assert requests[1][2]["content"] == '{"bid": 100}' and "Bidding round 1 on L1" in requests[1][1]["content"]


def test_unreadable_plans_and_beliefs_are_skipped():
    def mute(request):
        return bidder(request) if asks_for(request) == "bid" else "I would rather not say."

    record, _requests = auction_record("adaptive", mute, tries_after_first=1)
    assert record.failed is None
    assert record.play.metrics()["p1_belief_claims"] == 0 and record.play.metrics()["p1_plan_errors"] == 0
    assert [call.purpose for call in record.calls if call.fault] == [
        *["plan"] * 2,
        *["belief", "belief", "replan", "replan"] * 2,
    ]


def test_illegal_bid_becomes_a_withdrawal_by_the_script():
    def greedy(request):
        return '{"bid": 100000}' if asks_for(request) == "bid" else bidder(request)

    record, requests = auction_record("none", greedy, items=LOTS[:1])
    moves = [event.data for event in record.events if event.kind == "move" and event.data["role"] == "p1"]
    assert moves[0]["move"] == {"bid": None} and moves[0]["by"] == "script:withdraw"
    assert len(requests) == 4 and "you can bid from $100 to $1,000" in requests[1][-1]["content"]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("strategy", ["adaptive", "static", "none", "plain"])
def test_stand_in_bids_from_its_requests_alone(protocol, strategy):
    with BothStandIn(lambda request: answer(request, seed=5, prose=True), keeps_requests=False) as standin:
        address = standin.environment[f"{protocol.upper()}_BASE_URL"]
        use_endpoints(lambda name: Endpoint("stand-in", protocol, address))
        spec = AgentSpec("stand-in", "stand-in", bare(strategy=strategy))
        record = play_match(configure(ItemAuction, CONFIG), 2, dict.fromkeys(("p1", "p2"), spec))
    assert record.failed is None
    assert (record.play.metrics()["p1_belief_claims"] > 0) == (strategy != "plain")
