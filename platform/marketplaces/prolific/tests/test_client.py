"""Whatever the API's address returns becomes a result or a MarketplaceError, within seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from marketplaces.prolific import client
from marketplaces.prolific.client import Client, NotSent, Unclear


class _Odd(BaseHTTPRequestHandler):
    """Responds according to the last part of the path: "redirect", "huge", "slow" and so on."""

    def do_GET(self) -> None:
        how = self.path.strip("/").split("/")[-1]
        status = {"redirect": 302, "throttled": 429}.get(how, 200)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        if how == "redirect":
            self.send_header("location", "http://127.0.0.1:9/")
        if how == "throttled":
            self.send_header("retry-after", "3600")
        self.end_headers()
        for piece in _pieces(how):
            try:
                self.wfile.write(piece)
            except OSError:  # the client has hung up
                return

    def log_message(self, *_arguments: object) -> None: ...


def _pieces(how: str) -> Iterator[bytes]:
    if how == "huge":
        yield from [b"[" + b" " * 999] * 30
    elif how == "slow":
        for _part in range(20):
            time.sleep(0.1)
            yield b" "
        yield b"{}"
    elif how == "deep":
        yield b"[" * 200_000
    elif how == "list":
        yield b"[]"
    else:
        yield b"{}"


@pytest.fixture
def odd_server() -> Iterator[Client]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Odd)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield Client(f"http://127.0.0.1:{server.server_port}", "token")
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("how", ["redirect", "huge", "slow", "deep", "list"])
def test_malformed_answer_raises_marketplace_error(odd_server, monkeypatch, how):
    monkeypatch.setattr(client, "MAX_BYTES", 20_000 if how == "huge" else client.MAX_BYTES)
    monkeypatch.setattr(client, "MAX_SECONDS", 0.3 if how == "slow" else client.MAX_SECONDS)
    with pytest.raises(Unclear):
        odd_server._object("GET", f"/{how}")


def test_throttled_request_has_no_effect(odd_server):
    with pytest.raises(NotSent):
        odd_server._object("GET", "/throttled")


def test_whole_response_is_read(odd_server):
    assert odd_server._object("GET", "/fine") == {}
