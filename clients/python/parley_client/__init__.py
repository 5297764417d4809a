"""Play seats of Parley's games with a program of your own: `play("https://parley.example.org", secret, decide)`."""

from parley_client.playing import Seat, play
from parley_client.server import Problem, Server

__all__ = ["Problem", "Seat", "Server", "play"]
