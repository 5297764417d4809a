"""A game in Parley as one app of an oTree experiment: copy this folder into any project.

Play sends the participant to Parley through a signed link that soon expires; Done is shown once Parley has
a result. Only results that Parley signed, or gave when asked, are believed.

Settings, from the environment: PARLEY_URL (Parley's address), PARLEY_LINK_KEYS (study:key, shown when this server
was added to Parley; several with commas between them), OTREE_URL (this server's own address, as Parley knows it)
and oTree's own OTREE_AUTH_LEVEL.
"""

from __future__ import annotations

import asyncio
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
from otree.common import get_models_module

log = logging.getLogger(__name__)

REQUIRED_VARIABLES = ("PARLEY_URL", "PARLEY_LINK_KEYS", "OTREE_URL")
PLAY, RESULT, PROGRESS, CONNECTION = "parley:play", "parley:result", "parley:progress", "parley:connection"
DELIVERY = "otree:result"
"""What a token is for: none can be used as another."""
LINK_SECONDS = 3600
"""Lifetime of a link; the page makes a new one whenever it is shown."""
PATIENCE_SECONDS = 5
"""Seconds that a page waits for Parley."""
TEST_SECONDS = 15
"""Seconds that the creation of a session waits while Parley tests the connection."""
QUIET_SECONDS = 15
"""Seconds for which no page waits after Parley was slow: oTree serves one page at a time."""
REPORT_SECONDS = 10
"""Seconds after which the report stops asking for results; the next one continues."""
NOT_YET = {
    "pending": "Your game is not finished yet. Please follow the link and play it to its end.",
    "unknown": "Your result has not arrived yet. If you have finished the game, please wait a minute and press the "
    "button again: nothing is lost.",
}
"""Messages for participants who want to continue without a result."""
NO_ANSWER = "unknown, since Parley did not answer: open this report again"
NOT_THERE = "has not opened the game in Parley"
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
    parley_participant = models.StringField(blank=True)
    parley_cell = models.IntegerField(blank=True)
    parley_ending = models.StringField(blank=True)
    parley_role = models.StringField(blank=True)
    parley_match = models.StringField(blank=True)
    parley_opponent = models.StringField(blank=True)
    parley_moved_by = models.StringField(blank=True)
    parley_payoff = models.FloatField(blank=True)
    parley_base_cents = models.IntegerField(blank=True)
    parley_bonus_cents = models.IntegerField(blank=True)
    parley_currency = models.StringField(blank=True)


class Match(ExtraModel):
    """One of a player's matches; a study may have several in a row."""

    player = models.Link(Player)
    number = models.IntegerField()
    match = models.StringField()
    game = models.StringField()
    role = models.StringField()
    opponent = models.StringField()
    moved_by = models.StringField()
    payoff = models.FloatField()


class Turn(ExtraModel):
    """One move of a match."""

    match = models.Link(Match)
    number = models.IntegerField()
    role = models.StringField()
    move = models.LongStringField()
    moved_by = models.StringField()
    seconds = models.FloatField()


# ---- signed links, requests and results ------------------------------------------------------------------


def link_keys() -> dict[str, str]:
    """Return the link keys by study, the default study first."""
    pairs = [entry.strip().partition(":") for entry in environ.get("PARLEY_LINK_KEYS", "").split(",")]
    return {study: key for study, _colon, key in pairs if study and key}


def study_of(session) -> str:
    """Return the study of a session: its config's `parley_study`, or the first in PARLEY_LINK_KEYS."""
    return session.config.get("parley_study") or next(iter(link_keys()), "")


def signed(session, audience: str, /, **claims) -> str:
    """Return a JSON Web Token for Parley about this session (RFC 7519, HS256)."""
    study = study_of(session)
    claims = {"aud": audience, "study": study, "exp": int(time.time()) + LINK_SECONDS, **claims}
    sections = ({"alg": "HS256", "typ": "JWT"}, claims)
    text = ".".join(_base64url(json.dumps(section).encode()) for section in sections)
    return f"{text}.{_signature(text, study)}"


