"""Create a collection and play it, or show, pause or resume one.

collect NAME --game GAME (--table glee | --grid JSON | --config JSON…) --agents A,B,… [--lineups RULE] [--repetitions N]
collect NAME --preset PRESET [--environment E] --agents A,B,…
    create the collection, start it and show its progress until it stops (Ctrl-C leaves it running)
collect NAME
    show its progress
collect NAME --pause | --resume [--budget X] | --retry-failed
    change how it runs

The workers of the queue `collections` play it; with --here, this process does.
"""

from __future__ import annotations

import json
import threading
import time
from argparse import RawDescriptionHelpFormatter
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction
from pydantic import ValidationError

from audit import services as audit
from audit.actions import Action
from collecting import driver, planning, presets, services
from collecting.errors import CollectingError
from collecting.estimate import estimate_of
from collecting.lineup_rules import RULES
from collecting.models import Collection
from collecting.presets import collection_presets
from collecting.progress import failures, progress
from games import grids, registry
from games.errors import GameError
from games.lineups import Lineups
from opponents.spending import refusal_of
from plans.asking import AgentSettings, settings_of

INVALID_ARGUMENTS = 2
STUDY_ONLY = frozenset({"appears", "cap_study"})
"""Settings of models that apply only to studies."""
EVERY_SECONDS = 2.0
"""Seconds between two lines of progress."""


