"""A simulated participant: opens pages, reads, answers and plays until the session ends.

The pages are the real ones, requested in this process through all layers of the site. During the match, the moves come
from a scripted player or a model and are posted as the page's form would post them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext as _

from games.errors import GameError
from games.interface import Form, MoveData, Role
from games.play import Play, script_move
from llm_agents.agent import spec_of
from llm_agents.errors import AgentError
from matches import agents, forms, services
from matches.models import Match, Seat
from opponents.agents import Agent
from participants import services as people
from participants import steps
from participants.models import Enrolment
from piloting import pace, reading
from piloting.answering import answers
from piloting.errors import Stuck
from piloting.models import Walker

MAX_PAGES = 200
TRIES = 3
"""Number of attempts at a page that refuses answers although they fit its form."""
POLL_SECONDS = 0.1
EXTRA_SECONDS = 60.0
"""Extra seconds after the opponents' own time limit before a match without moves counts as stuck."""
Plan = Walker.Plan


class Interrupted(Exception):
    """The pilot was stopped, or its lease was lost, while this participant was under way."""


class Person:
    """One simulated participant, who opens their own link.

    Args:
        player: agent that plays for them ("script:NAME", "openai:MODEL", …).
        seed: of their answers.
        plan: what they mean to do (`Walker.Plan`).
        agents: as in a launch, by label; they determine how long a real participant would have waited.
        record: called with each page: {kind, stage, title, words, seconds, estimate: {activity: seconds}}.
    """

    def __init__(
        self,
        enrolment: Enrolment,
        may_continue: Callable[[], bool],
        *,
        player: str,
        seed: str,
        plan: str = Plan.FINISH,
        agents: Mapping[str, Agent] | None = None,
        record: Callable[[dict[str, Any]], None] | None = None,
    ):
        self.enrolment, self.player, self.plan = enrolment, player, plan
        self.url = enrolment.get_absolute_url()
        self.rng = Random(f"{seed}/answers")
        self._agents, self._record, self._may_continue = agents or {}, record, may_continue
        self._client = Client(raise_request_exception=False)

    def walk(self, *, until: int | None = None) -> None:
        """Continue from the current page until an ending is shown, or the step at position `until` is reached.

        Raises:
            Stuck: with the page and the reason.
            Interrupted
        """
        for _page in range(MAX_PAGES):
            self._refuse_interrupted()
            if until is not None and self._refreshed().position >= until:
                return
            started_at, position = time.monotonic(), self._refreshed().position
            page = self._open_page()
            if self._refreshed().ended:
                return
            if self.enrolment.position > position:
                continue  # a lobby that passes at once
            assert self.enrolment.step is not None
            step = steps.step_object(self.enrolment, self.enrolment.step)
            estimate, form_page = {"reading": max(pace.seconds_of_page(page), step.seconds_left())}, page
            if step.kind == "lobby":
                self._wait_for_others()
                self._record_page(step, page, started_at, estimate)
                continue
            if step.kind == "match":
                estimate = self._play(page)
                form_page = self._open_page()
            while left := step.seconds_left():
                self._refuse_interrupted()
                time.sleep(min(left, POLL_SECONDS))
            if not self._refreshed().ended or people.result_step(self.enrolment) is not None:
                self._answer(form_page)
            self._record_page(step, page, started_at, estimate)
        raise Stuck(_("No ending after {most} pages.").format(most=MAX_PAGES))

    def _refuse_interrupted(self) -> None:
        if not self._may_continue():
            raise Interrupted

    def _refreshed(self) -> Enrolment:
        self.enrolment.refresh_from_db()
        return self.enrolment

    def _record_page(self, step: steps.Step, page: reading.Page, started_at: float, estimate: dict[str, float]) -> None:
        if self._record is None:
            return
        self._record(
            {
                "kind": step.kind,
                "stage": _stage_of(step.step),
                "title": str(step.title),
                "words": page.words,
                "seconds": round(time.monotonic() - started_at, 3),
                "estimate": {activity: round(seconds, 1) for activity, seconds in estimate.items()},
            }
        )

    # ---- pages -------------------------------------------------------------------------------------------

    def _open_page(self) -> reading.Page:
        response = self._request(self.url)
        if response.status_code != 200:
            raise Stuck(
                _("The page “{page}” answered with status {status}.").format(
                    page=self._page_name(), status=response.status_code
                )
            )
        return reading.read(response.content.decode())

    def _request(self, url: str, data: dict[str, str] | None = None) -> Any:
        """Send a GET request, which may lead on to the step's page, or a POST request if there is data."""
        site = urlsplit(settings.SITE_URL)
        options: dict[str, Any] = {"secure": site.scheme == "https", "headers": {"host": site.netloc}}
        if data is None:
            return self._client.get(url, follow=True, **options)
        return self._client.post(url, data, **options)

    def _page_name(self) -> str:
        step = self.enrolment.step
        return step["kind"] if step else self.enrolment.state

    def _answer(self, page: reading.Page) -> None:
        """Fill in and submit the form; if the page refuses the answers, try others a few times."""
        for _try in range(TRIES):
            response = self._request(self.url, answers(page, self.enrolment, self.plan, self.rng))
            if response.status_code == 302:
                return
            page = self._open_page() if response.status_code == 303 else page
        raise Stuck(
            _("The page “{page}” refused the answers: {reasons}").format(
                page=page.heading or self._page_name(), reasons=" ".join(page.reasons) or response.status_code
            )
        )

    def _wait_for_others(self) -> None:
        """Stay on the lobby's page, saying when asked that they are ready, until a match begins or the wait ends."""
        position, started_at = self.enrolment.position, time.monotonic()
        step = self.enrolment.steps[position]
        longest = step["limit"] + 2 * step["ready"] + EXTRA_SECONDS  # the last group may be asked twice
        while not self._refreshed().ended and self.enrolment.position == position:
            self._refuse_interrupted()
            if time.monotonic() - started_at > longest:
                raise Stuck(_("The wait in the lobby never ended."))
            time.sleep(POLL_SECONDS)
            page = self._open_page()
            if (group := page.fields.get("group")) and group.value:
                self._request(self.url, {"position": str(position), "group": group.value})

    # ---- the game ----------------------------------------------------------------------------------------

    def _play(self, page: reading.Page) -> dict[str, float]:
        """Play the current match to its end; return, by activity, the seconds it would have taken a person."""
        seat = Seat.objects.get(enrolment=self.enrolment, step=self.enrolment.position)
        last_event, last_change = -1, time.monotonic()
        while (match := Match.objects.get(pk=seat.match_id)).status == Match.Status.LIVE:
            self._refuse_interrupted()
            play = match.play()
            if play.last != last_event:
                last_event, last_change = play.last, time.monotonic()
            limits = (agent.settings.limit_seconds for agent in match.agents().values())
            if time.monotonic() - last_change > EXTRA_SECONDS + max(limits, default=0.0):
                raise Stuck(_("The match got stuck: no one moved."))
            if not self._let_others_move(match):
                self._take_turn(match, seat, play)
        seats = match.seats.filter(label__in=self._agents)
        opponents = {other.role: self._agents[other.label] for other in seats}  # as in a launch
        deciding_seconds, waiting_seconds = pace.seconds_of_match(match, seat.role, opponents)
        return {"reading": pace.seconds_of_page(page), "moves": deciding_seconds, "waiting": waiting_seconds}

    def _let_others_move(self, match: Match) -> bool:
        """Run the agents whose turn it is, unless a worker already does; return whether it was any agent's turn."""
        waiting = [turn for turn in match.open_turns().values() if turn.by_agent]
        for turn in waiting:
            agents.answer_turn(match_uid=match.uid, role=turn.role, answering=turn.answering)
        if waiting and Match.objects.get(pk=match.pk).turns == match.turns:
            time.sleep(POLL_SECONDS)
        return bool(waiting)

    def _take_turn(self, match: Match, seat: Seat, play: Play) -> None:
        turn = match.open_turns().get(seat.role)
        if turn is None or self.plan == Plan.SILENT:
            time.sleep(POLL_SECONDS)
            services.handle_time_outs(match_id=match.pk)
        elif self.plan == Plan.LEAVES:  # before a move: an opponent's quick answer could end the match first
            self._request(reverse("participants:leave", args=[self.enrolment.token]), {})
        else:
            self._move(match, seat, play, turn.answering)

    def _move(self, match: Match, seat: Seat, play: Play, answering: int) -> None:
        """Choose a move and submit it through the page's form."""
        move = self._decide(match, seat, play, answering)
        form = _form_for(play, seat.role, move)
        posted = forms.as_posted(form.model, move)
        if _without_empty(forms.read(form.model, posted)) != _without_empty(move):
            raise Stuck(_("The page's form cannot submit the move {move}.").format(move=dict(move)))
        data = {"answering": str(answering), forms.FORM: form.name, forms.CONFIRMED: "on", **posted}
        response = self._request(reverse("matches:match", args=[self.enrolment.token]), data)
        if response.status_code != 302:
            reasons = " ".join(self._open_page().reasons) or str(response.status_code)
            raise Stuck(_("The game refused a move: {reasons}").format(reasons=reasons))

    def _decide(self, match: Match, seat: Seat, play: Play, answering: int) -> MoveData:
        spec = spec_of(self.player)
        try:
            if spec.scripted:
                has_script = spec.name in play.game.scripts  # other games of the session may not have this script
                return script_move(play, seat.role, spec.name if has_script else play.game.default_script)
            return agents.decide_turn(match, play, seat.role, Agent(spec=str(spec))).move
        except (AgentError, GameError) as error:
            raise Stuck(
                _("“{player}”, which plays for the participants, made no move: {reason}").format(
                    player=spec, reason=error
                )
            ) from None


def _stage_of(step: Mapping[str, Any]) -> str:
    """Return a step's stage, with the levels of the pass that it is in: "talk.short"."""
    name = str(step.get("stage") or step.get("name") or "").partition(".")[0]
    return ".".join([name, *step.get("passes", ())])


def _without_empty(move: MoveData) -> dict[str, Any]:
    return {name: value for name, value in move.items() if value is not None}


def _form_for(play: Play, role: Role, move: MoveData) -> Form:
    """Return the form that has the move's fields and whose required fields the move fills."""
    open_forms = play.forms(role)
    for form in open_forms:
        required = {name for name, field in form.model.model_fields.items() if field.is_required()}
        if required <= set(move) <= set(form.model.model_fields):
            return form
    return forms.form_for(open_forms, {name: "" for name in move})
