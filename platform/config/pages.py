"""Pages over ASGI: each request is one task in one of a few threads, which keep their database connections."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import FileResponse, HttpResponseBase
from django.urls import set_script_prefix

T = TypeVar("T")
_threads = ThreadPoolExecutor(settings.PAGE_THREADS, thread_name_prefix="page")
"""A fixed number of threads, each with one database connection, however many requests arrive at once."""


class PagesHandler(ASGIHandler):
    """Handles each request in a single thread.

    Django's own handler passes a request from the event loop to a thread and back for each middleware. It also
    starts that thread, and opens its database connection, for each request and without an upper bound:
    hundreds of people who follow a link at the same moment would use up PostgreSQL's connections. Here
    middleware and view run together in one of a few long-lived threads. A request enters a thread once its body
    has arrived and leaves it when its response is ready to be sent, so a slow connection delays nobody else. Nor does
    a response that is held back for `request.delay_seconds`, which views and backends may set. Only what takes a
    while to be sent is given up when the visitor goes.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware()

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        response, delay_seconds = await _run_in_thread(lambda: self._respond(scope, body))
        if not delay_seconds and not response.streaming:
            await self.send_response(response, send)
            return
        sending = asyncio.create_task(self._send_slowly(response, delay_seconds, send))
        disconnected = asyncio.create_task(self.listen_for_disconnect(receive))
        await asyncio.wait([sending, disconnected], return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            sending.cancel()
        disconnected.cancel()
        await asyncio.gather(sending, disconnected, return_exceptions=True)
        if not sending.cancelled():
            sending.result()

    async def _send_slowly(self, response: HttpResponseBase, delay_seconds: float, send: Any) -> None:
        try:
            await asyncio.sleep(delay_seconds)
            await self.send_response(response, send)
        finally:
            if response.streaming:
                await _run_in_thread(response.close)

    def _respond(self, scope: Any, body: Any) -> tuple[HttpResponseBase, float]:
        """Return the whole response, except files and streams, which are read while they are sent, and its delay.

        The thread closes the body: it works on after the client has disconnected.
        """
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        with body:
            request, refusal = self.create_request(scope, body)
            response = refusal if request is None else self.get_response(request)
        assert response is not None
        response._handler_class = self.__class__  # type: ignore[attr-defined]  # the sender of a signal
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        if not response.streaming:
            response.close()
        return response, getattr(request, "delay_seconds", 0)


async def _run_in_thread(work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_threads, contextvars.copy_context().run, work)
