"""Check URLs of outside services before they are stored, since the server sends requests to them."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"})
"""Where cloud providers serve their machines' credentials."""
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_address(address: str, *, private: bool = False) -> None:
    """Check that this is an http(s) URL without query and credentials; the message never repeats it.

    Args:
        private: allow hosts of private networks; otherwise only those in the setting LOCAL_HOSTS.

    Raises:
        ValidationError
    """
    try:
        url = urlsplit(address)
        host, _port = url.hostname, url.port
    except ValueError:
        raise ValidationError(_("Invalid address.")) from None
    if url.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", address):
        raise ValidationError(_("The address must begin with http:// or https:// and a host."))
    if url.username is not None or url.password is not None:
        raise ValidationError(_("Remove the user name, password or key from the address: keys have their own field."))
    if url.query or url.fragment or "?" in address or "#" in address:
        raise ValidationError(_("The address must end with its path: no “?” or “#”."))
    if is_special(host):
        raise ValidationError(_("This kind of address is not allowed."))
    if not private and is_private(host) and host not in settings.LOCAL_HOSTS:
        raise ValidationError(
            _("This host is on a private network. The administrator of this server can allow it (LOCAL_HOSTS).")
        )


def is_special(host: str) -> bool:
    """Return whether this address cannot belong to an ordinary host, like those that serve cloud credentials."""
    ip_address = _ip_address(host)
    if ip_address is None:
        return host.rstrip(".").startswith("metadata.") or host.rstrip(".") == "metadata"
    return (
        ip_address.is_link_local or ip_address.is_multicast or ip_address.is_unspecified or str(ip_address) in _METADATA
    )


def is_private(host: str) -> bool:
    """Return whether this is an address or name on a private network."""
    ip_address = _ip_address(host)
    if ip_address is None:
        name = host.rstrip(".")
        return "." not in name or name.endswith(_PRIVATE_NAMES)
    return not ip_address.is_global


def _ip_address(host: str) -> _Address | None:
    """Return `host` as an address, in any notation that systems accept (127.1, 0x7f000001); None for a name."""
    try:
        ip_address: _Address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    return getattr(ip_address, "ipv4_mapped", None) or ip_address
