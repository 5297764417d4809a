"""Three small games for the kernel's tests only; together they use all its features."""

from games.tests.toys.clock_auction import EXAMPLES as CLOCK_AUCTION_EXAMPLES
from games.tests.toys.clock_auction import ClockAuction
from games.tests.toys.guessing import Guessing
from games.tests.toys.well import EXAMPLES as WELL_EXAMPLES
from games.tests.toys.well import Well

__all__ = ["CLOCK_AUCTION_EXAMPLES", "WELL_EXAMPLES", "ClockAuction", "Guessing", "Well"]
