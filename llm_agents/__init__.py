"""Agents that play the games' seats: scripts and language models. Imports `games`, never Django."""
