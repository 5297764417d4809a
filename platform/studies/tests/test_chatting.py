"""A chat from the plan to the page: what a launch freezes, what the checklist warns about, and who passes it by."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from matches import chat
from matches.models import Match, Seat
from piloting.reading import read
from plans.guard import warnings
from studies.tests import kit
from tests.visitors import Visitor, arrived_participant, text_of

pytestmark = [pytest.mark.services, pytest.mark.django_db]
PARTS: dict[str, Any] = {
    "agents": {"fair": kit.agent("script:fair"), "talker": kit.agent("openai:stand-in", cap_study=5.0)},
    "seats": {"alice": "person", "bob": "fair"},
    "chat": {"when": "before", "seconds": 60, "mediator": {"agent": "talker", "title": "Robin"}},
    "code_word": None,
}


@pytest.fixture
def visitor() -> Visitor:
    """A participant at a match that begins with a chat."""
    return Visitor(arrived_participant(kit.launched("chatting", **PARTS))).walk_to("match")


def test_match_keeps_its_chat_and_the_mediator_as_launched(visitor):
    match = Match.objects.get()
    assert match.chat().mediator.title == "Robin"
    assert match.timers["chat"]["agent"]["spec"] == "openai:stand-in"
    assert "Robin is a computer program." in text_of(visitor.see())


def test_simulated_participants_neither_wait_for_the_chat_nor_fill_it_in(visitor):
    fields = read(visitor.see().content.decode()).fields
    assert "text" not in fields and "position" in fields
    match = Match.objects.get()
    for purpose in (Match.Purpose.PILOT, Match.Purpose.WALK):
        match.purpose = purpose
        assert match.begins_at is None
    assert Seat.objects.filter(match=match).count() == 2


@pytest.mark.parametrize(("others", "warned"), [("none", ["agents.fair"]), ("counts", [])])
def test_checklist_warns_about_programs_that_never_write_in_a_blind_study(others, warned):
    found = warnings(kit.document("bargaining", **PARTS, others=others))
    assert [fault.at for fault in found if "never writes" in fault.what] == warned


def test_researchers_read_the_chat_beside_the_log_as_text(visitor, boss, client):
    match = Match.objects.get()
    chat.write(match_id=match.pk, sender="alice", text="<b>hello</b>", key="1")
    page = client.get(reverse("admin:matches_match_change", args=[match.pk])).content.decode()
    assert "<td>&lt;b&gt;hello&lt;/b&gt;</td>" in page
