"""From a plan to the steps of a participant's path: games in blocks, passes, orders, groups, conditions, texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from exports.participants import facts_of
from lobby import services as lobbies
from lobby.models import Place
from matches.models import Match, Seat
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from participants.steps import StepRefused
from recruiters.arrivals import Arrival
from studies.enrolling import Seats, enrol
from studies.journeys import ordered, steps_of, williams
from studies.launching import launch
from studies.models import Placement, Study
from studies.tests.kit import document, leave_match_page, play, states, varied, walk_to_lobby

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

CONTEST: dict[str, Any] = {"stage": "game", "game": "beauty_contest", "code_word": None, "lobby": {"ready": 0}}
PAIR = {"p1": "person", "p2": "person"}


def contest(name: str, **settings: Any) -> dict[str, Any]:
    """Return a stage of a contest of two participants."""
    return {**CONTEST, "name": name, "config": {"players": 2, "runs": 1}, "seats": PAIR, **settings}


def alone(name: str, **settings: Any) -> dict[str, Any]:
    return contest(name, **{"seats": {"p1": "person", "p2": "rational"}, **settings})


def study(*stages: dict[str, Any], **parts: Any) -> Study:
    """Return a launched study of these stages."""
    agents = {"rational": {"script": "rational"}}
    plan = document("beauty_contest", **{"agents": agents, "via": "open", "quota": 50, **parts})
    plan["journey"] = [{"stage": "consent"}, *stages]
    made = Study.objects.create(slug="s", draft=plan)
    launch(made)
    made.refresh_from_db()
    return made


def arrive(to: Study, number: int = 1) -> list[Enrolment]:
    return [walk_to_lobby(enrol(to, Arrival("open", worker="", proof=""))) for _arrival in range(number)]


def steps_in(made: Study, *, number: int = 1, cell: int = 1) -> list[dict[str, Any]]:
    """Return the steps of the participant of this number."""
    version = made.latest_version()
    chosen = version.cells.get(number=cell)
    chosen.version = version
    return steps_of(version, chosen, chosen.people[0], number=number)


def matches_in(steps: list[dict[str, Any]]) -> list[str]:
    return [step["where"] for step in steps if step["kind"] == "match"]


class TestBlocks:
    def test_each_pass_plays_a_level_of_the_factors_within(self):
        block = {
            "stage": "block", "name": "games",
            "of": [alone("talk", config={"players": 2, "runs": varied("horizon", short=1, long=3)})],
        }  # fmt: skip
        steps = steps_in(study(block, factors={"horizon": {"levels": ["short", "long"], "within": "games"}}))
        assert matches_in(steps) == ["talk.short", "talk.long"]
        assert [step["config"]["runs"] for step in steps if step["kind"] == "match"] == [1, 3]
        assert [step["config"]["runs"] for step in steps if step["kind"] == "instructions"] == [1, 3]

    def test_fixed_passes_and_cells_follow_in_the_order_of_the_levels_as_written(self):
        """PostgreSQL would sort the names of levels by their length."""
        levels = {"longest": {"runs": 3}, "mid": {"runs": 2}, "b": {"runs": 1}}
        block = {
            "stage": "block", "name": "games",
            "of": [alone("talk", config={"players": 2, "runs": {"by": "within.runs"}})],
        }  # fmt: skip
        page = {"stage": "page", "name": "opening", "text": {"by": "between", "values": dict.fromkeys(levels, "Hello")}}
        made = study(
            block, page, factors={"within": {"levels": levels, "within": "games"}, "between": {"levels": levels}}
        )
        assert matches_in(steps_in(made)) == [f"talk.{level}" for level in levels]
        assert [cell.factors["between"] for cell in made.latest_version().cells.order_by("number")] == list(levels)
        assert list(Study.objects.get(pk=made.pk).draft["factors"]) == ["within", "between"]
        assert Study.objects.filter(draft__title=made.title).order_by("draft__title").get() == made

    def test_balanced_orders_are_equally_frequent(self):
        made = study({"stage": "block", "name": "games", "order": "balanced", "of": [alone("a"), alone("b")]})
        orders = Counter(tuple(matches_in(steps_in(made, number=number))) for number in range(1, 9))
        assert orders == {("a", "b"): 4, ("b", "a"): 4}

    def test_taken_passes_are_balanced_and_distinct(self):
        levels = ["a", "b", "c"]
        block = {
            "stage": "block", "name": "games", "take": 2, "passes": "random",
            "of": [alone("talk", config={"players": 2, "runs": varied("h", a=1, b=2, c=3)})],
        }  # fmt: skip
        made = study(block, factors={"h": {"levels": levels, "within": "games"}})
        drawn = [matches_in(steps_in(made, number=number)) for number in range(1, 7)]
        assert all(len(set(passes)) == 2 for passes in drawn)
        assert set(Counter(each for passes in drawn for each in passes).values()) == {4}

    def test_what_is_balanced_in_two_blocks_is_independent(self):
        made = study(
            {"stage": "block", "name": "first", "order": "balanced", "of": [alone("a"), alone("b")]},
            {"stage": "block", "name": "second", "order": "balanced", "of": [alone("c"), alone("d")]},
        )
        orders = {tuple(matches_in(steps_in(made, number=number))) for number in range(1, 61)}
        assert len(orders) == 4

    def test_every_taken_pass_comes_first_for_somebody(self):
        block = {
            "stage": "block", "name": "games", "take": 2, "passes": "balanced",
            "of": [alone("talk", config={"players": 2, "runs": {"by": "runs"}})],
        }  # fmt: skip
        made = study(block, factors={"runs": {"levels": [1, 2, 3, 4], "within": "games"}})
        drawn = [matches_in(steps_in(made, number=number)) for number in range(1, 61)]
        assert set(Counter(each for passes in drawn for each in passes).values()) == {30}
        assert {passes[0] for passes in drawn} == {passes[1] for passes in drawn} == {f"talk.{n}" for n in range(1, 5)}

    def test_order_before_the_draw_is_drawn_for_each_participant(self):
        pages = [{"stage": "page", "name": name, "text": name} for name in ("one", "two")]
        made = study(
            {"stage": "block", "name": "reading", "order": "balanced", "of": pages},
            alone("a", config={"players": 2, "runs": varied("h", a=1, b=2)}),
            factors={"h": {"levels": ["a", "b"]}},
        )
        people_in = [enrol(made, Arrival("open", worker="", proof="")) for _arrival in range(6)]
        orders = Counter(tuple(step["name"] for step in person.steps if step["kind"] == "page") for person in people_in)
        assert orders == {("one", "two"): 3, ("two", "one"): 3}

    def test_those_who_may_meet_share_their_order(self):
        made = study({"stage": "block", "name": "games", "order": "random", "of": [contest("a"), contest("b")]})
        orders = [matches_in(steps_in(made, number=number)) for number in range(1, 41)]
        assert all(len({tuple(order) for order in orders[i : i + 4]}) == 1 for i in range(0, 40, 4))
        assert len({tuple(order) for order in orders}) == 2


@given(st.integers(2, 9))
def test_williams_design_balances_places_and_followers(count):
    rows = williams(count)
    places = Counter((place, value) for row in rows for place, value in enumerate(row))
    followers = Counter(pair for row in rows for pair in pairwise(row))
    assert len(set(places.values())) == len(set(followers.values())) == 1
    assert len(followers) == count * (count - 1)
    assert ordered(count, "fixed", 3, "s") == list(range(count))


def finish_matches() -> None:
    for match in Match.objects.filter(status=Match.Status.LIVE):
        play(match, {})


def pairs() -> list[frozenset[int]]:
    return [frozenset(match.seats.values_list("enrolment", flat=True)) for match in Match.objects.order_by("pk")]


class TestGroups:
    def test_group_formed_once_stays_together(self):
        made = study(
            {
                "stage": "block",
                "name": "games",
                "groups": {"lobby": {"ready": 0}},
                "of": [contest("a"), contest("b", repeats=2)],
            }
        )
        enrolments = arrive(made, 4)
        for _match in range(3):
            finish_matches()
            enrolments = [leave_match_page(enrolment) for enrolment in enrolments]
        assert states(enrolments) == {State.COMPLETED: 4}
        assert set(Counter(pairs()).values()) == {3}
        clusters = {
            enrolment.pk: {step["cluster"] for step in enrolment.steps if step["kind"] == "match"}
            for enrolment in enrolments
        }
        assert all(len(cluster) == 1 for cluster in clusters.values())
        assert len(set(map(frozenset, clusters.values()))) == 2

    def test_same_partners_stay_together_in_one_game(self):
        enrolments = arrive(study(contest("a", repeats=3, partners="same")), 4)
        for _match in range(3):
            finish_matches()
            enrolments = [leave_match_page(enrolment) for enrolment in enrolments]
        assert set(Counter(pairs()).values()) == {3}

    def test_nobody_waits_for_members_who_have_left(self):
        made = study(contest("a", repeats=2, partners="same"))
        leaver, stayer = arrive(made, 2)
        finish_matches()
        stayer = leave_match_page(stayer)
        people.withdraw(enrolment_id=leaver.pk)
        lobbies.sweep()
        assert states([stayer]) == {State.NO_PARTNER: 1}

    def test_cohort_meets_only_itself_with_new_partners(self):
        block = {
            "stage": "block",
            "name": "games",
            "groups": {"cohort": 4, "lobby": {"ready": 0}},
            "of": [contest("a"), contest("b")],
        }
        enrolments = arrive(study(block), 8)
        finish_matches()
        [leave_match_page(enrolment) for enrolment in enrolments]
        assert set(Counter(pairs()).values()) == {1}
        cohorts = [frozenset(enrolment.pk for enrolment in enrolments[i : i + 4]) for i in (0, 4)]
        assert all(any(pair <= cohort for cohort in cohorts) for pair in pairs())

    def test_cohorts_that_never_meet_are_different_clusters(self):
        block = {"stage": "block", "name": "games", "groups": {"cohort": 4}, "of": [contest("a")]}
        version = study(block).latest_version()
        (cell,) = version.planned_cells()
        steps = [
            steps_of(version, cell, "p1", number=1, together=together) for together in ("", "session 1", "session 2")
        ]
        clusters = [step["cluster"] for of_one in steps for step in of_one if step["kind"] == "match"]
        assert len(set(clusters)) == 3 and not any("session" in cluster for cluster in clusters)

    def test_seat_filled_by_an_agent_in_another_game_is_not_offered_again(self, monkeypatch):
        """The block begins with a game whose seats have other names than those of the cell's first game."""
        monkeypatch.setattr("studies.journeys.ordered", lambda count, *_rest: list(range(count))[::-1])
        fills = {"ready": 0, "otherwise": "agents"}
        split = {
            "stage": "game", "name": "split", "game": "bargaining", "config": {"rounds": 1}, "code_word": None,
            "seats": {"alice": "person", "bob": "person"}, "lobby": {**fills, "fill": "fair"},
        }  # fmt: skip
        agents = {"rational": {"script": "rational"}, "fair": {"script": "fair"}}
        later = contest("guess", lobby={**fills, "fill": "rational"})
        block = {"stage": "block", "name": "games", "order": "random", "of": [split, later]}
        made = study(block, agents=agents, factors={}, quota=1)
        version = made.latest_version()
        (cell,) = version.cells.all()
        (person,) = arrive(made)
        late = enrol(made, Arrival("open", worker="", proof=""))
        assert person.step["stage"] == "guess" and person.placement.role == "alice"
        Place.objects.update(until=timezone.now())
        lobbies.sweep()
        assert states([person]) == {State.PLAYING: 1}
        assert Placement.objects.get(enrolment=person).role == "alice"
        seats = Seats(version)
        assert {role: seats.held[cell.pk, role] for role in cell.people} == {"alice": 1, "bob": 1}
        assert sum(seats.held.values()) == 2
        with pytest.raises(StepRefused):
            people.answer_step(enrolment_id=late.pk, position=0, data={"agree": "yes"})

    def test_who_leaves_before_the_game_is_replaced_in_the_same_order(self):
        block = {"stage": "block", "name": "games", "order": "balanced", "groups": {"lobby": {"ready": 0}}}
        made = study({**block, "of": [contest("a"), contest("b")]})
        (waiting,) = arrive(made)
        leaver = enrol(made, Arrival("open", worker="", proof=""))
        people.withdraw(enrolment_id=leaver.pk)
        (other,) = arrive(made)
        assert states([waiting, other]) == {State.PLAYING: 2}
        assert len({tuple(matches_in(person.steps)) for person in (waiting, other, *arrive(made, 2))}) == 2

    def test_everyone_takes_each_seat_in_turn(self):
        made = study(
            {
                "stage": "game", "name": "split", "game": "bargaining", "config": {"rounds": 1}, "code_word": None,
                "seats": {"alice": "person", "bob": "person"}, "repeats": 2, "roles": "rotate", "lobby": {"ready": 0},
            }
        )  # fmt: skip
        enrolments = [walk_to_lobby(enrol(made, Arrival("open", worker="", proof=""))) for _person in range(2)]
        planned = [[step["role"] for step in enrolment.steps if step["kind"] == "match"] for enrolment in enrolments]
        assert planned == [["alice", "bob"], ["bob", "alice"]]
        assert sorted(Seat.objects.values_list("role", flat=True)) == ["alice", "bob"]


