"""Pages over ASGI, a bounded number at a time, each giving back what it took of the database."""

from __future__ import annotations

import asyncio
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import connections

AT_ONCE = 32
"""Requests of one process that are worked on at the same time; the others wait their turn."""


class PagesHandler(ASGIHandler):
    """Django's handler gives each request a thread, and each thread a connection to the database, without end.

    Hundreds of people who follow a link in the same moment would use up the connections that PostgreSQL
    has, or wait longer than SQLite lets a transaction wait, and meet an error instead of a short delay.
    A request takes its turn once its body is here, and is done with it when its answer is ready to be
    sent, so a slow line on either side keeps nobody waiting. Its thread ends with it, so nobody could use
    its connection again: it is closed at once, not when the garbage is collected.
    """

    def __init__(self) -> None:
        super().__init__()
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def run_get_response(self, request: ASGIRequest) -> Any:
        async with self._turns:
            try:
                return await super().run_get_response(request)
            finally:
                await sync_to_async(connections.close_all, thread_sensitive=True)()
