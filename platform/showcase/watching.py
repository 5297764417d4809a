"""Matches that agents play in the demo for everyone to watch: without people, so that nobody's data is shown."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from games import registry
from games.play import configure
from matches import services
from matches.models import Match, Seat
from opponents.models import Endpoint
from participants.models import new_seed
from plans.asking import settings_of
from showcase.local_model import LOCAL, LOCAL_MODEL, LOCAL_SETTINGS

DELAY_SECONDS = 2.5
"""How long a script waits before each move, so that a spectator can follow."""


def public_matches() -> QuerySet[Match]:
    """Return the matches that anyone may watch in the demo: of agents alone, and of no study or collection."""
    people = Seat.objects.filter(match=OuterRef("pk"), enrolment__isnull=False)
    return Match.objects.filter(~Exists(people), purpose=Match.Purpose.DEMO)


def begin(key: str, *, delay: float = DELAY_SECONDS) -> Match:
    """Return the game's match that is being played for spectators, newly opened if there is none.

    Scripts play, or the model on this computer if one runs.
    """
    played = public_matches().filter(game=key)
    if match := played.filter(status=Match.Status.LIVE).first():
        return match
    game = registry.get(key)
    config, seed = dict(game.starting_config), new_seed()
    services.prepare(game=key, config=config, seed=seed)
    scripts, first = game.shown_by or (game.default_script,), played.count()
    if model_runs() and delay:
        player = services.Player(
            agent=f"{LOCAL}:{LOCAL_MODEL}",
            settings=settings_of({**LOCAL_SETTINGS, "script": game.default_script}),
        )
        players = dict.fromkeys(configure(game, config).roles(), player)
    else:
        players = {
            role: services.Player(agent=f"script:{scripts[seat % len(scripts)]}", delay=delay)
            for seat, role in enumerate(configure(game, config).roles(), start=first)
        }
    return services.open_match(game=key, config=config, players=players, seed=seed, purpose=Match.Purpose.DEMO)


def play_examples() -> None:
    """Have scripts play one match of every game that has none yet, so that every game has a result to look at."""
    shown = set(public_matches().values_list("game", flat=True))
    for key in registry.keys():
        if key not in shown:
            begin(key, delay=0)


def model_runs() -> bool:
    """Return whether the demo runs a model on this computer."""
    return Endpoint.objects.filter(name=LOCAL, enabled=True).exists()
