"""Games in the layout in which GLEE's data are published: read, played again under our rules, and written.

`reading.read_tree` reads a tree, `playing.outcome` plays one game again, `writing.written` is the reverse.
Nothing here needs Django or a database.
"""
