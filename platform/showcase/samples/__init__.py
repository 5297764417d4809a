"""Samples: finished studies and a collection with known behaviour, made at the demo's first start.

They show what cannot be imagined: the monitor, the pay page, the dataset, the report and the leaderboard of something
that has ended. Tests use them, too.
"""

from showcase.samples.overview import Sample, links

__all__ = ["Sample", "links"]
