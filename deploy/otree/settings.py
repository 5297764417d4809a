"""A small experiment with Parley in the middle (a survey, the game, a survey), and the game alone."""

from os import environ

SESSION_CONFIGS = [
    {
        "name": "with_parley",
        "display_name": "A game against a model, played in Parley",
        "app_sequence": ["before", "parley", "after"],
        "num_demo_participants": 2,
        # Participants take these roles in turn; without them, Parley fills the cell with the most open places.
        "parley_roles": ["alice", "bob"],
    },
    {
        "name": "parley_alone",
        "display_name": "The game alone",
        "app_sequence": ["parley"],
        "num_demo_participants": 1,
    },
]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 0.01, "participation_fee": 0.00, "doc": ""}
PARTICIPANT_FIELDS = []
SESSION_FIELDS = []

LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
USE_POINTS = False

ADMIN_USERNAME = "admin"
ADMIN_PASSWORD = environ.get("OTREE_ADMIN_PASSWORD")
SECRET_KEY = environ.get("OTREE_SECRET_KEY", "only for trying oTree on one machine")
DEMO_PAGE_INTRO_HTML = ""
