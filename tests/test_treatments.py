"""What a researcher may vary, from the plan to the participants and their pay: each as a launched study with people."""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal
from textwrap import dedent
from typing import Any, ClassVar

import pytest
from django.http import HttpResponse

from lobby import step as lobby
from matches import screens
from matches.models import Match, Seat
from participants.states import State
from payouts.models import LedgerRow
from plans.files import loads
from studies.models import Study
from studies.previewing import preview, preview_source, selection_in
from studies.tests import kit
from surveys.models import Response
from tests.strolling import Stroller, arrivals, stroll

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

FAIR, STUBBORN = {"script": "fair"}, {"script": "haggler"}
WORDS = {"give": "You may give some of it away.", "take": "You may take what you like."}
RACE = {"players": 2, "runs": 2}
TALK: dict[str, Any] = {
    "stage": "game", "name": "talk", "game": "bargaining", "config": {"rounds": 2},
    "seats": {"alice": "person", "bob": "fair"}, "code_word": None,
}  # fmt: skip


def launched(journey: list[dict[str, Any]], **parts: Any) -> Study:
    """Launch a study with consent and this journey."""
    plan = {
        "format": "parley-study", "version": 1, "title": "Treatments", "agents": {"fair": FAIR, "stubborn": STUBBORN},
        "journey": [{"stage": "consent"}, *journey], "entry": {"via": "mturk"}, "cells": {"quota": 50}, **parts,
    }  # fmt: skip
    return kit.launched("treatments", plan=plan)


def by_level(people: list[Stroller], factor: str) -> dict[str, list[Stroller]]:
    """Return the people of each level."""
    found: dict[str, list[Stroller]] = {}
    for person in people:
        found.setdefault(person.factors[factor], []).append(person)
    return found


def test_a_text_is_a_treatment():
    page = {"stage": "page", "name": "opening", "title": "Before you start", "text": kit.varied("wording", **WORDS)}
    study = launched([page, TALK], factors={"wording": {"levels": ["give", "take"]}})
    people = arrivals(study, 4)
    stroll(people)
    arms = by_level(people, "wording")
    assert {level: len(arm) for level, arm in arms.items()} == {"give": 2, "take": 2}
    for level, arm in arms.items():
        for person in arm:
            assert {text in person.text for text in WORDS.values()} == {True, False}
            assert WORDS[level] in person.text
            assert "wording" not in person.text


def test_an_opponent_is_a_treatment():
    talk = {**TALK, "seats": {"alice": "person", "bob": {"by": "opponent"}}}
    study = launched([talk], factors={"opponent": {"levels": ["fair", "stubborn"]}})
    people = arrivals(study, 4)
    stroll(people)
    met = {person.enrolment.pk: person.factors["opponent"] for person in people}
    assert Counter(met.values()) == {"fair": 2, "stubborn": 2}
    for person in people:
        (match,) = person.matches()
        assert match.seats.get(role="bob").label == met[person.enrolment.pk]
        assert "stubborn" not in person.text


def test_pay_is_a_treatment():
    averages = kit.varied("stakes", low="1.00", high="3.00")
    pay = {"base": "1.00", "bonus": {"rule": "fixed", "average": averages}}
    study = launched([TALK], factors={"stakes": {"levels": ["low", "high"]}}, pay=pay)
    people = arrivals(study, 4)
    stroll(people)
    for person in people:
        expected = {"low": "1.00", "high": "3.00"}[person.factors["stakes"]]
        owed = {row.reason: row.amount for row in LedgerRow.objects.filter(enrolment=person.enrolment)}
        assert owed == {"base": Decimal("1.00"), "bonus": Decimal(expected)}
        assert f"${expected}" in person.seen[0][1] and f"${Decimal(expected) + 1}" in person.seen[-1][1]
    assert len(by_level(people, "stakes")) == 2


@pytest.mark.slow  # studies/tests/test_journeys.py: balanced orders, and groups that are formed once
def test_three_games_in_balanced_order_with_groups_formed_once():
    people_only = {"seats": {"*": "person"}, "code_word": None}
    block = {
        "stage": "block",
        "name": "games",
        "order": "balanced",
        "groups": {"form": "once", "lobby": {"ready": 0}},
        "of": [
            {**TALK, **people_only},
            {"stage": "game", "name": "trade", "game": "negotiation", "config": {"rounds": 2}, **people_only},
            {"stage": "game", "name": "race", "game": "beauty_contest", "config": RACE, **people_only},
        ],
    }
    study = launched([block], agents={})
    people = arrivals(study, 12)
    stroll(people)
    assert {person.enrolment.state for person in people} == {State.COMPLETED}
    groups = {frozenset(match.seats.values_list("enrolment", flat=True)) for match in Match.objects.all()}
    assert len(groups) == 6 and {len(group) for group in groups} == {2}, "the groups of the first game stay together"
    orders = {person.enrolment.pk: tuple(match.game for match in person.matches()) for person in people}
    assert all(len({orders[member] for member in group}) == 1 for group in groups)
    shared = Counter(orders[min(group)] for group in groups)
    assert len(shared) == 6 and set(shared.values()) == {1}, "every order is taken once"


