"""Consent, a name, instructions, and the page of an offer, which is also a live page."""

from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Page, models


class C(BaseConstants):
    NAME_IN_URL = "walk"
    PLAYERS_PER_GROUP = 2
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    agree = models.StringField(choices=[["yes", "I agree to take part"]], label="")
    name = models.StringField(label="Your first name, or any other")
    offer = models.IntegerField(min=0, max=10_000, label="What you offer the other side")


class Consent(Page):
    form_model = "player"
    form_fields = ["agree"]


class Name(Page):
    form_model = "player"
    form_fields = ["name"]


class Instructions(Page):
    pass


class Offer(Page):
    form_model = "player"
    form_fields = ["offer"]

    @staticmethod
    def live_method(player, data):
        player.offer = data["offer"]
        return {player.id_in_group: {"counter": 50}}


page_sequence = [Consent, Name, Instructions, Offer]
