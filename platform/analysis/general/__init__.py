"""Analyses of any game, from the columns that every dataset has."""

ORDER = tuple(
    f"general.{name}"
    for name in (
        "flow", "checks", "attrition", "balance", "outcomes", "effects", "human_vs_model", "rounds", "agreement",
        "response_times", "messages", "models", "failures", "pay", "power", "signals",
    )
)  # fmt: skip
"""As a reader of a report wants them: who took part, what came of it, how, at what cost."""
