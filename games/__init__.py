"""The games of Parley: pure rules, texts and scripted players. Nothing here knows Django, clocks or sockets."""
