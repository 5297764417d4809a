"""Copies, presets and the comparison of versions."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from audit.models import Record
from collecting.models import Collection
from opponents.agents import agents_from_specs
from rights.members import give
from rights.roles import Role
from studies.comparing import compare, difference
from studies.copying import NOT_COPIED, copy
from studies.launching import launch
from studies.models import Study
from tests.visitors import launched_study, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def page(name: str, *args) -> str:
    return reverse(f"admin:studies_study_{name}", args=args)


# ---- copies ----------------------------------------------------------------------------------------------


def test_copy_is_an_equivalent_draft(boss):
    study = launched_study(
        design={"grid": {"rounds": [2, 6]}},
        base="2.50",
        consent="Please?",
        agents=agents_from_specs("openai:m", settings={"retries": 1}),
    )
    copied = copy(study, by=boss)
    assert (copied.slug, copied.status, copied.created_by) == ("splitting-copy", "draft", boss)
    assert content_of(copied) == content_of(study)
    assert not copied.versions.exists()
    for field in Study._meta.fields:
        assert field.name in NOT_COPIED or getattr(copied, field.name) == getattr(study, field.name), field.name


def test_copies_find_free_short_names():
    study = launched_study()
    assert [copy(study).slug for _i in range(3)] == ["splitting-copy", "splitting-copy-2", "splitting-copy-3"]
    long_named = launched_study(slug="s" * 60)
    assert copy(long_named).slug == "s" * 55 + "-copy"


def test_copy_button_opens_the_copy(client, boss):
    study = launched_study()
    response = client.post(page("copy", study.pk))
    copied = Study.objects.get(slug="splitting-copy")
    assert response["Location"] == page("change", copied.pk)
    assert client.get(page("copy", study.pk)).status_code == 405


# ---- presets ---------------------------------------------------------------------------------------------


def test_presets_are_listed_and_created_with_one_click(client, boss):
    assert page("presets") in client.get(page("changelist")).content.decode()
    assert "GLEE with participants" in text_of(client.get(page("presets")))
    response = client.post(page("preset", "glee-human"))
    assert response["Location"] == page("changelist")
    assert set(Study.objects.values_list("slug", "status")) == {
        (f"glee-human-{game}", "draft") for game in ("bargaining", "negotiation", "persuasion")
    }
    assert client.post(page("preset", "glee-llm"))["Location"] == reverse("admin:collecting_collection_changelist")
    assert Collection.objects.count() == 3


def test_preset_is_created_once(client, boss):
    client.post(page("preset", "glee-human"))
    response = client.post(page("preset", "glee-human"), follow=True)
    assert "loaded before" in text_of(response)
    assert "Already created" in text_of(response)
    assert Study.objects.count() == 3
    assert client.post(page("preset", "moon")).status_code == 404


# ---- comparing -------------------------------------------------------------------------------------------


def test_comparison_shows_exactly_the_changes(client, boss):
    study = launched_study(consent="Welcome.\n\nPlease play.", base="1.00")
    Study.objects.update(
        design={"grid": {"rounds": [2, 6]}}, base="2.50", consent="Welcome.\n\nPlease play well.", asks_quiz=False
    )
    second = launch(study)
    parts = compare(study.versions.get(number=1).content, second.content)
    assert {part.name for part in parts} == {"about_minutes", "configurations", "cells", "texts", "checks", "pay"}
    changes = {part.name: {change.name: (change.before, change.after) for change in part.changes} for part in parts}
    assert changes["pay"] == {"base": ("1.00", "2.50")}
    assert changes["configurations"] == {"number": ("1", "2"), "rounds": ("12", "2, 6")}
    assert changes["checks"] == {"quiz": ("yes", "no")}
    text = text_of(client.get(page("compare", study.pk), {"before": "1", "after": "2"}))
    assert "Please play well." in text and "2.50" in text and "announced average" not in text


def test_edit_of_a_launched_study_is_the_next_draft(client, boss):
    study = launched_study()
    assert "There are no differences" in text_of(client.get(page("compare", study.pk)))
    Study.objects.update(quota=33)
    text = text_of(client.get(page("change", study.pk)))
    assert "draft of version 2" in text and "New participants get version 1" in text
    comparison = text_of(client.get(page("compare", study.pk)))
    assert "see the draft until you launch it" in comparison and "33" in comparison


def test_comparison_escapes_texts(client, boss):
    study = launched_study()
    Study.objects.update(consent="<script>alert(1)</script>")
    html = client.get(page("compare", study.pk)).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html and "<script>alert(1)" not in html


def test_only_existing_versions_can_be_compared(client, boss):
    study = launched_study()
    assert client.get(page("compare", study.pk), {"before": "7"}).status_code == 404


def test_difference_has_some_context():
    lines = difference("\n".join("abcdefgh"), "\n".join("abcdefgH"))
    assert [(line.kind, line.text) for line in lines] == [
        ("gap", ""), ("same", "f"), ("same", "g"), ("removed", "h"), ("added", "H"),
    ]  # fmt: skip
    assert difference("same\n", "same") == ()


def test_viewers_may_compare_and_copy(client):
    study = launched_study()
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    client.force_login(user)
    assert client.get(page("compare", study.pk)).status_code == 404
    assert client.post(page("copy", study.pk)).status_code == 404
    give(study, user=user, role=Role.VIEWER, by=None)
    assert client.get(page("compare", study.pk)).status_code == 200
    client.post(page("copy", study.pk))
    copied = Study.objects.exclude(pk=study.pk).get()
    assert copied.members.get().user == user and copied.members.get().role == Role.OWNER
    record = Record.objects.get(action="made")
    assert (record.by, record.of_key, record.details) == ("staff", str(copied.pk), {"copied from": study.slug})


def test_other_users_presets_are_neither_named_nor_duplicated(client, boss):
    client.post(page("preset", "glee-human"))
    records = Record.objects.filter(action="made").order_by("pk")
    assert [(record.by, record.details) for record in records] == [("boss", {"preset": "glee-human"})] * 3
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    client.force_login(user)
    response = client.get(page("presets"))
    assert "A colleague has already created it" in text_of(response)
    assert not any(page("change", study.pk) in response.content.decode() for study in Study.objects.all())
    client.post(page("preset", "glee-human"))
    assert Study.objects.count() == 3


def test_unlaunchable_draft_is_not_compared_but_explained(client, boss):
    study = launched_study()
    Study.objects.update(config={"money": -1})
    response = client.get(page("compare", study.pk))
    assert response.status_code == 200
    assert "The draft can't be launched yet" in text_of(response)
