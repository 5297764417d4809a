"""Calls for a page: in a thread and event loop of their own, so that one that hangs keeps nobody waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from llm_agents.endpoints import Endpoint
from llm_agents.errors import TimedOut
from llm_agents.providers import provider_of
from llm_agents.providers.base import Provider

T = TypeVar("T")


@sensitive_variables()
def answer_from(endpoint: Endpoint, asking: Callable[[Provider], Awaitable[T]], *, seconds: float) -> T:
    """Return what `asking` gets from the endpoint's provider.

    Raises:
        TimedOut: it took longer than `seconds`.
        Exception: what it raised.
    """
    outcome = Future[T]()

    async def ask() -> T:
        provider = provider_of(endpoint)
        try:
            return await asyncio.wait_for(asking(provider), seconds)
        finally:
            await provider.close()

    def run() -> None:
        try:
            outcome.set_result(asyncio.run(ask()))
        except Exception as failure:  # noqa: BLE001 - raised again in the caller's thread
            outcome.set_exception(failure)

    threading.Thread(target=run, name="apart", daemon=True).start()
    try:
        return outcome.result(seconds + 1)
    except TimeoutError:
        raise TimedOut(_("No answer within {seconds:g} seconds.").format(seconds=seconds)) from None
