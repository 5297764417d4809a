"""Which participants and matches enter the dataset, and the totals that show it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports import gate
from exports.gate import Flow, ParticipantFacts, match_reasons, ordered, participant_reasons, stage
from participants.states import ENDED, State

COMPLETED = ParticipantFacts(
    state="completed",
    checks_asked=frozenset({"code_word", "quiz"}),
    verdicts={"code_word": True, "quiz": True},
    began=True,
)
PLAYED = {"finished": True, "purpose": "study", "of_study": "study"}


def test_a_completed_enrolment_with_all_checks_passed_is_included():
    assert participant_reasons(COMPLETED) == frozenset()
    assert match_reasons(**PLAYED) == frozenset()


@pytest.mark.parametrize("state", sorted(ENDED - {State.COMPLETED}))
def test_every_other_ending_is_a_reason_of_the_same_name(state):
    assert str(state) in participant_reasons(ParticipantFacts(state=str(state)))


@pytest.mark.parametrize("state", [*sorted(set(State) - ENDED), gate.IN_PROGRESS])
def test_an_enrolment_in_progress_has_not_finished(state):
    assert participant_reasons(ParticipantFacts(state=str(state))) == {"not_finished"}


@pytest.mark.parametrize(
    ("verdicts", "reasons"),
    [
        ({"code_word": False, "quiz": True}, {"failed_code_word"}),
        ({"code_word": True, "quiz": False}, {"failed_quiz"}),
        ({"code_word": True, "quiz": True, "other": False}, {"failed_check"}),
        ({"code_word": True}, {"missing_check"}),
    ],
)
def test_completing_is_not_enough_without_every_check_passed(verdicts, reasons):
    participant = ParticipantFacts(
        state="completed", checks_asked=COMPLETED.checks_asked, verdicts=verdicts, began=True
    )
    assert participant_reasons(participant) == reasons


def test_a_completed_enrolment_without_a_match_is_excluded():
    assert participant_reasons(ParticipantFacts(state="completed")) == {"no_match"}


@pytest.mark.parametrize(
    ("match", "reasons"),
    [
        ({"finished": False}, {"match_not_finished"}),
        ({"purpose": "pilot"}, {"pilot"}),
        ({"purpose": "demo"}, {"demo"}),
        ({"purpose": "simulated"}, {"simulated"}),
        ({"moved_for_others": {"clock"}}, {"clock_move"}),
        ({"moved_for_others": {"script:fair"}}, {"scripted_fallback"}),
        ({"moved_for_others": {"openai:other", "clock"}}, {"substituted_move", "clock_move"}),
    ],
)
def test_reasons_to_exclude_a_match(match, reasons):
    assert match_reasons(**PLAYED | match) == reasons


@pytest.mark.parametrize("purpose", ["demo", "simulated"])
def test_what_is_no_study_includes_matches_of_its_own_kind_but_no_pilots(purpose):
    assert match_reasons(finished=True, purpose=purpose, of_study=purpose) == frozenset()
    assert match_reasons(finished=True, purpose="pilot", of_study=purpose) == {"pilot"}


def test_the_reason_that_ended_the_enrolment_comes_first():
    assert ordered({"pilot", "withdrew", "clock_move"}) == ("withdrew", "pilot", "clock_move")


def test_stage_reached_by_a_participant():
    def reached(**facts):
        return stage(ParticipantFacts(state="withdrew", **facts), finished=facts.get("began", False), in_dataset=False)

    assert reached() == "arrived"
    assert reached(steps_answered=frozenset({"consent"})) == "consented"
    assert reached(steps_answered=frozenset({"consent", "name", "instructions"})) == "instructed"
    assert reached(began=True) == "finished"
    assert stage(COMPLETED, finished=True, in_dataset=False) == "completed"
    assert stage(COMPLETED, finished=True, in_dataset=True) == "in_dataset"


EXITS = st.one_of(
    st.just(("in_dataset", ())),
    st.tuples(
        st.sampled_from(list(gate.STAGES)[:-1]), st.sets(st.sampled_from(list(gate.REASONS)), min_size=1).map(ordered)
    ),
)


@given(st.lists(EXITS))
def test_each_participant_is_counted_exactly_once(exits):
    flow = Flow()
    for stage_, reasons in exits:
        flow.count(stage=stage_, reasons=reasons)
    counted = flow.as_dict()
    assert counted["arrived"] == len(exits) == counted["in_dataset"] + sum(counted["excluded"].values())
    assert [row["reached"] for row in counted["stages"]] == sorted(
        (r["reached"] for r in counted["stages"]), reverse=True
    )
    assert gate.mismatch(counted) is None


@given(st.lists(EXITS, min_size=1), st.data())
def test_a_changed_count_is_a_mismatch(exits, data):
    flow = Flow()
    for stage_, reasons in exits:
        flow.count(stage=stage_, reasons=reasons)
    flow_data = flow.as_dict()
    count = data.draw(st.sampled_from(["arrived", "in_dataset", "stage"]))
    if count == "stage":
        flow_data["stages"][data.draw(st.integers(0, len(gate.STAGES) - 1))]["reached"] += 1
    else:
        flow_data[count] += 1
    assert gate.mismatch(flow_data) is not None
