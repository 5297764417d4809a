"""Games in GLEE's published layout: reading them, replaying them under our rules, and writing them.

`reading.read_tree` reads a tree, `published.replay_game` plays one game again, and `writing` does the reverse.
Nothing here needs Django or a database.
"""
