"""What a collection's page says of this benchmark: mean scores by agent and level."""

from games.econevals import scores as results

__all__ = ["results"]
