"""Datasets of many-seat matches: one row per seat and per game record, and excluded data with a flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import made_once
from exports.dataset import export
from exports.tests import building
from exports.tests.test_dataset import rows
from exports.tests.test_verify import edit_csv, reseal
from exports.verify import verify
from matches import services
from matches.models import Match, Seat
from studies.models import Study


@pytest.mark.django_db
class TestManySeats:
    @pytest.fixture
    def contest(self) -> Study:
        """Return a study in which a person plays three runs of a contest against four scripts."""
        study = building.new_study(
            slug="contest", game="beauty_contest", roles=["p1"], agents="script:random", config={"runs": 3}
        )
        person = building.arrive(study, worker="A1WORKER")
        building.consent(person)
        building.read_instructions(person)
        match = building.match_of(person)
        for answer in (10, 20, 30):
            for role in ("p2", "p3", "p4", "p5"):
                if role in match.play().waiting_for():
                    building.move(match, role, {"answer": 40})
                    match.refresh_from_db()
            building.move(match, "p1", {"answer": answer})
            match.refresh_from_db()
        person.refresh_from_db()
        building.answer(person)
        return study

    def test_every_seat_and_record_is_a_row_and_verifies(self, contest, tmp_path):
        export(contest, tmp_path / "d", excluded=True)
        assert verify(tmp_path / "d") == []
        (match,) = rows(tmp_path / "d", "matches")
        seats = rows(tmp_path / "d", "seats")
        assert [seat["role"] for seat in seats] == ["p1", "p2", "p3", "p4", "p5"]
        assert [seat["player"] for seat in seats] == ["human"] + ["script:random"] * 4
        assert {len(seat["agent_hash"]) for seat in seats[1:]} == {12} and seats[0]["agent"] == ""
        assert [seat["payoff"] for seat in seats] == [match[f"payoffs_p{n}"] for n in range(1, 6)]
        assert all(seat["decisions"] == "3" and seat["wins"] != "" for seat in seats)
        assert not [name for name in match if name.startswith("p1_")]
        records = rows(tmp_path / "d", "rounds")
        assert len(records) == 15 and {row["run"] for row in records} == {"1", "2", "3"}

    @pytest.mark.parametrize(("table", "column"), [("seats", "payoff"), ("seats", "wins"), ("rounds", "run")])
    def test_a_changed_row_is_detected(self, contest, tmp_path, table, column):
        export(contest, tmp_path / "d", ["csv", "jsonl"], excluded=True)
        edit_csv(tmp_path / "d" / f"{table}.csv", column, lambda value: f"{float(value) + 1}")
        reseal(tmp_path / "d")
        assert any(table in difference for difference in verify(tmp_path / "d"))


def three_people(_folder: Path) -> Study:
    """Return a study with a person who did everything correctly, one who failed the quiz, one whose match was ended."""
    study = building.new_study(slug="three")
    building.complete(study, worker="T1", name="Maria")
    failed = building.read_instructions(building.consent(building.arrive(study, worker="T2"), name="Lee"))
    building.play(failed)
    building.answer_quiz(failed, correctly=False)
    unfinished = building.read_instructions(building.consent(building.arrive(study, worker="T3"), name="Kim"))
    services.abandon_match(match_id=building.match_of(unfinished).pk, reason="timed_out", role="alice")
    return study


study = made_once(three_people)


@pytest.mark.django_db
class TestExcluded:
    def test_excluded_data_are_included_only_on_request_and_flagged(self, study, tmp_path):
        export(study, tmp_path / "usual")
        export(study, tmp_path / "all", excluded=True)
        assert verify(tmp_path / "usual") == verify(tmp_path / "all") == []
        assert {row["in_dataset"] for row in rows(tmp_path / "usual", "matches")} == {"TRUE"}
        values = [(row["in_dataset"], row["reason"], row["ended_how"]) for row in rows(tmp_path / "all", "matches")]
        assert values == [
            ("TRUE", "", "accepted"),
            ("FALSE", "failed_quiz", "accepted"),
            ("FALSE", "timed_out", "timed_out"),
        ]
        seats = rows(tmp_path / "all", "seats")
        assert len(seats) == 6
        ended_by = {(row["match"], row["role"]) for row in seats if row["left_open_seconds"]}
        assert [role for _match, role in ended_by] == ["alice"]
        assert len(rows(tmp_path / "all", "excluded")) == len(rows(tmp_path / "usual", "excluded")) == 2

    def test_cells_are_counted(self, study, tmp_path):
        export(study, tmp_path / "d")
        (cell,) = rows(tmp_path / "d", "cells")
        counts = (cell["participants"], cell["matches"], cell["matches_in_dataset"])
        assert counts == ("3", "3", "1") and cell["config_money"] != ""

    def test_decisions_have_rounds_and_refused_attempts(self, tmp_path):
        study = building.new_study()
        person = building.arrive(study, worker="A1")
        building.consent(person)
        building.read_instructions(person)
        match = building.match_of(person)
        from matches import intake

        seat = Seat.objects.get(match=match, role="alice")
        refused = intake.handle_move(seat, {"answering": "1", "alice_gain": "1", "bob_gain": "1"})
        assert refused["type"] == "refused"
        building.play(person, messages=["Half?"])
        building.answer_quiz(person)
        export(study, tmp_path / "d")
        assert verify(tmp_path / "d") == []
        values = [(row["round"], row["phase"], row["refused"]) for row in rows(tmp_path / "d", "decisions")]
        assert values[:2] == [("1", "offer", "1"), ("1", "answer", "0")] and values[2][0] == "2"

    def test_a_person_has_one_pseudonym_across_participations(self, tmp_path):
        first, second = building.new_study(), building.new_study(slug="later")
        first_time = building.complete(first, worker="A1")
        building.complete(second, worker="A1", proof="again")
        export(second, tmp_path / "d")
        (row,) = rows(tmp_path / "d", "participants")
        assert (row["person"], row["participations_before"]) == (first_time.pseudonym, "1")
        assert row["participant"] != first_time.pseudonym

    def test_calls_of_excluded_matches_are_counted(self, study, tmp_path):
        excluded_match = Match.objects.get(ending="timed_out")
        building.save_call(excluded_match, error="Failure: 500")
        export(study, tmp_path / "d")
        (row,) = rows(tmp_path / "d", "excluded_calls")
        assert (row["match"], row["reason"], row["calls"]) == (str(excluded_match.uid), "timed_out", "1")
