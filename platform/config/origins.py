"""Only our own pages may open sockets, not another program's pages on the same machine."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier


class SameOrigin:
    """Checks the origin's port too, as browsers do; the library checks host names only."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        headers = dict(scope.get("headers", ()))
        try:
            origin = urlsplit(headers.get(b"origin", b"").decode()).netloc.lower()
        except ValueError:
            origin = ""
        is_same_origin = origin != "" and origin == headers.get(b"host", b"").decode(errors="replace").lower()
        return await (self._application if is_same_origin else WebsocketDenier())(scope, receive, send)
