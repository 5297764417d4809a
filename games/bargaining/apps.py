from django.apps import AppConfig


class BargainingConfig(AppConfig):
    name = "games.bargaining"
    label = "bargaining"
