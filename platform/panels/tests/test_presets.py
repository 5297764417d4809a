"""Twelve participants per preset: every ending, where it leads, its row in the payment list, its payment and export."""

from __future__ import annotations

import csv
import io
from collections import Counter
from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from exports.dataset import export
from exports.verify import verify
from panels import lists, presets
from panels.models import Panel
from panels.tests.staging import Visitor
from payouts import books, deciding
from payouts.models import LedgerRow
from recruiters.models import Identity
from tests.visitors import text_of

pytestmark = pytest.mark.django_db

QUESTION = {
    "name": "known", "kind": "single", "text": "Have you played this before?", "options": ["No", "Yes"],
    "ends_if": "known == 'Yes'",
}  # fmt: skip
ENDINGS = [
    *["screened_out"] * 3, *["failed_code_word"] * 2, *["withdrew"] * 2, "dropped_out", "failed_quiz",
    *["completed"] * 2,
]  # fmt: skip
"""Endings of eleven participants; the twelfth finds no free place."""
STATES = {"list": {"confirmed"}, "bonuses": {"confirmed", "elsewhere"}, "panel": {"elsewhere"}}
"""States of the payments in the dataset, by who pays."""
OUTCOMES = {
    "completed": "completed", "screened_out": "screened_out", "failed_code_word": "screened_out",
    "failed_quiz": "partial", "withdrew": "withdrew", "dropped_out": "withdrew",
}  # fmt: skip


def approved(panel: Panel, boss: User) -> None:
    rows = LedgerRow.objects.filter(study=panel.study.slug, state="due").values_list("pk", flat=True)
    if rows:
        deciding.approve(study=panel.study.slug, rows=list(rows), user=boss)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('check = "signed link"', "check"),
        ('pays = "us"', "pays"),
        ('[hints]\nfinished = "no such outcome"', "hints.finished"),
        ('columns = "Who = person"', "columns.*“amount”"),
        ('task = "id"', "person"),
        ('[destinations]\ncompleted = "https://elsewhere.example/"', "to_completed"),
    ],
)
def test_invalid_preset_is_refused_with_its_name_and_field(tmp_path, line: str, field: str):
    file = tmp_path / "mine.toml"
    file.write_text(f'title = "Mine"\nabout = ""\nperson = "id"\n{line}\n')
    with pytest.raises(ValueError, match=rf"mine\.toml[\s\S]*{field}"):
        presets.read(file)


@pytest.mark.parametrize("key", [preset.key for preset in presets.every()])
def test_twelve_participants_of_each_preset(panel_of, boss, key, tmp_path):
    study = {"quota": ENDINGS.count("completed"), "before": [QUESTION]}
    panel, standin = panel_of(key, study=study)
    owed: dict[str, Decimal] = {}
    for guest, ending in zip(standin.guests, ENDINGS, strict=False):
        visitor = Visitor(standin, guest)
        person = visitor.go(ending)
        assert person.state == ending
        destination = panel.destination_of(OUTCOMES[ending])
        page = visitor.last_page(person)
        returned_to = visitor.go_back(page)
        if destination.startswith("POST"):
            assert f'action="{standin.address}/mturk/externalSubmit"' in page and f'value="{guest.session}"' in page
        elif destination.startswith("http"):
            expected = destination.replace("{person}", guest.person).replace("{code}", person.completion_code)
            assert standin.address + returned_to == expected and guest.returns == [returned_to]
        else:
            assert not returned_to and (destination or "What to do now") in page
        due = LedgerRow.objects.filter(enrolment=person, state="due")
        if due:
            owed[guest.person] = sum(row.amount for row in due)
    last = Visitor(standin, standin.guests[-1])
    turned_away = last.arrive()
    assert turned_away.status_code == 403 and "All places are taken" in text_of(turned_away)
    assert bool(last.go_back(turned_away.content.decode())) == bool(panel.to_over_quota)
    assert Identity.objects.filter(recruiter="panel").count() == len(ENDINGS)

    approved(panel, boss)
    elsewhere = Counter(LedgerRow.objects.filter(state="elsewhere").values_list("reason", flat=True))
    if panel.pays == "panel":
        assert not owed and elsewhere == {"base": 3, "bonus": 2}
        assert not lists.waiting(panel.study).exists()
    else:
        assert elsewhere == ({"base": 3} if panel.pays == "bonuses" else {})
        payment_list = lists.create(panel.study, user=boss)
        written = b"".join(lists.as_csv(payment_list, panel)).decode()
        person_column, amount_column = panel.column_of("person"), panel.column_of("amount")
        rows = {row[person_column]: Decimal(row[amount_column]) for row in csv.DictReader(io.StringIO(written))}
        assert rows == owed and list(panel.list_columns()) == next(csv.reader(io.StringIO(written)))
        report = standin.pay(written, person=person_column, amount=amount_column)
        findings = lists.reconcile(
            payment_list, panel, lists.read(report.encode(), panel), user=boss, rest_failed=False
        )
        assert findings.confirmed == LedgerRow.objects.filter(state="confirmed").count() > 0
        assert not (findings.unclear or findings.failed or findings.missing or findings.remarks)
        assert {guest.person: guest.paid for guest in standin.guests if guest.paid} == {
            p: [str(a)] for p, a in owed.items()
        }
    assert not books.check(panel.study.slug)
    assert set(LedgerRow.objects.values_list("state", flat=True)) <= {"confirmed", "elsewhere"}
    export(panel.study, tmp_path / "dataset")
    assert verify(tmp_path / "dataset") == []
    payments = list(csv.DictReader((tmp_path / "dataset" / "payments.csv").open()))
    assert {row["state"] for row in payments} == STATES[panel.pays] and len(payments) == LedgerRow.objects.count()
    people = Counter(row["state"] for row in csv.DictReader((tmp_path / "dataset" / "participants.csv").open()))
    assert people == Counter(ENDINGS)
    written = "".join(file.read_text() for file in (tmp_path / "dataset").glob("*.csv"))
    assert not [guest for guest in standin.guests if guest.person in written or guest.session in written]
