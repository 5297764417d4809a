"""Response times in which missing answers are censored."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.toolbox.numbers import Result, known_pairs, undefined


def survival(seconds: Sequence[float | None], answered: Sequence[bool | None]) -> Result:
    """Return the Kaplan–Meier estimate: the share still unanswered after each distinct time.

    Args:
        answered: True if the answer was given at that time, False if there was no answer by then.
    """
    pairs = zip(*known_pairs(seconds, answered), strict=True)
    waits = [(time, bool(was_answered)) for time, was_answered in pairs if time >= 0]
    if not waits:
        return undefined("times share", "no observations", n=0)
    import numpy as np

    distinct, time_index = np.unique([time for time, _was_answered in waits], return_inverse=True)
    ended = np.bincount(time_index)
    answers = np.bincount(time_index, weights=[was_answered for _time, was_answered in waits])
    at_risk = len(waits) - np.concatenate([[0], np.cumsum(ended)[:-1]])
    shares = np.cumprod(1 - answers / at_risk)
    return {"times": distinct.tolist(), "share": shares.tolist(), "n": len(waits)}
