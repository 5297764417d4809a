"""Errors in requests to have justifications judged."""


class JudgingError(Exception):
    """The request is invalid; the message says why."""