def verified(token: object, player: Player) -> dict | None:
    """Return the result in a token that Parley signed for this player's round; None if it did not."""
    text, _dot, signature = str(token).rpartition(".")
    study = study_of(player.session)
    if not hmac.compare_digest(signature.encode(), _signature(text, study).encode()):
        return None
    claims = json.loads(base64.urlsafe_b64decode(text.partition(".")[2] + "=="))
    own = {"aud": DELIVERY, "study": study, **_who(player)}
    return claims["result"] if own.items() <= claims.items() else None


def _who(player: Player) -> dict[str, str]:
    """Return the claims about a player: the person, and the round, which is one game in Parley."""
    return {"sub": player.participant.code, "round": round_of(player)}


def round_of(player: Player) -> str:
    """Return the app and round: the name of the result among the participant's vars."""
    return f"{C.NAME_IN_URL}/{player.round_number}"


def _signature(text: str, study: str) -> str:
    return _base64url(hmac.new(link_keys()[study].encode(), text.encode(), hashlib.sha256).digest())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def link_of(player: Player) -> str:
    """Return the link to the player's game."""
    session = player.session
    claims = {
        **_who(player),
        "session": session.code,
        "group": player.group.id_in_subsession,
        "back": f"{_own_address()}/InitializeParticipant/{player.participant.code}",
        "meet": session.config.get("parley_meet", "group"),
    }
    if roles := session.config.get("parley_roles"):
        claims["role"] = roles[(player.id_in_group - 1) % len(roles)]
    if cells := _cells(session):
        has_groups = len(player.subsession.get_groups()) > 1
        number = player.group.id_in_subsession if has_groups else player.id_in_group
        claims["cell"] = cells[(number - 1) % len(cells)]
    if "parley_cell" in player.participant.vars:
        claims["cell"] = int(player.participant.vars["parley_cell"])
    return f"{_parley_address()}/join/{study_of(session)}/?token={signed(session, PLAY, **claims)}"


def _cells(session) -> list[int]:
    """Return the cells named in the session's config."""
    return [int(cell) for cell in session.config.get("parley_cells") or []]


def _parley_address() -> str:
    return environ["PARLEY_URL"].rstrip("/")


def _own_address() -> str:
    return environ["OTREE_URL"].rstrip("/")


# ---- creating a session ----------------------------------------------------------------------------------


def creating_session(subsession: Subsession) -> None:
    """Refuse a session in which something would go wrong, with the reason."""
    if subsession.round_number > 1:
        return
    session = subsession.session
    missing = [name for name in REQUIRED_VARIABLES if not environ.get(name)]
    if missing:
        raise ValueError(f"This server's environment lacks {', '.join(missing)}: copy the lines that Parley showed.")
    if settings.AUTH_LEVEL not in ("DEMO", "STUDY"):
        raise ValueError(
            "Set OTREE_AUTH_LEVEL=STUDY in this server's environment, with OTREE_ADMIN_PASSWORD and OTREE_REST_KEY: "
            "without it, anyone can open the admin's pages and write into participants' data."
        )
    if study_of(session) not in link_keys():
        raise ValueError(f"PARLEY_LINK_KEYS has no key for the study “{study_of(session)}”: add what Parley showed.")
    if session.config.get("parley_meet", "group") not in ("group", "anyone"):
        raise ValueError('parley_meet is "group" (of oTree, in the same session) or "anyone" (in the study).')
    if settings.CURRENCY_UNIT_CLASS is None and float(payoff_of(1, session).to_real_world_currency(session)) != 0.01:
        raise ValueError(
            "In this session no payoff is worth one cent, so Parley's amounts would be rounded. Set USE_POINTS = False "
            "in settings.py, or real_world_currency_per_point=0.01 for the session: a point is then worth a cent."
        )
    problems = connection_problems(session)
    if problems:
        raise ValueError("This session cannot run with Parley. " + " ".join(problems))


