"""Every operation of the OpenAPI document with every kind of token; new operations are covered automatically."""

from __future__ import annotations

import json
import logging
import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from jsonschema import Draft202012Validator

from api import tokens
from api.models import Scope, Token
from api.site import api
from api.tests.calling import call, issue_token
from audit.models import Record
from config.logs import HideTokens
from exports.models import Dataset
from exports.tests import building
from matches.models import Match
from rights.members import give
from rights.roles import Role
from studies.models import Study

SCHEMA: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"), default=str))
OPERATIONS = [
    (method, path.removeprefix("/api/v1"), operation)
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
]
SCOPES = {"ReadToken": "read", "ExportToken": "export", "ManageToken": "manage"}
SEATS = [entry for entry in OPERATIONS if entry[1].startswith("/seats")]  # opened by a program's secret: test_seats.py
BY_TOKEN = [entry for entry in OPERATIONS if entry[2].get("security") and entry not in SEATS]
NAMES = [f"{method} {path}" for method, path, _operation in BY_TOKEN]


@pytest.fixture
def completed_study(study: Study) -> Study:
    """A study with a participant who completed and a dataset that is ready."""
    building.complete(study, worker="A1WORKER", messages=["hello"])
    ready = Dataset(study=study, state=Dataset.State.READY)
    ready.file.save("ready.zip", ContentFile(b"PK"))
    return study


def address(path: str, study: Study) -> str:
    """Return the path with this study's match or dataset filled in; fail on an unknown parameter."""
    uid = (study.datasets.first() if "/datasets/" in path else Match.objects.first()).uid
    url = path.replace("{slug}", study.slug).replace("{uid}", str(uid))
    assert "{" not in url, f"add the parameters of {path} here"
    return url


def scope_of(operation: dict[str, Any]) -> str:
    ((scheme,),) = [list(requirement) for requirement in operation["security"]]
    return SCOPES[scheme]


def assert_declared(operation: dict[str, Any], response) -> None:
    """Check that the response's status and body match the document."""
    declared = operation["responses"][str(response.status_code)]
    kind, content = next(iter(declared["content"].items()))
    assert response["Content-Type"].startswith(kind)
    if kind == "application/json":
        schema = {**content["schema"], "components": SCHEMA["components"]}
        Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(response.json())


def assert_refused(operation: dict[str, Any], response, status: int) -> None:
    assert response.status_code == status
    assert_declared(operation, response)
    assert len(response.json()["reason"]) > 20


@pytest.mark.parametrize(("method", "path", "operation"), BY_TOKEN, ids=NAMES)
def test_a_token_with_the_scope_gets_the_documented_response(completed_study, owner, method, path, operation):
    secret = issue_token(completed_study, owner, scope_of(operation))
    response = call(address(path, completed_study), secret, method=method)
    assert response.status_code in (200, 202)
    assert_declared(operation, response)


@pytest.mark.parametrize(("method", "path", "operation"), BY_TOKEN, ids=NAMES)
def test_a_missing_or_invalid_token_is_refused_with_the_reason(completed_study, owner, method, path, operation):
    scope = scope_of(operation)
    valid = issue_token(completed_study, owner, scope, name="valid")
    expired = issue_token(completed_study, owner, scope, name="expired", days=-1)
    revoked = issue_token(completed_study, owner, scope, name="revoked")
    tokens.revoke(Token.objects.get(name="revoked"))
    invalid = [None, "nonsense", valid[:-1] + ("A" if valid[-1] != "A" else "B"), f"parley_{'a' * 12}_{'b' * 43}"]
    for secret in (*invalid, expired, revoked):
        response = call(address(path, completed_study), secret, method=method)
        assert_refused(operation, response, 401)
        assert response["WWW-Authenticate"] == "Bearer"
    session = Client()
    session.force_login(owner)
    response = getattr(session, method)(f"/api/v1{address(path, completed_study)}")
    assert_refused(operation, response, 401)
    owner.is_active = False
    owner.save()
    assert_refused(operation, call(address(path, completed_study), valid, method=method), 401)
    assert Study.objects.get().status == "launched"


