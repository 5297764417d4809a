"""Whatever the API's address returns becomes a result or a MarketplaceError; `outgoing` limits its size and time."""

from __future__ import annotations

import httpx2
import pytest

from marketplaces import calls
from marketplaces.kinds import NotSent, Unclear
from marketplaces.prolific.client import Client
from outgoing.client import TooLarge

JSON = {"content-type": "application/json"}


@pytest.fixture
def answering(monkeypatch):
    """Return a client whose requests are answered with this, or fail with this error."""

    def client(answer: httpx2.Response | Exception) -> Client:
        def ask(method: str, url: str, **_options: object) -> httpx2.Response:
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(calls, "ask", ask)
        return Client("http://127.0.0.1:9", "token")

    return client


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(302, headers={"location": "http://127.0.0.1:9/"}),
        httpx2.Response(200, headers=JSON, content=b"[" * 200_000),
        httpx2.Response(200, headers=JSON, content=b"[]"),
        TooLarge("too large"),
        httpx2.ReadTimeout("slow"),
    ],
)
def test_malformed_answer_raises_marketplace_error(answering, answer):
    with pytest.raises(Unclear):
        answering(answer).ask("GET", "/x")


def test_server_on_a_private_network_must_be_configured(settings):
    settings.LOCAL_HOSTS = []
    with pytest.raises(NotSent, match="LOCAL_HOSTS"):
        Client("http://127.0.0.1:9", "token").ask("GET", "/x")


def test_throttled_request_has_no_effect(answering):
    with pytest.raises(NotSent):
        answering(httpx2.Response(429, headers={"retry-after": "3600"})).ask("GET", "/x")


def test_object_in_the_answer_is_returned(answering):
    assert answering(httpx2.Response(200, headers=JSON, content=b"{}")).ask("GET", "/x") == {}
