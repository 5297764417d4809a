"""GLEE: its games in their published layout, and the tables that its paper prints of them."""

from exports.glee.reading import read_tree
from exports.published import System

SYSTEM = System("glee", "GLEE", read_tree, f"{__name__}.comparing")
