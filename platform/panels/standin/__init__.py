"""A stand-in for a panel: it sends participants with its own links, learns how the study ended, and pays through lists.

It can play any preset: its links have the preset's fields, and it takes participants back at any of its own addresses
that the study's page leads to. As with a real panel, the opened address is the only information it receives.
"""
