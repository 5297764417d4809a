"""What a participant's page may load and run: only our own files, and nothing inline."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from games import registry
from games.play import configure, script_move
from marketplaces.mturk.arriving import PREVIEW
from matches import services
from matches.models import Match, Seat
from opponents.agents import agents_from_specs
from participants import services as people
from participants.states import ENDINGS, State
from tests.visitors import WAY, Visitor, arriving, launched

pytestmark = pytest.mark.django_db

SEATS = [(game, role) for game in registry.keys() for role in configure(registry.get(game), {}).people()]
ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted(
    path
    for path in [*ROOT.glob("templates/**/*.html"), *ROOT.glob("games/*/templates/**/*.html")]
    if not {"admin", "signin"} & set(path.relative_to(ROOT).parts)
)
"""Templates of participants' pages: everything outside the admin and its sign-in."""


class Inline(HTMLParser):
    """Collects whatever a strict policy would block."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "style" or (tag == "script" and not given.get("src")):
            self.found.append(f"<{tag}> with content")
        for name, value in attrs:
            target = (value or "").strip().lower()
            if name == "style" or name.startswith("on"):
                self.found.append(f"<{tag} {name}=…>")
            elif name in ("href", "src", "action", "formaction") and target.startswith(("javascript:", "data:text")):
                self.found.append(f"<{tag} {name}={value}>")
            elif name in ("src", "srcset") and re.match(r"(https?:)?//", target):
                self.found.append(f"<{tag} {name}={value}> from elsewhere")


def inline_in(html: str) -> list[str]:
    parser = Inline()
    parser.feed(html)
    return parser.found


def check(response: HttpResponse) -> HttpResponse:
    """Check that the page has the strict policy and conforms to it."""
    rules = dict(rule.strip().split(" ", 1) for rule in response["Content-Security-Policy"].split(";") if rule.strip())
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["base-uri"] == "'none'" and rules["form-action"] == "'self'"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert inline_in(response.content.decode()) == []
    return response


def test_parser_finds_inline_content():
    page = """<p style="a">x</p><script>1</script><style>p{}</style><a href=" JavaScript:1">x</a>
        <button onclick="1">x</button><script src="//elsewhere/x.js"></script><script src="/static/x.js"></script>"""
    assert len(inline_in(page)) == 6


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_participant_template_has_inline_content(template: Path):
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "/", template.read_text(), flags=re.DOTALL)
    assert inline_in(text) == []


def test_the_door(client: Client):
    study = launched(slug="door", entry="codes")
    launched(slug="open", entry="open")
    launched(slug="mturk", entry="mturk")
    for path in ("/", "/nothing/", "/p/forged/", "/join/nowhere", "/join/door", "/join/door?code=WRONG", "/join/open"):
        check(client.get(path))
    check(client.get(f"/join/mturk?assignmentId={PREVIEW}&hitId=H"))
    check(client.get("/join/mturk"))
    type(study).objects.update(status="closed")
    check(client.get("/join/open"))


def test_the_whole_path(client: Client):
    study = launched()
    wrong = {"consent": {}, "name": {"name": "A"}, "instructions": {}, "quiz": {}}
    for kind in WAY:
        visitor = Visitor(arriving(study, worker=kind)).walk_to(kind)
        check(visitor.see())
        refused = visitor.send(**wrong[kind]) if kind in wrong else visitor.move(alice_gain="much")
        assert refused.status_code in (200, 303), kind
        check(visitor.see())
    for page in ("leave", "problem"):
        check(client.get(f"{visitor.url}{page}/"))


@pytest.mark.parametrize("state", ENDINGS)
def test_every_ending(client: Client, state: str):
    person = arriving(launched())
    with transaction.atomic():
        people.end(people.locked(person.pk), State(state))
    check(client.get(person.get_absolute_url()))


@pytest.mark.parametrize(("game", "role"), SEATS)
def test_every_games_screens_and_frames(client: Client, game: str, role: str):
    study = launched(
        slug="seat", game=game, roles=[role], agents=agents_from_specs("script:random"), asks_code_word=True
    )
    person = arriving(study)
    for position, answer in enumerate(({"agree": "yes"}, {"name": "Robin"}, {"code_word": person.code_word})):
        people.answer_step(enrolment_id=person.pk, position=position, data=answer)
    check(client.get(person.get_absolute_url()))
    seat = Seat.objects.select_related("match").get(enrolment=person)
    for made in range(200):
        match = Match.objects.get(pk=seat.match_id)
        play = match.play()
        if play.over:
            break
        mover = play.waiting_for()[0]
        move = script_move(play, mover, "random")
        services.submit_move(match_id=match.pk, role=mover, move=move, answering=play.opened[mover])
        if made < 8 or made % 10 == 0:
            asked = {"accept": "application/json"}
            frame = client.get(reverse("matches:match", args=[person.token]), headers=asked).json()
            assert frame["html"] and inline_in(frame["html"]) == []
    check(client.get(person.get_absolute_url()))


def test_admin_loads_nothing_external_and_cannot_be_framed(client: Client):
    policy = client.get("/admin/login/")["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "object-src 'none'" in policy
