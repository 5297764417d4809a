"""Games in GLEE's published layout: read, played again under our rules, and written.

`reading.read_tree` reads a tree, `playing.outcome` plays one game again, and `writing.written` does the reverse.
Nothing here needs Django or a database.
"""
