"""The audit log: no secrets, no changes, no deletions, and no records of failed actions."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from audit.actions import Action
from audit.models import Record, Unchangeable
from audit.services import HIDDEN, record

pytestmark = pytest.mark.django_db


def test_a_record_names_user_action_and_object():
    user = User.objects.create_user("ada", is_staff=True)
    new_record = record(action=Action.LAUNCHED, user=user, target=user, details={"version": 2})
    stored = Record.objects.get(pk=new_record.pk)
    assert (stored.what, stored.by, stored.by_id, stored.title) == ("launched", "ada", user.pk, "ada")
    assert (stored.kind, stored.key, stored.of_kind, stored.of_key) == (
        "auth.user",
        str(user.pk),
        "auth.user",
        str(user.pk),
    )
    assert stored.details == {"version": 2}


def test_a_record_outlives_its_user_and_object():
    user = User.objects.create_user("ada")
    record(action=Action.MADE, user=user, target=user)
    user.delete()
    assert Record.objects.get().by == "ada"


def test_secrets_are_not_stored():
    record(action=Action.CHANGED, user=None, details={"new_key": "sk-1", "deep": [{"Password": "x", "name": "kept"}]})
    assert Record.objects.get().details == {"new_key": HIDDEN, "deep": [{"Password": HIDDEN, "name": "kept"}]}


def test_code_can_neither_change_nor_delete_a_record():
    new_record = record(action=Action.PAID, user=None)
    new_record.action = "made"
    for attempt in (
        new_record.save,
        new_record.delete,
        Record.objects.all().delete,
        lambda: Record.objects.update(action="made"),
        lambda: Record.objects.bulk_update([new_record], ["action"]),
    ):
        with pytest.raises(Unchangeable):
            attempt()
    assert Record.objects.get().action == Action.PAID


@pytest.mark.parametrize("statement", ["UPDATE audit_record SET action = 'made'", "DELETE FROM audit_record"])
def test_the_database_refuses_changes_too(statement):
    record(action=Action.PAID, user=None)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert Record.objects.get().action == Action.PAID


def test_a_failed_action_leaves_no_record():
    with pytest.raises(RuntimeError), transaction.atomic():
        record(action=Action.LAUNCHED, user=None)
        raise RuntimeError
    assert not Record.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_flush_empties_the_log_and_keeps_its_triggers():
    record(action=Action.PAID, user=None)
    call_command("flush", interactive=False)
    assert not Record.objects.exists()
    record(action=Action.PAID, user=None)
    with pytest.raises(DatabaseError, match="never changed"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_record")
