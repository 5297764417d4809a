"""The survey after the game."""

import parley
from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Page, models


class C(BaseConstants):
    NAME_IN_URL = "after"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    comment = models.LongStringField(label="What did you think of the other player?", blank=True)


class Survey(Page):
    form_model = "player"
    form_fields = ["comment"]


class End(Page):
    @staticmethod
    def vars_for_template(player: Player) -> dict:
        parley.take_in(player.participant)
        return {"earned": player.participant.payoff_plus_participation_fee()}


page_sequence = [Survey, End]
