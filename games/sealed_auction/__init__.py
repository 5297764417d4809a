"""The sealed auction: all bid at once, the highest wins and pays the second-highest bid (or its own)."""
