"""A match step by step, as each role saw it, with the model calls."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from exports.tests import building
from matches import services
from matches.models import Event, Match
from matches.screens import SharedContent, render_screen
from opponents.endpoints import MEMORY
from opponents.models import Call
from rights.members import give
from rights.roles import Role
from studies.admin.steps import play_until
from studies.models import Study
from studies.tests import kit

pytestmark = pytest.mark.django_db

MALICIOUS = '<script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture
def match(boss) -> Match:
    """Return a match with two offers by a participant, the first with a message and rejected."""
    person = building.complete(building.new_study(), worker="A1WORKERID", messages=[MALICIOUS])
    return building.match_of(person)


def page_of(client: Client, match: Match, **query) -> str:
    return client.get(reverse("admin:matches_match_change", args=[match.pk]), query).content.decode()


def screen(client: Client, match: Match, number: int, side: str, role: str):
    return client.get(reverse("admin:matches_match_screen", args=[match.pk, number, side, role]))


def screen_text(*arguments) -> str:
    return screen(*arguments).content.decode()


def live_match(**parts) -> Match:
    """Return a match at its first turn."""
    study = building.new_study(**parts)
    return building.match_of(building.read_instructions(building.consent(building.arrive(study, worker="A1"))))


def store_call(match: Match, answering: int, **record) -> None:
    building.save_call(match, **record)
    Call.objects.filter(pk=Call.objects.latest("pk").pk).update(answering=answering, cost=Decimal("0.0021"))


def test_steps_can_be_browsed(client, match):
    last = match.events.count()
    assert "Step 1 of" in page_of(client, match), "a finished match opens at its first step"
    for number in range(1, last + 1):
        page = page_of(client, match, step=number)
        assert f"Step {number} of {last}" in page
        assert ('rel="prev"' in page, 'rel="next"' in page) == (number > 1, number < last)
    for nonsense in ("0", "-3", "999999", "ten", "", "٣", "1" * 30):
        assert re.search(r"Step \d+ of", page_of(client, match, step=nonsense)), "it leads to an existing step"
    assert "Step 3 of" in page_of(client, match, answering=2), "a failed call links to the answering step"
    assert f"Step {last} of" in page_of(client, match, answering=999)
    html = client.get(reverse("admin:matches_match_step", args=[match.pk, 2])).content.decode()
    assert "Step 2 of" in html and "<html" not in html and "<script" not in html.replace("&lt;script", "")
    assert client.get(reverse("admin:matches_match_step", args=[match.pk, 99])).status_code == 404
    person = match.seats.get(role="alice").enrolment
    page = client.get(reverse("admin:participants_enrolment_change", args=[person.pk])).content.decode()
    assert reverse("admin:matches_match_change", args=[match.pk]) in page, "participants' pages lead to their matches"


def test_live_match_opens_at_its_newest_step(client, boss):
    live = live_match()
    building.move(live, "alice", building.OFFER)
    assert "Step 2 of 2" in page_of(client, live)


def test_long_match_costs_no_more_than_a_short_one(client, boss):
    """Neither unlisted events nor calls of other steps are read."""
    short_match = building.match_of(building.complete(building.new_study(), worker="A1"))
    study = building.new_study(slug="long", config={"rounds": None, "cap": 1000})
    person = building.read_instructions(building.consent(building.arrive(study, worker="A2")))
    long_match = building.play(person, messages=[f"round {number}" for number in range(60)])
    assert long_match.events.count() > 200
    for number in (5, 50):
        store_call(long_match, number, messages=[{"role": "user", "content": f"asked at {number}"}], answer="{}")
    MEMORY.expire()  # otherwise timing decides whether a page reads the endpoints
    with CaptureQueriesContext(connection) as for_short:
        page_of(client, short_match, step=3)
    MEMORY.expire()
    with CaptureQueriesContext(connection) as for_long:
        page = page_of(client, long_match, step=50)
    assert len(for_long) == len(for_short)
    assert len(re.findall(r'id="event-\d+"', page)) == 40
    assert "asked at 5<" not in page


def test_roles_are_shown_their_own_screens(client, match):
    """Screens look like the players' own page, rendered from the same view of the same moment."""
    assert play_until(match, match.events.count()) == match.play()
    for event in match.events.exclude(kind="start").order_by("number"):
        for side, last_event in (("before", event.number - 1), ("after", event.number)):
            play = play_until(match, last_event)
            for role in ("alice", "bob"):
                html = screen(client, match, event.number, side, role).content.decode()
                if play.forms(role):
                    shown = SharedContent(play, match.disclosure())
                    assert render_screen(play, role, shared=shown) in html
                assert f'data-game="{match.game}"' in html


def test_form_is_shown_before_but_not_after_a_move_and_nothing_of_later(client, match):
    assert 'data-move="offer"' in screen_text(client, match, 2, "before", "alice")
    assert 'data-move="offer"' not in screen_text(client, match, 2, "after", "alice")
    assert 'data-move="answer"' in screen_text(client, match, 2, "after", "bob")
    assert "alert(1)" in screen_text(client, match, 2, "after", "bob")
    assert "alert(1)" not in screen_text(client, match, 2, "before", "bob")
    for address in ((99, "after", "alice"), (2, "between", "alice")):
        assert screen(client, match, *address).status_code == 404
    assert "game has no such role" in screen_text(client, match, 2, "after", "nobody")


