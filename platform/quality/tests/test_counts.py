"""Counts that pages send about themselves: stored once even if sent often, validated strictly, deciding nothing."""

from __future__ import annotations

import csv
import json
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from exports.dataset import export
from exports.tests import building
from exports.verify import verify
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow
from quality import counts
from quality.models import PageView
from quality.views import MAX_IN_WINDOW
from studies.models import Placement
from tests.visitors import Visitor, arrived_participant, launched_study, shown_earlier, text_of

pytestmark = pytest.mark.django_db

VALID_COUNTS = {
    "view": "abcdefgh", "position": 0, "open_ms": 9000, "visible_ms": 7000,
    "hidden": 2, "blurred": 1, "pastes": 3, "pasted": 120,
}  # fmt: skip
FIGURES = ("open_ms", "visible_ms", "hidden", "blurred", "pastes", "pasted")


@pytest.fixture
def visitor() -> Visitor:
    """A participant who is looking at the first page."""
    visitor = Visitor(arrived_participant(launched_study()))
    visitor.see()
    return visitor


def post_counts(visitor: Visitor, data: Any = None, **fields: Any) -> HttpResponse:
    """Send counts as a page does: no cookie, no CSRF token, any content type."""
    body = data if isinstance(data, bytes) else json.dumps({**VALID_COUNTS, **fields})
    return Client(enforce_csrf_checks=True).post(
        reverse("quality:counts", args=[visitor.enrolment.token]), body, content_type="text/plain;charset=UTF-8"
    )


def figures() -> list[tuple[int, ...]]:
    return list(PageView.objects.order_by("pk").values_list(*FIGURES))


def test_pages_name_their_address_and_endings_send_nothing(visitor):
    page = visitor.see().content.decode()
    assert "parley/counts.js" in page
    assert f'data-to="/p/{visitor.enrolment.token}/counts" data-position="0"' in page
    for other in ("leave", "problem"):
        assert "counts.js" not in visitor.client.get(f"{visitor.url}{other}/").content.decode()
    people.withdraw(enrolment_id=visitor.enrolment.pk)
    assert "counts.js" not in visitor.see().content.decode()


def test_counts_are_stored_with_their_step(visitor):
    assert post_counts(visitor).status_code == 204
    row = PageView.objects.get()
    assert (row.enrolment, row.position, row.kind) == (visitor.enrolment, 0, "consent")
    assert figures() == [(9000, 7000, 2, 1, 3, 120)]


def test_sending_again_or_in_another_order_changes_nothing(visitor):
    steps = [{"open_ms": 1000, "visible_ms": 900, "hidden": 0}, {"open_ms": 5000, "visible_ms": 900}, {}]
    for order in permutations(steps):
        PageView.objects.all().delete()
        for fields in (*order, order[0]):
            assert post_counts(visitor, **fields).status_code == 204
        assert figures() == [(9000, 7000, 2, 1, 3, 120)]


def test_each_loading_and_each_page_has_a_row(visitor):
    post_counts(visitor)
    post_counts(visitor, view="12345678")
    visitor.send(agree="yes")
    visitor.see()
    post_counts(visitor, position=1)
    assert list(PageView.objects.order_by("pk").values_list("position", "kind")) == [
        (0, "consent"),
        (0, "consent"),
        (1, "name"),
    ]


def test_counts_sent_shortly_after_the_end_are_stored(visitor):
    visitor.send(agree="yes")
    assert post_counts(visitor).status_code == 204
    people.withdraw(enrolment_id=visitor.enrolment.pk)
    assert post_counts(visitor, open_ms=9500).status_code == 204
    Enrolment.objects.update(ended_at=timezone.now() - counts.AFTER_THE_END - timedelta(seconds=1))
    assert post_counts(visitor, open_ms=9900).status_code == 422
    assert figures() == [(9500, 7000, 2, 1, 3, 120)]


