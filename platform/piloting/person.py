"""A simulated participant: opens pages, reads, answers and plays until the session ends.

The pages are the real ones, requested in this process through all layers of the site. During the match, the moves come
from a scripted player or a model and are posted as the page's form would post them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext as _

from games.errors import GameError
from games.interface import Form, MoveData, Role
from games.play import Play, script_move
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from matches import agents, forms, services
from matches.models import Match, Seat
from opponents.agents import Agent
from participants import steps
from participants.models import Enrolment
from piloting import enrolling, pace, reading
from piloting.answering import answers
from piloting.errors import Stuck
from piloting.models import Walker
from studies.formats import agents_in

MAX_PAGES = 200
TRIES = 3
"""The maximum number of times that a page may refuse answers that fit its form."""
POLL_SECONDS = 0.1
PATIENCE = 60.0
"""Seconds beyond the opponent's own limit after which a match without moves counts as stuck."""
Plan = Walker.Plan


class Interrupted(Exception):
    """The pilot was stopped while this participant was under way."""


class Person:
    """One simulated participant with their link."""

    def __init__(self, walker: Walker, goes_on: Callable[[], bool]):
        self.walker = walker
        self.enrolment: Enrolment = enrolling.enrol(walker)
        self.url = self.enrolment.get_absolute_url()
        self.rng = Random(f"{walker.pilot.seed}/{walker.number}/answers")
        self._goes_on = goes_on
        self._client = Client(raise_request_exception=False)

    def walk(self) -> None:
        """Continue from the current page until an ending is shown.

        Raises:
            Stuck: naming the page and the reason.
            Interrupted
        """
        for _page in range(MAX_PAGES):
            if not self._goes_on():
                raise Interrupted
            began = time.monotonic()
            page = self._look()
            if self._now().ended:
                return
            step = steps.step_object(self.enrolment, self.enrolment.step)
            estimate, asked = {"reading": pace.seconds_of_page(page)}, page
            if step.kind == "lobby":
                self._wait_for_others()
                self._note(step, page, began, estimate)
                continue
            if step.kind == "match":
                estimate = self._play(page)
                asked = self._look()
            if not self._now().ended:
                self._answer(asked)
            self._note(step, page, began, estimate)
        raise Stuck(_("No ending after {most} pages.").format(most=MAX_PAGES))

    def _now(self) -> Enrolment:
        self.enrolment.refresh_from_db()
        return self.enrolment

    def _note(self, step: steps.Step, page: reading.Page, began: float, estimate: dict[str, float]) -> None:
        """Record the page: {kind, title, words, seconds, estimate: {what: seconds}}."""
        self.walker.pages.append(
            {
                "kind": step.kind,
                "title": str(step.title),
                "words": page.words,
                "seconds": round(time.monotonic() - began, 3),
                "estimate": {what: round(seconds, 1) for what, seconds in estimate.items()},
            }
        )
        self.walker.save(update_fields=["pages"])

    # ---- pages -------------------------------------------------------------------------------------------

    def _look(self) -> reading.Page:
        answer = self._ask(self.url)
        if answer.status_code != 200:
            raise Stuck(
                _("The page “{page}” answered with status {status}.").format(
                    page=self._here(), status=answer.status_code
                )
            )
        return reading.read(answer.content.decode())

    def _ask(self, url: str, data: dict[str, str] | None = None) -> HttpResponse:
        """Send a GET request, or a POST request if there is data."""
        site = urlsplit(settings.SITE_URL)
        how: dict[str, Any] = {"secure": site.scheme == "https", "headers": {"host": site.netloc}}
        return self._client.get(url, **how) if data is None else self._client.post(url, data, **how)

    def _here(self) -> str:
        step = self.enrolment.step
        return step["kind"] if step else self.enrolment.state

    def _answer(self, page: reading.Page) -> None:
        """Fill in and submit the form; if the page refuses, try other answers a few times."""
        for _try in range(TRIES):
            sent = self._ask(self.url, answers(page, self.enrolment, self.walker.plan, self.rng))
            if sent.status_code == 302:
                return
            page = self._look() if sent.status_code == 303 else page
        raise Stuck(
            _("The page “{page}” refused the answers: {reasons}").format(
                page=page.heading or self._here(), reasons=" ".join(page.reasons) or sent.status_code
            )
        )

    def _wait_for_others(self) -> None:
        """Stay on the lobby's page, which signals presence, until a match begins or the wait is over."""
        here, began = self.enrolment.position, time.monotonic()
        while not self._now().ended and self.enrolment.position == here:
            if not self._goes_on():
                raise Interrupted
            if time.monotonic() - began > self.enrolment.steps[here]["limit"] + PATIENCE:
                raise Stuck(_("The wait in the lobby never ended."))
            time.sleep(POLL_SECONDS)
            self._look()

    # ---- the game ----------------------------------------------------------------------------------------

    def _play(self, page: reading.Page) -> dict[str, float]:
        """Play the current match to its end; return the seconds it would have taken a person."""
        seat = Seat.objects.get(enrolment=self.enrolment, step=self.enrolment.position)
        moved, still_since = -1, time.monotonic()
        while (match := Match.objects.get(pk=seat.match_id)).status == Match.Status.LIVE:
            if not self._goes_on():
                raise Interrupted
            play = match.play()
            if play.last != moved:
                moved, still_since = play.last, time.monotonic()
            if time.monotonic() - still_since > self._patience(match):
                raise Stuck(_("The match stopped: nobody moved."))
            if not self._let_others_move(match):
                self._take_turn(match, seat, play)
        own, waiting = pace.seconds_of_match(match, seat.role, self._opponents(match))
        return {"reading": pace.seconds_of_page(page), "moves": own, "waiting": waiting}

    def _opponents(self, match: Match) -> dict[str, Agent]:
        """Return the match's agents by role, as in a launch."""
        launched = agents_in(self.walker.pilot.content)
        return {seat.role: launched[seat.label] for seat in match.seats.exclude(label="")}

    def _patience(self, match: Match) -> float:
        return PATIENCE + max((agent.settings.limit_seconds for agent in match.agents().values()), default=0.0)

    def _let_others_move(self, match: Match) -> bool:
        """Run the agents whose turn it is, unless a worker already does; return False if it is no agent's turn."""
        waiting = [turn for turn in match.open_turns().values() if turn.by_agent]
        for turn in waiting:
            agents.answer_turn(match_uid=match.uid, role=turn.role, answering=turn.answering)
        if waiting and Match.objects.get(pk=match.pk).turns == match.turns:
            time.sleep(POLL_SECONDS)
        return bool(waiting)

    def _take_turn(self, match: Match, seat: Seat, play: Play) -> None:
        turn = match.open_turns().get(seat.role)
        if turn is None or self.walker.plan == Plan.SILENT:
            time.sleep(POLL_SECONDS)
            services.handle_time_outs(match_id=match.pk)
        elif self.walker.plan == Plan.LEAVES and self._moves_made(match, seat) > 0:
            self._leave()
        else:
            self._move(match, seat, play, turn.answering)
            if self.walker.plan == Plan.LEAVES and Match.objects.get(pk=match.pk).status == Match.Status.LIVE:
                self._leave()

    def _moves_made(self, match: Match, seat: Seat) -> int:
        return match.events.filter(kind="move", role=seat.role).count()

    def _leave(self) -> None:
        self._ask(reverse("participants:leave", args=[self.enrolment.token]), {})

    def _move(self, match: Match, seat: Seat, play: Play, answering: int) -> None:
        """Choose a move and submit it as the page's form would."""
        move = self._decide(match, seat, play, answering)
        form = _form_of(play, seat.role, move)
        posted = forms.as_posted(form.model, move)
        if _told(forms.read(form.model, posted)) != _told(move):
            raise Stuck(_("The page's form cannot submit the move {move}.").format(move=dict(move)))
        told = {"answering": str(answering), forms.FORM: form.name, forms.CONFIRMED: "on", **posted}
        answer = self._ask(reverse("matches:match", args=[self.enrolment.token]), told)
        if answer.status_code != 302:
            reasons = " ".join(self._look().reasons) or str(answer.status_code)
            raise Stuck(_("The game refused a move: {reasons}").format(reasons=reasons))

    def _decide(self, match: Match, seat: Seat, play: Play, answering: int) -> MoveData:
        spec = parse_spec(self.walker.pilot.player)
        try:
            if spec.scripted:
                known = spec.name in play.game.scripts  # other games of the session may not have this script
                return script_move(play, seat.role, spec.name if known else play.game.default_script)
            return agents.decide_turn(match, play, seat.role, Agent(spec=str(spec))).move
        except (AgentError, GameError) as error:
            raise Stuck(
                _("“{player}”, which plays for the participants, made no move: {reason}").format(
                    player=spec, reason=error
                )
            ) from None


def _told(move: MoveData) -> dict[str, Any]:
    """Return a move without its empty values."""
    return {name: value for name, value in move.items() if value is not None}


def _form_of(play: Play, role: Role, move: MoveData) -> Form:
    """Return the form for a move: the one whose required keys it has."""
    open_forms = play.forms(role)
    for form in open_forms:
        required = {name for name, field in form.model.model_fields.items() if field.is_required()}
        if required <= set(move) <= set(form.model.model_fields):
            return form
    return forms.form_for(open_forms, {name: "" for name in move})
