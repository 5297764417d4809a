"""Alternating offers over a sum of money that loses value with every round (Rubinstein 1982; GLEE section 2.1)."""
