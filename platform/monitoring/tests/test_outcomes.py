"""The preview of outcomes: correct sums, each match once, and a warning against optional stopping."""

from __future__ import annotations

import pytest
from django.urls import reverse

from analysis.toolbox import mean, share
from exports.tests import building
from matches.models import Match
from monitoring.models import OutcomeTally
from monitoring.outcomes import Preview
from monitoring.people import WINDOWS
from monitoring.status import status_of
from monitoring.tallies import tally_everything
from participants.models import Enrolment
from studies.models import Study
from studies.tests import kit
from studies.tests.test_journeys import contest
from studies.tests.test_journeys import study as a_study

pytestmark = pytest.mark.django_db


def preview(study: Study) -> Preview | None:
    tally_everything()
    return status_of(study, WINDOWS["hours"]).preview


def test_finished_match_counts_once_in_its_cell():
    study = building.new_study(grid={"rounds": [1, 12]}, quota=3)
    assert preview(study) is None, "nothing before the first match is over"
    people = [building.complete(study, worker=f"A{number}") for number in range(4)]
    building.arrive(study, worker="A9")
    tally_everything()
    outcomes = {outcome.name: outcome for outcome in preview(study).outcomes}
    matches = list(Match.objects.filter(status=Match.Status.FINISHED))
    assert len(matches) == len(people) == 4
    assert list(outcomes) == ["payoff", "agreement", "rounds played", "alice share", "efficiency"]
    *cells, overall = outcomes["payoff"].estimates
    assert [row.number for row in cells] == [2, 2] and overall.number == 4
    mean_payoff = mean([match.payoffs["alice"] for match in matches])
    assert overall.text == (
        f"{mean_payoff['estimate']:,.0f}" if mean_payoff["estimate"] >= 1000 else f"{mean_payoff['estimate']:.3g}"
    )
    assert outcomes["efficiency"].meaning


def test_intervals_are_those_of_analyses_from_five_matches_on(client):
    study = building.new_study(quota=9)
    for number in range(4):
        building.complete(study, worker=f"A{number}")
    assert {row.interval for outcome in preview(study).outcomes for row in outcome.estimates} == {""}
    kit.administrator(client)
    url = reverse("monitoring:now", args=[study.pk])
    assert "Fewer than five matches" in client.get(url).content.decode()
    for number in range(4, 7):
        building.complete(study, worker=f"A{number}")
    outcomes = {outcome.name: outcome for outcome in preview(study).outcomes}
    agreed = [{"agreed": match.metrics["agreement"], "person": match.pk} for match in Match.objects.all()]
    found = share(agreed, "agreed", ["person"])
    assert outcomes["agreement"].estimates[-1].interval == f"{100 * found['low']:.0f} % – {100 * found['high']:.0f} %"
    assert "with 95% intervals" in client.get(url).content.decode()


def test_match_with_an_incomplete_participant_does_not_count():
    study = building.new_study()
    first = building.complete(study, worker="A1")
    Enrolment.objects.filter(pk=first.pk).update(state="failed_quiz")
    building.complete(study, worker="A2")
    tally_everything()
    assert OutcomeTally.objects.get(outcome="payoff").number == 1


def test_matches_of_the_same_people_have_no_interval(client):
    study = building.new_study(participations=2)
    for number in range(4):
        building.complete(study, worker=f"A{number}")
    assert [estimate.interval for outcome in preview(study).outcomes for estimate in outcome.estimates] == [""] * 5
    kit.administrator(client)
    page = client.get(reverse("monitoring:now", args=[study.pk])).content.decode()
    assert "matches depend on each other" in page and "with 95% intervals" not in page


@pytest.mark.parametrize(("groups", "dependent"), [({"cohort": 4}, True), ({}, False)])
def test_matches_of_one_cohort_have_no_interval(groups, dependent):
    study = a_study({"stage": "block", "name": "games", "groups": groups, "of": [contest("a")]})
    cell = study.latest_version().cells.get()
    OutcomeTally.objects.create(cell=cell, outcome="payoff", number=8, truths=0, total=4.0, squares=3.0)
    found = preview(study)
    assert found.dependent == dependent
    assert all(bool(row.interval) != dependent for outcome in found.outcomes for row in outcome.estimates)


def test_page_warns_against_optional_stopping(client):
    study = building.new_study()
    building.complete(study, worker="A1")
    tally_everything()
    kit.administrator(client)
    page = client.get(reverse("monitoring:now", args=[study.pk])).content.decode()
    assert "Don't use this to decide" in page
    assert 'id="m-outcomes"' in page
