"""The small language model that the demo may run on this computer."""

LOCAL, LOCAL_MODEL = "local", "smollm2-135m-instruct"
LOCAL_SETTINGS = {
    "structured": True,
    "short": True,
    "tries_after_first": 5,
    "max_tokens": 200,
    "call_seconds": 60.0,
    "limit_seconds": 180.0,
}
"""Settings for a very small model: more tries, fewer values to enter per move; its fallback is a scripted player."""
