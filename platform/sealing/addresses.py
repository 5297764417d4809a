"""Check URLs of outside services before they are stored, as far as their spelling shows where they lead.

Where a name really leads is checked at every request (`outgoing.client`).
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from outgoing.addresses import is_local_host, is_private, is_special


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
    if not private and is_private(host) and not is_local_host(host):
        raise ValidationError(
            _("This host is on a private network. The administrator of this server can allow it (LOCAL_HOSTS).")
        )