@pytest.mark.parametrize(
    "fields",
    [
        {"view": "short"}, {"view": "ABCDEFGH"}, {"view": "x" * 17}, {"view": "<script>"}, {"view": None},
        {"open_ms": -1}, {"open_ms": 1.5}, {"open_ms": "9000"}, {"open_ms": True}, {"open_ms": 10**15},
        {"visible_ms": 9001}, {"hidden": 10**7}, {"pastes": 0}, {"pasted": -3}, {"position": -1},
        {"text": "what was pasted"}, {"open_ms": 3_600_000},
    ],
)  # fmt: skip
def test_impossible_counts_are_refused(visitor, fields):
    assert post_counts(visitor, **fields).status_code == 422
    assert not PageView.objects.exists()


@pytest.mark.parametrize(
    ("data", "status"),
    [(b"", 422), (b"{", 422), (b"[]", 422), (b"null", 422), (b"\xff\x00", 422), (b"NaN", 422), (b"x" * 600, 413)],
)
def test_malformed_counts_are_refused(visitor, data, status):
    assert post_counts(visitor, data).status_code == status
    assert not PageView.objects.exists()


def test_unseen_pages_and_unknown_tokens_have_no_counts(visitor):
    assert post_counts(visitor, position=3).status_code == 404
    response = Client().post("/p/nobody/counts", json.dumps(VALID_COUNTS), content_type="text/plain")
    assert response.status_code == 404
    assert not PageView.objects.exists()


def test_get_requests_store_nothing(visitor):
    assert Client().get(reverse("quality:counts", args=[visitor.enrolment.token])).status_code == 405


def test_number_and_rate_of_counts_are_limited(visitor):
    shown_earlier(visitor.now(), timedelta(minutes=5))
    answers = [post_counts(visitor, view=f"view{i:04}").status_code for i in range(counts.MAX_VIEWS + 5)]
    assert answers == [204] * counts.MAX_VIEWS + [422] * 5
    answers = {post_counts(visitor).status_code for _i in range(2 * MAX_IN_WINDOW)}
    assert 429 in answers
    assert PageView.objects.count() == counts.MAX_VIEWS


def test_words_are_never_stored():
    stored = {
        field.name for field in PageView._meta.get_fields() if field.get_internal_type() in ("TextField", "JSONField")
    }
    assert not stored


# ---- they decide nothing -------------------------------------------------------------------------------------


def outcome(visitor: Visitor) -> dict[str, Any]:
    person = visitor.now()
    return {
        "state": person.state,
        "paid": sorted(LedgerRow.objects.filter(enrolment=person).values_list("reason", "amount", "state")),
        "verdicts": sorted(person.verdicts.values_list("check_name", "passed")),
        "place": Placement.objects.get(enrolment=person).released_at,
        "earnings": person.earnings["total"],
    }


def test_the_worst_signals_change_neither_state_nor_pay_nor_the_dataset(tmp_path):
    study = launched_study()
    normal, suspicious = Visitor(arrived_participant(study, "calm")), Visitor(arrived_participant(study, "wild"))
    normal.walk_to("quiz").send(loss_rate="10%")
    expected = outcome(normal)
    suspicious.see()
    shown_earlier(suspicious.now(), timedelta(days=2))
    for position in range(5):
        post_counts(
            suspicious, position=position, hidden=999_999, blurred=999_999, pastes=999_999, pasted=999_999, visible_ms=0
        )
    suspicious.walk_to("quiz").send(loss_rate="10%")
    assert outcome(suspicious) == expected
    for position in range(5):
        post_counts(
            suspicious, position=position, hidden=999_999, blurred=999_999, pastes=999_999, pasted=999_999, visible_ms=0
        )
    assert outcome(normal) == outcome(suspicious) == expected
    export(study, tmp_path / "data")
    rows = list(csv.DictReader((tmp_path / "data" / "participants.csv").open()))
    assert [row["in_dataset"] for row in rows] == ["TRUE", "TRUE"]
    assert [row["reasons"] for row in rows] == ["", ""]


