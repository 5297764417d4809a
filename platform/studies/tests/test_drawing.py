"""The draw of a cell: balance within blocks, probabilities, and that every draw can be repeated from its record."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from participants import services as people
from participants.models import Enrolment
from participants.states import State
from recruiters.arrivals import Arrival
from studies import drawing
from studies.drawing import Block, Open
from studies.enrolling import Full, enrol
from studies.models import Placement, Study
from studies.recomputing import discrepancies
from studies.tests.kit import launch_again, launched, varied
from tests.visitors import placed_participant

cells = st.lists(
    st.builds(Open, st.just(0), st.integers(1, 4), st.floats(0, 1), st.booleans()), min_size=1, max_size=6
).map(lambda found: [Open(number, cell.weight, cell.share, cell.forming) for number, cell in enumerate(found, 1)])
AGE = {"name": "age", "kind": "number", "text": "How old are you?", "ends_if": "age < 18"}
WORDING = {"factors": {"wording": {"levels": ["give", "take"]}}, "instructions": varied("wording", give="G", take="T")}


@given(cells, st.sampled_from(["blocks", "random", "emptiest"]), st.integers(0, 1000))
def test_probabilities_sum_to_1_and_the_record_repeats_the_draw(found, rule, seed):
    record = drawing.draw(found, rule=rule, number=1, seed=str(seed))
    chances = drawing.open_cells(record)
    assert sum(chances.values()) == pytest.approx(1)
    assert set(chances) <= {cell.number for cell in found}
    assert drawing.drawn(record) == drawing.drawn(dict(record))
    assert chances[drawing.drawn(record)] > 0


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 1000))
def test_every_block_holds_each_cell_as_often_as_its_weight(weights, seed):
    found = [Open(number, weight) for number, weight in enumerate(weights, 1)]
    block, used = 0, Counter()
    for number in range(3 * sum(weights)):
        record = drawing.draw(found, rule="blocks", number=number, seed=f"{seed}/{number}", block=Block(block, used))
        if record["block"] != block:
            assert used == dict(enumerate(weights, 1))
            block, used = record["block"], Counter()
        used[drawing.drawn(record)] += 1
    assert block == 2
    assert used == dict(enumerate(weights, 1))


@given(cells)
def test_groups_that_are_forming_are_completed_first(found):
    record = drawing.draw(found, rule="random", number=1, seed="s")
    forming = {cell.number for cell in found if cell.forming}
    assert not forming or set(drawing.open_cells(record)) <= forming
    assert bool(forming) == record.get("completes", False)


def test_emptiest_draws_among_the_least_full():
    record = drawing.draw([Open(1, 1, 0.5), Open(2, 9, 0.25), Open(3, 1, 0.25)], rule="emptiest", number=1, seed="s")
    assert drawing.open_cells(record) == {2: 0.5, 3: 0.5}


def test_a_draw_among_5000_cells_is_recorded_in_a_few_bytes():
    everywhere = [Open(number, 1 + (number > 4000)) for number in range(1, 5001)]
    record = drawing.draw(everywhere, rule="random", number=1, seed="s")
    assert record["open"] == {"1": "1-4000", "2": "4001-5000"}
    assert drawing.open_cells(record) == {cell.number: cell.weight / 6000 for cell in everywhere}


@pytest.mark.django_db
class TestStudies:
    def answered(self, study: Study, worker: str, age: int = 30) -> Enrolment:
        person = placed_participant(study, worker)
        return people.answer_step(enrolment_id=person.pk, position=2, data={"question_age": str(age)})

    def test_what_screens_precedes_the_draw(self):
        study = launched(before=[AGE], **WORDING)
        child = self.answered(study, "child", age=12)
        assert (child.state, child.placement.cell, child.placement.draw) == ("screened_out", None, {})
        adult = self.answered(study, "adult")
        assert adult.placement.cell.factors["wording"] in ("give", "take")
        assert [step["kind"] for step in adult.steps] == ["consent", "name", "questions", "instructions", "match"]

    @pytest.mark.parametrize(("cap", "owed"), [("20.00", "$3.00"), ("2.00", "$2.50")])
    def test_our_outage_before_the_draw_pays_the_mean_of_the_announced_averages(self, cap, owed):
        """Nobody can know which cell it would have been; the consent page names the least and the most."""
        stakes = {"factors": {"pay": {"levels": ["low", "high"]}}, "average": varied("pay", low="1.00", high="3.00")}
        study = launched(before=[AGE], base="1.00", cap=cap, consent="Welcome.", **stakes)
        person = placed_participant(study)
        assert person.placement.cell is None
        with transaction.atomic():
            people.end(people.locked(person.pk), State.OUR_OUTAGE)
        person.refresh_from_db()
        assert person.earnings["total"] == owed
        assert not list(discrepancies())

    def test_pay_that_varies_is_drawn_before_consent_names_it(self):
        study = launched(
            factors={"pay": {"levels": ["low", "high"]}}, base=varied("pay", low="1.00", high="9.00"), before=[AGE]
        )
        person = enrol(study, Arrival("codes", worker="w", proof="w"))
        expected = "$1.00" if person.placement.cell.factors["pay"] == "low" else "$9.00"
        assert expected in person.steps[0]["text"]

    def test_pay_of_those_who_are_screened_out_is_drawn_before_they_can_be(self):
        pay = {"base": varied("pay", low="1.00", high="9.00"), "endings": {"screened_out": "base"}}
        stakes = {"factors": {"pay": {"levels": ["low", "high"]}}, "consent": "Welcome.", "before": [AGE]}
        child = self.answered(launched(**pay, **stakes), "child", age=12)
        expected = {"low": "$1.00", "high": "$9.00"}[child.placement.cell.factors["pay"]]
        assert (child.state, child.earnings["total"]) == ("screened_out", expected)

    def test_every_draw_is_recorded_and_can_be_repeated(self):
        study = launched(before=[AGE], quota=3, **WORDING)
        for number in range(6):
            self.answered(study, f"w{number}")
        placements = Placement.objects.order_by("pk")
        assert [placement.draw["number"] for placement in placements] == [1, 2, 3, 4, 5, 6]
        assert [placement.draw["block"] for placement in placements] == [0, 0, 1, 1, 2, 2]
        for placement in placements:
            assert drawing.drawn(placement.draw) == placement.cell.number
            assert sum(drawing.open_cells(placement.draw).values()) == 1
        assert Counter(placement.cell.number for placement in placements) == {1: 3, 2: 3}

    def test_strata_have_blocks_of_their_own(self):
        kind = {"name": "kind", "kind": "single", "text": "Which?", "options": ["a", "b"]}
        study = launched(before=[kind], strata=["kind"], **WORDING)
        for number, answer in enumerate(["a", "a", "b", "a", "b", "a"]):
            person = placed_participant(study, f"w{number}")
            people.answer_step(enrolment_id=person.pk, position=2, data={"question_kind": answer})
        counts = Counter(
            (placement.draw["stratum"], placement.cell.number) for placement in Placement.objects.select_related("cell")
        )
        assert counts == {('["a"]', 1): 2, ('["a"]', 2): 2, ('["b"]', 1): 1, ('["b"]', 2): 1}

    def test_cell_that_a_link_names_is_marked(self):
        study = launched(before=[AGE], **WORDING)
        placement = enrol(study, Arrival("otree", worker="w", proof="w", cell=2)).placement
        assert (placement.cell.number, placement.draw["forced"]) == (2, True)
        assert drawing.open_cells(placement.draw) == {2: 1.0}

    def test_nobody_reaches_the_draw_without_a_place(self):
        study = launched(before=[AGE], quota=1, **WORDING)
        for number in range(2):
            self.answered(study, f"w{number}")
        assert Counter(Placement.objects.values_list("cell__number", flat=True)) == {1: 1, 2: 1}

    def test_a_place_taken_in_an_earlier_version_is_not_given_again_in_its_cells(self):
        study = launched(before=[AGE], quota=1, **WORDING)
        placed_participant(study, "before")
        levels, texts = ["give", "take", "keep"], varied("wording", give="G", take="T", keep="K")
        launch_again(study, factors={"wording": {"levels": levels}}, instructions=texts)
        for number in range(2):
            placed_participant(study, f"w{number}")
        with pytest.raises(Full):
            placed_participant(study, "late")

    @pytest.mark.parametrize(("unit", "together"), [("group", True), ("participant", False)])
    def test_groups_or_participants_are_assigned(self, unit, together):
        contest = {"game": "beauty_contest", "config": {"players": 2}, "seats": {"*": "person"}}
        study = launched(**contest, factors={}, grid={"runs": [1, 3]}, unit=unit)
        drawn = [placed_participant(study, f"w{number}").placement for number in range(8)]
        pairs = [{first.cell.number, second.cell.number} for first, second in zip(drawn[::2], drawn[1::2], strict=True)]
        assert [placement.draw.get("completes", False) for placement in drawn] == [False, together] * 4
        assert all(len(pair) == (1 if together else 2) for pair in pairs)
