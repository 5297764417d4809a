"""Levels from published tables and selections: one per row, and in selections per role."""

from __future__ import annotations

from functools import lru_cache

from games import grids, registry, selections
from games.errors import BadConfig
from games.interface import Json
from games.words import gettext as _
from plans.factors import Rows


@lru_cache(maxsize=32)
def _levels(game: str, table: str | None, selection: str | None, seed: int) -> dict[str, Json]:
    if game not in registry.keys():
        raise BadConfig(_("There is no game “{game}”.").format(game=game))
    if table is not None:
        configs = grids.table(game, table, seed)
        return {f"row_{number:04}": {"config": config} for number, config in enumerate(configs, start=1)}
    assert selection is not None
    levels: dict[str, Json] = {}
    counts: dict[str, int] = {}
    for chosen in selections.select_named(game, selection, seed):
        counts[chosen.kind] = counts.get(chosen.kind, 0) + 1
        for role in chosen.roles:
            name = f"{chosen.kind}_{counts[chosen.kind]:03}_{role}"
            levels[name] = {"config": chosen.config, "role": role, "kind": chosen.kind, "quota": chosen.quota}
    return levels


def levels_of(rows: Rows) -> dict[str, Json]:
    """Return the rows' levels by stable names: {config}, and in a selection also {role, kind, quota}.

    Raises:
        BadConfig: the game, table or selection does not exist.
    """
    return _levels(rows.game, rows.table, rows.selection, rows.seed)
