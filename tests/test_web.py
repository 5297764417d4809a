"""ASGI serves many pages at once with few threads, and migrations run one at a time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import closing

import pytest
import redis
from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse
from django.test import AsyncRequestFactory

from config import pages
from config.management.commands.migrate import migration_lock

pytestmark = pytest.mark.services


async def answer(handler: pages.PagesHandler, path: str) -> tuple[int, bytes]:
    sent_messages: list[dict] = []
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict:
        return messages.pop() if messages else await asyncio.Future()

    async def send(message: dict) -> None:
        sent_messages.append(message)

    scope = {**AsyncRequestFactory()._base_scope(path=path), "headers": [(b"host", b"127.0.0.1")]}
    await handler(scope, receive, send)
    return sent_messages[0]["status"], b"".join(message.get("body", b"") for message in sent_messages)


async def test_concurrent_pages_share_a_few_threads(monkeypatch):
    used: list[str] = []
    original = pages.PagesHandler.get_response

    def recording(self, request):
        used.append(threading.current_thread().name)
        return original(self, request)

    monkeypatch.setattr(pages.PagesHandler, "get_response", recording)
    handler = pages.PagesHandler()
    answers = await asyncio.gather(*(answer(handler, "/") for _ in range(130)))
    assert {status for status, _body in answers} == {200}
    assert len(used) == 130 and len(set(used)) <= settings.PAGE_THREADS
    assert (await answer(handler, "/none"))[0] == 404
    status, script = await answer(handler, "/static/parley/clock.js")
    assert status == 200 and script == (settings.BASE_DIR / "static/parley/clock.js").read_bytes()


async def test_pages_share_a_few_connections_to_redis_and_renew_dropped_ones(monkeypatch, redis_url):
    def counting(_handler, request):
        cache.add("pages", 0)
        return HttpResponse(str(cache.incr("pages")))

    def opened() -> int:
        return client.info("stats")["total_connections_received"]

    monkeypatch.setattr(pages.PagesHandler, "get_response", counting)
    handler = pages.PagesHandler()
    with closing(redis.Redis.from_url(redis_url)) as client:
        cache.delete("pages")
        before = opened()
        for number in (20, 40):
            await asyncio.gather(*(answer(handler, "/") for _ in range(20)))
            assert cache.get("pages") == number
            client.client_kill_filter(_type="normal", skipme=True)
        assert opened() - before <= 2 * (settings.PAGE_THREADS + 1)


async def test_answers_that_are_held_back_occupy_no_thread(monkeypatch):
    original, held_back = pages.PagesHandler.get_response, threading.Semaphore(0)

    def holding_back(self, request):
        request.delay_seconds = 3600 if request.path == "/slow" else 0
        held_back.release()
        return original(self, request)

    monkeypatch.setattr(pages.PagesHandler, "get_response", holding_back)
    handler = pages.PagesHandler()
    slow_answers = [asyncio.ensure_future(answer(handler, "/slow")) for _ in range(settings.PAGE_THREADS)]
    for _answer in slow_answers:
        await asyncio.to_thread(held_back.acquire)
    assert (await answer(handler, "/"))[0] == 200
    assert not any(slow_answer.done() for slow_answer in slow_answers)
    for slow_answer in slow_answers:
        slow_answer.cancel()
    await asyncio.gather(*slow_answers, return_exceptions=True)


async def test_aborted_post_is_read_to_its_end(monkeypatch):
    """The request is given up while the page is being made, which then reads what was posted."""
    posted: list[str] = []
    started, gone = threading.Event(), threading.Event()

    def read_later(_handler, request):
        started.set()
        assert gone.wait(30)
        posted.append(request.POST["text"])
        return HttpResponse()

    monkeypatch.setattr(pages.PagesHandler, "get_response", read_later)
    messages = [{"type": "http.request", "body": b"text=hello", "more_body": False}]

    async def receive() -> dict:
        return messages.pop()

    form = (b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"10")
    scope = {**AsyncRequestFactory()._base_scope(path="/", method="POST"), "headers": form}
    request = asyncio.ensure_future(pages.PagesHandler()(scope, receive, None))
    await asyncio.to_thread(started.wait, 30)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    gone.set()
    await pages._run_in_thread(lambda: None)
    while not posted:
        await asyncio.sleep(0.01)
    assert posted == ["hello"]


def test_the_servers_own_errors_hide_tokens():
    """uvicorn logs exceptions of sockets by handlers of its own, unless the settings remove them."""
    program = (
        "import logging, uvicorn; "
        "uvicorn.Config('config.asgi:application', log_level='warning', access_log=False).load(); "
        "logging.getLogger('uvicorn.error').error('at /ws/play/%s/', 'a-secret-token'); "
        "logging.getLogger('uvicorn.access').info('not logged')"
    )
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": "platform:."},
        cwd=settings.BASE_DIR, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stderr.endswith("ERROR uvicorn.error: at /ws/play/…/\n")
    assert len(process.stderr.splitlines()) == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_migrations_take_turns():
    first_entered, second_entered, release = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        from django.db import connections

        with migration_lock("default"):
            first_entered.set()
            release.wait(30)
        connections.close_all()

    def second() -> None:
        from django.db import connections

        with migration_lock("default"):
            second_entered.set()
        connections.close_all()

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert first_entered.wait(30)
    threads[1].start()
    assert not second_entered.wait(0.5)
    release.set()
    assert second_entered.wait(30)
    for thread in threads:
        thread.join()
