"""What a participant's page receives while an agent thinks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from matches import screens, services
from matches.drafts import Draft
from matches.models import _LINE_UPS, Event, Match, Seat
from matches.tests.test_consumer import GREEDY, answered_by_agent, in_other_thread, new_match, page, until
from matches.tests.test_consumer import connections_closed as connections_closed
from matches.tests.test_consumer import patient as patient

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def drafted(match: Match, text: str | None, *, role: str = "bob", answering: int = 2) -> Draft:
    draft = Draft(match.pk, role, answering, people=["alice"])
    draft.add(f'{{"message": "{text}')
    return draft


async def waiting(alice: Any, match: Match) -> None:
    """Make an offer; the page then shows that the agent is thinking."""
    await alice.frame()
    await alice.move(**GREEDY)
    await until(lambda: Event.objects.filter(match=match, number=2).exists())
    (frame,) = await alice.settled(last=0)
    assert frame["awaits"] == {"bob": 2}


async def test_a_waiting_page_gets_the_draft_and_its_end_and_no_other():
    person, match = await in_other_thread(new_match)
    async with page(person) as alice:
        await waiting(alice, match)
        draft = drafted(match, "<b>Hello")
        assert await alice.next() == {"type": "draft", "role": "bob", "answering": 2, "text": "<b>Hello"}
        draft.add(" you")
        assert (await alice.next())["text"] == "<b>Hello you"
        draft.retract()
        assert (await alice.next())["text"] is None
        Draft(match.pk, "bob", 2, people=["carol"]).add('{"message": "psst"')
        assert await alice.quiet(), "a draft for other roles is not sent"
        await answered_by_agent(match, 2)
        assert (await alice.frame())["awaits"] == {}
        drafted(match, "late")
        assert await alice.quiet(), "a draft of a finished answer is dropped"


async def test_a_role_that_is_asked_sees_no_draft():
    person, match = await in_other_thread(new_match)
    async with page(person) as alice:
        assert (await alice.frame())["awaits"] == {}
        drafted(match, "early", answering=1)
        assert await alice.quiet()


async def test_a_draft_is_preceded_by_its_frame():
    """The page does not know yet that the agent is thinking, or that it continues after its first move."""
    person, match = await in_other_thread(new_match)
    async with page(person) as alice:
        await alice.frame()
        await alice.move(**GREEDY)
        await until(lambda: Event.objects.filter(match=match, number=2).exists())
        drafted(match, "quick")
        assert (await alice.frame())["last"] == 2
        assert (await alice.next())["text"] == "quick"
        reject = {"match_id": match.pk, "role": "bob", "answering": 2, "move": {"decision": "reject"}}
        await in_other_thread(services.submit_move, **reject)
        drafted(match, "offer", answering=3)
        assert (await alice.frame())["awaits"] == {"bob": 3}
        assert (await alice.next())["text"] == "offer"
        assert await alice.quiet()


def frame_while_waiting(*, timed: bool = True, **settings: Any) -> dict[str, Any]:
    """Return alice's frame half a minute after her offer to a model."""
    _person, match = new_match()
    Seat.objects.filter(match=match, role="bob").update(agent="vllm:model", settings={"appears": "typed", **settings})
    Match.objects.filter(pk=match.pk).update(timers={"turn_seconds": 180} if timed else {})
    _LINE_UPS.clear()
    services.submit_move(
        match_id=match.pk, role="alice", answering=1, move={"alice_gain": 9000, "bob_gain": 1000, "message": None}
    )
    match.refresh_from_db()
    turn = match.turns["bob"]
    turn["opened_at"] = (timezone.now() - timedelta(seconds=30)).isoformat()
    return screens.frame(match, "alice")


def test_the_limit_in_minutes_and_its_consequence_are_shown():
    frame = frame_while_waiting(limit_seconds=119.5)
    assert frame["waited"] == 30
    assert 'data-limit="119.5"' in frame["html"]
    for words in ("Bob is thinking.", "within 2 minutes, the game ends", "you are paid", "within 1 minute, the game"):
        assert words in frame["html"]


def test_a_fallback_script_is_announced_and_nothing_without_a_limit():
    html = frame_while_waiting(limit_seconds=30, script="fair")["html"]
    assert "within 1 minute, a simple program" in html
    assert "minutes" not in html.replace("data-minutes", "")
    html = frame_while_waiting(timed=False)["html"]
    assert "data-next" not in html and "Please wait" in html


def test_a_draft_has_a_place_if_a_model_may_write_text():
    """Bob answers an offer with a bare decision, and may add text to his own offer."""
    assert "data-draft" not in frame_while_waiting()["html"]
    match = Match.objects.get()
    services.submit_move(match_id=match.pk, role="bob", answering=2, move={"decision": "reject"})
    match.refresh_from_db()
    html = screens.frame(match, "alice")["html"]
    assert "data-draft" in html
    assert "Bob is writing" in html


def test_a_page_asks_for_the_screen_on_which_it_waits():
    frame = frame_while_waiting()
    match = Match.objects.get()
    waits = screens.frames(match, match.play(), ["alice"])["alice"]
    assert waits == {"type": "screen", "last": 2, "answering": None, "over": False}
    assert screens.frames(match, match.play(), ["alice"], clock=True)["alice"]["html"] == frame["html"]


@pytest.mark.parametrize("appears", ["at_once", "delayed"])
def test_there_is_no_place_if_the_answer_appears_at_once(appears):
    frame_while_waiting(appears=appears)
    match = Match.objects.get()
    services.submit_move(match_id=match.pk, role="bob", answering=2, move={"decision": "reject"})
    match.refresh_from_db()
    assert "data-draft" not in screens.frame(match, "alice")["html"]
