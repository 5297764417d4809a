"""People who played together in a dataset: one person's failed turn does not remove anyone else's data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exports.dataset import export
from exports.tests.test_dataset import rows
from exports.verify import verify
from matches import services as matches
from matches.models import Match, Seat
from studies.models import Study
from studies.tests.kit import arrive, contest, leave_match_page, play_all_but

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def played(**fields: object) -> Study:
    """Return a study in which three people and a script played a match; the clock moved for the third person."""
    new_study = contest(on_timeout="default", extension=0, **fields)
    enrolments = arrive(new_study, 3)
    play_all_but(Match.objects.get(), "p3")
    assert Seat.objects.filter(match__status="finished", enrolment__in=enrolments).count() == 3
    for enrolment in enrolments:
        leave_match_page(enrolment)
    return new_study


def test_the_match_and_the_others_are_kept(tmp_path: Path):
    export(played(), tmp_path / "d")
    assert verify(tmp_path / "d") == []
    assert len(rows(tmp_path / "d", "matches")) == 1
    stages = {row["role"]: row["stage"] for row in rows(tmp_path / "d", "participants")}
    assert stages == {"p1": "in_dataset", "p2": "in_dataset", "p3": "completed"}
    assert [row["reason"] for row in rows(tmp_path / "d", "excluded")] == ["clock_move"]


def test_a_replaced_answer_is_in_the_transcript_and_no_decision(tmp_path: Path):
    new_study = contest(on_timeout="default", extension=0)
    enrolments = arrive(new_study, 3)
    match = Match.objects.get()
    question = match.play().opened["p1"]
    for answer, replaced in ((80, None), (10, question + 1)):
        matches.submit_move(
            match_id=match.pk, role="p1", move={"answer": answer}, answering=question, replaces=replaced
        )
    play_all_but(match, "p3")
    for enrolment in enrolments:
        leave_match_page(enrolment)
    export(new_study, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    decisions = rows(tmp_path / "d", "decisions")
    assert [row["move_answer"] for row in decisions if row["role"] == "p1"] == ["10.0"]
    assert [row["role"] for row in decisions if row["changed"] == "TRUE"] == ["p1"] and len(decisions) == 4
    (transcript,) = (tmp_path / "d" / "transcripts.jsonl").read_text().splitlines()
    moves = [event for event in json.loads(transcript)["events"] if event["kind"] == "move" and event["role"] == "p1"]
    assert [event["move"]["answer"] for event in moves] == [80.0, 10.0]


def test_a_study_may_keep_whole_groups_only(tmp_path: Path):
    export(played(whole_groups=True), tmp_path / "d")
    assert verify(tmp_path / "d") == []
    assert rows(tmp_path / "d", "matches") == []
    reasons = sorted(row["reason"] for row in rows(tmp_path / "d", "excluded"))
    assert reasons == ["clock_move", "partner_excluded", "partner_excluded"]