def connection_problems(session) -> list[str]:
    """Let Parley test the connection both ways, and what the links will ask for; return what is wrong."""
    apps = [get_models_module(app) for app in session.config["app_sequence"]]
    token = signed(
        session,
        CONNECTION,
        back=_own_address(),
        rounds=sum(app.C.NUM_ROUNDS for app in apps if hasattr(app, "connection_problems")),
        roles=session.config.get("parley_roles") or [],
        cells=_cells(session),
        currency=settings.REAL_WORLD_CURRENCY_CODE,
        answers=_can_answer(),
    )
    try:
        return _get(f"connection/{token}", "problems", TEST_SECONDS)["problems"]
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.UNAUTHORIZED:
            return [f"Parley does not accept the key for {study_of(session)} in PARLEY_LINK_KEYS: copy it again."]
        return [f"{_parley_address()} answers with status {error.code}: is PARLEY_URL correct?"]
    except (OSError, http.client.HTTPException) as error:
        return [f"Parley cannot be reached at {_parley_address()} ({type(error).__name__}): is PARLEY_URL correct?"]
    except ValueError:
        return [f"The server at {_parley_address()} is not Parley: is PARLEY_URL correct?"]


def _can_answer() -> bool:
    """Return whether this server can answer Parley now: not while its REST interface creates a session."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def payoff_of(cents: int, session) -> Currency:
    """Return whole cents as a payoff: money, or points of the same value in this session."""
    if settings.CURRENCY_UNIT_CLASS is not None or not settings.USE_POINTS:
        return Currency(Decimal(cents) / 100)
    return Currency(Decimal(cents) / 100 / Decimal(str(session.config["real_world_currency_per_point"])))


# ---- results ---------------------------------------------------------------------------------------------


def has_result(player: Player) -> bool:
    """Return whether the result is stored, sent by Parley or requested. A stored result is not requested again."""
    return state_of(player) == "finished"


def state_of(player: Player) -> str:
    """Return "finished" once the result is stored, "pending" during the game, "unknown" if Parley is silent."""
    if player.field_maybe_none("parley_ending"):
        return "finished"
    outcome = delivered(player) or ask_parley(player)
    if outcome is None:
        return "unknown"
    player.parley_participant = outcome["participant"] or ""
    player.parley_cell = outcome["cell"]
    if outcome["state"] == "finished":
        keep(player, outcome)
    return outcome["state"]


def delivered(player: Player) -> dict | None:
    """Return the result that Parley sent, if any."""
    tokens = player.participant.vars.get(round_of(player))
    results = [verified(token, player) for token in tokens] if isinstance(tokens, list) else []
    result = next(filter(None, results), None)
    if tokens and result is None:
        log.error("Something that Parley did not sign for this participant was ignored.")
    return result


def take_in(participant) -> None:
    """Store every result that has arrived for the participant, for use in later apps.

    A participant who was advanced past Play manually before the result arrived has it from then on.
    """
    for player in participant.get_players():
        if isinstance(player, Player):
            has_result(player)


def ask_parley(player: Player) -> dict | None:
    """Return the outcome from Parley; None if Parley cannot be reached."""
    return _answer(f"results/{signed(player.session, RESULT, **_who(player))}", "state")


def _answer(path: str, name: str) -> dict | None:
    """Return Parley's answer; None if there is none. After a slow one, return None at once for a while."""
    global _quiet_until
    started_at = time.monotonic()
    if started_at < _quiet_until:
        return None
    try:
        return _get(path, name, PATIENCE_SECONDS)
    except urllib.error.HTTPError as error:
        log.error("Parley refuses: %s", _error_text(error))
    except (OSError, ValueError, http.client.HTTPException) as error:
        log.warning("Parley cannot be reached (%s); the page asks again when it is shown.", type(error).__name__)
        if time.monotonic() - started_at > PATIENCE_SECONDS / 2:
            _quiet_until = time.monotonic() + QUIET_SECONDS
    return None


_quiet_until = 0.0


