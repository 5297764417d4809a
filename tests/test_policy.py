"""Participants' pages may load and run only Parley's own files, and nothing inline."""

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
from marketplaces.mturk.visiting import PREVIEW
from matches import services
from matches.models import Match, Seat
from participants import services as people
from participants.states import ENDINGS, State
from tests.visitors import STEP_KINDS, Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db

SEATS = [(game, role) for game in registry.keys() for role in configure(registry.get(game), {}).people()]
ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted(
    path
    for path in [*ROOT.glob("templates/**/*.html"), *ROOT.glob("games/*/templates/**/*.html")]
    if not {"admin", "signin"} & set(path.relative_to(ROOT).parts)
)
"""Templates of participants' pages: all except those of the admin and its sign-in."""


class InlineFinder(HTMLParser):
    """Collects everything that a strict policy would block."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "style" or (tag == "script" and not attributes.get("src")):
            self.found.append(f"<{tag}> with content")
        for name, value in attrs:
            target = (value or "").strip().lower()
            if name == "style" or name.startswith("on"):
                self.found.append(f"<{tag} {name}=…>")
            elif name in ("href", "src", "action", "formaction") and target.startswith(("javascript:", "data:text")):
                self.found.append(f"<{tag} {name}={value}>")
            elif name in ("src", "srcset") and re.match(r"(https?:)?//", target):
                self.found.append(f"<{tag} {name}={value}> from elsewhere")


def find_inline(html: str) -> list[str]:
    parser = InlineFinder()
    parser.feed(html)
    return parser.found


def check_policy(response: HttpResponse) -> HttpResponse:
    """Check that the page has the strict policy and obeys it; return the response."""
    rules = dict(rule.strip().split(" ", 1) for rule in response["Content-Security-Policy"].split(";") if rule.strip())
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["base-uri"] == "'none'" and rules["form-action"] == "'self'"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert find_inline(response.content.decode()) == []
    return response


def test_parser_finds_inline_content():
    page = """<p style="a">x</p><script>1</script><style>p{}</style><a href=" JavaScript:1">x</a>
        <button onclick="1">x</button><script src="//elsewhere/x.js"></script><script src="/static/x.js"></script>"""
    assert len(find_inline(page)) == 6


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_participant_template_has_inline_content(template: Path):
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "/", template.read_text(), flags=re.DOTALL)
    assert find_inline(text) == []


def test_pages_before_admission(client: Client):
    study = launched_study(slug="door", via="codes")
    launched_study(slug="open", via="open")
    launched_study(slug="mturk", via="mturk")
    for path in ("/", "/nothing/", "/p/forged/", "/join/nowhere", "/join/door", "/join/door?code=WRONG", "/join/open"):
        check_policy(client.get(path))
    check_policy(client.get(f"/join/mturk?assignmentId={PREVIEW}&hitId=H"))
    check_policy(client.get("/join/mturk"))
    type(study).objects.update(status="closed")
    check_policy(client.get("/join/open"))


def test_every_step_of_a_study(client: Client):
    study = launched_study()
    invalid_answers = {"consent": {}, "name": {"name": "A"}, "instructions": {}, "quiz": {}}
    for kind in STEP_KINDS:
        visitor = Visitor(arrived_participant(study, worker=kind)).walk_to(kind)
        check_policy(visitor.see())
        refused = visitor.send(**invalid_answers[kind]) if kind in invalid_answers else visitor.move(alice_gain="much")
        assert refused.status_code in (200, 303), kind
        check_policy(visitor.see())
    for page in ("leave", "problem"):
        check_policy(client.get(f"{visitor.url}{page}/"))


@pytest.mark.parametrize("state", ENDINGS)
def test_every_last_page(client: Client, state: str):
    person = arrived_participant(launched_study())
    with transaction.atomic():
        people.end(people.locked(person.pk), State(state))
    check_policy(client.get(person.get_absolute_url()))


@pytest.mark.parametrize(("game", "role"), SEATS)
def test_screens_and_frames_of_every_game(client: Client, game: str, role: str):
    study = launched_study(slug="seat", game=game, roles=[role], agents="script:random")
    person = arrived_participant(study)
    for position, answer in enumerate(({"agree": "yes"}, {"name": "Robin"}, {"code_word": person.code_word})):
        people.answer_step(enrolment_id=person.pk, position=position, data=answer)
    check_policy(client.get(person.get_absolute_url()))
    seat = Seat.objects.select_related("match").get(enrolment=person)
    for number in range(200):
        match = Match.objects.get(pk=seat.match_id)
        play = match.play()
        if play.over:
            break
        mover = play.waiting_for()[0]
        move = script_move(play, mover, "random")
        services.submit_move(match_id=match.pk, role=mover, move=move, answering=play.opened[mover])
        if number < 8 or number % 10 == 0:
            json_headers = {"accept": "application/json"}
            frame = client.get(reverse("matches:match", args=[person.token]), headers=json_headers).json()
            assert frame["html"] and find_inline(frame["html"]) == []
    check_policy(client.get(person.get_absolute_url()))


def test_admin_loads_nothing_external_and_cannot_be_framed(client: Client):
    policy = client.get("/admin/login/")["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "object-src 'none'" in policy


def test_only_pages_of_accounts_know_sessions_and_users(client: Client):
    asked = {path: client.get(path).wsgi_request for path in ("/p/unknown/", "/join/unknown", "/admin/login/", "/")}
    assert [path for path, request in asked.items() if hasattr(request, "session")] == ["/admin/login/", "/"]
    assert [path for path, request in asked.items() if hasattr(request, "user")] == ["/admin/login/", "/"]
