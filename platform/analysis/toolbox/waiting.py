"""Response times in which missing answers are censored."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.toolbox.numbers import Result, known_pairs, undefined


def survival(seconds: Sequence[float | None], answered: Sequence[bool | None]) -> Result:
    """Return the Kaplan–Meier estimate: the share still unanswered after each distinct time.

    Args:
        answered: True if the answer was given at that time, False if there was no answer by then.
    """
    times, came = known_pairs(seconds, answered)
    kept = [(time, bool(done)) for time, done in zip(times, came, strict=True) if time >= 0]
    if not kept:
        return undefined("times share", "no observations", n=0)
    import numpy as np

    waited, done = np.array([time for time, _done in kept]), np.array([done for _time, done in kept])
    distinct, place = np.unique(waited, return_inverse=True)
    ended, answers = np.bincount(place), np.bincount(place, weights=done)
    at_risk = len(kept) - np.concatenate([[0], np.cumsum(ended)[:-1]])
    shares = np.cumprod(1 - answers / at_risk)
    return {"times": distinct.tolist(), "share": shares.tolist(), "n": len(kept)}
