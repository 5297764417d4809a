"""The oTree counterpart of the benchmark part `pages`: the pages up to a game, as an oTree project."""

SESSION_CONFIGS = [{"name": "walk", "display_name": "The pages up to a game", "app_sequence": ["walk"]}]
SESSION_CONFIG_DEFAULTS = {
    "real_world_currency_per_point": 0.01, "participation_fee": 0.00, "doc": "", "num_demo_participants": 1,
}  # fmt: skip
PARTICIPANT_FIELDS = []
SESSION_FIELDS = []
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
USE_POINTS = False
ADMIN_USERNAME = "admin"
ADMIN_PASSWORD = None
SECRET_KEY = "only for a benchmark"
DEMO_PAGE_INTRO_HTML = ""
