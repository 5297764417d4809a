"""Studies whose model is unavailable: entry, the monitor, and the limit for failed matches."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from audit.models import Record
from matches import services as matches
from opponents.models import Circuit
from participants import services
from participants.models import Enrolment
from participants.states import State
from recruiters.models import LabCode
from studies.models import Study
from studies.tests import kit
from tests.visitors import EQUAL_SPLIT, Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db


def follow_link() -> HttpResponse:
    code = LabCode.objects.create(study="splitting").code
    return Client().get("/join/splitting", {"code": code})


def monitor_of(study: Study) -> str:
    client = Client()
    kit.administrator(client)
    return client.get(f"/admin/monitor/{study.pk}/").content.decode()


def test_entry_is_closed_while_the_model_is_unavailable() -> None:
    study = launched_study(agents="openai:m")
    circuit = Circuit.objects.create(
        endpoint="openai", open_until=timezone.now() + timedelta(minutes=1), changed_at=timezone.now()
    )
    response = follow_link()
    assert response.status_code == 503 and "One moment" in heading_of(response)
    assert 'http-equiv="refresh"' in response.content.decode()
    assert "please return it" not in text_of(response)
    assert not Enrolment.objects.exists()
    page = monitor_of(study)
    assert 'id="m-away"' in page and "openai" in page
    Circuit.objects.filter(pk=circuit.pk).update(open_until=timezone.now() - timedelta(seconds=1))
    assert follow_link().status_code == 302


@pytest.mark.parametrize(("pauses", "status"), [(True, Study.Status.PAUSED), (False, Study.Status.LAUNCHED)])
def test_study_pauses_when_its_model_does_not_answer(pauses, status, django_capture_on_commit_callbacks) -> None:
    study = launched_study(agents="openai:m", pause_on_failure=pauses)
    visitor = Visitor(arrived_participant(study)).walk_to("match")
    visitor.move(**EQUAL_SPLIT)
    match = visitor.match()
    with django_capture_on_commit_callbacks(execute=True):
        matches.replace_agent(match_id=match.pk, role="bob", answering=match.open_turns()["bob"].answering)
    assert visitor.now().state == State.OPPONENT_FAILED
    assert Study.objects.get().status == status
    assert [record.details for record in Record.objects.filter(action="paused")] == [
        {"why": "an opponent failed"}
    ] * pauses


def test_manually_ended_match_does_not_pause_the_study(django_capture_on_commit_callbacks) -> None:
    visitor = Visitor(arrived_participant(launched_study(agents="openai:m", pause_on_failure=True))).walk_to("match")
    with django_capture_on_commit_callbacks(execute=True):
        matches.abandon_match(match_id=visitor.match().pk, reason="stuck")
    assert visitor.now().ended and Study.objects.get().status == Study.Status.LAUNCHED


def test_study_pauses_at_its_limit_for_failed_matches() -> None:
    study = launched_study(failure_cap=Decimal("3.00"), base=Decimal("1.00"))
    for worker in ("one", "two"):
        assert Study.objects.get().status == Study.Status.LAUNCHED
        with transaction.atomic():
            services.end(services.locked(arrived_participant(study, worker).pk), State.OPPONENT_FAILED)
    assert Study.objects.get().status == Study.Status.PAUSED
    assert Record.objects.get(action="paused").details["most"] == "3.00"
    assert 'id="m-over-cap"' in monitor_of(study)
