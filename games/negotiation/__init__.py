"""Haggling over the price of one product that is worth something different to seller and buyer (GLEE section 2.2)."""