def test_unfinished_match_is_shown_to_its_end(client, boss):
    live = live_match()
    services.abandon_match(match_id=live.pk, reason="opponent_failed")
    assert "The game was stopped early" in screen_text(client, live, live.events.count(), "after", "alice")


def test_unplayable_match_still_lists_its_events(client, match):
    Event.objects.filter(match=match, number=2).update(data={"role": "alice", "move": {"alice_gain": -5}})
    assert "cannot replay this match" in screen_text(client, match, 3, "after", "bob")
    assert "Step 3 of" in page_of(client, match, step=3)


def test_screens_run_no_script_and_send_nothing(client, match):
    response = screen(client, match, 3, "after", "alice")
    assert "<script" not in response.content.decode() and "&lt;script&gt;alert(1)" in response.content.decode()
    policy = response["Content-Security-Policy"]
    for rule in ["default-src 'none'", "form-action 'none'", "sandbox allow-same-origin", "frame-ancestors 'self'"]:
        assert rule in policy
    assert "script-src" not in policy and "allow-scripts" not in policy and "allow-forms" not in policy
    assert response["X-Frame-Options"] == "SAMEORIGIN"


def test_move_lists_exactly_its_calls(client, match):
    store_call(
        match,
        2,
        messages=[{"role": "system", "content": MALICIOUS}],
        answer=MALICIOUS,
        problem=f"not legal {MALICIOUS}",
    )
    store_call(
        match, 2, messages=[{"role": "user", "content": "second"}], error="Timeout: slow", try_number=2, attempt=3,
        rung=1, endpoint="mistral", latency=1.5, first_text=0.75, input_tokens=11, output_tokens=7,
    )  # fmt: skip
    store_call(match, 5, messages=[{"role": "user", "content": "of another turn"}], answer="{}")
    page = unescape(page_of(client, match, step=3))
    for phrase in [
        "not legal", "second", "Timeout: slow", "Try 2", "call 3 of this try", "mistral:m", "fallback 1",
        "1.50 s", "first words after 0.75 s", "11 → 7 tokens", "$0.0021", "the seat's own model",
    ]:  # fmt: skip
        assert phrase in page, phrase
    assert "of another turn" not in page
    page_source = page_of(client, match, step=3)
    assert "<script>alert" not in page_source and "<img src=x" not in page_source


def test_unanswered_calls_are_listed_at_the_end(client, boss):
    live = live_match(agents="openai:m")
    building.move(live, "alice", building.OFFER)
    store_call(live, 2, error="down")
    assert "without a move" in page_of(client, live, step=2)
    assert "without a move" not in page_of(client, live, step=1)
    services.abandon_match(match_id=live.pk, reason="opponent_failed")
    assert "without a move" in page_of(client, live, step=3)


def test_timings_and_how_answers_appear_are_shown(client, match):
    at = timezone.now()
    Event.objects.filter(match=match, number=2).update(
        asked_at=at - timedelta(seconds=30), shown_at=at - timedelta(seconds=12.5), at=at
    )
    match.seats.filter(role="bob").update(settings={"appears": "typed"}, delay=3)
    page = page_of(client, match, step=2)
    assert "12.5 s" in page
    for phrase in ["asked", "shown", "answered", "as they are typed", "of at least 3 s"]:
        assert phrase in page


def test_transcript_shows_no_identity(client, match):
    person = match.seats.get(role="alice").enrolment
    pages = page_of(client, match, step=2) + screen_text(client, match, 2, "before", "alice")
    for secret in ["A1WORKERID", person.token, person.completion_code, "Robin"]:
        assert secret not in pages


def test_transcript_requires_permission(client, match):
    addresses = [
        reverse("admin:matches_match_change", args=[match.pk]),
        reverse("admin:matches_match_step", args=[match.pk, 2]),
        reverse("admin:matches_match_screen", args=[match.pk, 2, "after", "bob"]),
    ]
    user = kit.staff(client)
    assert {client.get(address).status_code for address in addresses} == {404}
    give(Study.objects.get(), user=user, role=Role.VIEWER, by=None)
    assert {client.get(address).status_code for address in addresses} == {200}
    assert {client.post(address).status_code for address in addresses[1:]} == {405}
    client.logout()
    assert {client.get(address).status_code for address in addresses} == {302}


def test_only_live_study_matches_can_be_ended(client, match):
    assert "End this match" not in page_of(client, match)
    live = live_match(slug="other")
    assert "End this match" in page_of(client, live)
    other = Study.objects.get(slug="other")
    client.post(reverse("monitoring:end_match", args=[other.pk]), {"match": live.pk, "reason": "stuck <b>here</b>"})
    page = page_of(client, live)
    assert "End this match" not in page and "Ended by boss" in page and "stuck &lt;b&gt;here" in page
