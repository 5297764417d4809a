"""Configurations of negotiation for the contract tests: every setting at least once."""

from __future__ import annotations

from games.examples import Examples

EXAMPLES = Examples(
    configs=(
        {"seller_factor": 0.8, "buyer_factor": 1.2},
        {"seller_factor": 1.5, "buyer_factor": 0.8, "scale": 100},
        {"rounds": 1, "buyer_factor": 1.5, "complete_information": False},
        {"rounds": None, "seller_factor": 0.8, "complete_information": False, "scale": 1e6},
        {"rounds": None, "buyer_factor": 1.2, "messages_allowed": False, "cap": 12},
        {"rounds": 3, "outside_option": False, "complete_information": False, "messages_allowed": False},
        {"rounds": 4, "outside_option": False, "buyer_factor": 1.2},
        {"rounds": None, "outside_option": False, "seller_factor": 1.2, "cap": 7},
    )
)
