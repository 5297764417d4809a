"""The client for outside services: where it connects, what it follows, how much and how long it reads."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from outgoing import client
from outgoing.client import AddressRefused, TooLarge, ask, async_options

REACHED = b"reached"
SHOP = "shop.example"


class _Handler(BaseHTTPRequestHandler):
    """Answers according to the path."""

    def do_GET(self) -> None:
        self.server.asked.append((self.headers["host"], self.path))
        if self.path == "/slow-head":
            self._drip([b"HTTP/1.1 200 OK\r\n", *[b"x-wait: 1\r\n"] * 100])
            return
        self.send_response(307 if self.path == "/redirect" else 200)
        if self.path == "/redirect":
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/inside")
        if self.path == "/compressed":
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        if self.path == "/slow-body":
            self._drip([b" "] * 100)
        elif self.path == "/large":
            self._drip([b" " * 1000] * 30, pause=0)
        else:
            self.wfile.write(REACHED)

    def _drip(self, pieces: list[bytes], pause: float = 0.05) -> None:
        for piece in pieces:
            try:
                self.wfile.write(piece)
            except OSError:
                return
            if self.server.released.wait(pause):
                return

    def log_message(self, *_arguments: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Any]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    serving.daemon_threads = True
    serving.asked, serving.released = [], threading.Event()
    threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield serving
    serving.released.set()
    serving.shutdown()
    serving.server_close()


@pytest.fixture
def names(monkeypatch) -> dict[str, list[list[str]]]:
    """Names with the answers that looking them up gives, one after the other."""
    found: dict[str, list[list[str]]] = {}
    system = client.resolve
    monkeypatch.setattr(
        client, "resolve", lambda host, port: found[host].pop(0) if host in found else system(host, port)
    )
    return found


async def ask_async(url: str, *, max_bytes: int = client.MAX_BYTES) -> httpx2.Response:
    async with httpx2.AsyncClient(**async_options(limits=httpx2.Limits(), max_bytes=max_bytes)) as models:
        return await models.get(url)


# ---- where a name leads ----------------------------------------------------------------------------

INTERNAL = [
    "169.254.169.254", "127.0.0.1", "10.0.0.7", "192.168.1.5", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "::1", "fe80::1", "fc00::1", "fec0::1", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1",
    "64:ff9b:1::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1", "::127.0.0.1",
]  # fmt: skip


@pytest.mark.parametrize("address", INTERNAL)
async def test_no_public_name_leads_inside(names, address):
    """Neither alone nor beside an address that would be allowed, for any caller."""
    names["169.254.169.254.nip.example"] = [[address], ["93.184.215.14", address]] * 2
    for _answer in range(2):
        with pytest.raises(AddressRefused):
            ask("GET", "http://169.254.169.254.nip.example/latest")
        with pytest.raises(AddressRefused):
            await ask_async("http://169.254.169.254.nip.example/latest")
    assert names["169.254.169.254.nip.example"] == []


SPELLED = [
    "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "①②⑦.0.0.1", "[::ffff:7f00:1]", "[64:ff9b::a9fe:a9fe]", "[::1]",
]  # fmt: skip


@pytest.mark.parametrize("host", SPELLED)
def test_no_spelling_leads_inside(settings, server, host):
    settings.LOCAL_HOSTS = []
    with pytest.raises((AddressRefused, httpx2.InvalidURL)):
        ask("GET", f"http://{host}:{server.server_port}/")
    assert server.asked == []


@pytest.mark.parametrize("address", ["64:ff9b::5db8:d70e", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_allowed(address):
    assert client._checked(SHOP, [address], private=False) == [address]


def test_the_administrator_may_allow_a_private_host(settings, names, server):
    names[SHOP] = [["127.0.0.1"], ["169.254.169.254"]]
    settings.LOCAL_HOSTS = ["Shop.Example"]
    assert ask("GET", f"http://{SHOP}:{server.server_port}/").content == REACHED
    with pytest.raises(AddressRefused):
        ask("GET", f"http://{SHOP}:{server.server_port}/")


async def test_a_model_may_be_served_where_its_address_says(settings, server):
    settings.LOCAL_HOSTS = []
    for host in ("127.0.0.1", "localhost"):
        assert (await ask_async(f"http://{host}:{server.server_port}/")).content == REACHED


async def test_each_connection_is_pinned_to_what_was_checked(settings, names, server):
    """A name server that gives another answer after the check is not asked again."""
    settings.LOCAL_HOSTS = [SHOP]
    names[SHOP] = [["127.0.0.1"], ["127.0.0.1"]]
    assert ask("GET", f"http://{SHOP}:{server.server_port}/").content == REACHED
    assert (await ask_async(f"http://{SHOP}:{server.server_port}/")).content == REACHED
    assert names[SHOP] == []
    assert server.asked == [(f"{SHOP}:{server.server_port}", "/")] * 2


def test_the_next_address_is_tried_if_one_does_not_answer(settings, names, server):
    settings.LOCAL_HOSTS = [SHOP]
    names[SHOP] = [["::1", "127.0.0.1"]]
    assert ask("GET", f"http://{SHOP}:{server.server_port}/").content == REACHED


def _certificate(path: Path) -> None:
    """Write a certificate for `SHOP`, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(SHOP)]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + certificate.public_bytes(pem))


def test_tls_verifies_the_name_and_not_the_address(settings, names, server, tmp_path, monkeypatch):
    _certificate(tmp_path / "shop.pem")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(tmp_path / "shop.pem")
    server.socket = serving.wrap_socket(server.socket, server_side=True)
    trusted = ssl.create_default_context(cafile=str(tmp_path / "shop.pem"))
    monkeypatch.setattr(client, "_trusted", lambda: trusted)
    settings.LOCAL_HOSTS = [SHOP, "other.example"]
    names[SHOP] = names["other.example"] = [["127.0.0.1"]] * 2
    assert ask("GET", f"https://{SHOP}:{server.server_port}/").content == REACHED
    with pytest.raises(httpx2.ConnectError, match="mismatch"):
        ask("GET", f"https://other.example:{server.server_port}/")


# ---- what is followed and read ---------------------------------------------------------------------


async def test_no_redirect_is_followed(server):
    url = f"http://127.0.0.1:{server.server_port}/redirect"
    assert ask("GET", url).status_code == (await ask_async(url)).status_code == 307
    assert [path for _host, path in server.asked] == ["/redirect"] * 2


@pytest.mark.parametrize("path", ["/large", "/compressed"])
async def test_a_body_is_limited(server, path):
    url = f"http://127.0.0.1:{server.server_port}{path}"
    with pytest.raises(TooLarge):
        ask("GET", url, max_bytes=20_000)
    with pytest.raises(TooLarge):
        await ask_async(url, max_bytes=20_000)


@pytest.mark.parametrize("path", ["/slow-head", "/slow-body"])
def test_time_is_limited_however_steadily_bytes_arrive(server, path):
    with pytest.raises(httpx2.ReadTimeout):
        ask("GET", f"http://127.0.0.1:{server.server_port}{path}", seconds=0.3)


def test_no_proxy_of_the_environment_is_used(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ask("GET", f"http://127.0.0.1:{server.server_port}/").content == REACHED
