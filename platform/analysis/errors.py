"""What is told to the person who asked for an analysis, in one sentence."""


class DataError(Exception):
    """The dataset, or what was asked of it, cannot be used; the text is one sentence for the person who asked."""


class SkippedError(Exception):
    """An analysis has nothing to say about this dataset; the text says why."""