def test_only_the_dataset_and_the_admin_read_the_counts():
    """Only code that imports these counts could base a decision on them."""
    root = Path(counts.__file__).parents[2]
    readers = {
        str(path.relative_to(root)) for path in (root / "platform").rglob("*.py")
        if "page_views" in path.read_text() or "PageView" in path.read_text()
    }  # fmt: skip
    readers = {path for path in readers if "/tests/" not in path and "/quality/" not in path}
    assert readers == {
        "platform/exports/signals.py",
        "platform/exports/participants.py",
        "platform/studies/admin/records.py",
        "platform/studies/parts.py",
    }


# ---- display -----------------------------------------------------------------------------------------------


def test_the_dataset_has_a_described_row_per_page(tmp_path):
    study = building.new_study()
    person = building.arrive(study, worker="A1WORKER")
    visitor = Visitor(person)
    visitor.see()
    post_counts(visitor)
    post_counts(visitor, view="12345678", open_ms=1500, visible_ms=1500, hidden=0, blurred=0, pastes=0, pasted=0)
    people.withdraw(enrolment_id=person.pk)
    export(study, tmp_path / "data")
    (row,) = csv.DictReader((tmp_path / "data" / "signals.csv").open())
    assert row == {
        "participant": person.pseudonym, "position": "0", "step": "consent", "loadings": "2", "seconds_open": "10.5",
        "seconds_visible": "8.5", "times_hidden": "2", "times_blurred": "1", "pastes": "3", "characters_pasted": "120",
    }  # fmt: skip
    entries = csv.DictReader((tmp_path / "data" / "codebook.csv").open())
    codebook = {(entry["table"], entry["column"]): entry for entry in entries}
    assert codebook["signals", "seconds_visible"]["unit"] == "seconds"
    assert "excludes no one" in codebook["participants", "longest_line"]["meaning"]
    assert verify(tmp_path / "data") == []


SCALE_QUESTIONS = [{"kind": "scale", "text": "?", "name": f"s{i}", "points": 5} for i in range(5)]
TEXT_QUESTIONS = [{"kind": "long", "text": "Why?", "name": f"w{i}", "required": False} for i in range(3)]


def test_repetitions_are_counted_in_the_dataset(tmp_path):
    study = building.new_study(after=[*SCALE_QUESTIONS, *TEXT_QUESTIONS])
    person = building.arrive(study, worker="A1WORKER")
    building.consent(person)
    building.read_instructions(person)
    building.play(person, messages=["Take it!", " take  IT!", "please", "Take it!"])
    building.answer_quiz(person)
    points = dict(zip((f"question_s{i}" for i in range(5)), "23332", strict=True))
    building.answer(person, **points, question_w0="no idea", question_w1="No idea ", question_w2="")
    person.refresh_from_db()
    assert person.state == State.COMPLETED
    other = building.arrive(study, worker="A2WORKER")
    people.withdraw(enrolment_id=other.pk)
    export(study, tmp_path / "data")
    row, withdrawn = csv.DictReader((tmp_path / "data" / "participants.csv").open())
    names = ("repeated_messages", "repeated_answers", "longest_line")
    assert [row[name] for name in names] == ["2", "1", "3"]
    assert [withdrawn[name] for name in names] == ["", "", ""]


def test_a_participants_admin_page_shows_the_counts(visitor, admin_client):
    url = reverse("admin:participants_enrolment_change", args=[visitor.enrolment.pk])
    assert "participant's browser sent no data" in text_of(admin_client.get(url))
    post_counts(visitor)
    text = text_of(admin_client.get(url))
    assert "consent" in text and "9.0" in text and "120" in text
    assert "this never excludes anyone" in text


def test_the_consent_text_mentions_the_counts(visitor):
    page = text_of(visitor.see())
    assert "and whether you pasted text" in page
