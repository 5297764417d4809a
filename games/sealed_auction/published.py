"""Economics Arena's sealed auctions: configurations."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid

TABLES: Mapping[str, Grid] = {
    "econarena": {
        "told_of_others": ("nothing", "rational", "similar"),
        "history_reveals": ("bids", "bids_and_values"),
        "runs": (1, 6),
        # With a single run there is no history, whatever the depth.
        "history_depth": (3,),
    }
}
