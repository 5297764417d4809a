"""A match as a step of an enrolment."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models, transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from games import registry
from games.errors import GameError
from games.interface import Role
from matches import chat, screens, services
from matches.absences import has_lost_connection, is_answered_for, is_away, is_replaced
from matches.models import Match, Seat
from opponents.agents import parse_agents
from participants.keeping import Own
from participants.markdown import to_html
from participants.models import Enrolment
from participants.states import State
from participants.steps import Step, StepRefused, register, told_pay
from participants.values import merge, register_values

log = logging.getLogger(__name__)


@register
class MatchStep(Step):
    """step: {kind, game, config, role, seats, agents, purpose, texts, timers, budget_of, stage, where}.

    `seats` is the line-up, `agents` its agents by label (`opponents.agents`); `stage` names the plan's stage, and
    `where` also the pass and the repeat, if it is played several times: "talk.short.1".
    """

    kind = "match"
    template = "participants/match.html"
    state = State.PLAYING
    shows_result = True
    _seat: Seat | None = None

    @property
    def title(self) -> Promise:
        return _("Chat") if self.step.get("game") == registry.CONVERSATION else _("The game")

    @property
    def kept(self) -> bool:
        seat = self.seat()
        return seat is not None and seat.match.chat() is None

    def seat(self) -> Seat | None:
        """Return the participant's seat with its match, as of the start of this request."""
        if self._seat is None:
            seats = Seat.objects.select_related("match").filter(enrolment=self.enrolment, step=self.enrolment.position)
            self._seat = seats.order_by().first()
        return self._seat

    @property
    def seed(self) -> int:
        return int(self.step.get("seed", self.enrolment.seed))

    @property
    def slow(self) -> bool:
        # The step of a participant who joins an existing match names no game.
        return "game" in self.step and registry.get(self.step["game"]).slow_setup

    def prepare(self, position: int) -> None:
        seats = Seat.objects.filter(enrolment=self.enrolment, step=position)
        if self.slow and not seats.exists():
            services.prepare(game=self.step["game"], config=self.step["config"], seed=self.seed)

    def enter(self, *, first: bool) -> None:
        """Open the match on the first visit, unless the lobby has opened it."""
        opens_here = first and "seed" in self.step
        if not opens_here and self.seat() is not None:
            return
        seed = self.seed
        players = _agents(self.step, seed)
        players[self.step["role"]] = services.Player(enrolment=self.enrolment, step=self.enrolment.position)
        match = services.open_match(
            game=self.step["game"],
            config=self.step["config"],
            players=players,
            seed=seed,
            purpose=self.step["purpose"],
            texts=self.step.get("texts"),
            timers=self.step.get("timers"),
            budget_of=self.step.get("budget_of", ""),
            shown_to=self.step["role"],
        )
        self._seat = Seat(match=match, role=self.step["role"], enrolment=self.enrolment, step=self.enrolment.position)

    def state_now(self) -> State:
        """Return the waiting state while someone else has to move."""
        seat = self._live_seat()
        is_waiting = seat is not None and seat.match.asked_turn(seat.role) is None
        return State.WAITING if is_waiting else self.state

    def hold(self) -> None:
        seat = self.seat()
        if seat is not None:
            seat.match = Match.objects.select_for_update().get(pk=seat.match_id)

    def _live_seat(self) -> Seat | None:
        seat = self.seat()
        return seat if seat is not None and seat.match.status == Match.Status.LIVE else None

    def others(self) -> list[int]:
        seat = self._live_seat()
        if seat is None:
            return []
        people = Seat.objects.filter(match=seat.match_id, step=models.F("enrolment__position"))
        enrolments = people.exclude(enrolment=self.enrolment).order_by("enrolment")
        return list(enrolments.values_list("enrolment", flat=True))

    def leave(self) -> None:
        seat = self._live_seat()
        if seat is None:
            return
        try:
            with transaction.atomic():
                services.leave(match_id=seat.match_id, role=seat.role, reason=self.enrolment.state)
        except GameError as error:  # a participant can leave a match that cannot continue
            log.error("leaving match %s failed: %s", seat.match_id, type(error).__name__)

    def is_done(self, *, present: bool) -> bool:
        """Return whether the match has a result; for those who are away, also whether they played to its end."""
        seat = self.seat()
        if seat is None or seat.match.status != Match.Status.FINISHED:
            return False
        return present or not is_answered_for(seat.match.absences.get(seat.role, {}))

    def context(self) -> dict[str, Any]:
        seat = self.seat()
        assert seat is not None
        match = seat.match
        absence = match.absences.get(seat.role, {})
        if has_lost_connection(absence):
            services.end_absence(match_id=match.pk, role=seat.role, since=timezone.now())
            match.refresh_from_db()
        elif not self.posted and (is_away(absence) or is_replaced(absence)):
            services.come_back(match_id=match.pk, role=seat.role)
            match.refresh_from_db()
        frame = screens.frame(match, seat.role, posted=self.posted, errors=self.errors)
        turn = match.asked_turn(seat.role)
        if turn is not None and turn.answering == frame["answering"] and turn.shown_at is None:
            services.mark_shown(
                match_id=match.pk,
                role=seat.role,
                answering=frame["answering"],
                at=timezone.now(),
                waiting=self.enrolment.state == State.WAITING,
            )
        game = match.configured()
        return {
            "frame": {**frame, "html": Own(frame["html"])},
            "game": {"key": game.key, "title": game.title},
            "instructions": to_html(game.instructions(seat.role, match.texts.get("instructions"))),
            "is_talk": match.disclosure().is_talk,
            "called": [
                (title, Own.of(name), own)
                for title, name, own in names_in(match, seat.role, own_name=self.enrolment.display_name)
            ],
            "pays": [
                told_pay(step)
                for step in self.enrolment.steps
                if step.get("pay") and step.get("stage") == self.step.get("stage")
            ],
            **chat.page(match, seat.role),
        }

    def clock(self) -> Mapping[str, Any] | None:
        seat = self.seat()
        turn = seat.match.asked_turn(seat.role) if seat is not None else None
        if seat is None or turn is None:
            return None
        held = round(turn.hold_left(timezone.now()))
        return {"remaining": seat.match.seconds_left(turn), "held": held, "extended": turn.extended}

    def pause(self) -> int:
        seat = self.seat()
        return services.pause_turn(match_id=seat.match_id, role=seat.role) if seat is not None else 0

    def answer(self, data: Mapping[str, str]) -> None:
        seat = self.seat()
        if seat is None or seat.match.status == seat.match.Status.LIVE:
            raise StepRefused({"": _("The game is still in progress.")})