class Command(BaseCommand):
    help = __doc__

    def create_parser(self, *names: str, **options: Any) -> CommandParser:
        parser = super().create_parser(*names, formatter_class=RawDescriptionHelpFormatter, **options)
        parser.set_defaults(force_color=False)
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the collection's short name")
        plan = parser.add_argument_group("a new collection")
        plan.add_argument("--title", help="the title in the admin; by default the short name")
        plan.add_argument("--game", metavar="GAME", help="the game's key, such as bargaining")
        plan.add_argument("--table", metavar="TABLE", help="a published table of the game, such as glee")
        plan.add_argument("--grid", metavar="JSON", help='values by parameter, such as {"rounds": [1, 10]}')
        plan.add_argument(
            "--config", metavar="JSON", action="append", default=[], help="one configuration; may be repeated"
        )
        plan.add_argument(
            "--agents",
            metavar="A,B,…",
            help="comma-separated: script:NAME, openai:MODEL, anthropic:MODEL, ENDPOINT:MODEL",
        )
        plan.add_argument(
            "--preset", metavar="PRESET", help=f"a game's published collection: {', '.join(collection_presets())}"
        )
        plan.add_argument("--environment", metavar="E", help="one of the preset's collections, or a name for this one")
        plan.add_argument(
            "--lineups",
            metavar="RULE|JSON",
            default="product",
            help=f"line-up rule: {', '.join(RULES)}; or JSON with fixed seats, rotation, samples, lists",
        )
        plan.add_argument(
            "--repetitions", type=int, default=1, metavar="N", help="matches per configuration and line-up"
        )
        plan.add_argument(
            "--seeds",
            choices=("instance", "match"),
            default="instance",
            help="one random seed per configuration and repetition, or one per match",
        )
        plan.add_argument(
            "--stages",
            type=int,
            default=1,
            metavar="N",
            help="number of stages; later ones are created from earlier results",
        )
        plan.add_argument("--no-same", action="store_true", help="no agent plays against itself")
        plan.add_argument("--seed", type=int, metavar="N", help="random seed of the plan")
        plan.add_argument("--concurrency", type=int, default=50, metavar="N", help="matches at once")
        plan.add_argument("--delay", type=float, default=0, metavar="SECONDS", help="scripted players wait this long")
        plan.add_argument(
            "--budget", metavar="DOLLARS", help="stop calling models at this cost; with --resume, the new limit"
        )
        plan.add_argument(
            "--prices",
            default="{}",
            metavar="JSON",
            help='prices in dollars per million tokens, such as {"openai:MODEL": {"input": 1, "output": 2}}',
        )
        names = ", ".join(name for name in AgentSettings.model_fields if name not in STUDY_ONLY)
        plan.add_argument(
            "--asking",
            metavar="JSON|FILE",
            help=f"how models are asked, and what happens when they fail: JSON, or a file with it. Keys: {names}",
        )
        parser.add_argument("--json", action="store_true", help="show progress as one JSON object per line")
        parser.add_argument("--no-wait", action="store_true", help="start it and return")
        parser.add_argument("--here", action="store_true", help="play in this process, without a worker")
        actions = parser.add_mutually_exclusive_group()
        actions.add_argument("--pause", action="store_true", help="start no more matches")
        actions.add_argument("--resume", action="store_true", help="continue a paused collection")
        actions.add_argument("--retry-failed", action="store_true", help="play the failed matches again")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                collection = self._carry_out(options)
        except (CollectingError, GameError) as error:
            raise CommandError(" ".join(str(error).split()), returncode=INVALID_ARGUMENTS) from None
        if options["here"]:
            playing = threading.Thread(target=_play, args=(collection,), daemon=True)
            playing.start()
        try:
            self._follow(collection, options, alive=playing.is_alive if options["here"] else None)
        except KeyboardInterrupt:
            if options["here"]:
                services.pause(collection)
                playing.join()
            self.stdout.write(f"To show the progress of {collection.slug} again: collect {collection.slug}")

    def _carry_out(self, options: dict[str, Any]) -> Collection:
        """Carry out the requested action and return the collection."""
        collection = Collection.objects.filter(slug=options["name"]).first()
        has_plan = any(options[key] for key in ("game", "preset", "table", "grid", "config", "agents"))
        if collection is None:
            if not has_plan:
                existing = ", ".join(Collection.objects.order_by("slug").values_list("slug", flat=True)) or "none"
                raise CollectingError(f"There is no collection “{options['name']}”. Existing collections: {existing}.")
            collection = planning.make_collection(self._plan(options))
            if not options["json"] and (estimate := estimate_of(collection)):
                self.stdout.write(estimate.as_line())
            _record_action(collection, Action.MADE)
            return self._start(collection)
        if has_plan:
            raise CollectingError(
                f"A collection “{options['name']}” already exists, and its plan cannot be changed. Choose another name."
            )
        if options["pause"]:
            _record_action(collection, Action.PAUSED)
            return services.pause(collection)
        if options["retry_failed"]:
            services.retry_failed(collection)
        if options["resume"] and options["budget"] is not None:
            services.raise_budget(collection, _dollars(options["budget"]))
            _record_action(collection, Action.CHANGED, budget=options["budget"])
        return self._start(collection) if options["resume"] or options["retry_failed"] else collection

    def _start(self, collection: Collection) -> Collection:
        _record_action(collection, Action.STARTED)
        return services.start(collection)

    def _plan(self, options: dict[str, Any]) -> planning.Plan:
        if options["preset"]:
            return self._published(options)
        if not options["game"] or not options["agents"]:
            raise CollectingError(
                "A new collection needs --game and --agents, such as --game bargaining --agents script:fair."
            )
        sources = [bool(options[key]) for key in ("table", "grid", "config")]
        if sum(sources) > 1:
            raise CollectingError("Give only one of --table, --grid and --config.")
        game = registry.get(options["game"])
        if options["table"]:
            configurations = grids.table(game.key, options["table"])
        elif options["config"]:
            configurations = [_json(text, "--config", dict) for text in options["config"]]
        else:
            configurations = grids.expand(game, _json(options["grid"] or "{}", "--grid", dict))
        return planning.Plan(
            title=options["title"] or options["name"],
            slug=options["name"],
            game=game.key,
            configurations=configurations,
            lineups=_lineups(options),
            seeds=options["seeds"],
            stages=options["stages"],
            environment=options["environment"] or "",
            repetitions=options["repetitions"],
            delay=options["delay"],
            settings=_settings(options["asking"]) if options["asking"] else planning.PATIENT,
            prices=_json(options["prices"], "--prices", dict),
            concurrency=options["concurrency"],
            budget=None if options["budget"] is None else _dollars(options["budget"]),
            seed=options["seed"],
        )

    def _published(self, options: dict[str, Any]) -> planning.Plan:
        """Return a preset's collection with the options for concurrency and cost."""
        if not options["agents"]:
            raise CollectingError("A preset needs --agents, such as --agents openai:gpt-4o-mini.")
        seed = 1 if options["seed"] is None else options["seed"]
        plans = {
            plan.environment: plan for plan in presets.plans(options["preset"], agents=_agents(options), seed=seed)
        }
        environment = options["environment"] or (next(iter(plans)) if len(plans) == 1 else "")
        if environment not in plans:
            raise CollectingError(f"--environment must be one of {', '.join(plans)}.")
        plan = plans[environment]
        return replace(
            plan,
            slug=options["name"],
            title=options["title"] or plan.title,
            prices=_json(options["prices"], "--prices", dict),
            concurrency=options["concurrency"],
            budget=None if options["budget"] is None else _dollars(options["budget"]),
        )

    def _follow(self, collection: Collection, options: dict[str, Any], alive: Any) -> None:
        """Print progress until the collection stops."""
        while True:
            collection.refresh_from_db(fields=["status", "planned", "budget", "started_at", "ended_at"])
            now = progress(collection)
            self.stdout.write(json.dumps(now.as_dict()) if options["json"] else now.as_line())
            if collection.status != Collection.Status.RUNNING:
                for problem, count in [] if options["json"] else failures(collection):
                    self.stdout.write(f"  {count} failed: {problem}")
                if not options["json"] and (refusal := refusal_of(collection.budget_of)):
                    self.stdout.write(f"  {refusal}")
                return
            if options["no_wait"] or (alive is not None and not alive()):
                return
            time.sleep(EVERY_SECONDS)


