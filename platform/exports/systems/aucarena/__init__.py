"""AucArena: the files that its program writes of each auction, and the numbers that its paper prints."""

from exports.published import System
from exports.systems.aucarena.reading import read

SYSTEM = System("aucarena", "AucArena", read, f"{__name__}.comparing")
