"""What every marketplace's links and ways back share: one enrolment each, refusals in words, and no identifiers."""

from __future__ import annotations

import logging

import pytest
from django.test import Client

from exports.tests import building
from participants.models import Enrolment
from recruiters.models import Identity
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db


def test_link_starts_and_resumes_the_study(stage):
    worker = stage.worker()
    person = worker.arrive()
    assert worker.open()["Location"] == person.get_absolute_url() and Enrolment.objects.count() == 1
    assert (person.identity.worker, person.identity.recruiter) == (worker.participant, stage.kind)
    assert worker.participant not in Client().get(person.get_absolute_url()).content.decode()


@pytest.mark.parametrize(
    "identifier", ["", "a@example.org", "A B", "<b>", "A" * 65, "A\x00B", "../../x", "\x00" * 24, "1" * 500]
)
def test_invalid_identifier_is_refused(stage, identifier):
    if stage.kind == "prolific":
        stage.publish(requires_signature=False)
    response = stage.worker().open(**{stage.worker_name: identifier})
    assert response.status_code == 400 and "the study from" in text_of(response)
    assert not Enrolment.objects.exists() and not Identity.objects.exists()


def test_second_submission_of_a_participant_is_refused(stage):
    worker = stage.worker()
    person = worker.arrive()
    response = worker.again().open()
    assert response.status_code == 403 and "already started" in text_of(response)
    assert person.token not in response.content.decode()


def test_refusal_within_the_rest_period_says_when_it_ends(stage):
    building.launch_with(stage.study, participations=None, rest_hours=12)
    worker = stage.worker()
    worker.finish()
    response = worker.again().open()
    assert response.status_code == 403 and "come back" in heading_of(response) and "12 hours" in text_of(response)


def test_logs_contain_no_identifiers(stage, caplog):
    caplog.set_level(logging.DEBUG)
    worker = stage.worker()
    worker.arrive()
    worker.again().open()
    stage.standin.misbehave("cut", stage.list_call)
    stage.sync()
    text = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("marketplaces"))
    assert worker.participant not in text and worker.key not in text
