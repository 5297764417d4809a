"""A stand-in for a panel: it sends people with links of its own, hears how it ended for them, and pays by a list.

It plays any preset: its links have the preset's fields, and it takes everybody back at whatever address of its own
the study's page leads to. What it was told is the address that was opened, nothing else, as with a real panel.
"""
