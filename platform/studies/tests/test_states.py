"""Every state can be reached, and its page explains what happened, the pay and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from checks.steps import Comprehension
from matches.models import Match
from matches.services import abandon_match, handle_time_outs
from participants import services as people
from participants.models import Enrolment
from participants.states import ENDINGS, State, ending_of
from plans.pay import CAN_PAY, ENDINGS_PAY
from plans.reading import BadPlan
from recruiters.models import LabCode
from studies.models import Placement
from studies.tests import kit
from surveys.models import Response
from tests.visitors import Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db

ADULTS = [
    {
        "kind": "single", "text": "How old are you?", "name": "age", "options": ["18 or more", "less"],
        "ends_if": "age == 'less'",
    }
]  # fmt: skip


def answer_before_survey(visitor: Visitor) -> None:
    visitor.see()
    visitor.send(agree="yes")
    visitor.send(name="Robin")


def screen_out(visitor: Visitor) -> None:
    answer_before_survey(visitor)
    visitor.send(question_age="less")


def let_time_pass(visitor: Visitor) -> None:
    run_out_of_time(visitor.walk_to("match"))


def run_out_of_time(visitor: Visitor) -> None:
    for _attempt in range(2):
        Match.objects.update(deadline=timezone.now() - timedelta(seconds=1))
        for match in Match.objects.all():
            turns = {role: {**turn, "deadline": "2020-01-01T00:00:00+00:00"} for role, turn in match.turns.items()}
            Match.objects.filter(pk=match.pk).update(turns=turns)
            handle_time_outs(match_id=match.pk)


def stay_away(visitor: Visitor) -> None:
    Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    visitor.see()


def lose_the_opponent(visitor: Visitor) -> None:
    visitor.walk_to("match")
    abandon_match(match_id=visitor.match().pk, reason=State.DROPPED_OUT, role="bob")


def wait_for_the_opponent(visitor: Visitor) -> None:
    visitor.walk_to("match").move(alice_gain="5000", bob_gain="5000")
    visitor.see()


def fail_comprehension(visitor: Visitor) -> None:
    visitor.walk_to("instructions")
    steps = visitor.now().steps
    game = {name: steps[visitor.enrolment.position][name] for name in ("game", "config", "role", "texts")}
    asked = {"kind": "comprehension", **game, "questions": None, "tries": 1, "failed": "end"}
    steps.insert(visitor.enrolment.position + 1, asked)
    visitor.enrolment.save(update_fields=["steps"])
    visitor.send(code_word=visitor.enrolment.code_word)
    visitor.see()
    questions = Comprehension(visitor.now(), asked).questions()
    visitor.send(**{each.key: next(one for one in each.options if one != each.answer) for each in questions})


def end_now(state: State) -> Callable[[Visitor], object]:
    """Return a step that ends the enrolment in this state. Group endings: test_together, matches/tests/test_groups."""

    def end_enrolment(visitor: Visitor) -> None:
        with transaction.atomic():
            people.end(people.locked(visitor.enrolment.pk), state)

    return end_enrolment


def _in_match(step: Callable[[Visitor], object]) -> Callable[[Visitor], object]:
    return lambda visitor: step(visitor.walk_to("match"))


PRETENDED = [_in_match(end_now(state)) for state in (State.PARTNER_LEFT, State.NO_PARTNER, State.OUR_OUTAGE)]
"""Steps that only set the state of an ending that takes several people, or an outage."""


REACH_STATE: dict[State, Callable[[Visitor], object]] = {
    State.ARRIVED: lambda visitor: visitor.see(),
    State.CONSENTED: lambda visitor: visitor.walk_to("name"),
    State.INSTRUCTED: lambda visitor: visitor.walk_to("instructions").send(code_word=visitor.enrolment.code_word),
    State.FAILED_CODE_WORD: lambda visitor: (
        [visitor.walk_to("instructions")] + [visitor.send(code_word="wrong") for _try in "12"]
    ),
    State.FAILED_COMPREHENSION: fail_comprehension,
    State.PLAYING: lambda visitor: visitor.walk_to("match"),
    State.WAITING: wait_for_the_opponent,
    State.QUIZ: lambda visitor: visitor.walk_to("quiz"),
    State.FAILED_QUIZ: lambda visitor: visitor.walk_to("quiz").send(loss_rate="5%"),
    State.COMPLETED: lambda visitor: visitor.walk_to("quiz").send(loss_rate="10%"),
    State.TIMED_OUT: let_time_pass,
    State.DROPPED_OUT: stay_away,
    State.OPPONENT_FAILED: lose_the_opponent,
    State.SCREENED_OUT: screen_out,
    State.RETURNED: lambda visitor: people.record_return(enrolment_id=visitor.enrolment.pk),
    State.WITHDREW: lambda visitor: visitor.client.post(f"{visitor.url}leave/"),
    **dict(zip((State.PARTNER_LEFT, State.NO_PARTNER, State.OUR_OUTAGE), PRETENDED, strict=True)),
    State.REPLACED: _in_match(end_now(State.REPLACED)),
}
"""How a participant gets into each state."""


def visitor_in_state(state: State, **fields: object) -> Visitor:
    surveys = {"before": ADULTS} if state == State.SCREENED_OUT else {}
    visitor = Visitor(arrived_participant(launched_study(**surveys, **fields)))
    REACH_STATE[state](visitor)
    return visitor


@pytest.mark.parametrize("state", State)
def test_every_state_is_reached_and_has_a_page(state):
    visitor = visitor_in_state(state)
    assert visitor.now().state == state
    page = visitor.see()
    text = text_of(page)
    assert page.status_code == 200
    assert "Report a problem" in text
    if state in ENDINGS:
        assert heading_of(page) == ENDINGS[state].title
        assert str(ENDINGS[state].what_happened).rstrip(".") in text
        pay, next_steps = text.split("Your pay")[1], text.split("What to do now")[1]
        assert "Bonus" in pay or state == State.NO_PARTNER
        paid = visitor.now().ledger.exists()
        assert ("no payment in this case" in pay) == (not paid)
        shown = ending_of(state, paid=paid, entry="mturk")
        assert str(shown.what_next) in next_steps
        assert (visitor.now().completion_code in next_steps) == shown.gives_code
        assert "Leave the study" not in text
    else:
        assert "Step" in text and "Leave the study" in text


@pytest.mark.parametrize("pays", ["nothing", "base"])
def test_last_page_says_how_to_return(pays):
    """What each ending pays: test_pay_of_endings."""
    visitor = visitor_in_state(State.WITHDREW, endings={"withdrew": pays})
    next_steps = text_of(visitor.see()).split("What to do now")[1].split("Your pay")[0]
    assert ("no payment in this case" in text_of(visitor.see())) == (pays == "nothing")
    if pays == "nothing":
        assert "return the assignment" in next_steps
    else:
        assert "Copy the code below" in next_steps and visitor.now().completion_code in next_steps


def test_wrong_code_word_has_a_return_code_by_default():
    visitor = visitor_in_state(State.FAILED_CODE_WORD)
    assert "return code" in text_of(visitor.see()) and visitor.now().completion_code in text_of(visitor.see())


def test_lab_code_participants_see_no_assignment():
    study = launched_study(via="codes")
    code = LabCode.objects.create(study=study.slug).code
    token = Client().get("/join/splitting", {"code": code})["Location"].split("/")[2]
    visitor = Visitor(Enrolment.objects.get(token=token))
    visitor.client.post(f"{visitor.url}leave/")
    page = text_of(visitor.see())
    assert "assignment" not in page and "need to do anything else." in page


def test_pay_announcement_and_leaving_page_agree():
    visitor = Visitor(
        arrived_participant(launched_study(endings={"withdrew": "base", "failed_quiz": "base_and_bonus"}))
    )
    assert "you are paid $1.00." in text_of(visitor.client.get(f"{visitor.url}leave/"))
    consent = text_of(visitor.see())
    visitor.walk_to("instructions")
    for text in (consent, text_of(visitor.see())):
        for line in ("no fault of yours $2.00", "after the game wrong $1.00 and the bonus", "before the end $1.00"):
            assert line in text
        after_half = re.escape("$1.00 once you have played half")
        assert re.search(rf"time runs out {after_half}.* away for too long {after_half}.* code word is wrong", text)
        assert "take part in this study" not in text


def test_disabled_checks_are_not_mentioned():
    page = text_of(Visitor(arrived_participant(launched_study(code_word=None, quiz=False))).see())
    assert "code word" not in page and "a question after the game" not in page


def test_consent_states_the_pay_for_screen_outs():
    page = text_of(Visitor(arrived_participant(launched_study(before=ADULTS, endings={"screened_out": "base"}))).see())
    assert "after the game wrong $1.00" in page and "not for you $1.00" in page


def test_ending_pay_is_frozen():
    study = launched_study(endings={"withdrew": "base"})
    visitor = Visitor(arrived_participant(study))
    kit.launch_again(study, endings={})
    visitor.client.post(f"{visitor.url}leave/")
    assert visitor.now().earnings["total"] == "$1.00"
    assert [version.plan.pay.rule_for().endings["withdrew"] for version in study.versions.all()] == ["nothing", "base"]


def test_defaults_are_among_the_choices():
    assert all(ENDINGS_PAY[ending] in can_pay for ending, can_pay in CAN_PAY.items())


def test_screen_out_keeps_answers_and_frees_the_place():
    study = launched_study(before=ADULTS, quota=1)
    visitor = Visitor(arrived_participant(study))
    screen_out(visitor)
    assert visitor.now().state == State.SCREENED_OUT
    assert Response.objects.get().answers == {"age": "less"}
    assert Placement.objects.get().released_at is not None
    assert arrived_participant(study, worker="next").placement.cell == visitor.now().placement.cell
    visitor.send(question_age="18 or more")
    assert visitor.now().state == State.SCREENED_OUT


def test_screening_answers_are_not_revealed():
    visitor = Visitor(arrived_participant(launched_study(before=ADULTS)))
    answer_before_survey(visitor)
    assert "ends" not in visitor.see().content.decode().split("<main")[1].split("</main>")[0]
    visitor.send(question_age="18 or more")
    assert "How the game works" in text_of(visitor.see())


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"before": [{**ADULTS[0], "ends_if": "age in ['18 or more', 'less']"}]}, "Every answer would end"),
        ({"before": [{**ADULTS[0], "ends_if": "age is young"}]}, "A condition can use"),
        ({"after": ADULTS}, "Only answers before the game"),
    ],
)
def test_ineffective_screening_is_refused(fields, reason):
    with pytest.raises(BadPlan, match=reason):
        launched_study(**fields)


def test_returning_ends_an_enrolment_once_with_its_match(django_capture_on_commit_callbacks):
    visitor = Visitor(arrived_participant(launched_study())).walk_to("match")
    with django_capture_on_commit_callbacks(execute=True):
        assert people.record_return(enrolment_id=visitor.enrolment.pk)
    assert not people.record_return(enrolment_id=visitor.enrolment.pk)
    completed = visitor_in_state(State.COMPLETED, slug="completed")
    assert not people.record_return(enrolment_id=completed.enrolment.pk) and completed.now().state == State.COMPLETED
    assert visitor.match().status != Match.Status.LIVE
    page = text_of(visitor.see())
    assert "need to do anything else" in page and "Please return" not in page
