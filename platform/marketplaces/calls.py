"""Requests to marketplaces, each sent only once: whether a repeated one is safe is for the caller to know."""

from __future__ import annotations

from typing import Any

import httpx2
from django.utils.translation import gettext as _

from marketplaces.kinds import NotSent, Unclear
from outgoing.client import AddressRefused, ask


def send(service: str, method: str, url: str, **options: Any) -> httpx2.Response:
    """Send one request, and return the whole answer, whatever its status.

    Args:
        service: the marketplace's name, for error messages.

    Raises:
        NotSent, Unclear
    """
    try:
        return ask(method, url, **options)
    except AddressRefused as refusal:
        raise NotSent(str(refusal)) from None
    except (httpx2.ConnectError, httpx2.ConnectTimeout):
        raise NotSent(
            _("{service} is not responding: it cannot be reached at the moment.").format(service=service)
        ) from None
    except httpx2.TimeoutException:
        raise Unclear(_("{service} did not respond in time.").format(service=service)) from None
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise Unclear(_("{service} closed the connection.").format(service=service)) from None
