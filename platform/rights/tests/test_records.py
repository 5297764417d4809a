"""The admin's audit records: every action with user and object, changed fields by name but not value."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from audit.models import Record
from exports.tests import building
from opponents.models import Endpoint
from studies.models import Study
from studies.tests import kit

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def actions(study: Study) -> list[str]:
    records = Record.objects.filter(of_kind="studies.study", of_key=study.pk).order_by("pk")
    assert {record.by for record in records} <= {"boss"}
    return [record.action for record in records]


def test_a_studys_whole_life_cycle_is_recorded(client, boss):
    study = kit.new_study("splitting", via="codes")
    renamed = SimpleUploadedFile("plan.json", json.dumps({**study.draft, "title": "Renamed"}).encode())
    client.post(reverse("admin:studies_study_save", args=[study.pk]), {"edit": study.edit, "document": renamed})
    for action in ("launch", "pause", "launch", "codes", "close"):
        client.post(reverse(f"admin:studies_study_{action}", args=[study.pk]), {"number": "2"})
    client.get(reverse("admin:studies_study_codes_file", args=[study.pk]))
    client.post(reverse("exports:write", args=[study.pk]), {"formats": ["csv"]})
    assert actions(study) == [
        "changed", "launched", "paused", "resumed", "codes_made", "closed", "codes_taken", "exported",
    ]  # fmt: skip
    changed = Record.objects.get(action="changed")
    assert changed.details["edit"] == 1
    assert "Renamed" not in str(changed.details)


@pytest.mark.slow
def test_refused_actions_are_not_recorded(client, boss):
    study = kit.new_study("broken")
    study.draft = kit.changed(study.draft, config={"delta_alice": 7})
    study.save()
    client.post(reverse("admin:studies_study_launch", args=[study.pk]))
    client.post(reverse("admin:studies_study_pause", args=[study.pk]))
    client.post(reverse("admin:studies_study_codes", args=[study.pk]), {"number": "many"})
    assert actions(study) == []


def test_a_deleted_draft_leaves_its_record(client, boss):
    draft = kit.new_study("draft", title="Draft")
    client.post(reverse("admin:studies_study_delete", args=[draft.pk]), {"post": "yes"})
    record = Record.objects.get(action="deleted")
    assert (record.by, record.title) == ("boss", "Draft")


def test_no_record_contains_endpoint_keys(client, boss):
    fields = {
        "name": "lab", "protocol": "openai", "base_url": "https://models.example.org/v1", "structured": "none",
        "concurrency": "4", "enabled": "on", "new_key": "sk-very-secret-key", "prices": "{}",
    }  # fmt: skip
    assert client.post(reverse("admin:opponents_endpoint_add"), fields).status_code == 302
    endpoint = Endpoint.objects.get()
    change_url = reverse("admin:opponents_endpoint_change", args=[endpoint.pk])
    assert client.post(change_url, {**fields, "new_key": "sk-another-key"}).status_code == 302
    records = Record.objects.filter(kind="opponents.endpoint").order_by("pk")
    assert [record.action for record in records] == ["made", "changed"]
    assert "sk-" not in str([(record.title, record.details) for record in records])


def test_owners_read_their_studys_records_in_the_admin(client, boss):
    study = building.new_study()
    client.post(reverse("admin:studies_study_pause", args=[study.pk]))
    page = client.get(reverse("admin:audit_record_changelist"), {"action": "paused"})
    assert [record.action for record in page.context["cl"].result_list] == ["paused"]
    of_study = {"of": f"studies.study:{study.pk}"}
    assert client.get(reverse("admin:audit_record_changelist"), of_study).context["cl"].result_count == 1
    text = page.content.decode()
    assert "boss" in text and "Splitting money" in text
    assert (
        client.get(reverse("admin:audit_record_change", args=[Record.objects.get(action="paused").pk])).status_code
        == 200
    )
