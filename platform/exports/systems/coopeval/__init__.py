"""CoopEval: its published records of tournaments, and the tables that its paper prints of them."""

from __future__ import annotations

from exports.published import System
from exports.systems.coopeval.comparing import compared
from exports.systems.coopeval.reading import read

SYSTEM = System("coopeval", "CoopEval", read, compared)
