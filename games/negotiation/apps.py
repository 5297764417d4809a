from django.apps import AppConfig


class NegotiationConfig(AppConfig):
    name = "games.negotiation"
    label = "negotiation"
