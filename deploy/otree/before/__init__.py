"""The survey before the game."""

from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Page, models, widgets


class C(BaseConstants):
    NAME_IN_URL = "before"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    bargains = models.StringField(
        label="How often do you bargain over a price?",
        choices=[["never", "Never"], ["sometimes", "Sometimes"], ["often", "Often"]],
        widget=widgets.RadioSelect,
    )


class Survey(Page):
    form_model = "player"
    form_fields = ["bargains"]


page_sequence = [Survey]
