"""The oTree counterpart of the benchmark parts `pages` and `live`, as an oTree project."""

SESSION_CONFIGS = [{"name": "walk", "num_demo_participants": 1, "app_sequence": ["walk"]}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 0.01, "participation_fee": 0.00}
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
SECRET_KEY = "only for a benchmark"
