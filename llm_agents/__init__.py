"""Players of the games' seats that are not people: scripts and language models. Knows `games`, never Django."""
