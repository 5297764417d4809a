"""Participants without a browser, who go through launched studies with Django's test client."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from games import registry
from matches import agents
from matches.models import Match, Seat
from participants.models import Enrolment
from participants.services import answer_step
from recruiters.arrivals import Arrival
from studies.enrolling import enrol
from studies.models import Study
from studies.tests import kit

STEP_KINDS = ("consent", "name", "instructions", "match", "quiz")
"""The kinds of step of a bargaining study, in order."""
EQUAL_SPLIT = {"alice_gain": "5000", "bob_gain": "5000"}


def launched_study(**parts: Any) -> Study:
    """Launch a bargaining study in which people play alice against a fair script, with the game's quiz; return it."""
    quiz = registry.get(parts.get("game", "bargaining")).system == "GLEE"
    defaults = {"title": "Splitting", "slug": "splitting", "agents": "script:fair", "quiz": quiz}
    return kit.launched(**{**defaults, **parts})


def arrived_participant(study: Study, worker: str = "worker") -> Enrolment:
    """Let a participant arrive through a personal link; return the enrolment."""
    return enrol(study, Arrival("mturk", worker=worker, proof=worker))


def consented_participant(study: Study, worker: str = "worker") -> Enrolment:
    """Let a participant arrive and consent, and so take a place; return the enrolment."""
    enrolment = arrived_participant(study, worker)
    return answer_step(enrolment_id=enrolment.pk, position=0, data={"agree": "yes"})


def placed_participant(study: Study, worker: str = "worker") -> Enrolment:
    """Let a participant arrive, consent and choose a name, so that their cell is drawn; return the enrolment."""
    enrolment = consented_participant(study, worker)
    return answer_step(enrolment_id=enrolment.pk, position=1, data={"name": "Robin"})


def shown_earlier(enrolment: Enrolment, by: timedelta) -> None:
    """Let every page that the participant saw have been shown earlier."""
    for times in enrolment.page_times.values():
        times[0] = (datetime.fromisoformat(times[0]) - by).isoformat()
    enrolment.save(update_fields=["page_times"])


def text_of(response: HttpResponse) -> str:
    """Return a page's text, without its markup."""
    html = re.sub(r"(?s)<(head|script|style)\b.*?</\1>", " ", response.content.decode())
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def heading_of(response: HttpResponse) -> str:
    """Return the page's one main heading."""
    (heading,) = re.findall(r"(?s)<h1[^>]*>(.*?)</h1>", response.content.decode())
    return unescape(re.sub(r"<[^>]+>", "", heading)).strip()


class Visitor:
    """A participant with their own client and link."""

    def __init__(self, enrolment: Enrolment):
        self.enrolment = enrolment
        self.client = Client()
        self.url = enrolment.get_absolute_url()

    def now(self) -> Enrolment:
        """Return the participant's current enrolment."""
        self.enrolment.refresh_from_db()
        return self.enrolment

    def see(self) -> HttpResponse:
        return self.client.get(self.url)

    def send(self, position: int | str | None = None, **fields: str) -> HttpResponse:
        """Post the form of the participant's page, or of an older page."""
        answered_position = self.now().position if position is None else position
        return self.client.post(self.url, {"position": answered_position, **fields})

    def refused(self, position: int | str | None = None, **fields: str) -> HttpResponse:
        """Post the page's form, which must be refused; return the page with the reason."""
        assert self.send(position, **fields).status_code == 303
        return self.see()

    def walk_to(self, kind: str) -> Visitor:
        """Answer every step before the one of this kind, and open that step."""
        answers = {
            "consent": lambda: self.send(agree="yes"),
            "name": lambda: self.send(name="Robin"),
            "instructions": lambda: self.send(code_word=self.enrolment.code_word),
            "match": self.agree,
        }
        self.see()
        for kind_before in STEP_KINDS[: STEP_KINDS.index(kind)]:
            assert answers[kind_before]().status_code == 302, kind_before
            self.see()
        return self

    def match(self) -> Match:
        """Return the participant's latest match."""
        return Seat.objects.select_related("match").filter(enrolment=self.enrolment).order_by("-step")[0].match

    def move(self, role: str = "alice", **fields: str) -> HttpResponse:
        """Post a move as a page without JavaScript does."""
        answering = self.match().open_turns()[role].answering
        return self.client.post(
            reverse("matches:match", args=[self.enrolment.token]), {"answering": answering, **fields}
        )

    def let_agent_answer(self) -> None:
        """Make the move of the agent's open turn, as a worker does."""
        match = self.match()
        agents.answer_turn(match_uid=match.uid, role="bob", answering=match.open_turns()["bob"].answering)

    def agree(self) -> HttpResponse:
        """Play the shortest match (an equal split, accepted) and continue."""
        self.move(**EQUAL_SPLIT)
        self.let_agent_answer()
        return self.send()


def breadcrumb_urls(response: Any) -> list[str]:
    """Return the URLs in an admin page's breadcrumbs, which end with the page itself."""
    page = response.content.decode()
    trail = page[page.index("<h1") : page.index("</h1>")]
    assert 'aria-current="page"' in trail
    return re.findall(r'href="([^"]+)"', trail)
