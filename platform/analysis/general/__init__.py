"""Analyses for any game, based on columns that every dataset has."""

ORDER = tuple(
    f"general.{name}"
    for name in (
        "confirmatory", "flow", "checks", "attrition", "balance", "outcomes", "effects", "human_vs_model", "order",
        "leaderboard", "rounds", "agreement", "questions", "response_times", "messages", "models", "failures", "pay",
        "power", "signals",
    )
)  # fmt: skip
"""In the order of the report: who took part, the outcomes, the process, the cost."""
