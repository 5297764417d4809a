"""A chat as a stage of its own: participants talk, with others or with models, and go on. It pays nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from matches import chat
from matches.models import Event, Match
from matches.services import handle_time_outs
from participants.states import State
from plans.canonical import canonical
from plans.checking import check
from plans.schema import plan_controls
from studies.endings import has_substitute_moves
from studies.recomputing import discrepancies
from studies.tests import kit
from tests.visitors import EQUAL_SPLIT, Visitor, arrived_participant, text_of

pytestmark = [pytest.mark.services, pytest.mark.django_db]
TALK: dict[str, Any] = {
    "stage": "chat", "name": "talk", "topic": "Agree on a number.", "seats": {"p2": "talker", "*": "person"},
    "chat": {"seconds": 60},
}  # fmt: skip
GAME: dict[str, Any] = {
    "stage": "game", "name": "deal", "game": "bargaining", "config": {"rounds": 1}, "code_word": None,
    "seats": {"alice": "person", "bob": "fair"},
}  # fmt: skip


def plan(*journey: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {
        "format": "parley-study", "version": 1, "title": "Talking", "entry": {"via": "mturk"},
        "agents": {"fair": {"script": "fair"}, "talker": kit.agent("openai:stand-in", cap_study=5.0)},
        "journey": [{"stage": "consent"}, *journey], **parts,
    }  # fmt: skip


@pytest.fixture
def visitor() -> Visitor:
    """A participant who talks with a model before a game."""
    visitor = Visitor(arrived_participant(kit.launched("talking", plan=plan(TALK, GAME))))
    visitor.see()
    assert "talk in a chat" in text_of(visitor.see())
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    assert "Agree on a number." in text_of(visitor.see())
    return visitor


def test_chat_ends_when_everyone_is_ready_and_only_the_game_pays(visitor):
    talk = visitor.match()
    chat.write(match_id=talk.pk, sender="p1", text="Seven?", key="1")
    assert chat.writers_of(talk) == ["p2"]
    assert list(talk.open_turns()) == ["p1"], "a model is not asked whether it is ready"
    page = visitor.see()
    assert "talk with a computer program" in text_of(page) and "Time left to talk:" in page.content.decode()
    chat.write(match_id=talk.pk, sender="p1", text="Agreed.", key="2")
    visitor.move("p1", answer="go_on")
    talk.refresh_from_db()
    assert talk.status == Match.Status.FINISHED
    with pytest.raises(chat.NotWritten, match=r"^The chat is over\."):
        chat.write(match_id=talk.pk, sender="p1", text="Too late", key="3")

    visitor.send()
    visitor.see()
    assert visitor.now().step["kind"] == "instructions" and "You play 2 games" not in text_of(visitor.see())
    visitor.send()
    visitor.see()
    visitor.move(**EQUAL_SPLIT)
    visitor.let_agent_answer() if visitor.match().open_turns() else None
    visitor.send()
    visitor.see()
    assert visitor.now().state == State.COMPLETED
    bonus = visitor.enrolment.ledger.get(reason="bonus")
    assert bonus.workings["share"] == 0.5
    assert not list(discrepancies())


def test_the_end_of_the_time_is_part_of_the_rules_and_the_data_are_kept(visitor):
    talk = visitor.match()
    turns = {
        role: {**turn, "deadline": (talk.started_at - timedelta(seconds=1)).isoformat()}
        for role, turn in talk.turns.items()
    }
    Match.objects.filter(pk=talk.pk).update(turns=turns)
    handle_time_outs(match_id=talk.pk)
    talk.refresh_from_db()
    assert talk.status == Match.Status.FINISHED
    assert Event.objects.get(match=talk, kind="move", data__role="p1").data["by"] == "rules"
    assert not has_substitute_moves(visitor.now(), frozenset({"rules"}))
    visitor.send()
    assert not visitor.now().ended and visitor.now().step["kind"] == "instructions"


def test_page_says_when_all_messages_are_written(visitor):
    talk = visitor.match()
    for number in range(30):
        line = {"sender": "p1", "number": number + 1, "key": str(number), "text": "a", "readers": ["p2"], "after": 0}
        talk.chat_lines.create(**line, at=talk.started_at)
    assert "written all of your messages" in text_of(visitor.see())


def test_consent_names_the_times_of_games_only():
    facts = arrived_participant(kit.launched("talking", plan=plan(TALK, GAME))).steps[0]["facts"]
    assert ["Time to answer", "3 minutes for each answer, plus 1 minute more once"] in facts


def test_people_who_talk_with_each_other_wait_in_a_lobby():
    both = {**TALK, "seats": {"*": "person"}, "players": 2}
    study = kit.launched("talking", plan=plan(both, GAME))
    kinds = [step["kind"] for step in arrived_participant(study).steps]
    assert kinds[2:5] == ["lobby", "match", "instructions"]


@pytest.mark.parametrize(
    ("journey", "average", "fault"),
    [
        ([{**TALK, "quiz": True}, GAME], "1.00", "journey.1"),
        ([{**TALK, "seats": {"p3": "person"}}, GAME], "1.00", "journey.1.seats"),
        ([TALK], "1.00", "pay.bonus.average"),
        ([TALK], "0.00", None),
    ],
)
def test_plan_says_what_a_chat_cannot_be(journey, average, fault):
    found = [each.at for each in check(plan(*journey, pay={"bonus": {"average": average}})).faults]
    assert found == ([fault] if fault else [])


def test_editor_offers_and_the_file_holds_only_what_a_chat_has():
    own = ["stage", "name", "show_if", "seats", "partners", "lobby", "chat", "players", "topic"]
    assert [field["name"] for field in plan_controls()["stages"]["chat"]["fields"]] == own
    assert sorted(canonical(plan(TALK))["journey"][1]) == sorted(own)
