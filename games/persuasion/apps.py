from django.apps import AppConfig


class PersuasionConfig(AppConfig):
    name = "games.persuasion"
    label = "persuasion"