def _get(path: str, name: str, seconds: float) -> dict:
    """Return the JSON object at a path of Parley's API; raise ValueError if it lacks this name or is no object."""
    with urllib.request.urlopen(f"{_parley_address()}/api/v1/{path}", timeout=seconds) as answer:
        answered = json.load(answer)
    if not isinstance(answered, dict) or name not in answered:
        raise ValueError("not Parley")
    return answered


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
    player.parley_base_cents = outcome["base_cents"]
    player.parley_bonus_cents = outcome["bonus_cents"]
    player.parley_currency = outcome["currency"]
    for number, played in enumerate(outcome["matches"], start=1):
        opponent, moved_by = ", ".join(played["opponents"].values()), ", ".join(played["moved_by"])
        player.parley_match, player.parley_payoff = played["match"], played["payoff"]
        player.parley_opponent, player.parley_moved_by = opponent, moved_by
        match = Match.create(
            player=player,
            number=number,
            match=played["match"],
            game=played["game"],
            role=played["role"],
            opponent=opponent,
            moved_by=moved_by,
            payoff=played["payoff"],
        )
        for turn in played["turns"]:
            Turn.create(
                match=match,
                number=turn["number"],
                role=turn["role"],
                move=json.dumps(turn["move"]),
                moved_by=turn["by"] or "",
                seconds=turn["seconds"],
            )
    player.payoff = payoff_of(outcome["payoff_cents"], player.session)


# ---- exports and the report ------------------------------------------------------------------------------

_WHO = ["session", "participant", "round", "parley_participant", "cell", "number", "match", "game", "role", "opponent"]


def custom_export_matches(players):
    """Yield one row per match."""
    yield [*_WHO, "moved_by", "payoff"]
    for player in players:
        for match in _matches_of(player):
            yield [*_about(player, match), match.moved_by, match.payoff]


def custom_export(players):
    """Yield one row per turn; role, move, moved_by and seconds are the turn's."""
    yield [*_WHO, "turn", "turn_role", "move", "moved_by", "seconds"]
    for player in players:
        for match in _matches_of(player):
            for turn in sorted(Turn.filter(match=match), key=lambda turn: turn.number):
                yield [*_about(player, match), turn.number, turn.role, turn.move, turn.moved_by, turn.seconds]


def _matches_of(player: Player) -> list:
    return sorted(Match.filter(player=player), key=lambda match: match.number)


def _about(player: Player, match) -> list:
    who = [player.session.code, player.participant.code, player.round_number]
    where = [player.parley_participant, player.parley_cell, match.number, match.match, match.game]
    return [*who, *where, match.role, match.opponent]


def vars_for_admin_report(subsession: Subsession) -> dict:
    """Return where everyone is, up to this round; late results of people advanced past Play are stored now."""
    deadline = time.monotonic() + REPORT_SECONDS
    session = subsession.session
    answer = _answer(f"progress/{signed(session, PROGRESS, session=session.code)}", "participants")
    players = [player for round_subsession in subsession.in_all_rounds() for player in round_subsession.get_players()]
    progress = answer and answer["participants"]
    return {"rows": [_report_row(player, progress, deadline) for player in players if player.participant.visited]}


def _report_row(player: Player, progress: dict | None, deadline: float) -> dict:
    now = None if progress is None else progress.get("/".join(_who(player).values()))
    finished = bool(player.field_maybe_none("parley_ending"))
    if not finished and (delivered(player) or (now and now["ended"] and time.monotonic() < deadline)):
        finished = has_result(player)
    return {
        "code": player.participant.code,
        "round": player.round_number,
        "label": player.participant.label or "",
        "status": player.parley_ending if finished else NO_ANSWER if progress is None else _status(now),
        "payoff": money_of(player) if finished else "",
    }


def _status(now: dict | None) -> str:
    """Return what a participant is doing in Parley."""
    if now is None:
        return NOT_THERE
    if now["missing"] is None:
        return f"in Parley: {now['state'].replace('_', ' ')}"
    return f"in Parley's lobby: waiting for {now['missing']} more, at most {now['seconds']} s"


def money_of(player: Player) -> Currency:
    """Return the payoff as money: to participants, points are those of the games in Parley."""
    return player.payoff.to_real_world_currency(player.session)


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
        return {"completed": player.parley_ending == "completed", "earned": money_of(player)}


page_sequence = [Play, Done]
