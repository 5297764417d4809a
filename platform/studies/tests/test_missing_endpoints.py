"""Endpoints that studies and collections use: refused deletion, retirement, and pages after one is gone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from collecting.models import Collection
from collecting.tests.kit import new_collection
from judging.models import JudgingRun
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from piloting.services import CannotPilot, begin
from plans.reading import BadPlan
from recruiters.models import LabCode
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests import kit
from tests.forms import form_data
from tests.visitors import Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint() -> Endpoint:
    endpoint = Endpoint(name="lab", base_url="http://127.0.0.1:9/v1")
    endpoint.keep_key("sk-of-the-lab")
    endpoint.save()
    MEMORY.read()
    return endpoint


def study_with(spec: str = "lab:m", **fields) -> Study:
    return launched_study(agents=spec, **fields)


def collection_with(spec: str = "lab:m", slug: str = "alone") -> Collection:
    return new_collection(slug, title="Models alone", configurations=[{"rounds": 2}], agents=[spec])


def follow_link(study: Study) -> HttpResponse:
    code = LabCode.objects.create(study=study.slug).code
    return Client().get(f"/join/{study.slug}", {"code": code})


def address(endpoint: Endpoint, page: str) -> str:
    return reverse(f"admin:opponents_endpoint_{page}", args=[endpoint.pk])


def test_deletion_names_every_user_and_offers_to_retire(client, boss, endpoint):
    study, collection = study_with(title="Split it"), collection_with()
    JudgingRun.objects.create(collection=collection, judges=["lab:judge"])
    begin(study, people=1)
    text = text_of(client.get(address(endpoint, "delete")))
    assert "can't be deleted" in text and "Retire" in text and "Are you sure" not in text
    for use in (
        "Split it : settings",
        "Split it : version 1",
        "Split it : pilot 1",
        "alone : matches",
        "alone : judges",
    ):
        assert use in text
    client.post(address(endpoint, "delete"), {"post": "yes"})
    assert Endpoint.objects.exists()


def test_deletion_only_counts_what_the_user_may_not_see(client, endpoint):
    study_with(title="Split it")
    own = kit.new_study("mine", title="Mine", agents="lab:m")
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__model="endpoint"))
    give(own, user=user, role=Role.VIEWER, by=None)
    client.force_login(user)
    text = text_of(client.get(address(endpoint, "delete")))
    assert "Mine : settings" in text and "2 uses that you may" in text and "Split it" not in text


def test_unused_endpoint_is_deleted(client, boss, endpoint):
    study_with("script:fair")
    assert "Are you sure" in client.get(address(endpoint, "delete")).content.decode()
    client.post(address(endpoint, "delete"), {"post": "yes"})
    assert not Endpoint.objects.exists()


def test_used_endpoint_keeps_its_name(client, boss, endpoint):
    study_with()
    page = address(endpoint, "change")
    response = client.post(page, form_data(client.get(page), name="elsewhere"))
    assert "Studies or collections use “lab”" in text_of(response)
    assert client.post(page, form_data(client.get(page), title="Ours")).status_code == 302
    assert Endpoint.objects.get().title == "Ours"


def test_retired_endpoint_serves_what_was_launched_and_nothing_new(client, boss, endpoint):
    study, collection = study_with(), collection_with()
    client.post(address(endpoint, "retire"))
    MEMORY.read()
    assert "retired" in client.get("/admin/opponents/endpoint/").content.decode()
    assert follow_link(study).status_code == 302
    kit.launch_again(study, title="Still editable")
    assert "retired" not in text_of(client.get(reverse("admin:collecting_collection_change", args=[collection.pk])))

    with pytest.raises(ValidationError, match="“lab” is retired"):
        kit.launched("new", agents="lab:m")
    with pytest.raises(BadPlan, match="“lab” is retired"):
        collection_with(slug="another")
    with pytest.raises(CannotPilot, match="“lab” is retired"):
        begin(study, people=1, player="lab:m")
    assert '"name": "lab"' not in client.get("/admin/studies/study/add/?game=bargaining").content.decode()


PROBLEMS = {
    "deleted": "“lab” no longer exists",
    "disabled": "“lab” is disabled",
    "without its key": "key of “lab” was deleted",
}


@pytest.mark.parametrize("fault", PROBLEMS)
def test_admission_stops_and_every_page_says_why(client, boss, endpoint, fault):
    study, collection = study_with(), collection_with()
    visitor = Visitor(arrived_participant(study)).walk_to("match")
    if fault == "deleted":
        endpoint.delete()
    elif fault == "disabled":
        Endpoint.objects.update(enabled=False)
    else:
        endpoint.forget_key()
        endpoint.save()
    MEMORY.read()

    response = follow_link(study)
    assert response.status_code == 403 and "not open" in heading_of(response)
    assert "lab" not in text_of(response), "participants learn nothing about models"
    for page in (
        reverse("monitoring:page", args=[study.pk]),
        reverse("admin:studies_study_change", args=[study.pk]),
        reverse("admin:collecting_collection_change", args=[collection.pk]),
    ):
        shown = client.get(page)
        assert shown.status_code == 200 and PROBLEMS[fault] in text_of(shown), page
    for page in (
        reverse("admin:collecting_collection_progress", args=[collection.pk]),
        reverse("judging:page", args=[collection.pk]),
        reverse("exports:page_of_collection", args=[collection.pk]),
        reverse("exports:page", args=[study.pk]),
        reverse("paydesk:page", args=[study.pk]),
        reverse("admin:studies_study_prompts", args=[study.pk]),
        reverse("admin:matches_match_change", args=[visitor.match().pk]),
    ):
        assert client.get(page).status_code == 200, page


def test_fallback_model_keeps_the_study_open(endpoint):
    agents = {"m": {"spec": "lab:m", "settings": {"fallbacks": ["ollama:m"]}}}
    study = launched_study(agents=agents)
    endpoint.delete()
    MEMORY.read()
    assert follow_link(study).status_code == 302