class TestConditions:
    ASKED = {"stage": "questions", "name": "asked", "items": [{"name": "age", "kind": "number", "text": "How old?"}]}
    PAGE = {"stage": "page", "name": "opening", "text": "Hello"}

    def shown(self, made: Study, age: str) -> list[str]:
        enrolment = enrol(made, Arrival("open", worker="", proof=""))
        for data in ({"agree": "yes"}, {"name": "Kim"}, {"question_age": age}):
            people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=data)
            enrolment.refresh_from_db()
        return [enrolment.step["kind"], json.dumps([step.get("shown") for step in enrolment.steps])]

    def test_earlier_answer_decides_whether_a_stage_is_shown(self):
        made = study(self.ASKED, {**self.PAGE, "show_if": "age >= 30"}, alone("a"))
        assert self.shown(made, "35")[0] == "page"
        kind, recorded = self.shown(made, "20")
        assert kind == "instructions"
        assert "false" in recorded

    def test_rules_and_code_word_come_with_the_first_game_that_is_played(self):
        asked = {**contest("a"), "seats": {"p1": "person", "p2": "rational"}, "code_word": {"tries": 1}}
        made = study(self.ASKED, {**asked, "show_if": "age >= 30"}, {**asked, "name": "b"}, {**asked, "name": "c"})
        for age, stages in (("20", ["b"]), ("35", ["a", "b"])):
            person = enrol(made, Arrival("open", worker="", proof=""))
            for data in ({"agree": "yes"}, {"name": "Kim"}, {"question_age": age}):
                people.answer_step(enrolment_id=person.pk, position=person.position, data=data)
                person.refresh_from_db()
            read, typed = [], 0
            while not person.ended:
                if person.step["kind"] == "instructions":
                    read.append(person.step["stage"])
                    _person, step = people.show_step(enrolment_id=person.pk)
                    typed += step.context()["asks_code_word"]
                elif person.step["kind"] == "match":
                    people.show_step(enrolment_id=person.pk)
                    finish_matches()
                    person.refresh_from_db()
                people.answer_step(
                    enrolment_id=person.pk, position=person.position, data={"code_word": person.code_word}
                )
                person.refresh_from_db()
            assert (person.state, read, typed) == (State.COMPLETED, stages, 1)
            assert facts_of(person, timezone.now()).verdicts == {"code_word": True}

    def test_factor_decides_whether_a_stage_is_shown(self):
        made = study(
            {**self.PAGE, "show_if": "wording == 'take'"}, alone("a"), factors={"wording": {"levels": ["give", "take"]}}
        )
        for cell, expected in ((1, "instructions"), (2, "page")):
            enrolment = enrol(made, Arrival("otree", worker=str(cell), proof=str(cell), cell=cell))
            for position, data in enumerate(({"agree": "yes"}, {"name": "Kim"})):
                people.answer_step(enrolment_id=enrolment.pk, position=position, data=data)
            enrolment.refresh_from_db()
            assert enrolment.step["kind"] == expected

    def test_result_of_the_same_pass_decides(self):
        page = {**self.PAGE, "show_if": "talk.payoff >= 0 and horizon == 'long'"}
        game = alone("talk", config={"players": 2, "runs": varied("horizon", short=1, long=2)})
        made = study(
            {"stage": "block", "name": "games", "of": [game, page]},
            factors={"horizon": {"levels": ["short", "long"], "within": "games"}},
        )
        steps = steps_in(made)
        assert [step["given"] for step in steps if step["kind"] == "page"] == [
            {"horizon": "short"},
            {"horizon": "long"},
        ]
        assert [step["passes"] for step in steps if step["kind"] == "page"] == [["short"], ["long"]]


