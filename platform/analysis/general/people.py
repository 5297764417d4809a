"""Shared by analyses of participants: their rows with arm, opponent and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import level_text

if TYPE_CHECKING:
    import pandas as pd

STARTED_STAGES = ("began", "finished", "completed", "in_dataset")


def participants(data: Data, *columns: str) -> pd.DataFrame:
    """Return participants placed in a cell, with `arm` (version and cell), `lineup` and the cell's parameters as text.

    Raises:
        SkippedError: no one was placed in a cell.
    """

    requested = [n for n in ("participant", "stage", "role", "cell", "version", "in_dataset", *columns) if n]
    frame = data.table("participants", [*(n for n in requested if data.has("participants", n)), "dataset"])
    if not len(frame):
        raise SkippedError("No one was placed in a cell.")
    several_versions = frame["version"].nunique() > 1 or frame["dataset"].nunique() > 1
    label = frame["cell"].map(level_text)
    if several_versions:
        label = frame["version"].map(level_text) + "." + label
    if frame["dataset"].nunique() > 1:
        label = frame["dataset"].astype("str") + " " + label
    frame = frame.assign(arm="cell " + label)
    if not data.has("cells", "version", "cell"):
        return frame
    names = [n for n in data.names("cells") if n.startswith("config_")]
    lineup = ["lineup"] if data.has("cells", "lineup") else []
    cells = data.table("cells", ["version", "cell", *lineup, *names, "dataset"]).drop_duplicates(
        ["dataset", "version", "cell"]
    )
    for name in (*lineup, *names):
        cells[name] = cells[name].map(level_text).astype("str")
    cells["dataset"], frame["dataset"] = cells["dataset"].astype("str"), frame["dataset"].astype("str")
    joined: pd.DataFrame = frame.merge(cells, on=["dataset", "version", "cell"], how="left")
    return joined


def factors(data: Data, frame: pd.DataFrame) -> dict[str, str]:
    """Return the columns by which people are compared, with headings: those that take several values."""
    headings = {"arm": "Cell", "role": "Role", "lineup": "Opponents"}
    headings |= {name: data.heading(name) for name in frame.columns if name.startswith("config_")}
    return {name: heading for name, heading in headings.items() if name in frame and frame[name].nunique() > 1}
