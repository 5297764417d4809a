"""The games: pure rules, texts and scripted players. Nothing here depends on Django, clocks or sockets."""
