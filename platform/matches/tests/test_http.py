"""The match over plain HTTP, and the headers of every participant page."""

from __future__ import annotations

import io
import logging
from html import unescape

import pytest
from django.http import HttpResponse
from django.test import Client

from config.logs import HideTokens
from matches.models import Event, Match
from participants import services
from participants.states import State
from tests.visitors import EQUAL_SPLIT, STEP_KINDS, Visitor, arrived_participant, launched_study, text_of

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture
def visitor() -> Visitor:
    """A participant at the first turn of a match."""
    return Visitor(arrived_participant(launched_study())).walk_to("match")


def page_of(visitor: Visitor) -> str:
    return f"{visitor.url}match"


def ask(visitor: Visitor) -> HttpResponse:
    return visitor.client.get(page_of(visitor), headers=JSON)


def post(visitor: Visitor, **fields: str) -> HttpResponse:
    return visitor.client.post(page_of(visitor), fields, headers=JSON)


def moves() -> list[tuple[int, str]]:
    return list(Event.objects.filter(kind="move").order_by("number").values_list("number", "role"))


class TestJson:
    def test_get_returns_the_current_frame(self, visitor):
        answer = ask(visitor)
        frame = answer.json()
        assert answer.status_code == 200
        assert (frame["type"], frame["last"], frame["answering"], frame["over"]) == ("screen", 1, 1, False)
        assert 0 < frame["remaining"] <= 180
        assert 'name="alice_gain"' in frame["html"]
        assert frame["outcome"] is None
        assert moves() == []

    def test_a_move_is_made_once_and_returns_the_next_frame(self, visitor):
        frame = post(visitor, answering="1", **EQUAL_SPLIT).json()
        assert frame["outcome"]["type"] == "taken"
        assert (frame["last"], frame["answering"]) == (2, None)
        repeated = post(visitor, answering="1", **EQUAL_SPLIT).json()
        assert repeated["outcome"]["type"] == "taken"
        assert repeated["last"] == 2
        assert moves() == [(2, "alice")]

    def test_a_second_different_answer_is_refused_kindly(self, visitor):
        post(visitor, answering="1", **EQUAL_SPLIT)
        for other in ({"alice_gain": "6000", "bob_gain": "4000"}, {"alice_gain": "lots"}):
            assert "Your first answer counts" in post(visitor, answering="1", **other).json()["outcome"]["reason"]
        assert moves() == [(2, "alice")]

    def test_the_same_answer_after_the_game_has_moved_on_is_taken_as_the_first(self, visitor):
        post(visitor, answering="1", **EQUAL_SPLIT)
        visitor.let_agent_answer()
        outcome = post(visitor, answering="1", **EQUAL_SPLIT).json()["outcome"]
        assert (outcome["type"], outcome["over"]) == ("taken", True)

    def test_a_page_whose_seat_has_gone_is_told(self, visitor):
        assert visitor.client.get(page_of(visitor), {"step": "1"}, headers=JSON).json() == {"type": "gone"}
        services.withdraw(enrolment_id=visitor.enrolment.pk)
        for answer in (ask(visitor), post(visitor, answering="1", **EQUAL_SPLIT)):
            assert (answer.status_code, answer.json()) == (404, {"type": "gone"})
        assert moves() == []

    def test_a_refused_move_returns_the_reason_and_changes_nothing(self, visitor):
        before = Match.objects.values().get()
        frame = post(visitor, answering="1", alice_gain="6000", bob_gain="6000").json()
        assert frame["outcome"]["type"] == "refused"
        assert all(reason for reason in frame["outcome"]["errors"].values())
        assert frame["answering"] == 1
        after = Match.objects.values().get()
        assert after["turns"]["alice"].pop("refused") == 1, "only counted for the dataset"
        assert after == before

    @pytest.mark.parametrize("answering", ["", "0", "2", "-1", "x", "9" * 5000, "1.0"])
    def test_a_move_without_an_open_question_is_stale(self, visitor, answering):
        assert post(visitor, answering=answering, **EQUAL_SPLIT).json()["outcome"]["type"] == "stale"
        assert moves() == []

    def test_the_agents_reply_and_the_end_are_seen_by_polling(self, visitor):
        post(visitor, answering="1", **EQUAL_SPLIT)
        visitor.let_agent_answer()
        frame = ask(visitor).json()
        assert frame["over"]
        assert frame["answering"] is None
        assert "<form" not in frame["html"]

    def test_before_the_match_there_is_no_frame(self):
        visitor = Visitor(arrived_participant(launched_study()))
        answer = ask(visitor)
        assert (answer.status_code, answer.json()) == (404, {"type": "gone"})
        assert not Match.objects.exists()
        assert Client().get("/p/forged/match", headers=JSON).status_code == 404

    def test_a_token_moves_only_its_own_match(self, visitor):
        other_study = launched_study(slug="other", roles=["bob"])
        other_visitor = Visitor(arrived_participant(other_study, "other")).walk_to("match")
        assert post(other_visitor, answering="1", **EQUAL_SPLIT).json()["outcome"]["type"] == "stale"
        assert moves() == []


