"""Shared by analyses of participants: their rows with arm, opponent and parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from analysis.data import CONFIG, FACTOR, Data, is_fixed_by
from analysis.errors import SkippedError
from analysis.frames import arms_of, level_text
from analysis.toolbox import components

if TYPE_CHECKING:
    import pandas as pd

PERSON = "person"
"""Marks a participant's seat in cells.csv."""
STARTED_STAGES = ("began", "finished", "completed", "in_dataset")


def participants(data: Data, *columns: str) -> pd.DataFrame:
    """Return everybody randomised, that is placed in a cell, whether or not they are in the dataset.

    Added are `arm` (version and cell), the levels of factors between participants, `opponents` (the cell's agents) and
    the cell's parameters, as text, and `cluster`: people are of one independent unit if they are the same person or
    met, directly or through a chain of others.

    Raises:
        SkippedError: no one was placed in a cell.
    """
    factors = data.treatments("participants")
    requested = ["participant", "stage", "role", "cell", "version", "in_dataset", "match", *factors, *columns]
    frame = data.table("participants", [*(n for n in requested if data.has("participants", n)), "dataset"])
    frame = frame[frame["cell"].notna()].reset_index(drop=True)
    if not len(frame):
        raise SkippedError("No one was placed in a cell.")
    frame = frame.assign(arm=arms_of(frame), cluster=_units(data, frame))
    for name in factors:
        frame[name] = frame[name].map(level_text, na_action="ignore").astype("str")
    if not data.has("cells", "version", "cell"):
        return frame
    names = [n for n in data.names("cells") if n.startswith(CONFIG)]
    seats = ["seats"] if data.has("cells", "seats") else []
    cells = data.table("cells", ["version", "cell", *seats, *names, "dataset"]).drop_duplicates(
        ["dataset", "version", "cell"]
    )
    for name in names:
        cells[name] = cells[name].map(level_text).astype("str")
    cells["opponents"] = cells["seats"].map(_agents, na_action="ignore") if seats else None
    cells = cells.drop(columns=seats)
    cells["dataset"], frame["dataset"] = cells["dataset"].astype("str"), frame["dataset"].astype("str")
    joined: pd.DataFrame = frame.merge(cells, on=["dataset", "version", "cell"], how="left")
    return joined


def _agents(seats: str) -> str:
    """Return the agents of a cell in words, from its seats as JSON."""
    players = [player if isinstance(player, str) else " or ".join(player) for player in json.loads(seats).values()]
    return ", ".join(sorted({player for player in players if player != PERSON})) or "people"


def _units(data: Data, frame: pd.DataFrame) -> Any:
    """Return the number of each participant's independent unit."""
    import pandas as pd

    if "participant" not in frame:
        return components(len(frame), [])
    name, matches = frame["participant"], pd.Series(None, index=frame.index, dtype="str")
    if "match" in frame:
        matches = frame["match"]
    if data.has("excluded", "participant", "match"):
        rows = data.table("excluded", ["participant", "match"]).dropna().drop_duplicates("participant")
        matches = matches.astype("object").fillna(name.map(rows.set_index("participant")["match"]))
    # Matches are one unit if their people met in others, excluded or not; those not exported stand for themselves.
    everything = data.with_excluded or data
    unit = everything.clusters.astype("str").set_axis(everything.column("matches", "match"))
    return components(len(frame), [[name.map(data.person(), na_action="ignore")], [matches.map(unit).fillna(matches)]])


def unit_of(data: Data, participant: pd.Series) -> pd.Series:
    """Return the independent unit of each participant: that of their matches or, without one, the person."""
    import pandas as pd

    units: dict[str, int] = {}
    for role in data.roles:
        if data.has("matches", f"participant_{role}"):
            names = data.column("matches", f"participant_{role}")
            units |= dict(zip(names[names.notna()], data.clusters[names.notna()], strict=True))
    known = participant.map(units)
    return pd.Series(known.astype("object").where(known.notna(), participant.map(data.person())), participant.index)


def factors(data: Data, frame: pd.DataFrame) -> dict[str, str]:
    """Return the columns by which people are compared, with headings: those that take several values.

    What the plan's factors determine, such as a parameter or the opponents, stands behind them.
    """
    named = [name for name in frame.columns if name.startswith(FACTOR)]
    others = ["opponents", *(name for name in frame.columns if name.startswith(CONFIG))]
    headings = {"arm": "Cell", "role": "Role", **{name: data.heading(name) for name in named}}
    for name in others:
        if name in frame and not is_fixed_by(frame, name, named):
            headings[name] = "Opponents" if name == "opponents" else data.heading(name)
    return {name: heading for name, heading in headings.items() if name in frame and frame[name].nunique() > 1}
