"""Which addresses of outside services may be kept: a request of ours goes to what stands there."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"})
"""Where clouds tell their machines' own credentials."""
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_address(address: str, *, private: bool = False) -> None:
    """An http or https address that ends with its path and holds no credentials; the message never repeats it.

    Args:
        private: hosts of private networks may be named; else those of the setting LOCAL_HOSTS alone.

    Raises:
        ValidationError
    """
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise ValidationError(_("This is no address.")) from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", address):
        raise ValidationError(_("An address begins with http:// or https:// and a host."))
    if parts.username is not None or parts.password is not None:
        raise ValidationError(_("No user name, password or key in the address: keys have their own field."))
    if parts.query or parts.fragment or "?" in address or "#" in address:
        raise ValidationError(_("The address ends with its path: nothing after “?” or “#”."))
    if is_nobodys(host):
        raise ValidationError(_("Nothing of yours is served at such an address."))
    if not private and is_private(host) and host not in settings.LOCAL_HOSTS:
        raise ValidationError(
            _("This host is on a private network. Whoever runs this installation can allow it (LOCAL_HOSTS).")
        )


def is_nobodys(host: str) -> bool:
    """Link-local addresses hold cloud machines' own credentials; the others are no single machine's."""
    found = _number(host)
    if found is None:
        return host.rstrip(".").startswith("metadata.") or host.rstrip(".") == "metadata"
    return found.is_link_local or found.is_multicast or found.is_unspecified or str(found) in _METADATA


def is_private(host: str) -> bool:
    """Whether it is an address, or a name, that only machines near this one know."""
    found = _number(host)
    if found is None:
        name = host.rstrip(".")
        return "." not in name or name.endswith(_PRIVATE_NAMES)
    return not found.is_global


def _number(host: str) -> _Address | None:
    """The address that `host` is, in any of the ways in which systems read one (127.1, 0x7f000001); None: a name."""
    try:
        found: _Address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    return getattr(found, "ipv4_mapped", None) or found
