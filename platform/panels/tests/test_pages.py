"""In the admin, a researcher sets up a panel from a preset and pays its participants through a list."""

from __future__ import annotations

import html
import os
import subprocess
import sys

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from audit.models import Record
from exports.tests import building
from panels import lists, presets
from panels.models import Panel, secret_of
from panels.tests.test_lists import _approve, _finish, panel, payment_list, states  # noqa: F401
from studies.tests import kit
from tests.visitors import text_of

pytestmark = pytest.mark.django_db


def at(name: str, *key: object) -> str:
    return reverse(f"admin:panels_panel_{name}", args=key)


def form_values(form, **instead: str) -> dict[str, str]:
    """Return what a browser would post for a form with its current values."""
    fields = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    return {name: str(value) for name, value in fields.items() if value not in (None, False)} | instead


@pytest.fixture
def study(db):
    return building.new_study(via="panel")


@pytest.mark.parametrize("key", [preset.key for preset in presets.every()])
def test_preset_fills_the_form_and_can_be_saved(admin_client, study, key):
    page = admin_client.get(at("of", study.pk), follow=True)
    assert f"Set up: {presets.get(key).title}" in text_of(page)
    address = f"{at('add')}?study={study.pk}&preset={key}"
    form = admin_client.get(address)
    assert f"/join/splitting/{presets.get(key).link}" in html.unescape(form.content.decode())
    saved = admin_client.post(address, form_values(form.context["adminform"].form), follow=True)
    assert "Give the panel the address" in text_of(saved), saved.context["errors"]
    new_panel = Panel.objects.get()
    assert (new_panel.study, new_panel.preset, new_panel.person) == (study, key, presets.get(key).person)


def test_invalid_value_is_reported_at_its_field(admin_client, study):
    address = f"{at('add')}?study={study.pk}&preset=any_site"
    form = admin_client.get(address).context["adminform"].form
    invalid = {
        "to_completed": "https://evil.example/x", "columns": "ID = worker", "person": "a b=",
        "check_by": "signed", "new_secret": "short", "sites": "https://panel.example.org/path",
    }  # fmt: skip
    page = admin_client.post(address, form_values(form, **invalid))
    errors = page.context["adminform"].form.errors
    assert set(errors) >= {"to_completed", "columns", "person", "new_secret", "sites"} and not Panel.objects.exists()


def test_secret_is_never_shown(admin_client, study):
    address = f"{at('add')}?study={study.pk}&preset=any_site"
    form = admin_client.get(address).context["adminform"].form
    admin_client.post(address, form_values(form, check_by="signed", new_secret="a-long-enough-secret"))
    saved_panel = Panel.objects.get()
    assert secret_of(saved_panel) == "a-long-enough-secret"
    page = admin_client.get(at("change", saved_panel.pk))
    assert "a-long-enough-secret" not in page.content.decode()
    admin_client.post(at("change", saved_panel.pk), form_values(page.context["adminform"].form, title="Renamed"))
    assert secret_of(Panel.objects.get(title="Renamed")) == "a-long-enough-secret"
    assert "a-long-enough-secret" not in str(list(Record.objects.values()))


def test_approved_pay_is_listed_and_reconciled(admin_client, panel, boss):  # noqa: F811
    _finish("A1")
    _finish("B2")
    _approve(boss)
    pay = admin_client.get(reverse("paydesk:page", args=[panel.study.pk]))
    assert at("lists", panel.study.pk) in pay.content.decode() and "next payment list" in text_of(pay)
    assert "4 payments" in text_of(admin_client.get(at("lists", panel.study.pk)))
    page = admin_client.post(at("make", panel.study.pk), follow=True)
    assert "0 of 4 payments settled. 4 open." in text_of(page)
    file = admin_client.post(at("download", panel.study.pk, 1))
    text = b"".join(file.streaming_content)
    assert b"A1,3.00" in text and "no-store" in file["Cache-Control"]
    paid = SimpleUploadedFile("paid.csv", text.replace(b"B2,3.00", b"B2,4.00"), "text/csv")
    page = admin_client.post(at("paid", panel.study.pk, 1), {"paid": paid})
    page_text = text_of(page)
    assert (
        "2 payments are confirmed" in page_text and "says 4.00, but 3.00 is due" in page_text and "B2" not in page_text
    )
    assert states("A1") == {"confirmed"} and states("B2") == {"unclear"}
    assert Record.objects.filter(action="pay_listed").count() == 3


def test_invalid_file_is_refused_with_its_lines(admin_client, payment_list, panel):  # noqa: F811
    upload = SimpleUploadedFile("paid.csv", b"id,amount\nA1,three\nB2,3.00\n", "text/csv")
    page = admin_client.post(at("paid", panel.study.pk, 1), {"paid": upload})
    assert page.status_code == 422 and "Line 2: This is not" in text_of(page)
    assert states("A1") == states("B2") == {"sent"}


def test_withdrawing_a_list_requires_confirmation(admin_client, payment_list, panel):  # noqa: F811
    assert "4 payments on this list" in text_of(admin_client.get(at("take_back", panel.study.pk, 1)))
    page = admin_client.post(at("take_back", panel.study.pk, 1), {"why": "Never sent."}, follow=True)
    assert "4 payments can be approved again" in text_of(page)
    assert not lists.waiting(panel.study).exists() and states("A1") == {"failed"}


def test_identifying_fields_are_fixed_after_the_first_arrival(admin_client, payment_list, panel):  # noqa: F811
    form = admin_client.get(at("change", panel.pk)).context["adminform"].form
    assert "person" not in form.fields and "to_completed" in form.fields


@pytest.mark.slow  # another process reads the settings
def test_stand_in_starts_from_the_command_line():
    command = [sys.executable, "-m", "panels.standin", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "platform:."})
    assert result.returncode == 0 and "cloudresearch_connect" in result.stdout, result.stderr


def test_closing_says_which_link_to_switch_off_by_hand(panel_of, client, settings):
    settings.SITE_URL = "https://parley.example"
    set_up, _standin = panel_of()
    kit.administrator(client)
    address = reverse("admin:studies_study_close", args=[set_up.study.pk])
    page = client.post(address, follow=True).content.decode()
    assert f"Switch off the link https://parley.example/join/{set_up.study.slug}/ on {set_up.title} yourself" in page
    assert "Try again" not in page
