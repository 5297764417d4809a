"""Opening and saving any admin form without a change leaves everything as it was."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import models
from django.test import Client, RequestFactory
from django.urls import reverse

from marketplaces.models import Account, Recruitment
from notifying.models import Kind, Recipient
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from panels.models import Panel
from panels.tests.test_arriving import pem
from programs.models import Program
from recruiters.models import OtreeServer
from studies.tests.kit import new_study
from tests.forms import form_data

pytestmark = pytest.mark.django_db
FORMS = {Endpoint, User, OtreeServer, Account, Recruitment, Panel, Program, Recipient}
"""Models whose pages can be saved. Studies have an editor; collections, tokens and tasks never change."""
NOTHING_TO_SAVE = {
    "api.Token", "studies.Study", "collecting.Collection", "piloting.Pilot", "marketplaces.Offer",
    "marketplaces.Submission",
}  # fmt: skip
"""Models whose pages have actions but no fields."""


@pytest.fixture
def superuser(client: Client) -> User:
    user = User.objects.create_superuser("boss", "boss@example.org", "long enough 123")
    client.force_login(user)
    return user


def check_unchanged(client: Client, row: models.Model) -> None:
    """Open the row's page, post the form as shown, and check that the row is the same."""
    rows = type(row)._base_manager.filter(pk=row.pk)
    before = rows.values().get()
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    answer = client.post(address, form_data(client.get(address)))
    if answer.status_code != 302:
        raise AssertionError(dict(answer.context["adminform"].form.errors))
    assert rows.values().get() == before


def test_every_saving_form_is_tested(superuser):
    request = RequestFactory().get("/")
    request.user = superuser
    untested_models = {model for model in admin.site._registry if model not in FORMS}
    saved = {
        model._meta.label for model in untested_models if admin.site._registry[model].has_change_permission(request)
    }
    assert saved <= NOTHING_TO_SAVE


def test_endpoints_with_and_without_key_are_unchanged(client, superuser):
    prices = {"a": {"input": 0.15, "output": 0.6}, "b": {"input": 1, "output": 2.5, "cached": 0.1}}
    original = Endpoint(name="held", base_url="https://a.example.org/v1", prices=prices, prices_as_of="2026-01-02")
    original.keep_key("k" * 20)
    original.tools = False
    original.save()
    without_key = Endpoint.objects.create(name="bare", enabled=False, per_minute=5, key_variable="OURS_API_KEY")
    for row in (original, without_key):
        check_unchanged(client, row)
    MEMORY.read()


def test_user_with_endpoint_permissions_is_unchanged(client, superuser):
    user = User.objects.create_user("someone", "someone@example.org", "long enough 123", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_endpoint", "add_endpoint"]))
    original = set(user.user_permissions.values_list("codename", flat=True))
    check_unchanged(client, user)
    assert set(user.user_permissions.values_list("codename", flat=True)) == original


def test_servers_accounts_and_recruitments_are_unchanged(client, superuser):
    study = new_study("s", via="mturk")
    check_unchanged(client, OtreeServer.objects.create(study="s", addresses="https://otree.example.org"))
    account = Account.objects.create(title="Ours", kind="mturk", place="sandbox")
    check_unchanged(client, account)
    check_unchanged(client, Recruitment.objects.create(study=study, account=account))


def test_programs_and_addresses_for_notices_are_unchanged(client, superuser):
    check_unchanged(client, Program.objects.create(name="ours", owner=superuser, digest="0" * 64))
    told = {"address": "someone@example.org", "kinds": [Kind.MODEL]}
    check_unchanged(client, Recipient.objects.create(study=new_study("noticed"), **told))


def test_panels_with_every_check_are_unchanged(client, superuser):
    for number, check in enumerate(Panel.Check.values):
        panel = Panel(
            study=new_study(f"panel-{number}", via="panel"),
            preset="any_site",
            title="Pool",
            person="id",
            check_by=check,
        )
        if check == Panel.Check.SIGNED:
            panel.keep_secret("s" * 20)
        if check == Panel.Check.TOKEN:
            panel.public_keys = pem(rsa.generate_private_key(65537, 2048)).strip()
        panel.sites, panel.to_completed = "https://pool.example.org", "https://pool.example.org/done?id={person}"
        panel.columns = "ID = person\nBonus = amount"
        panel.save()
        check_unchanged(client, panel)
