"""The researcher's pages: create, start, show to the room, and pay."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Record
from gathering import services
from gathering.models import Attendance, Session
from gathering.results import figures
from payouts.models import LedgerRow
from recruiters.models import LabCode
from rights.roles import Role
from studies.models import Study
from studies.tests.kit import staff
from tests.visitors import EQUAL_SPLIT, Visitor, arrived_participant, launched_study, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return launched_study(title="Room", slug="room", quiz=False)


@pytest.fixture
def owner(study) -> Client:
    return member(study, Role.OWNER)


def member(study: Study, role: Role) -> Client:
    client = Client()
    staff(client, study, role=role, name=f"user-{role}")
    return client


def recorded() -> list[tuple[str, str]]:
    """Return what the audit log has about sessions, oldest first."""
    rows = Record.objects.filter(details__has_key="session").order_by("pk")
    return [(row.action, row.details["session"]) for row in rows]


def session_of(study: Study, **fields) -> Session:
    return Session.objects.create(**{"study": study, "places": 10, **fields})


def fields(**changed) -> dict:
    """Return what the form sends, starting tomorrow."""
    tomorrow = timezone.now() + timedelta(days=1)
    start = f"{tomorrow:%Y-%m-%dT%H:%M}"
    return {"time_zone": "UTC", "starts_at": start, "places": "4", "grace": "5", "labels": "", **changed}


def test_an_editor_creates_a_session_and_is_led_to_its_screen(study):
    editor = member(study, Role.EDITOR)
    page = editor.post(f"/admin/sessions/{study.pk}/", fields(labels="PC 1\nPC 2\n", places="2"), follow=True)
    session = study.sessions.get()
    assert (session.places, session.labels, session.status) == (2, ["PC 1", "PC 2"], "waiting")
    assert re.fullmatch("[A-HJ-NP-Z2-9]{6}", session.code)
    assert f"http://testserver/s/{session.code}/" in text_of(page)
    assert "<svg" in page.content.decode()
    assert recorded() == [("made", session.code)]


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"starts_at": "2020-06-01T09:00"}, "Monday 1 June 2020, 09:00 (UTC)"),
        ({"time_zone": "Berlin"}, "time zone “Berlin”"),
        ({"labels": "PC 1\nPC 1", "places": "1"}, "the same label"),
        ({"labels": "PC 1", "places": "2"}, "more places than seats"),
        ({"places": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_is_said_at_the_field_and_nothing_is_created(study, owner, wrong, told):
    page = owner.post(f"/admin/sessions/{study.pk}/", fields(**wrong))
    assert (page.status_code, told in text_of(page)) == (400, True)
    assert not study.sessions.exists()


def test_a_session_can_be_changed_until_it_starts_and_those_who_wait_are_told(study, owner):
    session = session_of(study, starts_at=timezone.now() + timedelta(hours=1), labels=["PC 1"], places=1)
    address = f"/admin/sessions/{study.pk}/{session.code}/change/"
    assert f'value="{session.local_start}"' in owner.get(address).content.decode()
    early = services.attend(session, "early", label="PC 1")
    before = services.standing(early)
    new = fields(time_zone="Asia/Tokyo", starts_at="2030-01-01T09:00", labels="PC 1\nPC 2", places="2")
    assert "Changed" in text_of(owner.post(address, new, follow=True))
    session.refresh_from_db()
    assert (session.places, session.labels, session.local_start) == (2, ["PC 1", "PC 2"], "2030-01-01T09:00")
    assert services.standing(early).start != before.start
    assert early.since < session.moved_at < services.attend(session, "late", label="PC 2").since
    services.start(session)
    assert "not waiting" in text_of(owner.post(address, new, follow=True))
    assert recorded() == [("changed", session.code)]


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"starts_at": "2020-06-01T09:00"}, "This time has passed"),
        ({"labels": "PC 2"}, "sits at “PC 1”"),
    ],
)
def test_a_change_that_cannot_be_is_refused_at_the_field(study, owner, wrong, told):
    session = session_of(study, labels=["PC 1"], places=1)
    services.attend(session, "key", label="PC 1")
    page = owner.post(
        f"/admin/sessions/{study.pk}/{session.code}/change/", fields(**{"places": "1", "labels": "PC 1", **wrong})
    )
    assert (page.status_code, told in text_of(page)) == (400, True)
    session.refresh_from_db()
    assert (session.labels, session.starts_at) == (["PC 1"], None)


def test_a_start_of_another_time_zone_is_stored_as_a_moment(study, owner):
    owner.post(f"/admin/sessions/{study.pk}/", fields(time_zone="Asia/Tokyo", starts_at="2030-01-01T09:00"))
    assert study.sessions.get().starts_at.isoformat() == "2030-01-01T00:00:00+00:00"


def test_the_screen_lists_labels_and_states_but_only_to_editors(study, owner):
    session = session_of(study, places=1)
    for number in (1, 2):
        code = LabCode.objects.create(study=study.slug, label=f"Cubicle {number}")
        services.attend(session, f"key {number}", lab_code=code)
    seen = text_of(owner.get(f"/admin/sessions/{study.pk}/{session.code}/now/"))
    assert "Cubicle 1 has a place" in seen and "Cubicle 2 waiting list, position 1" in seen
    viewer = member(study, Role.VIEWER)
    for address in ("", "now/", "projector/", "results/"):
        page = viewer.get(f"/admin/sessions/{study.pk}/{session.code}/{address}")
        assert page.status_code == 200 and "Cubicle" not in page.content.decode()


def test_start_call_off_and_free_are_recorded_and_done_once(study, owner):
    session, other = session_of(study), session_of(study, labels=["A"])
    address = f"/admin/sessions/{study.pk}/{session.code}"
    assert "begins now" in text_of(owner.post(f"{address}/start/", follow=True))
    assert "not waiting" in text_of(owner.post(f"{address}/start/", follow=True))
    assert "not waiting" in text_of(owner.post(f"{address}/call-off/", follow=True))
    attendance = services.attend(other, "key", label="A")
    owner.post(f"/admin/sessions/{study.pk}/{other.code}/free/", {"attendance": attendance.pk})
    assert services.attend(other, "other key", label="A")
    owner.post(f"/admin/sessions/{study.pk}/{other.code}/call-off/")
    other.refresh_from_db()
    assert other.status == "called off"
    assert recorded() == [("started", session.code), ("stopped", other.code)]


def test_the_projector_shows_how_to_join_and_nothing_about_anybody(study, owner):
    session = session_of(study, starts_at=timezone.now() + timedelta(minutes=4, seconds=59), labels=["Anna"])
    services.attend(session, "key", label="Anna")
    page = owner.get(f"/admin/sessions/{study.pk}/{session.code}/projector/")
    assert session.code in text_of(page) and "http://testserver/s/" in text_of(page)
    assert re.search(r"here 1 Starts in 4:\d\d", text_of(page))
    part = owner.get(f"/admin/sessions/{study.pk}/{session.code}/projector/?part")
    assert "People here 1" in text_of(part) and "<html" not in part.content.decode()
    assert "Anna" not in page.content.decode()


def played(study: Study, session: Session, number: int, **offer: str) -> None:
    """Let somebody of the session play to the end with this first offer."""
    enrolment = arrived_participant(study, f"worker {number}")
    Attendance.objects.create(session=session, key=str(number), label=f"PC {number}", enrolment=enrolment)
    visitor = Visitor(enrolment).walk_to("match")
    visitor.move(**offer)
    visitor.let_agent_answer()
    visitor.send()


def test_results_need_five_people_and_count_each_once(study, owner):
    started_at = datetime(2030, 1, 1, 9, tzinfo=UTC)
    session = session_of(study, started_at=started_at, time_zone="Asia/Tokyo")
    assert "started at 18:00:00 JST" in text_of(owner.get(f"/admin/sessions/{study.pk}/{session.code}/"))
    address = f"/admin/sessions/{study.pk}/{session.code}/results/"
    for number in range(4):
        played(study, session, number, **EQUAL_SPLIT)
    assert not figures(session)
    assert "No results yet" in text_of(owner.get(address))
    played(study, session, 4, alice_gain="4000", bob_gain="6000")
    drawn = {picture.title: [(bar.label, bar.shown, bar.width) for bar in picture.bars] for picture in figures(session)}
    bars = [("4,000", "1", 25), ("5,000", "4", 100)]
    assert drawn == {
        "Bargaining: Alice gets (5 people, mean 4,800)": bars,
        "Bargaining: Bob gets (5 people, mean 5,200)": [("5,000", "4", 100), ("6,000", "1", 25)],
        "Bargaining: payoff (5 people, mean 4,800)": bars,
    }
    page = text_of(owner.get(address))
    assert "PC 4" not in page and "5 people" in page


def test_receipts_add_up_the_ledger_in_the_order_of_labels_for_owners_alone(study, owner):
    session = session_of(study, started_at=timezone.now())
    for number, amounts in ((10, ("2.50", "1.25")), (2, ("3.00",))):
        enrolment = arrived_participant(study, f"worker {number}")
        Attendance.objects.create(session=session, key=str(number), label=f"PC {number}", enrolment=enrolment)
        for reason, amount in zip(("base", "bonus"), amounts, strict=False):
            LedgerRow.objects.create(
                enrolment=enrolment, reason=reason, amount=Decimal(amount), currency="EUR", workings={}
            )
        LedgerRow.objects.create(
            enrolment=enrolment, reason="lost", amount=Decimal(9), currency="EUR", workings={},
            state=LedgerRow.State.WRITTEN_OFF,
        )  # fmt: skip
    address = f"/admin/sessions/{study.pk}/{session.code}/receipts/"
    page = text_of(owner.post(address))
    assert re.search(r"PC 2 p-\w+ 3\.00 EUR PC 10 p-\w+ 3\.75 EUR Total 6\.75 EUR", page)
    assert recorded() == [("pay_listed", session.code)]
    assert member(study, Role.EDITOR).post(address).status_code == 403
