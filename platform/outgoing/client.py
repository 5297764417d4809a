"""The client for outside services.

Names are resolved here, every address found is checked, and the connection is opened to a checked address, so that a
name cannot lead elsewhere a moment later; TLS still verifies the name. No redirect is followed, no proxy of the
environment is used, and what is read is limited. Responses must not be compressed: a small one may unfold to any size.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

import httpcore2
import httpx2

from games.words import gettext as _
from outgoing.addresses import (
    address_in,
    is_local_host,
    is_private,
    is_private_address,
    is_special,
    is_special_address,
)

MAX_BYTES = 10 * 2**20
"""Maximum bytes of a response, unless the caller sets another."""
MAX_SECONDS = 60.0
"""Maximum seconds for a whole request of `ask`, unless the caller sets another."""
TIMEOUT = httpx2.Timeout(15.0, connect=5.0)
"""Time-outs for the parts of a request."""


class AddressRefused(httpx2.ConnectError):
    """The host may not be reached: nothing was sent. The message is for researchers."""


class TooLarge(httpx2.ReadError):
    """The response is larger than allowed, or compressed."""


def ask(
    method: str,
    url: str,
    *,
    timeout: httpx2.Timeout = TIMEOUT,
    seconds: float = MAX_SECONDS,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> httpx2.Response:
    """Send one request, over a connection of its own, and return the whole response, even if it is a redirect.

    Connections are not kept open: if one broke between two requests, it would be unknown whether an order was accepted.

    Raises:
        AddressRefused: the host may not be reached.
        TooLarge
        httpx2.ReadTimeout: the whole took more than `seconds`.
        httpx2.HTTPError, httpx2.InvalidURL
    """
    transport = _Transport(_Network(time.monotonic() + seconds), max_bytes)
    with httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=timeout) as client:
        return client.request(method, url, **options)


def async_options(*, limits: httpx2.Limits, max_bytes: int) -> dict[str, Any]:
    """Return the arguments that make an `httpx2.AsyncClient` such a client.

    Hosts that are private as written are allowed: models are often served on this machine or network. A public name
    that leads to a private address is not. The caller limits the time.
    """
    return {"transport": _AsyncTransport(limits, max_bytes), "trust_env": False, "follow_redirects": False}


# ---- where a connection may lead -------------------------------------------------------------------


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the system's order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _checked(host: str, addresses: Sequence[str], *, private: bool) -> list[str]:
    """Return the addresses if all may be reached.

    Args:
        private: allow hosts that are private as written.

    Raises:
        AddressRefused
    """
    parsed = [ip_address(address) for address in addresses]
    if is_special(host) or any(is_special_address(address) for address in parsed):
        raise AddressRefused(_("“{host}” leads to an address that no outside service has.").format(host=host))
    allowed = is_local_host(host) or (private and is_private(host))
    if not allowed and any(is_private_address(address) for address in parsed):
        raise AddressRefused(
            _(
                "“{host}” leads to a private network. The administrator of this server can allow it (LOCAL_HOSTS)."
            ).format(host=host)
        )
    return list(addresses)


class _Network(httpcore2.NetworkBackend):
    """Opens connections to checked addresses, none of which lasts beyond `deadline` (in `time.monotonic`)."""

    def __init__(self, deadline: float):
        self._system, self._deadline = httpcore2.SyncBackend(), deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *arguments: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        try:
            addresses = _checked(host, resolve(host, port), private=False)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("The name cannot be resolved.") from error
        for address in addresses[:-1]:
            try:
                return self._connect(address, port, _share(timeout, addresses), *arguments, **options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return self._connect(addresses[-1], port, _share(timeout, addresses), *arguments, **options)

    def _connect(self, address: str, port: int, timeout: float | None, *arguments: Any, **options: Any) -> _Stream:
        stream = self._system.connect_tcp(address, port, timeout, *arguments, **options)
        return _Stream(stream, self._deadline)


class _Stream(httpcore2.NetworkStream):
    """A connection on which everything ends at the deadline, however slowly the bytes arrive."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float):
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._rest(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._rest(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, self._rest(timeout)), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _rest(self, timeout: float | None) -> float:
        rest = self._deadline - time.monotonic()
        if rest <= 0:
            raise httpcore2.ReadTimeout("The response is too slow.")
        return rest if timeout is None else min(rest, timeout)


class _AsyncNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections to checked addresses."""

    def __init__(self) -> None:
        self._system = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *arguments: Any, **options: Any
    ) -> httpcore2.AsyncNetworkStream:
        try:
            known = address_in(host)
            found = [str(known)] if known is not None else await asyncio.to_thread(resolve, host, port)
            addresses = _checked(host, found, private=True)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("The name cannot be resolved.") from error
        for address in addresses[:-1]:
            try:
                return await self._system.connect_tcp(address, port, _share(timeout, addresses), *arguments, **options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._system.connect_tcp(addresses[-1], port, _share(timeout, addresses), *arguments, **options)


def _share(timeout: float | None, addresses: Sequence[str]) -> float | None:
    """Return the seconds for each address: one that does not respond must leave time for the next."""
    return None if timeout is None else timeout / len(addresses)


# ---- what is read --------------------------------------------------------------------------------


class _Transport(httpx2.HTTPTransport):
    def __init__(self, network: _Network, max_bytes: int):
        self._pool = httpcore2.ConnectionPool(ssl_context=_trusted(), network_backend=network)
        self._max_bytes = max_bytes

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = super().handle_request(request)
        response.stream = _Body(response, self._max_bytes)
        return response


class _AsyncTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, limits: httpx2.Limits, max_bytes: int):
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trusted(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_AsyncNetwork(),
        )
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        response.stream = _AsyncBody(response, self._max_bytes)
        return response


class _Allowance:
    """The bytes that a response may still have."""

    def __init__(self, response: httpx2.Response, max_bytes: int):
        self._left = max_bytes
        self._is_compressed = response.headers.get("content-encoding", "identity") != "identity"

    def take(self, chunk: bytes) -> bytes:
        self._left -= len(chunk)
        if self._left < 0 or self._is_compressed:
            raise TooLarge("The response is larger than allowed, or compressed.")
        return chunk


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpx2.Response, max_bytes: int):
        assert isinstance(response.stream, httpx2.SyncByteStream)
        self._stream, self._allowance = response.stream, _Allowance(response, max_bytes)

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield self._allowance.take(chunk)

    def close(self) -> None:
        self._stream.close()


class _AsyncBody(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, max_bytes: int):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream, self._allowance = response.stream, _Allowance(response, max_bytes)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._allowance.take(chunk)

    async def aclose(self) -> None:
        await self._stream.aclose()


@cache
def _trusted() -> ssl.SSLContext:
    """Return the trusted certificates, read only once."""
    return httpx2.create_ssl_context()
