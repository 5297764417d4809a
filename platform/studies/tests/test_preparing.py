"""People who begin together are placed as if they had come one after the other."""

from __future__ import annotations

import pytest
from django.db import transaction

from participants.models import Enrolment
from recruiters.arrivals import Arrival
from studies.enrolling import discard, enrol, prepare
from studies.journeys import draw_point
from studies.models import Placement, Study
from studies.tests.kit import launched

pytestmark = pytest.mark.django_db
APART = {"roles": ["alice", "bob"], "base": {"by": "seat", "values": {"alice": 1, "bob": 2}}}
"""What the consent page promises depends on the cell, which therefore is drawn at once."""
TOGETHER = {
    "seats": {"alice": "person", "bob": "person"}, "grid": {"rounds": [2, 4]}, "unit": "group",
    "base": {"by": "rounds", "values": {"2": 1, "4": 2}},
}  # fmt: skip


def placed(study: Study) -> list[tuple]:
    """Return where everybody is, in the order in which they came."""
    found = Placement.objects.filter(version__study=study).order_by("pk").select_related("enrolment")
    return [(each.cell_id, each.role, each.draw, each.enrolment.steps, each.enrolment.language) for each in found]


@pytest.mark.parametrize(
    "plan",
    [
        {**APART, "draw": "blocks"},
        {**APART, "draw": "emptiest"},
        {**TOGETHER, "language": ["en", "de"]},
        {"roles": ["alice", "bob"]},
    ],
)
def test_draws_are_the_same_together_and_one_by_one(plan):
    study = launched("together", agents="script:fair", via="open", **plan)
    assert (draw_point(study.latest_version()) == 0) == ("base" in plan)
    enrol(study, Arrival("open", worker="", proof=""))
    languages = ["en", "de", "en", "en", "de", "en", "en"] if "language" in plan else ["en"] * 7
    with transaction.atomic():
        for language in languages:
            enrol(study, Arrival("open", worker="", proof=""), language=language)
        one_by_one = placed(study)
        transaction.set_rollback(True)
    assert len(prepare(study, languages)) == len(languages)
    assert placed(study) == one_by_one
    assert len({each[0] for each in one_by_one}) == (2 if "base" in plan else 1)


def test_nobody_is_placed_together_where_nobody_may_enter():
    study = launched("together", agents="script:fair", via="open")
    Study.objects.update(status=Study.Status.PAUSED)
    study.refresh_from_db()
    assert prepare(study, ["en"]) == []
    assert not Enrolment.objects.exists()


def test_who_begins_elsewhere_than_expected_is_placed_anew():
    study = launched("together", via="otree", roles=["alice", "bob"], agents="script:fair")
    (prepared,) = prepare(study, ["en"])
    begun = enrol(study, Arrival("otree", worker="w", proof="w", role="bob"), prepared=prepared)
    assert (begun == prepared, begun.placement.role) == (False, "bob")


def test_who_begins_while_unused_places_are_deleted_keeps_theirs():
    study = launched("together", agents="script:fair", via="open")
    late, gone = prepare(study, ["en", "en"])
    unused = [late.token, gone.token]
    begun = enrol(study, Arrival("open", worker="", proof=""), prepared=late)
    discard(unused)
    assert list(Enrolment.objects.all()) == [begun]
