"""A game in Parley as one app of an oTree experiment: copy this folder into any project.

Play sends the participant to Parley through a signed link that soon expires; Done is shown once Parley has
a result. Settings, from the environment: PARLEY_URL (Parley's address), PARLEY_STUDY (the study's short
name), PARLEY_LINK_KEY (shown when this server was added to Parley) and OTREE_URL (this server's own
address, as Parley knows it).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import logging
import time
import urllib.error
import urllib.request
from decimal import Decimal
from os import environ

from otree import settings
from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Currency, ExtraModel, Page, models

log = logging.getLogger(__name__)

REQUIRED_VARIABLES = ("PARLEY_URL", "PARLEY_STUDY", "PARLEY_LINK_KEY")
LINK_SECONDS = 3600
"""Lifetime of a link; the page makes a new one whenever it is shown."""
PATIENCE_SECONDS = 5
"""Seconds that a page waits for Parley."""
QUIET_SECONDS = 15
"""Seconds for which no page waits after Parley was slow: oTree serves one page at a time."""
REPORT_SECONDS = 10
"""Seconds after which the report stops asking and lists the participants it has not asked about."""
NOT_YET = {
    "pending": "Your game is not finished yet. Please follow the link and play it to its end.",
    "unknown": "Your result has not arrived yet. If you have finished the game, please wait a minute and press the "
    "button again: nothing is lost.",
}
"""Messages for participants who want to continue without a result."""
STATUS_TEXTS = {
    "pending": "has not finished the game in Parley",
    "unknown": "unknown, since Parley did not answer: open this report again",
}
"""Entries in the report for participants without a result."""


class C(BaseConstants):
    NAME_IN_URL = "parley"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    parley_ending = models.StringField(blank=True)
    parley_role = models.StringField(blank=True)
    parley_match = models.StringField(blank=True)
    parley_payoff = models.FloatField(blank=True)
    parley_base_cents = models.IntegerField(blank=True)
    parley_bonus_cents = models.IntegerField(blank=True)
    parley_currency = models.StringField(blank=True)


class Turn(ExtraModel):
    """One move of a player's match."""

    player = models.Link(Player)
    number = models.IntegerField()
    role = models.StringField()
    move = models.LongStringField()
    moved_by = models.StringField()
    seconds = models.FloatField()


# ---- signed links and requests ---------------------------------------------------------------------------


def signed(player: Player, audience: str, **claims: str) -> str:
    """Return a JSON Web Token for Parley about this player's round (RFC 7519, HS256)."""
    claims = {
        "aud": audience,
        "study": environ["PARLEY_STUDY"],
        "sub": f"{player.participant.code}/{round_of(player)}",
        "exp": int(time.time()) + LINK_SECONDS,
        **claims,
    }
    text = ".".join(_base64url(json.dumps(section).encode()) for section in ({"alg": "HS256", "typ": "JWT"}, claims))
    mark = hmac.new(environ["PARLEY_LINK_KEY"].encode(), text.encode(), hashlib.sha256)
    return f"{text}.{_base64url(mark.digest())}"


def round_of(player: Player) -> str:
    """Return the app and round: one game in Parley, and the name of its result among the participant's vars."""
    return f"{C.NAME_IN_URL}/{player.round_number}"


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def link_of(player: Player) -> str:
    """Return the link to the player's game."""
    address = environ.get("OTREE_URL", "http://127.0.0.1:8001").rstrip("/")
    claims = {"back": f"{address}/InitializeParticipant/{player.participant.code}"}
    roles = player.session.config.get("parley_roles")
    if roles:
        claims["role"] = roles[(player.id_in_subsession - 1) % len(roles)]
    return f"{_parley_address()}/join/{environ['PARLEY_STUDY']}/?token={signed(player, 'parley:play', **claims)}"


def _parley_address() -> str:
    return environ["PARLEY_URL"].rstrip("/")


# ---- results ---------------------------------------------------------------------------------------------


def has_result(player: Player) -> bool:
    """Return whether the result is stored, sent by Parley or requested. A stored result is not requested again."""
    return state_of(player) == "finished"


def state_of(player: Player) -> str:
    """Return "finished" once the result is stored, "pending" during the game, "unknown" if Parley is silent."""
    if player.field_maybe_none("parley_ending"):
        return "finished"
    outcome = player.participant.vars.get(round_of(player)) or ask_parley(player)
    if outcome is None:
        return "unknown"
    if outcome["state"] == "finished":
        keep(player, outcome)
    return outcome["state"]


def take_in(participant) -> None:
    """Store every result that has arrived for the participant, for use in later apps.

    A participant who was advanced past Play manually before the result arrived has it from then on.
    """
    for player in participant.get_players():
        if isinstance(player, Player):
            has_result(player)


