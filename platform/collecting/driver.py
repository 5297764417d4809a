"""A driver plays a collection's items, many at once: agents think in one event loop, moves are written by threads.

Drivers may die at any moment. Their items' leases run out, and another driver goes on with the
matches where they stand.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import close_old_connections, connections

from collecting import leases, planning, playing, services
from collecting.errors import LeaseLost
from collecting.models import Collection, Item
from games.errors import GameError
from games.interface import Event, Role
from games.play import Play, script_move
from llm_agents.agent import Decision, decide, parse_spec
from llm_agents.endpoints import known
from llm_agents.errors import AgentError
from llm_agents.match import asked
from llm_agents.providers import provider_called
from llm_agents.record import CallRecord
from matches.agents import earlier_answers
from matches.errors import Stale
from matches.models import Agent, Match
from opponents.endpoints import refresh_if_old
from opponents.spending import CapReached, refuse_over

WRITERS = 3
"""Threads, each with its database connection, that write what a driver's matches do."""
T = TypeVar("T")
log = logging.getLogger(__name__)


def drive(collection: Collection, slot: int) -> None:
    """Play the collection until nothing is left or it should not run; returns at once where the slot is taken."""
    collection.refresh_from_db()
    refresh_if_old()
    holder = uuid.uuid4().hex
    if collection.status == Collection.Status.RUNNING and leases.take_slot(collection, slot, holder):
        try:
            asyncio.run(_Driver(collection, slot, holder).run())
        finally:
            leases.leave_slot(collection, slot, holder)
        services.finish_if_played(collection)


