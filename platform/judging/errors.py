"""What can be wrong with a wish to have justifications judged."""


class JudgingError(Exception):
    """Says what is wrong, for whoever asked."""
