"""A match as a step on a participant's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches import screens, services
from matches.agent_settings import settings_of
from matches.change import extension_seconds
from matches.models import Match, Seat
from participants.markdown import to_html
from participants.states import State
from participants.steps import Step, StepRefused, register


@register
class MatchStep(Step):
    """step: {kind, game, config, role, agents: {role: {agent, delay, settings}}, purpose, texts, timers, budget_of}."""

    kind = "match"
    title = _("The game")
    template = "participants/match.html"
    state = State.PLAYING

    def seat(self) -> Seat | None:
        return (
            Seat.objects.select_related("match").filter(enrolment=self.enrolment, step=self.enrolment.position).first()
        )

    def enter(self) -> None:
        """Open the match on the first visit."""
        if self.seat() is not None:
            return
        players = {
            role: services.Player(
                agent=player["agent"], delay=player.get("delay", 0), settings=settings_of(player.get("settings", {}))
            )
            for role, player in self.step["agents"].items()
        }
        players[self.step["role"]] = services.Player(enrolment=self.enrolment, step=self.enrolment.position)
        services.open_match(
            game=self.step["game"],
            config=self.step["config"],
            players=players,
            seed=self.enrolment.seed,
            purpose=self.step["purpose"],
            texts=self.step.get("texts"),
            timers=self.step.get("timers"),
            budget_of=self.step.get("budget_of", ""),
        )

    def state_now(self) -> State:
        """Waiting, while the game goes on and somebody else is to move."""
        seat = self.seat()
        waits = seat is not None and seat.match.status == Match.Status.LIVE and seat.role not in seat.match.open_turns()
        return State.WAITING if waits else self.state

    def context(self) -> dict[str, Any]:
        seat = self.seat()
        assert seat is not None
        match = seat.match
        frame = screens.frame(match, seat.role, posted=self.posted, errors=self.errors)
        if frame["answering"] is not None:
            services.mark_shown(match_id=match.pk, role=seat.role, answering=frame["answering"], at=timezone.now())
        game = match.configured()
        return {
            "frame": frame,
            "game": game,
            "instructions": to_html(game.instructions(seat.role, match.texts.get("instructions"))),
            "name": self.enrolment.display_name,
            "extension": extension_seconds(match),
        }

    def answer(self, data: Mapping[str, str]) -> None:
        seat = self.seat()
        if seat is None or seat.match.status == seat.match.Status.LIVE:
            raise StepRefused({"": _("The game is still going on.")})


def live_seat(token: str) -> Seat | None:
    """The seat that a participant's token opens now: that of the match at their present step."""
    return Seat.objects.select_related("match", "enrolment").filter(enrolment__token=token).order_by("-step").first()


def current_frame(seat: Seat) -> dict[str, Any]:
    """The seat's frame as of now; a page that asks is never shown a turn whose time is over."""
    match = Match.objects.get(pk=seat.match_id)
    if match.deadline is not None and match.deadline < timezone.now():
        services.let_time_run_out(match_id=match.pk)
        match.refresh_from_db()
    return screens.frame(match, seat.role)
