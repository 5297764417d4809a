"""Whatever the API's address returns becomes a result or a MarketplaceError, within seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from marketplaces import calls
from marketplaces.kinds import NotSent, Unclear
from marketplaces.prolific.client import Client
from outgoing.client import ask


class _OddHandler(BaseHTTPRequestHandler):
    """Responds according to the last part of the path: "redirect", "huge", "slow" and so on."""

    def do_GET(self) -> None:
        behaviour = self.path.strip("/").split("/")[-1]
        status = {"redirect": 302, "throttled": 429}.get(behaviour, 200)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        if behaviour == "redirect":
            self.send_header("location", "http://127.0.0.1:9/")
        if behaviour == "throttled":
            self.send_header("retry-after", "3600")
        self.end_headers()
        for chunk in _chunks(behaviour):
            try:
                self.wfile.write(chunk)
            except OSError:  # the client has hung up
                return

    def log_message(self, *_arguments: object) -> None: ...


def _chunks(behaviour: str) -> Iterator[bytes]:
    if behaviour == "huge":
        yield from [b"[" + b" " * 999] * 30
    elif behaviour == "slow":
        for _repeat in range(20):
            time.sleep(0.1)
            yield b" "
        yield b"{}"
    elif behaviour == "deep":
        yield b"[" * 200_000
    elif behaviour == "list":
        yield b"[]"
    else:
        yield b"{}"


@pytest.fixture
def odd_server() -> Iterator[Client]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _OddHandler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield Client(f"http://127.0.0.1:{server.server_port}", "token")
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("behaviour", ["redirect", "huge", "slow", "deep", "list"])
def test_malformed_answer_raises_marketplace_error(odd_server, monkeypatch, behaviour):
    limits = {"max_bytes": 20_000} if behaviour == "huge" else {"seconds": 0.3} if behaviour == "slow" else {}
    monkeypatch.setattr(calls, "ask", partial(ask, **limits))
    with pytest.raises(Unclear):
        odd_server.ask("GET", f"/{behaviour}")


def test_server_on_a_private_network_must_be_configured(odd_server, settings):
    settings.LOCAL_HOSTS = []
    with pytest.raises(NotSent, match="LOCAL_HOSTS"):
        odd_server.ask("GET", "/fine")


def test_throttled_request_has_no_effect(odd_server):
    with pytest.raises(NotSent):
        odd_server.ask("GET", "/throttled")


def test_whole_response_is_read(odd_server):
    assert odd_server.ask("GET", "/fine") == {}
