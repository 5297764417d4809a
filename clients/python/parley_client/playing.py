"""Play every turn that waits for a program."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from parley_client.server import Problem, Server

POLL_SECONDS = 1.0
"""Seconds between two looks for open turns without a socket."""
log = logging.getLogger("parley_client")


@dataclass
class Seat:
    """One open turn: `data` has the keys of the API; `problem` says what was wrong with the last try."""

    data: dict[str, Any]
    server: Server
    problem: str = ""
    tries: int = field(default=0, init=False)

    @property
    def game(self) -> str:
        return str(self.data["game"])

    @property
    def role(self) -> str:
        return str(self.data["role"])

    @property
    def text(self) -> str:
        """What the seat knows now, as text."""
        return str(self.data["text"])

    @property
    def form(self) -> dict[str, Any]:
        """The first form that ends the turn; the others are in `data["forms"]`."""
        forms: list[dict[str, Any]] = self.data["forms"]
        return next((form for form in forms if form["ends_turn"]), forms[0])

    def look_up(self, name: str, **arguments: Any) -> Any:
        """Return what one of the turn's tools finds.

        Raises:
            Problem
        """
        return self.server.look_up(self.data["token"], name, arguments)

    def move(self, move: Any) -> bool:
        """Send a move; return False if it was not legal, and `problem` says why.

        Raises:
            Problem: the turn is over, or takes no more tries.
        """
        self.tries += 1
        try:
            self.server.move(self.data["token"], move, self.tries)
        except Problem as problem:
            self.problem = str(problem)
            if problem.status != 422 or problem.tries_left == 0:
                raise
            return False
        return True


Decide = Callable[[Seat], Any]
"""Returns the move for a seat: one of its forms, filled in. Called again, with its `problem`, if it was not legal."""


def play(
    address: str,
    secret: str,
    decide: Decide,
    *,
    talk: Callable[[dict[str, Any]], str | None] | None = None,
    version: str = "",
    threads: int = 4,
    socket: bool = False,
    stop: threading.Event | None = None,
) -> None:
    """Play every turn that waits for the program, several at a time, until `stop` is set.

    Args:
        talk: called with each chat when it opens and after others wrote; returns a message, or None.
        version: what the program calls its version; recorded with its moves.
        socket: be told of turns over a WebSocket (needs the package `websockets`), instead of asking every second.

    Raises:
        Problem: the server does not accept the secret.
    """
    server, stop = Server(address, secret, version=version), stop or threading.Event()
    begun: dict[str, float] = {}
    if talk:
        threading.Thread(target=_talk, args=(server, talk, stop), daemon=True).start()
    with ThreadPoolExecutor(threads) as pool:
        for seat in (_told if socket else _asked)(server, stop):
            now = time.monotonic()
            begun = {key: until for key, until in begun.items() if until > now}
            turn = f"{seat['seat']}/{seat['turn']}"
            if turn not in begun:
                begun[turn] = now + seat["seconds_left"] + 60
                pool.submit(_play_turn, Seat(seat, server), decide)


def _talk(server: Server, talk: Callable[[dict[str, Any]], str | None], stop: threading.Event) -> None:
    heard: dict[str, list[Any]] = {}
    while not stop.wait(POLL_SECONDS):
        try:
            for chat in server.chats():
                last = chat["lines"][-1:]
                if chat["open"] and heard.get(chat["seat"]) != last and not (last and last[0]["own"]):
                    heard[chat["seat"]] = last
                    if text := talk(chat):
                        server.say(chat["token"], text)
        except Exception:
            log.exception("no message")


def _play_turn(seat: Seat, decide: Decide) -> None:
    try:
        while not seat.move(decide(seat)):
            log.warning("%s, %s: %s", seat.game, seat.role, seat.problem)
    except Problem as problem:
        log.warning("%s, %s: %s", seat.game, seat.role, problem)
    except Exception:
        log.exception("%s, %s: no move", seat.game, seat.role)


def _asked(server: Server, stop: threading.Event) -> Iterator[dict[str, Any]]:
    """Yield the open turns, each as often as it is seen."""
    while not stop.is_set():
        yield from server.seats()
        stop.wait(POLL_SECONDS)


def _told(server: Server, stop: threading.Event) -> Iterator[dict[str, Any]]:
    """Yield the turns that the server's socket tells of; connect again whenever it is lost."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    address = "ws" + server.address.removeprefix("http") + "/"
    header = {"Authorization": f"Bearer {server.secret}"}
    while not stop.is_set():
        yield from server.seats()  # raises Problem for a wrong secret
        with contextlib.suppress(OSError, WebSocketException), connect(address, additional_headers=header) as socket:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    message = json.loads(socket.recv(timeout=POLL_SECONDS))
                    if message["type"] == "seat":
                        yield message
        stop.wait(POLL_SECONDS)
