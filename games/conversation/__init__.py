"""Talking without a game: what the stage `chat` plays. Not among the games that researchers choose."""
