"""A minimal HTTP/1.1 server for the stand-ins: one event loop in one thread, however many calls wait."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

LISTEN_BACKLOG = 4096
"""Length of the listen queue: hundreds of connections arrive at once."""
MAX_HEADER_BYTES = 64 * 1024


@dataclass(frozen=True)
class HttpRequest:
    """One request; header names are in lower case, the query is as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the query, and of the form if one was posted; the last of several values counts."""
        form = self.body.decode(errors="replace") if self.method == "POST" else ""
        return dict(parse_qsl(self.query, keep_blank_values=True) + parse_qsl(form, keep_blank_values=True))


class HttpAnswer:
    """Sends the answer to one request."""

    def __init__(self, writer: asyncio.StreamWriter):
        self._writer = writer
        self.dropped = False

    async def send(self, status: int, headers: Mapping[str, str], body: bytes, *, limit: int | None = None) -> None:
        """Send a whole answer, or only its first `limit` bytes."""
        self._head(status, {**headers, "content-length": str(len(body))})
        self._writer.write(body[:limit])
        await self._writer.drain()
        if limit is not None and limit < len(body):
            self.drop()

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer whose body follows in pieces."""
        self._head(status, {**headers, "transfer-encoding": "chunked"})

    async def piece(self, data: bytes) -> None:
        """Send one piece of the body; an empty one ends it."""
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self._writer.drain()

    def drop(self) -> None:
        """Close the connection, whatever has been sent."""
        self.dropped = True
        self._writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self._writer.write("\r\n".join(lines).encode("latin-1"))


class HttpServer:
    """Serves on 127.0.0.1, in a thread with its own event loop.

    Args:
        answer: called for each request; cancelled when the caller hangs up or the server closes.
        port: 0 for any free one; it is bound at once.
    """

    def __init__(self, answer: Callable[[HttpRequest, HttpAnswer], Coroutine[None, None, None]], port: int = 0):
        self._answer = answer
        # A socket made from its number knows its protocol; otherwise, asyncio leaves Nagle's algorithm on, which holds
        # the body of an answer back until the caller's system acknowledges the head: 40 ms.
        self._socket = socket.socket(fileno=socket.create_server(("127.0.0.1", port), backlog=LISTEN_BACKLOG).detach())
        self.port: int = self._socket.getsockname()[1]
        self._serving = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="standin", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._serving.wait()

    def close(self) -> None:
        """Close all connections; return when the port is free."""
        if self._loop is not None and self._stopped is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()
        self._socket.close()

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(
            self._handle_connection, sock=self._socket, backlog=LISTEN_BACKLOG, limit=MAX_HEADER_BYTES
        )
        self._serving.set()
        await self._stopped.wait()
        server.close()

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle all requests of one connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._converse(reader, writer)
        writer.transport.abort() if writer.transport.is_closing() else writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        next_byte = asyncio.ensure_future(reader.read(1))
        try:
            while byte := await next_byte:
                answer = HttpAnswer(writer)
                request = await self._read(byte, reader, answer)
                if request is None:
                    return
                # Read ahead: only this shows that the caller has hung up.
                next_byte = asyncio.ensure_future(reader.read(1))
                if not await self._answer_request(request, answer, next_byte):
                    return
        finally:
            if not next_byte.cancel():
                next_byte.exception()

    async def _answer_request(self, request: HttpRequest, answer: HttpAnswer, next_byte: asyncio.Future[bytes]) -> bool:
        """Answer; return whether the connection stays open."""
        answering: asyncio.Future[None] = asyncio.ensure_future(self._answer(request, answer))
        try:
            tasks: list[asyncio.Future[Any]] = [next_byte, answering]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and not next_byte.result():
                return False
            await answering
        finally:
            answering.cancel()
        return not answer.dropped and request.headers.get("connection", "").lower() != "close"

    async def _read(self, byte: bytes, reader: asyncio.StreamReader, answer: HttpAnswer) -> HttpRequest | None:
        try:
            head = (byte + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            start, *lines = head.strip("\r\n").split("\r\n")
            method, path, _version = start.split(" ")
            headers = {
                name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            length = int(headers.get("content-length", 0))
            if "transfer-encoding" in headers or length < 0:
                raise ValueError
        except (ValueError, asyncio.LimitOverrunError):
            await answer.send(HTTPStatus.BAD_REQUEST, {"connection": "close"}, b"")
            return None
        path, _mark, query = path.partition("?")
        return HttpRequest(method, path, headers, await reader.readexactly(length), query)
