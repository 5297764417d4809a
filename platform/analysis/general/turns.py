"""Kinds of moves, for analyses of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.data import Data

if TYPE_CHECKING:
    import pandas as pd

MESSAGE_FIELDS = ("move_message",)


def kinds_of_moves(data: Data) -> pd.Series:
    """Return the kind of each decision, aligned with `decisions`: the game's phase, or else the fields of the move."""
    import pandas as pd

    number = len(data.column("decisions", "match"))
    phase = data.column("decisions", "phase") if data.has("decisions", "phase") else pd.Series([None] * number)
    if phase.notna().all():
        return phase.astype("str")
    filled = pd.Series([""] * number, dtype="str")
    for name in data.names("decisions"):
        if name.startswith("move_") and name not in ("move_number", *MESSAGE_FIELDS):
            has_value = data.column("decisions", name).notna()
            label = data.heading(name, "decisions").lower()
            filled = filled.mask(has_value & (filled == ""), label).mask(
                has_value & (filled != "") & (filled != label), filled + ", " + label
            )
    return phase.astype("str").where(phase.notna(), filled.mask(filled == "", "other"))
