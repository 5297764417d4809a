"""oTree's bots skip the game, so that an experiment around it can be tried with them."""

from otree.api import Bot


class PlayerBot(Bot):
    def play_round(self) -> None:
        """Nothing to submit: neither Play nor Done is shown to a bot."""
