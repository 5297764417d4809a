"""Three small games that live only in the tests of the kernel; together they use all that it offers."""

from games.tests.toys.clock_auction import EXAMPLES as CLOCK_AUCTION_EXAMPLES
from games.tests.toys.clock_auction import ClockAuction
from games.tests.toys.guessing import Guessing
from games.tests.toys.well import EXAMPLES as WELL_EXAMPLES
from games.tests.toys.well import Well

__all__ = ["CLOCK_AUCTION_EXAMPLES", "WELL_EXAMPLES", "ClockAuction", "Guessing", "Well"]