def _agents(options: dict[str, Any]) -> list[str]:
    return [agent for agent in options["agents"].split(",") if agent]


def _lineups(options: dict[str, Any]) -> Lineups:
    """Return the rule given by --lineups, by name or as JSON, for the agents."""
    text = options["lineups"]
    rule = _json(text, "--lineups", dict) if text.lstrip().startswith("{") else {"rule": text}
    try:
        return Lineups.model_validate({"agents": _agents(options), "same": not options["no_same"], **rule})
    except ValidationError as error:
        problem = error.errors()[0]
        raise CollectingError(f"--lineups: {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None


def _play(collection: Collection) -> None:
    try:
        driver.drive(collection, slot=0)
    finally:
        connection.close()


def _record_action(collection: Collection, action: Action, **details: Any) -> None:
    audit.record(action=action, user=None, target=collection, details=details)


def _json(text: str, option: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CollectingError(f"{option} is not valid JSON: {error}") from None
    if not isinstance(value, kind):
        raise CollectingError(f"{option} must be a JSON object.")
    return value


def _settings(text: str) -> AgentSettings:
    """Return the settings in a JSON object or in a file."""
    if not text.lstrip().startswith("{"):
        try:
            text = Path(text).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CollectingError(f"--asking must be a JSON object or a readable file: {reason}.") from None
    values = _json(text, "--asking", dict)
    if unknown := sorted(STUDY_ONLY & values.keys()):
        raise CollectingError(f"--asking: {', '.join(unknown)} can be used only in studies.")
    try:
        return settings_of({**planning.PATIENT.model_dump(mode="json", exclude_defaults=True), **values})
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(part) for part in problem["loc"])
        raise CollectingError(f"--asking: {field}: {problem['msg']}") from None


def _dollars(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CollectingError(f"--budget must be an amount in dollars, such as 25.00, not {text}.") from None
