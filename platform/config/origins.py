"""Sockets are opened by our own pages alone, not by another program's on the same machine."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier


class SameOrigin:
    """Above the library's own check of host names: the port counts too, as in browsers."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        headers = dict(scope.get("headers", ()))
        try:
            origin = urlsplit(headers.get(b"origin", b"").decode()).netloc.lower()
        except ValueError:
            origin = ""
        same = origin != "" and origin == headers.get(b"host", b"").decode(errors="replace").lower()
        return await (self._application if same else WebsocketDenier())(scope, receive, send)
