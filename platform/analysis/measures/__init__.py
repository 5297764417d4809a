"""Formulas of the published systems, which games compute with, too; they need no library of the analyses."""
