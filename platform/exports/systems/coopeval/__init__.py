"""CoopEval: its published records of tournaments, and the tables that its paper prints of them."""

from exports.published import System
from exports.systems.coopeval.reading import read

SYSTEM = System("coopeval", "CoopEval", read, f"{__name__}.comparing")