def ask_parley(player: Player) -> dict | None:
    """Return the outcome from Parley; None if Parley cannot be reached."""
    global _quiet_until
    started_at = time.monotonic()
    if started_at < _quiet_until:
        return None
    address = f"{_parley_address()}/api/v1/results/{signed(player, 'parley:result')}"
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
            outcome = json.load(answer)
        if isinstance(outcome, dict) and "state" in outcome:
            return outcome
        log.error("The server at PARLEY_URL is not Parley.")
    except urllib.error.HTTPError as error:
        log.error("Parley refuses to send the result: %s", _error_text(error))
    except (OSError, ValueError, http.client.HTTPException) as error:
        log.warning("Parley cannot be reached (%s); the page asks again when it is shown.", type(error).__name__)
        if time.monotonic() - started_at > PATIENCE_SECONDS / 2:
            _quiet_until = time.monotonic() + QUIET_SECONDS
    return None


_quiet_until = 0.0


def _error_text(error: urllib.error.HTTPError) -> str:
    try:
        return error.read(500).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return str(error.code)


def keep(player: Player, outcome: dict) -> None:
    """Store the result and its payment in whole cents, which oTree does not round.

    The payoff is set last: oTree commits with it, so that nobody has a partial result.
    """
    player.parley_ending = outcome["ending"]
    player.parley_role = outcome["role"]
    player.parley_match = outcome["match"] or ""
    player.parley_payoff = outcome["payoff"]
    player.parley_base_cents = outcome["base_cents"]
    player.parley_bonus_cents = outcome["bonus_cents"]
    player.parley_currency = outcome["currency"]
    for turn in outcome["turns"]:
        Turn.create(
            player=player,
            number=turn["number"],
            role=turn["role"],
            move=json.dumps(turn["move"]),
            moved_by=turn["by"] or "",
            seconds=turn["seconds"],
        )
    player.payoff = payoff_of(outcome["payoff_cents"], player.session)


def payoff_of(cents: int, session) -> Currency:
    """Return whole cents as a payoff: money, or points of the same value in this session."""
    if settings.CURRENCY_UNIT_CLASS is not None or not settings.USE_POINTS:
        return Currency(Decimal(cents) / 100)
    return Currency(Decimal(cents) / 100 / Decimal(str(session.config["real_world_currency_per_point"])))


def creating_session(subsession: Subsession) -> None:
    """Refuse a session without settings for Parley, or in which oTree would round people's pay."""
    missing = [name for name in REQUIRED_VARIABLES if not environ.get(name)]
    if missing:
        raise ValueError(f"This server's environment lacks {', '.join(missing)}: copy the lines that Parley showed.")
    session = subsession.session
    if settings.CURRENCY_UNIT_CLASS is None and float(payoff_of(1, session).to_real_world_currency(session)) != 0.01:
        raise ValueError(
            "In this session no payoff is worth one cent, so Parley's amounts would be rounded. Set USE_POINTS = False "
            "in settings.py, or real_world_currency_per_point=0.01 for the session: a point is then worth a cent."
        )


def custom_export(players):
    """Yield one row per turn."""
    yield ["session", "participant", "round", "match", "number", "role", "move", "moved_by", "seconds"]
    for player in players:
        for turn in sorted(Turn.filter(player=player), key=lambda turn: turn.number):
            yield [
                player.session.code,
                player.participant.code,
                player.round_number,
                player.parley_match,
                turn.number,
                turn.role,
                turn.move,
                turn.moved_by,
                turn.seconds,
            ]


def vars_for_admin_report(subsession: Subsession) -> dict:
    """Return who has a result, up to this round; late results of people advanced past Play are stored now."""
    deadline = time.monotonic() + REPORT_SECONDS
    players = [player for round_subsession in subsession.in_all_rounds() for player in round_subsession.get_players()]
    return {"rows": [_report_row(player, deadline) for player in players if player.participant.visited]}


def _report_row(player: Player, deadline: float) -> dict:
    ending = player.field_maybe_none("parley_ending")
    state = "finished" if ending else state_of(player) if time.monotonic() < deadline else "unknown"
    return {
        "code": player.participant.code,
        "round": player.round_number,
        "label": player.participant.label or "",
        "status": player.parley_ending if state == "finished" else STATUS_TEXTS[state],
        "payoff": player.payoff if state == "finished" else "",
    }


# ---- pages -----------------------------------------------------------------------------------------------


class Play(Page):
    @staticmethod
    def is_displayed(player: Player) -> bool:
        # oTree's bots cannot play a game on another server: they skip it.
        return not player.participant._is_bot and not has_result(player)

    @staticmethod
    def vars_for_template(player: Player) -> dict:
        return {"link": link_of(player)}

    @staticmethod
    def error_message(player: Player, values: dict) -> str | None:
        return NOT_YET.get(state_of(player))


class Done(Page):
    @staticmethod
    def is_displayed(player: Player) -> bool:
        # Participants advanced manually without a result skip this page.
        return bool(player.field_maybe_none("parley_ending"))

    @staticmethod
    def vars_for_template(player: Player) -> dict:
        return {"completed": player.parley_ending == "completed"}


page_sequence = [Play, Done]
