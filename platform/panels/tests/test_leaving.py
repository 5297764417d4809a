"""Participants are sent only to the panel's own sites: checked when an address is saved, and again when they leave."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from panels.endings import NotAllowed, check_destination, filled_address, outcome_of, refuse_foreign_site
from panels.leaving import instructions_for
from panels.models import Panel
from panels.tests.staging import Visitor
from participants.models import Enrolment
from participants.states import ENDED

SITES = "https://panel.example.org\nhttps://other.example.org:8443"


@pytest.mark.parametrize(
    "address",
    [
        "https://panel.example.org/done?id={person}&c={code}", "https://PANEL.example.org/",
        "https://panel.example.org:443/x", "https://other.example.org:8443/{session}/done", "CODE-17",
    ],
)  # fmt: skip
def test_own_sites_and_codes_are_accepted(address):
    check_destination(address, SITES)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example.org/done", "https://panel.example.org.evil.example/done",
        "https://panel.example.org@evil.example/done", "https://user:word@panel.example.org/done",
        "http://panel.example.org/done", "https://panel.example.org:8443/done", "https://other.example.org/done",
        "//evil.example/done", "https:evil.example/done", "javascript://panel.example.org/%0aalert(1)",
        "https://panel.example.org\\@evil.example/", "https://panel.example.org/\nevil", "https://{person}/done",
        "https://{person}.panel.example.org/done", "https://panel.example.org/{worker}", "https://[panel.example.org/",
        "https://panel.example.org/" + "x" * 600, "two words",
    ],
)  # fmt: skip
def test_other_addresses_are_refused_with_the_reason(address):
    with pytest.raises(NotAllowed) as refusal:
        check_destination(address, SITES)
    assert str(refusal.value)


def test_variables_cannot_break_out_of_the_address():
    filled = filled_address("https://panel.example.org/{task}?id={person}", {"person": "a&b=c#d/e", "task": "../@evil"})
    assert filled == "https://panel.example.org/..%2F%40evil?id=a%26b%3Dc%23d%2Fe"
    refuse_foreign_site(filled, SITES)


def test_every_ending_has_an_outcome():
    assert {outcome_of(state, paid=False) for state in ENDED} == {"completed", "screened_out", "withdrew"}
    assert {outcome_of(state, paid=True) for state in ENDED} == {"completed", "screened_out", "partial"}


@pytest.mark.django_db
def test_address_on_another_site_cannot_be_saved(panel_of):
    panel, _standin = panel_of()
    panel.to_completed = "https://evil.example/done"
    with pytest.raises(ValidationError, match=r"https://evil\.example is not one"):
        panel.full_clean()


@pytest.mark.django_db
def test_stored_address_on_another_site_is_not_used(panel_of):
    _panel, standin = panel_of()
    Panel.objects.update(to_completed="https://evil.example/done", to_withdrew="https://evil.example/left")
    visitor = Visitor(standin, standin.guests[0])
    page = visitor.last_page(visitor.go("withdrew"))
    assert "evil.example" not in page and "What to do now" in page


@pytest.mark.django_db
def test_closed_study_returns_participants_as_over_quota(panel_of):
    panel, standin = panel_of()
    type(panel.study).objects.update(status="closed")
    visitor = Visitor(standin, standin.guests[0])
    answer = visitor.arrive()
    assert answer.status_code == 403
    assert visitor.go_back(answer.content.decode()) == f"/full?id={standin.guests[0].person}"


@pytest.mark.django_db
def test_full_study_returns_late_participants_as_over_quota(panel_of):
    _panel, standin = panel_of(study={"quota": 1})
    first, late = (Visitor(standin, guest) for guest in standin.guests[:2])
    people = [first.enter(), late.enter()]  # nobody holds a place before they consent
    first.client.post(people[0].get_absolute_url(), {"position": "0", "agree": "yes"})
    refused = late.client.post(people[1].get_absolute_url(), {"position": "0", "agree": "yes"})
    assert refused.status_code == 303
    page = late.last_page(people[1])
    assert "in this study are taken" in page
    assert late.go_back(page) == f"/full?id={standin.guests[1].person}"
    assert [Enrolment.objects.get(pk=person.pk).state for person in people] == ["consented", "arrived"]
    assert "All places" not in late.last_page(people[1])  # on reload, the page offers to begin


@pytest.mark.django_db
def test_over_quota_address_can_be_a_posted_form(panel_of):
    _panel, standin = panel_of(study={"quota": 1})
    Panel.objects.update(to_over_quota=f"POST {standin.address}/full?id={{person}}")
    first, late, last = (Visitor(standin, guest) for guest in standin.guests[:3])
    people = [first.enter(), late.enter()]
    for visitor, person in zip((first, late), people, strict=True):
        visitor.client.post(person.get_absolute_url(), {"position": "0", "agree": "yes"})
    for answer, guest in ((late.client.get(people[1].get_absolute_url()), 1), (last.arrive(), 2)):
        page = answer.content.decode()
        assert (
            f'action="{standin.address}/full"' in page and f'name="id" value="{standin.guests[guest].person}"' in page
        )
        assert standin.address in answer["Content-Security-Policy"]


@pytest.mark.django_db
def test_external_question_is_submitted_through_a_form(panel_of):
    panel, standin = panel_of("external_question")
    panel.to_completed = f"POST {standin.address}/mturk/externalSubmit?assignmentId={{session}}&done=yes"
    panel.full_clean()
    panel.save()
    guest = standin.guests[0]
    instructions = instructions_for(
        panel, "completed", {"person": guest.person, "task": guest.task, "session": guest.session}
    )
    assert instructions is not None and instructions.address == f"{standin.address}/mturk/externalSubmit"
    assert instructions.form_fields == {"assignmentId": guest.session, "done": "yes"}
    preview = Client().get(standin.link(guest, session="ASSIGNMENT_ID_NOT_AVAILABLE").removeprefix("http://testserver"))
    assert preview.status_code == 200 and not Enrolment.objects.exists()
    with pytest.raises(NotAllowed):
        check_destination("POST https://evil.example/x", panel.sites)
