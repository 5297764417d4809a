"""oTree's bots skip the game, so that the experiment around it can be tested with them."""

from otree.api import Bot


class PlayerBot(Bot):
    def play_round(self) -> None:
        """Submit nothing: neither Play nor Done is shown to a bot."""