class TestTexts:
    WORDING = {"factors": {"wording": {"levels": ["give", "take"]}}}

    def test_texts_see_the_factors_and_nothing_else_names_them(self):
        page = {"stage": "page", "name": "opening", "title": "T", "text": "You will {{ wording }}."}
        rules = "{% if wording == 'take' %}Take{% else %}Give{% endif %} as {{ you }}."
        made = study(page, alone("a", instructions=rules), **self.WORDING)
        give, take = (steps_in(made, cell=cell) for cell in (1, 2))
        assert [step["text"].strip() for step in (give[2], take[2])] == ["You will give.", "You will take."]
        assert '{% set wording = "take" %}' in take[3]["texts"]["instructions"]

    def test_consent_states_what_holds_for_every_game(self):
        slow, quick = {"turn": 180, "extension": 0}, {"turn": 60, "extension": 0, "on_timeout": "default"}
        made = study(
            alone("a", timing=slow),
            {"stage": "game", "name": "b", "game": "bargaining", "config": {"rounds": 2}, "timing": quick,
             "seats": {"alice": "person", "bob": "fair"}},
            agents={"rational": {"script": "rational"}, "fair": {"script": "fair"}}, factors={},
        )  # fmt: skip
        facts = dict(steps_in(made)[0]["facts"])
        assert re.fullmatch("3 minutes .*; or, in other games, 1 minute .*", facts["Time to answer"])
        assert any("a default answer is given" in fact for fact in facts.values())
        assert "Length of the game" not in facts

    def test_own_bonus_of_a_game_pays_its_match_and_the_mean_is_capped(self):
        made = study(
            alone("a", pay={"rule": "fixed", "average": "3.00"}),
            alone("b", pay={"rule": "fixed", "average": "4.00"}),
            pay={"base": "1.00", "bonus": {"rule": "fixed", "average": "1.00", "cap": "3.25"}},
        )
        (enrolment,) = arrive(made)
        for _match in range(2):
            finish_matches()
            enrolment = leave_match_page(enrolment)
        assert states([enrolment]) == {State.COMPLETED: 1}
        assert enrolment.earnings["total"] == "$4.13"
        lines = enrolment.earnings["lines"]
        assert [(line["game"], line["amount"]) for line in lines] == [(None, "$1.00"), (1, "$1.50"), (2, "$1.63")]
        workings = enrolment.ledger.get(reason="bonus").workings
        assert ([game["bonus"] for game in workings["games"]], workings["own_bonus"]) == (["3.00", "3.25"], "3.13")

    @pytest.mark.parametrize("shown", ["shown", "hidden"])
    def test_bonus_during_the_game_is_a_setting(self, shown):
        made = study(alone("a"), alone("b"), told={"bonus": shown}, pay={"bonus": {"of": "random"}})
        (first, _second) = (step["texts"] for step in steps_in(made) if step["kind"] == "match")
        rule = "share" if shown == "shown" else None
        assert (first.get("pay", {}).get("rule"), "random" in first.get("pay_note", "")) == (rule, shown == "shown")