@pytest.mark.parametrize(("method", "path", "operation"), BY_TOKEN, ids=NAMES)
def test_other_scopes_are_refused(completed_study, owner, method, path, operation):
    for scope in set(Scope.values) - {scope_of(operation)}:
        secret = issue_token(completed_study, owner, scope, name=scope)
        assert_refused(operation, call(address(path, completed_study), secret, method=method), 403)
    assert Study.objects.get().status == "launched"


@pytest.mark.parametrize(("method", "path", "operation"), BY_TOKEN, ids=NAMES)
def test_a_token_allows_no_more_than_its_creator_still_may(completed_study, owner, method, path, operation):
    scope = scope_of(operation)
    secret = issue_token(completed_study, owner, scope)
    completed_study.members.update(role=Role.VIEWER)
    response = call(address(path, completed_study), secret, method=method)
    assert (response.status_code == 200) if scope == "read" else (response.status_code == 403)
    completed_study.members.all().delete()
    assert_refused(operation, call(address(path, completed_study), secret, method=method), 403)


@pytest.mark.parametrize(("method", "path", "operation"), BY_TOKEN, ids=NAMES)
def test_a_study_of_another_token_is_not_found(completed_study, owner, method, path, operation):
    other_study = building.new_study(slug="other", title="Other")
    give(other_study, user=owner, role=Role.OWNER, by=None)
    secret = issue_token(other_study, owner, *Scope.values)
    response = call(address(path, completed_study), secret, method=method)
    if "{slug}" not in path:
        assert "splitting" not in response.content.decode()
        return
    assert_refused(operation, response, 404)
    nowhere = call(address(path, completed_study).replace("splitting", "nowhere"), secret, method=method)
    assert nowhere.content == response.content, "the response does not reveal whether there is such a study"
    borrowed = call(address(path, completed_study).replace("splitting", "other"), secret, method=method)
    if "{uid}" in path:
        assert_refused(operation, borrowed, 404)


@pytest.mark.parametrize(("method", "path", "operation"), [entry for entry in BY_TOKEN if "{uid}" in entry[1]])
def test_unknown_objects_are_not_found(completed_study, owner, method, path, operation):
    secret = issue_token(completed_study, owner, scope_of(operation))
    url = path.replace("{slug}", completed_study.slug)
    assert_refused(operation, call(url.replace("{uid}", str(uuid.uuid4())), secret, method=method), 404)
    assert_refused(operation, call(url.replace("{uid}", "nonsense"), secret, method=method), 422)


def test_no_get_changes_state(completed_study, owner):
    """Operations that change something accept only their own HTTP method."""
    secret = issue_token(completed_study, owner, *Scope.values)
    for path in ("/studies/splitting/pause", "/studies/splitting/resume"):
        assert call(path, secret).status_code == 405
    assert Study.objects.get().status == "launched"


def test_unknown_urls_are_refused_as_json(db):
    response = call("/nonsense")
    assert response.status_code == 404 and "openapi.json" in response.json()["reason"]
    assert Client().get("/api/").json()["reason"]


def test_the_document_is_served_and_lists_every_operation(db):
    served = Client().get(reverse("api:openapi-json")).json()
    assert served["paths"].keys() == SCHEMA["paths"].keys()
    for _method, path, operation in OPERATIONS:
        assert operation["summary"] and operation["description"], path


def test_calls_are_counted_per_token(study, owner):
    busy, idle = issue_token(study, owner, "read", name="many"), issue_token(study, owner, "read", name="few")
    with override_settings(API_CALLS_PER_MINUTE=3):
        responses = [call("/studies", busy) for _i in range(8)]  # they fall within at most two clock minutes
        assert [response.status_code for response in responses].count(429) >= 2
        refused = next(response for response in responses if response.status_code == 429)
        assert 0 < int(refused["Retry-After"]) <= 60
        assert_declared(SCHEMA["paths"]["/api/v1/studies"]["get"], refused)
        assert call("/studies", idle).status_code == 200


