"""Tables of this benchmark on a collection's page: mean scores by agent and level."""

from games.econevals import scores as results

__all__ = ["results"]