def test_a_factor_within_participants():
    talk = {**TALK, "config": {"rounds": kit.varied("horizon", short=1, long=4)}}
    told = {"stage": "page", "name": "told", "text": kit.varied("horizon", short="One round.", long="Four rounds.")}
    block = {"stage": "block", "name": "games", "passes": "balanced", "of": [told, talk]}
    factors = {"horizon": {"levels": ["short", "long"], "within": "games"}}
    study = launched([block], factors=factors)
    people = arrivals(study, 4)
    stroll(people)
    rounds = [tuple(match.config["rounds"] for match in person.matches()) for person in people]
    assert Counter(rounds) == {(1, 4): 2, (4, 1): 2}
    for person in people:
        played = [step for step in person.enrolment.steps if step["kind"] == "match"]
        assert {step["where"]: step["config"]["rounds"] for step in played} == {"talk.short": 1, "talk.long": 4}
        told_first = person.text.index("One round.") < person.text.index("Four rounds.")
        assert told_first == (played[0]["config"]["rounds"] == 1)


def test_screening_comes_before_the_draw():
    age = {"name": "age", "kind": "number", "text": "How old are you?", "min": 1, "max": 120, "ends_if": "age < 18"}
    screen = {"stage": "questions", "name": "screen", "items": [age]}
    page = {"stage": "page", "name": "opening", "text": kit.varied("wording", **WORDS)}
    study = launched([screen, page, TALK], factors={"wording": {"levels": ["give", "take"]}})
    young, *adults = arrivals(study, 5)
    young.given = {"question_age": "12"}
    for adult in adults:
        adult.given = {"question_age": "30"}
    stroll([young, *adults])
    assert young.enrolment.state == State.SCREENED_OUT
    assert young.placement.cell is None and not young.placement.draw
    assert Counter(adult.factors["wording"] for adult in adults) == {"give": 2, "take": 2}
    assert [adult.placement.draw["number"] for adult in adults] == [1, 2, 3, 4]
    assert not any(text in young.text for text in WORDS.values())


def test_levels_called_on_and_off():
    """In YAML 1.1 these were truth values; in a plan's file they are words."""
    text = """
        format: parley-study
        version: 1
        title: Talk or not
        factors: {talk_allowed: {levels: [on, off]}}
        agents: {fair: {script: fair}}
        journey:
          - {stage: consent}
          - stage: page
            name: opening
            text: {by: talk_allowed, values: {on: You may talk., off: You play in silence.}}
          - stage: game
            name: play
            game: bargaining
            config: {messages_allowed: {by: talk_allowed, values: {on: true, off: false}}, rounds: 2}
            seats: {alice: person, bob: fair}
            code_word: null
          - {stage: questions, name: later, show_if: talk_allowed == "on",
             items: [{name: helped, kind: single, text: Did talking help?, options: [yes, no]}]}
        entry: {via: mturk}
    """
    study = kit.launched("talk", plan=loads(dedent(text)))
    people = arrivals(study, 4)
    stroll(people)
    arms = by_level(people, "talk_allowed")
    assert {level: len(arm) for level, arm in arms.items()} == {"on": 2, "off": 2}
    for level, arm in arms.items():
        for person in arm:
            assert [match.config["messages_allowed"] for match in person.matches()] == [level == "on"]
            assert ("You may talk." in person.text, "You play in silence." in person.text) == (
                level == "on", level == "off",
            )  # fmt: skip
            answered = Response.objects.filter(enrolment=person.enrolment).first()
            assert (answered.answers["helped"] in ("yes", "no")) if level == "on" else answered is None


def test_a_question_is_asked_in_one_arm_only():
    why = {"name": "why", "kind": "long", "text": "Why did you take it?", "show_if": "wording == 'take'"}
    liked = {"name": "liked", "kind": "scale", "text": "Did you like it?"}
    page = {"stage": "page", "name": "opening", "text": kit.varied("wording", **WORDS)}
    study = launched(
        [page, TALK, {"stage": "questions", "name": "later", "items": [liked, why]}],
        factors={"wording": {"levels": ["give", "take"]}},
    )
    people = arrivals(study, 4)
    stroll(people)
    for person in people:
        given = Response.objects.get(enrolment=person.enrolment).answers
        assert (why["text"] in person.text) == (person.factors["wording"] == "take")
        assert (given.get("why") is not None) == (person.factors["wording"] == "take")
        assert given["liked"] in range(1, 8)


def test_a_stage_is_shown_after_a_result():
    """What follows depends on how the participant's own game ended."""
    page = {"stage": "page", "name": "deal", "text": "You agreed.", "show_if": "talk.agreement"}
    study = launched([TALK, page])
    people = [*arrivals(study, 2)]
    people[1].player = "script:haggler"
    stroll(people)
    for person in people:
        (match,) = person.matches()
        agreed = Seat.objects.get(match=match, role="alice").match.metrics["agreement"]
        assert ("You agreed." in person.text) == bool(agreed)
        (step,) = [step for step in person.enrolment.steps if step.get("name") == "deal"]
        assert step["shown"] == bool(agreed)