def _agents(step: Mapping[str, Any], seed: int) -> dict[str, services.Player]:
    """Return the agents of a match step by role."""
    return services.Player.agents(parse_agents(step["agents"]), step["seats"], seed=seed)


@register_values
def results_of(enrolment: Enrolment) -> dict[str, Any]:
    """Return the results of the participant's finished matches by their names: metrics, the seat's own, its payoff."""
    results: dict[str, Any] = {}
    seats = Seat.objects.select_related("match").filter(enrolment=enrolment, match__status=Match.Status.FINISHED)
    for seat in seats.order_by("step"):
        step = enrolment.steps[seat.step]
        if "stage" in step:
            play = seat.match.play()
            own = {
                **vars(play.game.seat_metrics(play.state, seat.role)),
                "payoff": (seat.match.payoffs or {}).get(seat.role),
            }
            path, found = [step["stage"], *step.get("passes", ())], {**(seat.match.metrics or {}), **own}
            merge(results, _nested(path, found))
            if "repeat" in step:
                merge(results, _nested([*path, str(step["repeat"])], found))
    return results


def _nested(path: Sequence[str], values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {path[0]: _nested(path[1:], values)} if path else values


def names_in(match: Match, role: Role, *, own_name: str) -> list[tuple[str, str, bool]]:
    """Return (seat, chosen name, whether it is `role`): of all participants as far as pages may show their names.

    A single player needs no name.
    """
    names = {role: own_name}
    if match.disclosure().shows_names:
        names = dict(match.seats.values_list("role", "enrolment__display_name"))
    game = match.configured()
    if len(game.roles()) == 1:
        return []  # nobody else would see the name
    return [(game.role_title(seat), names[seat], seat == role) for seat in game.roles() if names.get(seat)]


def live_seat(token: str, step: str = "") -> Seat | None:
    """Return the newest seat of the participant with this token.

    Args:
        step: the step that the page shows; None is returned if the participant is at another one.
    """
    seats = Seat.objects.select_related("match", "enrolment").filter(enrolment__token=token)
    seat = seats.order_by("-step").first()
    if seat is not None and seat.enrolment and step and {str(seat.step), str(seat.enrolment.position)} != {step}:
        return None
    return seat


def current_frame(seat: Seat) -> dict[str, Any]:
    """Return the seat's current frame, after handling overdue turns."""
    match = Match.objects.get(pk=seat.match_id)
    if match.deadline is not None and match.deadline < timezone.now():
        services.handle_time_outs(match_id=match.pk)
        match.refresh_from_db()
    return screens.frame(match, seat.role)
