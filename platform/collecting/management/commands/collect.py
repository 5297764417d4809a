"""Create a collection and play it, or show, pause or resume one.

collect NAME --game GAME (--table glee | --grid JSON | --config JSON…) --agents A,B,… [--lineups RULE] [--repetitions N]
collect NAME --preset PRESET [--agents A,B,…]
collect NAME --plan FILE
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
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection, transaction

from audit import services as audit
from audit.actions import Action
from collecting import driver, planning, services
from collecting.errors import CollectingError
from collecting.estimate import estimate_of
from collecting.models import Collection
from collecting.progress import failures, progress
from games import grids, registry
from games.interface import Json
from games.lineups import Rule
from llm_agents.agent import parse_spec
from matches.management.arguments import as_command_error
from opponents.endpoints import refresh_if_old
from opponents.spending import refusal_of
from plans.asking import Asking
from plans.files import loads
from plans.library import agent_like, ready_made
from plans.reading import BadPlan
from plans.starting import collection_for

SETTINGS = tuple(name for name in (*Asking.model_fields, "fallback") if name not in ("appears", "cap_study"))
"""How models are asked, without what applies only to studies; `fallback` names another agent, such as script:fair."""
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
            help="comma-separated: script:NAME, program:NAME, openai:MODEL, anthropic:MODEL, ENDPOINT:MODEL",
        )
        plan.add_argument(
            "--preset", metavar="PRESET", help=f"a published collection: {', '.join(ready_made('collections'))}"
        )
        plan.add_argument("--plan", metavar="FILE", help="a plan as a YAML or JSON file")
        plan.add_argument("--environment", metavar="E", help="what exports call this collection's line-ups")
        plan.add_argument(
            "--lineups",
            metavar="RULE|JSON",
            default="product",
            help=f"line-up rule: {', '.join(get_args(Rule))}; or JSON with fixed seats, rotation, samples, lists",
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
        plan.add_argument("--concurrency", type=int, metavar="N", help="agents asked at once")
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
        plan.add_argument(
            "--asking",
            metavar="JSON|FILE",
            help="how models are asked, and what happens when they fail: JSON, or a file with it. Keys: "
            + ", ".join(SETTINGS),
        )
        parser.add_argument("--json", action="store_true", help="show progress as one JSON object per line")
        parser.add_argument("--no-wait", action="store_true", help="start it and return")
        parser.add_argument("--here", action="store_true", help="play in this process, without a worker")
        actions = parser.add_mutually_exclusive_group()
        actions.add_argument("--pause", action="store_true", help="start no more matches")
        actions.add_argument("--resume", action="store_true", help="continue a paused collection")
        actions.add_argument("--retry-failed", action="store_true", help="play the failed matches again")

    def handle(self, *args: Any, **options: Any) -> None:
        with as_command_error(CollectingError, BadPlan), transaction.atomic():
            collection = self._carry_out(options)
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
        has_plan = any(options[key] for key in ("game", "preset", "plan", "table", "grid", "config", "agents"))
        if collection is None:
            if not has_plan:
                existing = ", ".join(Collection.objects.order_by("slug").values_list("slug", flat=True)) or "none"
                raise CollectingError(f"There is no collection “{options['name']}”. Existing collections: {existing}.")
            collection = planning.make_collection(self._document(options), slug=options["name"], seed=options["seed"])
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

    def _document(self, options: dict[str, Any]) -> dict[str, Json]:
        """Return the plan that the options describe."""
        if options["plan"]:
            document = loads(_text_in(options["plan"], f"{options['plan']} cannot be read"))
        elif options["preset"]:
            document = self._published(options)
        else:
            document = self._described(options)
        given = {
            "title": options["title"],
            "environment": options["environment"],
            "concurrency": options["concurrency"],
            "budget": options["budget"] and str(_dollars(options["budget"])),
            "prices": _json(options["prices"], "--prices", dict),
        }
        return {**document, **{name: value for name, value in given.items() if value}}

    def _described(self, options: dict[str, Any]) -> dict[str, Json]:
        if not options["game"] or not options["agents"]:
            raise CollectingError(
                "A new collection needs --game and --agents, such as --game bargaining --agents script:fair."
            )
        sources = [bool(options[key]) for key in ("table", "grid", "config")]
        if sum(sources) > 1:
            raise CollectingError("Give only one of --table, --grid and --config.")
        game = registry.get(options["game"])
        configurations: list[Any] = [{}]
        if options["config"]:
            configurations = [_json(text, "--config", dict) for text in options["config"]]
        elif options["grid"]:
            configurations = grids.expand(game, _json(options["grid"], "--grid", dict))
        specs, asking = _agents(options), _settings(options["asking"]) if options["asking"] else {}
        refresh_if_old(*specs)
        for spec in specs:
            parse_spec(spec, game)
        others = [asking["fallback"]] if isinstance(asking.get("fallback"), str) else asking.get("fallback") or []
        agents = {spec: agent_like(asking if spec in specs else {}, spec) for spec in [*specs, *others]}
        if options["delay"]:
            agents = {
                spec: {**agent, "delay": options["delay"]} if "script" in agent else agent
                for spec, agent in agents.items()
            }
        return collection_for(
            game.key,
            title=options["name"],
            configurations=configurations,
            table=options["table"] or "",
            agents=agents,
            seats=_lineups(options),
            repetitions=options["repetitions"],
            seeds=options["seeds"],
            stages=options["stages"],
        )

    def _published(self, options: dict[str, Any]) -> dict[str, Json]:
        """Return a ready-made plan with the given agents."""
        preset = ready_made("collections").get(options["preset"])
        if preset is None:
            known = ", ".join(ready_made("collections"))
            raise CollectingError(f"There is no preset “{options['preset']}”. The presets are: {known}.")
        return preset.adapted(_agents(options) if options["agents"] else (), options["seed"])

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


def _lineups(options: dict[str, Any]) -> dict[str, Json]:
    """Return the rule given by --lineups, by name or as JSON, for the agents."""
    text = options["lineups"]
    rule = _json(text, "--lineups", dict) if text.lstrip().startswith("{") else {"rule": text}
    return {"agents": _agents(options), "same": not options["no_same"], **rule}


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


def _settings(text: str) -> dict[str, Json]:
    """Return the settings in a JSON object or in a file."""
    if not text.lstrip().startswith("{"):
        text = _text_in(text, "--asking must be a JSON object or a readable file")
    values: dict[str, Json] = _json(text, "--asking", dict)
    if unknown := sorted(values.keys() - SETTINGS):
        raise CollectingError(f"--asking: there is no setting {', '.join(unknown)} in collections.")
    return values


def _text_in(file: str, problem: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CollectingError(f"{problem}: {getattr(error, 'strerror', None) or error}.") from None


def _dollars(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CollectingError(f"--budget must be an amount in dollars, such as 25.00, not {text}.") from None
