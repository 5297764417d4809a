"""Tables of this benchmark on a collection's page: mean scores by agent and level."""

from games.econevals import score_tables as results

__all__ = ["results"]
