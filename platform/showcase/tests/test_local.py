"""Researchers' pages and the sign-in with one click open only on the computer that runs the demo."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Record

pytestmark = pytest.mark.django_db

SIGN_IN = "/demo/sign-in/"
HERE: dict[str, Any] = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8000"}
PHONE: dict[str, Any] = {"REMOTE_ADDR": "192.168.1.7", "HTTP_HOST": "192.168.1.20:8000"}
NOT_HERE = {
    "a phone": PHONE,
    "a phone that forges the host": {**PHONE, "HTTP_HOST": "127.0.0.1:8000"},
    "a phone that forges its address": {**PHONE, "HTTP_HOST": "localhost", "HTTP_X_FORWARDED_FOR": "127.0.0.1"},
    "a phone that claims to be a proxy": {**PHONE, "HTTP_X_REAL_IP": "127.0.0.1", "HTTP_FORWARDED": "for=127.0.0.1"},
    "a visitor through a proxy on this computer": {**HERE, "HTTP_X_FORWARDED_FOR": "203.0.113.9"},
    "a visitor through a proxy that hides them": {**HERE, "HTTP_VIA": "1.1 tunnel"},
    "this computer at its address in the network": {**HERE, "HTTP_HOST": "192.168.1.20:8000"},
    "a connection without an address": {**HERE, "REMOTE_ADDR": ""},
}


def is_signed_in(client: Client) -> bool:
    return client.get("/admin/", **HERE).status_code == 200


@pytest.mark.parametrize(
    "here",
    [
        HERE,
        {**HERE, "HTTP_HOST": "localhost:8000"},
        {**HERE, "REMOTE_ADDR": "::ffff:127.0.0.1"},
        {"REMOTE_ADDR": "::1", "HTTP_HOST": "[::1]:8000"},
    ],
)
def test_one_click_signs_in_on_this_computer(demo, client: Client, here: dict[str, Any]):
    response = client.post(SIGN_IN, {"next": "/admin/studies/study/add/"}, **here)
    assert (response.status_code, response["Location"]) == (302, "/admin/studies/study/add/")
    assert is_signed_in(client)
    assert Record.objects.filter(action="signed_in", by="admin").count() == 1


@pytest.mark.every_case
@pytest.mark.parametrize("visitor", NOT_HERE.values(), ids=NOT_HERE.keys())
def test_elsewhere_it_is_refused_with_a_reason(shared, client: Client, visitor: dict[str, Any]):
    response = client.post(SIGN_IN, {"next": "/admin/"}, **visitor)
    assert response.status_code == 403 and response.context["reason"]
    assert not is_signed_in(client)


def test_an_unknown_host_is_refused(shared, client: Client):
    assert client.post(SIGN_IN, **{**HERE, "HTTP_HOST": "evil.example"}).status_code == 400


def test_it_takes_a_form_of_our_own_page(demo):
    client = Client(enforce_csrf_checks=True)
    assert client.get(SIGN_IN, **HERE).status_code == 405
    assert client.post(SIGN_IN, **HERE).status_code == 403
    token = client.get("/", **HERE).context["csrf_token"]
    foreign = {"HTTP_ORIGIN": "http://evil.example", **HERE}
    assert client.post(SIGN_IN, {"csrfmiddlewaretoken": str(token)}, **foreign).status_code == 403
    assert not is_signed_in(client)
    assert client.post(SIGN_IN, {"csrfmiddlewaretoken": str(token)}, **HERE).status_code == 302
    assert is_signed_in(client)


@pytest.mark.parametrize(
    "address", ["https://evil.example/admin/", "//evil.example/admin/", "/admin//evil", "/join/", ""]
)
def test_it_leads_only_into_the_admin(demo, client: Client, address: str):
    location = client.post(SIGN_IN, {"next": address}, **HERE)["Location"]
    assert location.startswith("/admin/") and "://" not in location


def test_a_demo_without_its_administrator_refuses(demo, client: Client, django_user_model):
    django_user_model.objects.update(is_active=False)
    assert client.post(SIGN_IN, **HERE).status_code == 403


def test_without_the_demo_its_pages_do_not_exist(settings, client: Client):
    settings.DEMO = False
    uid = "00000000-0000-4000-8000-000000000000"
    for address in (SIGN_IN, "/demo/watch/bargaining/"):
        assert client.post(address, **HERE).status_code == 404
    for address in ("/demo/friend/bargaining/", "/demo/results/bargaining/", f"/demo/match/{uid}/"):
        assert client.get(address, **HERE).status_code == 404
    assert "Play now" not in client.get("/", **HERE).content.decode()


@pytest.mark.parametrize("address", ["/admin/", "/admin/login/", "/api/v1/studies/", "/admin/exports/studies/1/"])
def test_a_shared_demo_closes_researchers_pages_to_phones(shared, client: Client, django_user_model, address: str):
    client.force_login(django_user_model.objects.get(username="admin"))
    response = client.get(address, **PHONE)
    assert response.status_code == 403 and "only on the computer" in response.content.decode()


def test_a_shared_demo_lets_phones_play(shared, client: Client):
    home = client.get("/", **PHONE).content.decode()
    assert "Play now" in home and SIGN_IN not in home and reverse("admin:index") not in home
    assert client.post("/join/demo-bargaining/", {"role": "alice"}, **PHONE).status_code == 302
    assert client.get("/demo/friend/bargaining/", **PHONE).status_code == 200


def test_a_server_without_the_demo_is_open_to_its_researchers_everywhere(settings, client: Client):
    settings.DEMO, settings.ALLOWED_HOSTS = False, ["parley.example.org"]
    response = client.get("/admin/login/", REMOTE_ADDR="203.0.113.9", HTTP_HOST="parley.example.org")
    assert response.status_code == 200
