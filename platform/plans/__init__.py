"""Plans: a study as one document. No Django here."""
