"""Errors with one sentence for the user."""


class DataError(Exception):
    """The dataset or the request cannot be used; the text is one sentence for the user."""


class SkippedError(Exception):
    """An analysis does not apply to this dataset; the text says why."""
