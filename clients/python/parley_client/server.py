"""The seat API of a Parley server over HTTP, with the standard library alone."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

PATIENCE = 60.0
"""Seconds for which a request is repeated while the server does not answer or asks to wait."""


class Problem(Exception):
    """The server refused a request; `str(problem)` is its reason.

    Attributes:
        status: the HTTP status: 401 a wrong secret, 404 an unknown turn, 409 the turn is over, 422 not legal.
        tries_left: how many more moves the turn takes.
    """

    def __init__(self, status: int, reason: str, tries_left: int = 0):
        super().__init__(reason)
        self.status, self.tries_left = status, tries_left


class Server:
    """A server and the secret of one program."""

    def __init__(self, address: str, secret: str, *, version: str = ""):
        self.address = address.rstrip("/") + "/api/v1/seats"
        self.secret, self.version = secret, version

    def seats(self) -> list[dict[str, Any]]:
        """Return the turns that wait for the program, the longest waiting first.

        Raises:
            Problem
        """
        seats: list[dict[str, Any]] = self._request("GET", "")["seats"]
        return seats

    def look_up(self, token: str, name: str, arguments: dict[str, Any]) -> Any:
        """Return what one of a turn's tools finds.

        Raises:
            Problem
        """
        call = {"name": name, "arguments": arguments, "version": self.version}
        return self._request("POST", f"/{token}/tool", call)["result"]

    def move(self, token: str, move: Any, number: int) -> None:
        """Make a turn's move, the turn's try with this number, from 1; sent again, it changes nothing.

        Raises:
            Problem
        """
        self._request("POST", f"/{token}/move", {"move": move, "try": number, "version": self.version})

    def chats(self) -> list[dict[str, Any]]:
        """Return the chats of the program's seats, as the API describes them."""
        chats: list[dict[str, Any]] = self._request("GET", "/chats")["chats"]
        return chats

    def say(self, token: str, text: str, to: str = "") -> None:
        """Write in a chat, to one seat or to the group; waits if that was too fast or out of turn."""
        self._request("POST", f"/{token}/chat", {"text": text, "to": to, "key": uuid.uuid4().hex})

    def _request(self, method: str, path: str, body: Any = None) -> Any:
        until = time.monotonic() + PATIENCE
        while True:
            headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(self.address + path, data, headers, method=method)
            wait = 1.0
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code == 429:
                    wait = float(error.headers.get("Retry-After") or wait)
                elif error.code < 500:
                    raise _problem(error) from None
                failure: Exception = error
            except OSError as error:
                failure = error
            if time.monotonic() + wait > until:
                raise failure
            time.sleep(wait)


def _problem(error: urllib.error.HTTPError) -> Problem:
    try:
        answer = json.load(error)
        return Problem(error.code, answer["reason"], answer.get("tries_left", 0))
    except (ValueError, KeyError, TypeError):
        return Problem(error.code, str(error))
