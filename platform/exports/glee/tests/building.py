"""Published games as texts, built by hand so that each test shows everything it depends on."""

from __future__ import annotations

import json

import pytest

from exports.glee import reading
from games import registry

BARGAINING = {
    "money_to_divide": 100, "max_rounds": 12, "complete_information": True, "messages_allowed": True, "delta_1": 0.9,
    "delta_2": 0.8,
}  # fmt: skip
NEGOTIATION = {
    "seller_value": 0.8, "buyer_value": 1.2, "product_price_order": 100, "max_rounds": 10,
    "complete_information": True, "messages_allowed": False,
}  # fmt: skip
PERSUASION = {
    "p": 0.5, "v": 1.25, "c": 0, "product_price": 100, "total_rounds": 2, "is_seller_know_cv": True,
    "is_buyer_know_p": True, "seller_message_type": "text", "is_myopic": False,
}  # fmt: skip
ARGS = {"bargaining": BARGAINING, "negotiation": NEGOTIATION, "persuasion": PERSUASION}

TABLES = {
    "bargaining": (
        "alice_gain,bob_gain,message,player,round,decision\n"
        "60,40,Hello,Alice,1,\n"
        ",,,Bob,1,reject\n"
        "50,50,,Bob,2,\n"
        ",,,Alice,2,accept\n"
    ),
    "negotiation": (
        "product_price,player,round,decision\n110.0,Alice,1,\n,Bob,1,RejectOffer\n90.0,Bob,2,\n,Alice,2,AcceptOffer\n"
    ),
    "persuasion": (
        "round_quality,product_worth,player,round,message,decision\n"
        "high-quality,125.0,Nature,1,,\n,,Alice,1,It is good,\n,,Bob,1,,yes\n"
        "low-quality,0.0,Nature,2,,\n,,Alice,2,It is good too,\n,,Bob,2,,no\n"
    ),
}

PEOPLE = {
    "player_1_type": "otree",
    "player_1_args": {"public_name": "Alice", "model_name": "otree"},
    "player_2_type": "otree_LLM",
    "player_2_args": {"public_name": "Bob", "model_name": "otree_LLM"},
}
MODELS = {
    "player_1_type": "litellm",
    "player_1_args": {"public_name": "Alice", "model_name": "gpt-4o"},
    "player_2_type": "litellm",
    "player_2_args": {"public_name": "Bob", "model_name": "xai/grok-2-1212"},
}

needs_persuasion = pytest.mark.skipif("persuasion" not in registry.keys(), reason="persuasion is not installed")
FAMILIES = ["bargaining", "negotiation", pytest.param("persuasion", marks=needs_persuasion)]


def config(family, args=None, players=MODELS, **extra_keys):
    """Return config.json with some game_args changed."""
    return json.dumps({**players, "game_type": family, "game_args": ARGS[family] | (args or {}), **extra_keys})


def read(family, table=None, args=None, players=MODELS):
    """Return the family's example with another table, other game_args or other players."""
    return reading.read("G1", config(family, args, players), TABLES[family] if table is None else table)
