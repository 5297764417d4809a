"""Every admin form: opening and saving without a change leaves everything as it was."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import models
from django.test import Client, RequestFactory
from django.urls import reverse

from collecting.presets import load, study_presets
from games import registry
from marketplaces.models import Account, Recruitment
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from panels.models import Panel
from panels.tests.test_arriving import pem
from recruiters.models import OtreeServer
from studies.freezing import content_of, sha256_of
from studies.models import Study
from tests.forms import filled_in, made_from

pytestmark = pytest.mark.django_db
ADD = "/admin/studies/study/add/"
FORMS = {Study, Endpoint, User, OtreeServer, Account, Recruitment, Panel}
"""Models whose pages can be saved; forms create collections, tokens and tasks but never change them."""
NOTHING_TO_SAVE = {
    "api.Token",
    "collecting.Collection",
    "piloting.Pilot",
    "mturk.Hit",
    "mturk.Assignment",
    "prolific.Publication",
}
"""Models whose pages have actions, but no field to type into."""


@pytest.fixture
def boss(client: Client) -> User:
    user = User.objects.create_superuser("boss", "boss@example.org", "long enough 123")
    client.force_login(user)
    return user


def saved_as_opened(client: Client, row: models.Model) -> None:
    """Open the row's page, post what it shows, and compare the row."""
    rows = type(row)._base_manager.filter(pk=row.pk)
    before = _told(rows)
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    answer = client.post(address, filled_in(client.get(address)))
    if answer.status_code != 302:
        raise AssertionError(dict(answer.context["adminform"].form.errors))
    assert _told(rows) == before


def _told(rows: Any) -> dict[str, Any]:
    """Return a row's values; a study's parameters as they would be launched, since the form writes defaults out."""
    values = rows.values().get()
    if rows.model is Study:
        values["config"] = sha256_of(content_of(rows.get()))
    return values


def test_every_form_that_saves_is_tested_here(boss):
    request = RequestFactory().get("/")
    request.user = boss
    others = {model for model in admin.site._registry if model not in FORMS}
    saved = {model._meta.label for model in others if admin.site._registry[model].has_change_permission(request)}
    assert saved <= NOTHING_TO_SAVE


@pytest.mark.parametrize("key", registry.keys())
def test_a_study_of_each_game(client, boss, key):
    address = f"{ADD}?game={key}"
    client.post(address, made_from(client, address, title="S", slug="s"))
    saved_as_opened(client, Study.objects.get())


def test_every_ready_study_with_people(client, boss):
    for name in ("glee-human", *study_presets()):
        for study in load(name, agents=["script:random"], by=boss):
            saved_as_opened(client, study)


def test_endpoints_with_and_without_a_key_and_prices(client, boss):
    priced = {"a": {"input": 0.15, "output": 0.6}, "b": {"input": 1, "output": 2.5, "cached": 0.1}}
    held = Endpoint(name="held", base_url="https://a.example.org/v1", prices=priced, prices_as_of="2026-01-02")
    held.keep_key("k" * 20)
    held.tools = False
    held.save()
    bare = Endpoint.objects.create(name="bare", enabled=False, per_minute=5, key_variable="OURS_API_KEY")
    for row in (held, bare):
        saved_as_opened(client, row)
    MEMORY.read()


def test_a_person_with_rights_to_endpoints(client, boss):
    user = User.objects.create_user("someone", "someone@example.org", "long enough 123", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_endpoint", "add_endpoint"]))
    held = set(user.user_permissions.values_list("codename", flat=True))
    saved_as_opened(client, user)
    assert set(user.user_permissions.values_list("codename", flat=True)) == held


def test_servers_accounts_and_recruitments(client, boss):
    client.post(
        f"{ADD}?game=bargaining", made_from(client, f"{ADD}?game=bargaining", title="S", slug="s", entry="mturk")
    )
    saved_as_opened(client, OtreeServer.objects.create(study="s", addresses="https://otree.example.org"))
    account = Account.objects.create(title="Ours", kind="mturk", place="sandbox")
    saved_as_opened(client, account)
    saved_as_opened(client, Recruitment.objects.create(study=Study.objects.get(), account=account))


def test_panels_of_every_kind_of_check(client, boss):
    for number, check in enumerate(Panel.Check.values):
        address, slug = f"{ADD}?game=bargaining", f"panel-{number}"
        client.post(address, made_from(client, address, title=slug, slug=slug, entry="panel"))
        panel = Panel(study=Study.objects.get(slug=slug), preset="any_site", title="Pool", person="id", check_by=check)
        if check == Panel.Check.SIGNED:
            panel.keep_secret("s" * 20)
        if check == Panel.Check.TOKEN:
            panel.public_keys = pem(rsa.generate_private_key(65537, 2048)).strip()
        panel.sites, panel.to_completed = "https://pool.example.org", "https://pool.example.org/done?id={person}"
        panel.columns = "ID = person\nBonus = amount"
        panel.save()
        saved_as_opened(client, panel)
