"""People who played together in a dataset: one person's failed turn does not remove anyone else's data."""

from __future__ import annotations

from pathlib import Path

import pytest

from exports.dataset import export
from exports.tests.test_dataset import rows
from exports.verify import verify
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


def test_a_study_may_keep_whole_groups_only(tmp_path: Path):
    export(played(whole_groups=True), tmp_path / "d")
    assert verify(tmp_path / "d") == []
    assert rows(tmp_path / "d", "matches") == []
    reasons = sorted(row["reason"] for row in rows(tmp_path / "d", "excluded"))
    assert reasons == ["clock_move", "partner_excluded", "partner_excluded"]
