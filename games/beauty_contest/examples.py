"""Configurations of the beauty contest for the contract tests."""

from games.examples import Examples

EXAMPLES = Examples(
    configs=(
        {"runs": 6, "history_depth": 3},
        {"runs": 4, "told_of_others": "similar", "players": 2},
        {"players": 7, "upper": 7.5, "fraction": 0.5, "prize": 12, "fouls": "refuse", "runs": 2, "history_depth": 50},
        {"upper": 1e300, "fraction": 0.9, "told_of_others": "rational", "people_may_foul": True},
    )
)
