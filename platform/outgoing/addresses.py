"""Which addresses the server's own requests may reach."""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from collections.abc import Callable, Collection, Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"})
"""Where cloud providers serve their machines' credentials."""
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def _no_hosts() -> Collection[str]:
    return ()


_local_hosts: Callable[[], Collection[str]] = _no_hosts


def use_local_hosts(source: Callable[[], Collection[str]]) -> None:
    """Allow the private hosts that `source` returns, from now on (the web platform passes its setting LOCAL_HOSTS)."""
    global _local_hosts
    _local_hosts = source


def is_local_host(host: str) -> bool:
    """Return whether the administrator allows this host although it is on a private network."""
    return _plain(host) in {_plain(allowed) for allowed in _local_hosts()}


def is_special(host: str) -> bool:
    """Return whether this host, as written, cannot be an ordinary one, like those that serve cloud credentials."""
    address = address_in(host)
    if address is None:
        return _plain(host).startswith("metadata.") or _plain(host) == "metadata"
    return is_special_address(address)


def is_private(host: str) -> bool:
    """Return whether this host, as written, is an address or name on a private network."""
    address = address_in(host)
    if address is None:
        return "." not in _plain(host) or _plain(host).endswith(_PRIVATE_NAMES)
    return is_private_address(address)


def is_special_address(address: Address) -> bool:
    return any(
        part.is_link_local or part.is_multicast or part.is_unspecified or str(part) in _METADATA
        for part in _with_embedded(address)
    )


def is_private_address(address: Address) -> bool:
    return any(
        not part.is_global or (isinstance(part, ipaddress.IPv6Address) and part.is_site_local)
        for part in _with_embedded(address)
    )


def address_in(host: str) -> Address | None:
    """Return `host` as an address, in any notation that systems accept (127.1, 0x7f000001, ①②⑦.0.0.1), or None."""
    host = _plain(host)
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None


def _plain(host: str) -> str:
    """Return `host` as it is looked up: digits and dots of other scripts as ASCII, without brackets and last dot."""
    return unicodedata.normalize("NFKC", host).replace("。", ".").lower().strip("[]").rstrip(".")


def _with_embedded(address: Address) -> Iterator[Address]:
    """Yield the address, and the IPv4 addresses to which networks translate it."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
        return
    yield address
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