class _Driver:
    def __init__(self, collection: Collection, slot: int, holder: str):
        self.collection = collection
        self.slot = slot
        self.holder = holder
        self.wanted = True
        self._settings = planning.settings_in(collection.content)
        self._playing: dict[asyncio.Task[None], Item] = {}
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="collection-writer")

    async def run(self) -> None:
        keeper = asyncio.create_task(self._keep())
        try:
            while self.wanted:
                free = self.collection.concurrency - len(self._playing)
                items = await self._in_database(leases.claim, self.collection, self.holder, free) if free else []
                for item in items:
                    self._playing[asyncio.create_task(self._item(item))] = item
                if not self._playing:
                    break
                # Claims are made for several at once, not one for each match that ends.
                await self._until_free(max(1, self.collection.concurrency // 10) if items else 1)
        finally:
            keeper.cancel()
            await self._stop()

    async def _until_free(self, some: int) -> None:
        """Wait until this many matches have ended, or none is left, or nothing more is wanted."""
        target = max(0, len(self._playing) - some)
        while self.wanted and len(self._playing) > target:
            done, _rest = await asyncio.wait(self._playing, return_when=asyncio.FIRST_COMPLETED, timeout=0.5)
            for task in done:
                self._playing.pop(task)

    async def _stop(self) -> None:
        """Let every match make its present move, then give the unfinished ones back."""
        self.wanted = False
        if self._playing:
            await asyncio.wait(self._playing)
        items = [item.pk for item in self._playing.values()]
        await self._in_database(leases.give_back, items, self.holder)
        endpoints = {parse_spec(agent).kind for agent in planning.models_of(self.collection.content)}
        for name in filter(known, endpoints):
            await provider_called(name).close()
        await asyncio.to_thread(self._close_writers)

    def _close_writers(self) -> None:
        """End the threads, each having closed its connection."""
        together = threading.Barrier(WRITERS)

        def close() -> None:
            together.wait(timeout=30)
            connections.close_all()

        for _writer in range(WRITERS):
            self._writers.submit(close)
        self._writers.shutdown()

    # ---- holding on --------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Every second: renew the leases, and look whether the collection should still run."""
        while self.wanted:
            await asyncio.sleep(leases.RENEW_SECONDS)
            try:
                self.wanted = await self._in_database(self._still_wanted) and self.wanted
            except Exception:
                log.exception("leases of collection %s not renewed", self.collection.slug)
                self.wanted = False

    def _still_wanted(self) -> bool:
        refresh_if_old()
        if not leases.renew(self.collection, self.slot, self.holder):
            return False
        fresh = Collection.objects.get(pk=self.collection.pk)
        running = fresh.status == Collection.Status.RUNNING
        if running and fresh.budget is not None and services.spent(fresh) >= fresh.budget:
            services.stop_spending(fresh)
            return False
        self.collection.concurrency = fresh.concurrency
        return running

    # ---- one item ----------------------------------------------------------------------------------

    async def _item(self, item: Item) -> None:
        """Play one item as far as wanted; whatever goes wrong with it stays with it."""
        try:
            if item.attempts > leases.MOST_ATTEMPTS:
                await self._fail(item, "It was begun too often without getting on: its workers died.")
                return
            match = await self._in_database(playing.begin, self.collection, item, self.holder)
            if match.status == Match.Status.LIVE:
                await self._play(item, match)
        except (LeaseLost, Stale):
            return
        except CapReached:
            self.wanted = False
            await self._in_database(services.stop_spending, self.collection)
            await self._in_database(leases.give_back, [item.pk], self.holder)
        except _Failed as failure:
            await self._fail(item, str(failure), failure.role)
        except Exception as error:
            log.exception("item %s of collection %s failed", item.number, self.collection.slug)
            await self._fail(item, f"{type(error).__name__}: an error in the program, written to its log.")

    async def _fail(self, item: Item, problem: str, role: Role | None = None) -> None:
        try:
            await self._in_database(playing.fail, item=item, holder=self.holder, problem=problem, role=role)
        except LeaseLost:
            return
        except Exception:
            log.exception("the failure of item %s was not written", item.number)

    async def _play(self, item: Item, match: Match) -> None:
        play, agents = await self._in_database(lambda: (match.play(), match.agents()))
        while self.wanted and not play.over:
            roles = asked(play)
            thinking = [asyncio.create_task(self._think(item, match, play, role, agents[role])) for role in roles]
            await asyncio.wait(thinking)
            opened = dict(play.opened)
            for role, task in zip(roles, thinking, strict=True):
                if task.exception() is None:
                    play = await self._in_database(
                        playing.take,
                        item=item,
                        match=match,
                        role=role,
                        answering=opened[role],
                        decision=task.result(),
                        holder=self.holder,
                    )
            for task in thinking:
                task.result()

    async def _think(self, item: Item, match: Match, play: Play, role: Role, agent: Agent) -> Decision:
        """What an agent, or whoever stands in for it, decides; its calls are kept whatever comes of them.

        Raises:
            CapReached: no model may be asked any more in this collection for now.
            _Failed: nobody gave a legal move.
        """
        settings = self._settings
        spec = settings.spec(agent.spec)
        calls: list[CallRecord] = []
        try:
            if spec.scripted:
                await asyncio.sleep(agent.delay)
                return await decide(spec, play, role, [])
            events, answers = await self._in_database(self._remembered, match, role)
            return await decide(
                spec,
                play,
                role,
                events,
                calls=calls,
                template=self.collection.content["texts"]["instructions"],
                prompts=settings.prompts,
                answers=answers,
                ladder=settings.ladder(agent.spec),
            )
        except (AgentError, GameError) as error:
            if isinstance(error, CapReached):
                if error.kind != "match":
                    raise
                if settings.script:
                    return Decision(script_move(play, role, settings.script), by=f"script:{settings.script}")
            raise _Failed(role, f"{role} ({agent.spec}): {error}") from None
        finally:
            if calls:
                await self._in_database(
                    playing.keep,
                    collection=self.collection,
                    item=item,
                    match=match,
                    role=role,
                    answering=play.opened[role],
                    calls=calls,
                )

    def _remembered(self, match: Match, role: Role) -> tuple[list[Event], dict[int, str]]:
        """The match's log and the role's own raw answers, where a model may still be asked.

        Raises:
            CapReached
        """
        refuse_over(self._settings.caps(), match_uid=match.uid, budget_of=match.budget_of)
        events = match.log()
        return events, earlier_answers(match, role, events)

    async def _in_database(self, deed: Callable[..., T], *positional: Any, **named: Any) -> T:
        """Run what talks to the database in one of the driver's writing threads."""

        def run() -> T:
            try:
                return deed(*positional, **named)
            except Exception:
                close_old_connections()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._writers, run)


class _Failed(Exception):
    """An agent gave no move."""

    def __init__(self, role: Role, problem: str):
        super().__init__(problem)
        self.role = role
