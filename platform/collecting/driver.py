"""Play a collection's items concurrently: agents think in one event loop, and threads write the moves.

Drivers may die at any moment. Their items' leases then expire, and another driver continues the matches.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping, Sequence
from functools import partial

from django.db import DatabaseError

from collecting import leases, planning, playing, services
from collecting.errors import LeaseLost
from collecting.models import Collection, Item
from collecting.places import Places
from games.errors import GameError
from games.interface import Role
from games.play import Play
from llm_agents.agent import spec_of
from llm_agents.deciding import Decision
from llm_agents.endpoints import endpoint_exists
from llm_agents.errors import AgentError, ProviderError
from llm_agents.match import roles_to_ask
from llm_agents.providers import provider_called
from matches import speaking
from matches.asking import Host, Question, question_for, reads_database
from matches.errors import Stale
from matches.models import Match
from matches.writers import Writers
from opponents.agents import Agent
from opponents.endpoints import refresh_if_old
from opponents.spending import CapReached
from plans.asking import Caps

WRITERS = 3
"""Threads that write what a driver's matches do, each with its own database connection."""
log = logging.getLogger(__name__)


def drive(collection: Collection, slot: int) -> None:
    """Play the collection until nothing is left or it should stop; return at once if the slot is taken."""
    collection.refresh_from_db(fields=["status", "concurrency", "budget"])
    refresh_if_old(*planning.models_of(planning.agents_in(collection).values()))
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
        self.running = True
        self._playing: dict[asyncio.Task[None], Item] = {}
        self._prices = planning.prices(collection)
        self._writers = Writers("collection-writer", WRITERS)
        self._places = Places(lambda: self.collection.concurrency)
        self._allowed: dict[Caps, float] = {}

    async def run(self) -> None:
        lease_keeper = asyncio.create_task(self._renew_leases())
        try:
            while self.running:
                free = self._places.matches - len(self._playing)
                items = await self._writers.retry(leases.claim, self.collection, self.holder, free) if free > 0 else []
                new = [item for item in items if item.match_id is None and item.attempts == 1]
                begun = asyncio.create_task(self._begin(new))
                for item in items:
                    self._playing[asyncio.create_task(self._play_item(item, begun))] = item
                if not self._playing:
                    break
                # Claim several items at a time, not one for each match that ends.
                await self._wait_until_free(max(1, self.collection.concurrency // 10) if items else None)
        finally:
            lease_keeper.cancel()
            await self._stop()

    async def _wait_until_free(self, number: int | None) -> None:
        """Wait until this many matches should begin (None: until one has ended), or the driver should stop."""
        before = len(self._playing)
        while self.running and len(self._playing) > (before - 1 if number is None else self._places.matches - number):
            done, _pending = await asyncio.wait(self._playing, return_when=asyncio.FIRST_COMPLETED, timeout=0.5)
            for task in done:
                self._playing.pop(task)

    async def _stop(self) -> None:
        """Let every match finish its current move, then release the unfinished ones."""
        self.running = False
        if self._playing:
            await asyncio.wait(self._playing)
        items = [item.pk for item in self._playing.values()]
        await self._writers.retry(leases.give_back, items, self.holder)
        endpoints = {spec_of(agent).kind for agent in planning.models_of(planning.agents_in(self.collection).values())}
        for name in filter(endpoint_exists, endpoints):
            await provider_called(name).close()
        await asyncio.to_thread(self._writers.close)

    # ---- leases ------------------------------------------------------------------------------------

    async def _renew_leases(self) -> None:
        """Renew the leases every second, and check whether the collection should still run."""
        while self.running:
            await asyncio.sleep(leases.RENEW_SECONDS)
            try:
                self.running = await self._writers.do(self._should_continue) and self.running
            except DatabaseError as error:
                log.warning("the database is unavailable: leases were not renewed: %s", type(error).__name__)
            except Exception:
                log.exception("leases of collection %s not renewed", self.collection.slug)
                self.running = False

    def _should_continue(self) -> bool:
        refresh_if_old()
        if not leases.renew(self.collection, self.slot, self.holder):
            return False
        fresh = Collection.objects.only("status", "budget", "concurrency").get(pk=self.collection.pk)
        self.collection.concurrency, self.collection.budget = fresh.concurrency, fresh.budget
        return fresh.status == Collection.Status.RUNNING

    # ---- one item ----------------------------------------------------------------------------------

    async def _begin(self, items: Sequence[Item]) -> Mapping[int, Match]:
        """Open matches together, by their item's key; those that fail together begin one by one."""
        begun: dict[int, Match] = {}
        try:
            while self.running and len(begun) < len(items):
                left = items[len(begun) :]
                begun |= await self._writers.retry(playing.begin_together, self.collection, left, self.holder)
        except Exception as error:  # noqa: BLE001  (each item reports its own)
            log.info("matches of collection %s begin one by one: %s", self.collection.slug, type(error).__name__)
        return begun

    async def _play_item(self, item: Item, begun: asyncio.Task[Mapping[int, Match]]) -> None:
        """Play one item as far as possible; any error fails this item alone."""
        host = self._host(item)
        try:
            if item.attempts > leases.MAX_ATTEMPTS:
                await self._fail(item, "Started too often without progress: its workers crashed.")
                return
            match = (await begun).get(item.pk)
            if not self.running and match is None:
                return
            if match is None:
                match = await self._writers.retry(playing.begin, self.collection, item, self.holder)
            if match.status == Match.Status.LIVE:
                await self._play_match(item, match, host)
        except (LeaseLost, Stale):
            return
        except CapReached as reached:
            if not reached.temporary:
                self.running = False
                await self._writers.retry(services.stop_spending, self.collection)
            await self._writers.retry(leases.give_back, [item.pk], self.holder)
        except _Failed as failure:
            await self._fail(item, str(failure), failure.role)
        except Exception as error:
            log.exception("item %s of collection %s failed", item.number, self.collection.slug)
            await self._fail(item, f"{type(error).__name__}: unexpected error; see the log.")

    async def _fail(self, item: Item, problem: str, role: Role | None = None) -> None:
        try:
            await self._writers.retry(playing.fail, item=item, holder=self.holder, problem=problem, role=role)
        except LeaseLost:
            return
        except Exception:
            log.exception("the failure of item %s was not written", item.number)

    async def _play_match(self, item: Item, match: Match, host: Host) -> None:
        play, agents, planned = await self._writers.retry(
            lambda: (match.play(), match.agents(), planning.planned_match(self.collection, item.number))
        )
        while self.running and not play.over:
            if match.chat() is not None:
                await speaking.speak_in_turns(match.pk, host)
                if not self.running:
                    return
            roles = roles_to_ask(play)
            tasks = [
                asyncio.create_task(
                    self._think(
                        match, play, role, agents[role], host, planned.template_for(agents[role]), alone=len(roles) == 1
                    )
                )
                for role in roles
            ]
            await asyncio.wait(tasks)
            for task in tasks:
                if task.exception() is None:
                    question, decision = task.result()
                    moving = partial(
                        playing.make_move, item=item, question=question, decision=decision, holder=self.holder
                    )
                    play = await question.settle(moving)
            for task in tasks:
                task.result()

    async def _think(
        self, match: Match, play: Play, role: Role, agent: Agent, host: Host, template: str | None, *, alone: bool
    ) -> tuple[Question, Decision | None]:
        """Return the decision of an agent or its fallback model; None if its fallback script must move.

        Raises:
            CapReached: this collection may make no model calls for now.
            _Failed: the agent gave no legal move.
        """
        ask_now = partial(question_for, match, play, role, agent, host, template=template)
        question = None
        try:
            if agent.scripted:
                async with host.place():
                    await asyncio.sleep(agent.delay)
            reads = reads_database(match, play, role, agent)
            question = await self._writers.retry(ask_now) if reads else ask_now()
            # Others may still be asked for long: their answers must not keep this one's calls from being stored.
            question.stored_with_move = alone
            return question, await question.decide()
        except (AgentError, GameError) as error:
            if isinstance(error, CapReached):
                if error.kind != "match":
                    raise
                if agent.settings.script:
                    return question or Question(play, role, match, agent, host), None
            if isinstance(error, ProviderError) and not self.running:
                raise LeaseLost("the collection was stopped while waiting for a model") from None
            raise _Failed(role, f"{role} ({agent.spec}): {error}") from None

    def _host(self, item: Item) -> Host:
        return Host(
            self._writers,
            prices=lambda: self._prices,
            budget=lambda: self.collection.budget,
            on_calls=partial(playing.add_cost, self._prices, item),
            still_wanted=lambda: self.running,
            place=self._places.for_match(),
            allowed=self._allowed,
        )


class _Failed(Exception):
    """An agent gave no move."""

    def __init__(self, role: Role, problem: str):
        super().__init__(problem)
        self.role = role
