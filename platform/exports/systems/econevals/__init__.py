"""EconEvals: the files that its program writes of each run, and the numbers that its paper prints."""

from exports.published import System
from exports.systems.econevals.reading import read

SYSTEM = System("econevals", "EconEvals", read, f"{__name__}.comparing")