class Witness(Stroller):
    """A stroller who keeps the source and address of every page, and what the lobby's socket would send."""

    received: ClassVar[list[str]] = []

    def _request(self, url: str, data: dict[str, str] | None = None) -> HttpResponse:
        response = super()._request(url, data)
        self.received += [url, str(response.headers), response.content.decode()]
        if self._refreshed().step and self.enrolment.step["kind"] == "lobby":
            self.received.append(json.dumps(lobby.answer_request(self.enrolment.token)))
        return response


SECRET = re.compile("zq(?:bot|harsh|high|length|long|low|machine|mild|pay|rival|short|tone)")
"""Every name of a factor and every level of the next plan; addresses contain other letters at random."""


def unspoken_plan() -> dict[str, Any]:
    """Return a plan with every kind of stage that depends on factors everywhere and prints none of them."""
    rules = "{% if zqtone == 'zqmild' %}Be kind to {{ you }}.{% else %}Be hard on {{ you }}.{% endif %}"
    liked = {"name": "liked", "kind": "scale", "text": "Did you like it?"}
    why = {"name": "why", "kind": "long", "text": "Why?", "show_if": "zqtone == 'zqharsh' and liked >= 1"}
    around = {"instructions": rules, "examples": rules, "quiz": True, "comprehension": {"failed": "continue"}}
    pair = {"stage": "game", "name": "split", "game": "bargaining", "config": {"rounds": 1}, "seats": {"*": "person"}}
    contest = {
        "stage": "game", "name": "guess", "game": "beauty_contest", "code_word": None,
        "config": {"players": 3, "runs": kit.varied("zqlength", zqshort=1, zqlong=2)},
        "seats": {"p1": "person", "p2": "person", "p3": {"by": "zqrival"}},
    }  # fmt: skip
    block = {
        "stage": "block", "name": "games", "passes": "random", "order": "random",
        "groups": {"form": "once", "lobby": {"ready": 5}},
        "of": [
            {**pair, **around},
            {"stage": "page", "name": "break", "text": "A break.", "show_if": "zqlength == 'zqshort'"},
            contest,
        ],
    }  # fmt: skip
    return {
        "format": "parley-study", "version": 1, "title": "Unspoken", "entry": {"via": "mturk"},
        "cells": {"listed": [
            {"zqtone": "zqmild", "zqrival": "zqbot", "zqpay": "zqlow"},
            {"zqtone": "zqharsh", "zqrival": "zqmachine", "zqpay": "zqhigh"},
        ]},
        "factors": {
            "zqtone": {"levels": ["zqmild", "zqharsh"]},
            "zqrival": {"levels": ["zqbot", "zqmachine"]},
            "zqpay": {"levels": {"zqlow": {"base": "1.00"}, "zqhigh": {"base": "2.00"}}},
            "zqlength": {"levels": ["zqshort", "zqlong"], "within": "games"},
        },
        "agents": {"zqbot": {"script": "rational"}, "zqmachine": {"script": "random"}},
        "pay": {"base": {"by": "zqpay.base"}},
        "told": {"others": kit.varied("zqtone", zqmild="counts", zqharsh="seats")},
        "journey": [
            {"stage": "consent"},
            {"stage": "page", "name": "opening", "text": kit.varied("zqtone", zqmild="Welcome.", zqharsh="Listen.")},
            {"stage": "questions", "name": "first", "items": [liked, why]},
            block,
            {"stage": "debriefing", "text": kit.varied("zqtone", zqmild="Thank you.", zqharsh="Done.")},
        ],
    }  # fmt: skip


def test_pages_addresses_and_sockets_name_no_factor_and_no_level(monkeypatch):
    received: list[str] = []
    monkeypatch.setattr(Witness, "received", received)
    original = screens._frame

    def kept(*args: Any, **typed: Any) -> dict[str, Any]:
        received.append(json.dumps(frame := original(*args, **typed)))
        return frame

    monkeypatch.setattr(screens, "_frame", kept)
    study = kit.launched("unspoken", plan=unspoken_plan())
    people = [Witness(person.enrolment) for person in arrivals(study, 4)]
    stroll(people)
    assert {person.enrolment.state for person in people} <= {State.COMPLETED, State.FAILED_QUIZ, State.PARTNER_LEFT}
    seen = {kind for person in people for kind, _text in person.seen}
    kinds = {"consent", "name", "page", "questions", "instructions", "comprehension", "lobby", "match", "quiz", "end"}
    assert seen >= kinds, kinds - seen
    assert len({tuple(person.factors.values()) for person in people}) == 2
    assert not {found for text in received for found in SECRET.findall(text)}


def test_prompts_name_no_factor_and_no_level():
    plan = unspoken_plan()
    plan["agents"] = {label: kit.agent("openai:m") for label in plan["agents"]}
    source = preview_source(plan)
    sent = [
        preview(source, selection_in(situation, number)).sent
        for number in range(1, source.count + 1)
        if (situation := source.situation(number)).roles
    ]
    assert len(sent) == 4 and all(sent)
    assert not SECRET.findall(json.dumps([each.body for each in sent if each]))