class TestPlainForms:
    def test_get_without_json_redirects_to_the_page(self, visitor):
        answer = visitor.client.get(page_of(visitor))
        assert (answer.status_code, answer["Location"]) == (302, visitor.url)

    def test_refused_move_shows_the_reason_and_entered_values(self, visitor):
        refused = visitor.move(alice_gain="6000", bob_gain="6000.5", message="A <b>fair</b> split")
        assert (refused.status_code, refused["Location"]) == (303, visitor.url)
        answer = visitor.see()
        html = answer.content.decode()
        form = html[html.index("data-error") : html.index("</form>")]
        reason = form[form.index(">") + 1 : form.index("</p>")].strip()
        assert reason
        assert " ".join(unescape(reason).split()) in text_of(answer).split("Step 4 of 5")[1]
        assert 'value="6000.5"' in form
        assert "A &lt;b&gt;fair&lt;/b&gt; split" in form
        assert 'action="match"' in html, "one level below the participant's page"
        assert f'action="{visitor.url}" id="continue"' in html
        assert moves() == []

    def test_a_move_and_a_stale_one_redirect_to_the_page(self, visitor):
        answer = visitor.move(**EQUAL_SPLIT)
        assert (answer.status_code, answer["Location"]) == (302, visitor.url)
        assert '<noscript><meta http-equiv="refresh"' in visitor.see().content.decode()
        answer = visitor.client.post(page_of(visitor), {"answering": "1", **EQUAL_SPLIT})
        assert (answer.status_code, answer["Location"]) == (302, visitor.url)
        assert moves() == [(2, "alice")]

    def test_a_whole_match_can_be_played_without_javascript(self, visitor):
        visitor.move(**EQUAL_SPLIT)
        visitor.let_agent_answer()
        assert 'http-equiv="refresh"' not in visitor.see().content.decode()
        assert visitor.send().status_code == 302
        assert visitor.now().state == State.QUIZ


class TestPagePolicies:
    @pytest.mark.parametrize("kind", STEP_KINDS)
    def test_pages_set_no_cookie_and_comply_with_the_policy(self, kind):
        visitor = Visitor(arrived_participant(launched_study()))
        answers = [visitor.walk_to(kind).see(), visitor.client.get(f"{visitor.url}problem/"), visitor.send()]
        assert not visitor.client.cookies and not any(answer.cookies for answer in answers)
        html = answers[0].content.decode()
        assert not any(inline in html for inline in ("<style", " style=", "<script>", " onclick="))

    @pytest.mark.parametrize(
        "path", ["", "leave/", "problem/", "match", "/join/splitting", "/p/forged/", "/join/none", "/", "/nowhere"]
    )
    def test_every_page_has_the_strict_headers(self, visitor, path):
        address = path if path.startswith("/") else visitor.url + path
        answer = visitor.client.get(address, headers=JSON if path == "match" else {})
        policy = answer["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "base-uri 'none'" in policy
        assert answer["Referrer-Policy"] in ("same-origin", "no-referrer")
        assert answer["X-Content-Type-Options"] == "nosniff"

    def test_pages_are_not_cached(self, visitor):
        for path in ("", "leave/", "problem/"):
            assert "no-store" in visitor.client.get(visitor.url + path)["Cache-Control"]
        assert "no-store" in ask(visitor)["Cache-Control"]

    def test_player_text_is_shown_as_text(self, visitor):
        visitor.move(**{**EQUAL_SPLIT, "alice_gain": "9000", "bob_gain": "1000"}, message="<script>alert(1)</script>")
        visitor.let_agent_answer()
        html = visitor.see().content.decode()
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


class TestLogs:
    @pytest.mark.parametrize(
        ("line", "arguments"),
        [
            ("Not Found: %s", ("/p/s3cret-token/",)),
            ('"GET /p/s3cret-token/match HTTP/1.1" 200', ()),
            ("WebSocket /ws/play/s3cret-token/ [accepted]", ()),
            ("GET /join/x?workerId=s3cret-token&assignmentId=A", ()),
            ("%s at %s", ("Error", "https://host/p/s3cret-token")),
        ],
    )
    def test_log_lines_contain_no_tokens_or_identities(self, line, arguments):
        record = logging.LogRecord("any", logging.WARNING, __file__, 1, line, arguments, None)
        assert HideTokens().filter(record)
        assert "s3cret-token" not in record.getMessage()
        assert "…" in record.getMessage()

    def test_other_log_lines_are_unchanged(self):
        record = logging.LogRecord("any", logging.WARNING, __file__, 1, "agent %s failed", ("script:fair",), None)
        HideTokens().filter(record)
        assert record.getMessage() == "agent script:fair failed"

    def test_logs_of_a_refused_page_identify_nobody(self, visitor):
        (handler,) = [h for h in logging.getLogger().handlers if any(isinstance(f, HideTokens) for f in h.filters)]
        usual_stream = handler.setStream(stream := io.StringIO())
        try:
            visitor.send()
            visitor.client.get(f"{visitor.url}nothing/")
            Client().get("/join/none?workerId=W-secret")
        finally:
            handler.setStream(usual_stream)
        logged = stream.getvalue()
        assert "/p/…" in logged
        assert visitor.enrolment.token not in logged
        assert "W-secret" not in logged
