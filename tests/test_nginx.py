"""nginx with deploy/nginx.conf in front of a live stack: its limits, sockets and logs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import websockets

from config import children
from config.children import ROOT
from config.supervisor import free_port
from tests import players

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(NGINX is None, reason="nginx is missing: apt-get install nginx-light"),
]
STUDY = "through-nginx"
WORKER = "5f3d0c8a9b7e6d5c4b3a2910"
"""A worker's ID as recruiters pass it in the link."""


@dataclass
class Proxy:
    port: int
    plain: int
    folder: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def logged(self) -> dict[str, str]:
        """Return the content of every log that nginx has written, including the one for all sites."""
        return {str(path): path.read_text(errors="replace") for path in self.folder.rglob("*.log")}


@pytest.fixture(scope="module")
def proxy(stack, tmp_path_factory) -> Iterator[Proxy]:
    """Run nginx as Debian configures it, with an access log for all sites, and include Parley's file."""
    folder = tmp_path_factory.mktemp("nginx")
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*openssl, "-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"], check=True,
                   capture_output=True)  # fmt: skip
    port, plain = free_port(), free_port()
    config = (ROOT / "deploy" / "nginx.conf").read_text()
    changes = {
        "web:8000": f"127.0.0.1:{stack.port}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/nginx/tls": str(folder),
        "/var/log/nginx": str(folder),
        "/etc/nginx/parley.d": str(folder / "parley.d"),
    }
    for old, new in changes.items():
        assert old in config
        config = config.replace(old, new)
    (folder / "parley.conf").write_text(config)
    (folder / "parley.d").mkdir()
    (folder / "parley.d" / "own.conf").write_text("location /busy/ { return 429; }\n")
    shutil.copy(ROOT / "deploy" / "monitors.compose", folder / "parley.d" / "monitors")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"user root;\ndaemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{temporary}access_log {folder}/access.log;\ninclude {folder}/parley.conf;\n}}\n"
    )
    stack.call("tests.actions.launch_endless", STUDY)
    process = children.start([str(NGINX), "-c", str(folder / "nginx.conf"), "-p", str(folder)], log=folder / "said.txt")
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                httpx.get(f"https://127.0.0.1:{port}/health/", verify=False, timeout=5)
                break
            except httpx.TransportError:
                assert process.poll() is None and time.monotonic() < deadline, (folder / "said.txt").read_text()
                time.sleep(0.1)
        yield Proxy(port, plain, folder)
    finally:
        children.stop(process)


@pytest.fixture(scope="module")
def path(proxy: Proxy) -> str:
    """Return the path of a game page that a participant reached through nginx."""

    async def enter() -> str:
        async with httpx.AsyncClient(base_url=proxy.url, verify=False, timeout=60) as client:
            return await players.enter(client, f"/join/{STUDY}/?PROLIFIC_PID={WORKER}")

    return asyncio.run(enter())


def socket_to(proxy: Proxy, path: str, **options):
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    address = f"wss://127.0.0.1:{proxy.port}/ws/play/{path.strip('/').split('/')[1]}/?{WORKER}"
    return websockets.connect(address, origin=proxy.url, ssl=tls, **options)


async def test_sockets_pass_without_compression_and_refuse_large_messages(proxy: Proxy, path: str):
    async with socket_to(proxy, path, compression="deflate") as socket:
        assert json.loads(await asyncio.wait_for(socket.recv(), 30))["type"] == "screen"
        assert not socket.response.headers.get("Sec-WebSocket-Extensions")
        await socket.send("x" * 70_000)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            while True:
                await asyncio.wait_for(socket.recv(), 30)
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


def test_no_log_contains_identities(proxy: Proxy, path: str):
    token = path.strip("/").split("/")[1]
    for address in (f"{proxy.url}{path}?{WORKER}", f"http://127.0.0.1:{proxy.plain}{path}?{WORKER}"):
        httpx.get(address, verify=False, timeout=30)
    httpx.post(f"{proxy.url}{path}", content=b"x" * 4_000_000, verify=False, timeout=30)
    time.sleep(0.2)
    logs = proxy.logged()
    assert "/p/..." in logs[str(proxy.folder / "parley.log")]
    for name, text in logs.items():
        assert token not in text and WORKER not in text, name


def test_large_bodies_are_refused(proxy: Proxy, path: str):
    assert httpx.post(f"{proxy.url}{path}", content=b"x" * 4_000_000, verify=False).status_code == 413


def test_videos_of_studies_pass(proxy: Proxy):
    address = f"{proxy.url}/admin/studies/study/1/media/"
    assert httpx.post(address, content=b"x" * 4_000_000, verify=False, timeout=30).status_code == 403


@pytest.mark.slow
def test_lecture_hall_enters_from_one_address(proxy: Proxy):
    """150 people who share an address follow the link at once."""

    async def come_in(client: httpx.AsyncClient, person: int) -> tuple[int, str]:
        page = await client.get(f"/join/{STUDY}/?PROLIFIC_PID={person}", follow_redirects=True)
        form = page.text.partition('name="form" value="')[2].partition('"')[0]
        entered = await client.post(str(page.url), data={"form": form}, headers={"Referer": str(page.url)})
        return entered.status_code, entered.headers.get("Location", "")

    async def arrive() -> list[tuple[int, str]]:
        limits = httpx.Limits(max_connections=150)
        transport = httpx.AsyncHTTPTransport(verify=False, limits=limits)  # one address; cookies are each person's own
        people = [httpx.AsyncClient(base_url=proxy.url, transport=transport, timeout=250) for _person in range(150)]
        return await asyncio.gather(*(come_in(client, person) for person, client in enumerate(people)))

    answers = asyncio.run(arrive())
    assert {status for status, _location in answers} == {302}
    assert len({location for _status, location in answers if location.startswith("/p/")}) == 150


def test_page_of_a_limit_tries_again(proxy: Proxy):
    page = httpx.get(f"{proxy.url}/busy/", verify=False)
    assert (page.status_code, page.headers["Retry-After"]) == (429, "3")
    assert page.headers["Content-Type"].startswith("text/html")
    assert 'http-equiv="refresh"' in page.text and "tries again automatically" in page.text


def test_foreign_host_gets_neither_a_redirect_nor_a_traceback(stack, proxy: Proxy):
    for address in (proxy.url, f"http://127.0.0.1:{proxy.plain}"):
        page = httpx.get(f"{address}/join/{STUDY}/", headers={"Host": "evil.example.net"}, verify=False)
        assert page.status_code == 400 and "evil" not in f"{page.headers}{page.text}"
    assert "evil" not in stack.log("web") and "DisallowedHost" not in stack.log("web")


@pytest.mark.slow
def test_page_reloads_while_the_web_server_is_down(stack, proxy: Proxy):
    stack.halt("web")
    try:
        page = httpx.get(f"{proxy.url}/p/x/", verify=False)
        assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
        assert 'http-equiv="refresh"' in page.text
    finally:
        stack.restart("web")
    deadline = time.monotonic() + 60
    while not stack.is_healthy() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert httpx.get(f"{proxy.url}/health/", verify=False, timeout=30).status_code == 200