def test_last_use_is_stored_but_not_the_secret(study, owner):
    before = timezone.now()
    secret = issue_token(study, owner, "read")
    token = Token.objects.get()
    assert token.last_used_at is None
    hidden = secret.split("_", 2)[2]  # may itself contain underscores
    assert hidden not in json.dumps(Token.objects.values().get(), default=str)
    call("/studies", secret)
    token.refresh_from_db()
    assert before <= token.last_used_at <= timezone.now()


def test_logs_contain_no_tokens(study, owner):
    secret = issue_token(study, owner, "read")
    for line in (f"Unexpected auth - 'Token {secret}'", "GET /api/v1/results/eyJhbGciOi.xyz-_z 200"):
        record = logging.LogRecord("x", logging.INFO, "", 0, line, (), None)
        HideTokens().filter(record)
        assert secret[-43:] not in record.getMessage() and "eyJ" not in record.getMessage()


@pytest.mark.parametrize("role", ["viewer", "editor", ""])
def test_only_owners_create_tokens(client, study, owner, role):
    study.members.update(role=role) if role else study.members.all().delete()
    client.force_login(owner)
    assert study.title not in client.get(reverse("admin:api_token_add")).content.decode()
    page = client.post(
        reverse("admin:api_token_add"), {"study": study.pk, "name": "robot", "scopes": ["read", "manage"], "days": "7"}
    )
    assert page.status_code == 200 and "Select a valid choice" in page.content.decode()
    assert not Token.objects.exists()


def test_tokens_are_shown_once_and_revoked_in_the_admin(client, study, owner):
    client.force_login(owner)
    form_data = {"study": study.pk, "name": "robot", "scopes": ["read"], "days": "7"}
    page = client.post(reverse("admin:api_token_add"), form_data)
    (secret,) = {word for word in page.content.decode().split('"') if word.startswith("parley_")}
    assert "no-store" in page["Cache-Control"]
    assert call("/studies", secret).json()["studies"][0]["slug"] == "splitting"
    again = client.post(reverse("admin:api_token_add"), form_data)
    assert Token.objects.count() == 1 and "parley_" + Token.objects.get().key not in again.content.decode()

    token = Token.objects.get()
    assert 6.9 < (token.expires_at - timezone.now()).total_seconds() / 86400 <= 7
    for address in (reverse("admin:api_token_changelist"), reverse("admin:api_token_change", args=[token.pk])):
        html = client.get(address).content.decode()
        assert "robot" in html and secret[-43:] not in html and token.digest not in html
    revoke = reverse("admin:api_token_revoke", args=[token.pk])
    assert client.get(revoke).status_code == 405
    assert call("/studies", secret).status_code == 200
    for _twice in range(2):
        client.post(revoke)
    assert call("/studies", secret).status_code == 401
    records = Record.objects.filter(kind="api.token").order_by("pk")
    assert [(record.action, record.by, record.title, record.of_key) for record in records] == [
        ("made", "researcher", "robot", str(study.pk)),
        ("revoked", "researcher", "robot", str(study.pk)),
    ]
    assert secret[-43:] not in str(list(Record.objects.values()))
    assert client.post(reverse("admin:api_token_delete", args=[token.pk]), {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("role", ["viewer", "editor", ""])
def test_only_owners_see_a_token(client, study, owner, role):
    issue_token(study, owner, "read")
    study.members.update(role=role) if role else study.members.all().delete()
    client.force_login(owner)
    assert client.post(reverse("admin:api_token_revoke", args=[Token.objects.get().pk])).status_code == 404
    assert Token.objects.get().revoked_at is None
