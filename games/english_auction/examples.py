"""Configurations of the English auction for the contract tests."""

from games.examples import Examples

EXAMPLES = Examples(
    configs=(
        {"players": 3, "assets": 100, "values": [80, 65, 20]},
        {"players": 2, "start_price": 300, "increment": 7.1, "value_sd": 1, "told_of_others": "rational"},
        {"players": 7, "assets": 100, "value_mean": 50, "value_sd": 10, "told_of_others": "similar"},
        {"players": 2, "start_price": 2000},
    )
)
