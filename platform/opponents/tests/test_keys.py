"""Keys can be entered but never read: not in pages, forms, logs, history, errors, dumps or `repr`."""

from __future__ import annotations

import io
import json
import logging

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db import connection
from django.test import Client

from llm_agents.endpoints import endpoint as endpoint_called
from llm_agents.errors import NotConfigured
from opponents import keys
from opponents.endpoints import MEMORY, stored_endpoint
from opponents.models import Endpoint
from opponents.tests.secret import SECRET
from studies.tests.kit import staff

pytestmark = pytest.mark.django_db

LIST = "/admin/opponents/endpoint/"
ADD = f"{LIST}add/"


def endpoint_with_key(**changes) -> Endpoint:
    endpoint = Endpoint(**{"name": "ours", "title": "Ours", "base_url": "https://models.example/v1", **changes})
    endpoint.keep_key(SECRET)
    endpoint.save()
    return endpoint


def typed(**changes) -> dict[str, str]:
    """Return the form data as a browser would post it, with some fields changed."""
    form = {
        "name": "ours", "title": "Ours", "enabled": "on", "protocol": "openai",
        "base_url": "https://models.example/v1", "new_key": "", "key_variable": "", "structured": "none",
        "concurrency": "8", "per_minute": "", "prices": "{}", "prices_as_of": "",
    }  # fmt: skip
    return {name: value for name, value in {**form, **changes}.items() if value is not None}


def test_keys_are_encrypted_with_a_fresh_nonce():
    first, second = endpoint_with_key(), endpoint_with_key(name="theirs")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM opponents_endpoint")
        assert SECRET not in repr(cursor.fetchall())
    dump = io.StringIO()
    call_command("dumpdata", "opponents", stdout=dump)
    assert "ours" in dump.getvalue() and SECRET not in dump.getvalue()
    assert first.sealed_key != second.sealed_key
    assert keys.unseal(first.sealed_key) == keys.unseal(second.sealed_key) == SECRET


def test_key_is_not_in_a_repr():
    endpoint = endpoint_with_key()
    stored = stored_endpoint(endpoint)
    assert SECRET not in repr(endpoint) + repr(vars(endpoint)) + repr(stored) + str(stored)
    assert stored.secret() == SECRET


def test_key_is_unreadable_if_tampered_or_with_another_secret_key_which_can_be_rotated(settings):
    endpoint = endpoint_with_key()
    tampered = endpoint_with_key(name="tampered")
    tampered.sealed_key = tampered.sealed_key[:-8] + "AAAAAAA="
    assert tampered.key_state == Endpoint.KeyState.UNREADABLE
    usual, settings.SECRET_KEY = settings.SECRET_KEY, "another"
    assert endpoint.key_state == Endpoint.KeyState.UNREADABLE
    MEMORY.read()
    with pytest.raises(NotConfigured, match="Enter it again"):
        endpoint_called("ours").secret()
    settings.SECRET_KEY_FALLBACKS = [usual]
    assert stored_endpoint(endpoint).secret() == SECRET


def test_key_is_on_no_page_and_in_no_log(client: Client, boss, caplog):
    caplog.set_level(logging.DEBUG)
    bodies = []

    def keep(response) -> None:
        bodies.append(response.content + repr(response.headers).encode() + repr(client.cookies).encode())

    keep(client.post(ADD, typed(new_key=SECRET, name="Not a slug")))
    keep(client.post(ADD, typed(new_key=SECRET), follow=True))
    endpoint = Endpoint.objects.get()
    assert keys.unseal(endpoint.sealed_key) == SECRET
    page = f"{LIST}{endpoint.pk}/change/"
    keep(client.post(page, typed(new_key=SECRET, concurrency="0"), follow=True))
    keep(client.post(page, typed(new_key=SECRET, concurrency="9"), follow=True))
    for address in (LIST, page, f"{LIST}{endpoint.pk}/history/", f"{LIST}{endpoint.pk}/delete/", "/admin/", ADD):
        keep(client.get(address))
    assert b"a key is stored" in client.get(page).content
    assert all(SECRET.encode() not in body and endpoint.sealed_key.encode() not in body for body in bodies)
    assert SECRET not in caplog.text
    assert SECRET not in json.dumps(list(LogEntry.objects.values("change_message", "object_repr")))


def test_empty_key_field_keeps_the_key(client: Client, boss):
    endpoint = endpoint_with_key()
    page = f"{LIST}{endpoint.pk}/change/"
    client.post(page, typed(title="Renamed"))
    endpoint.refresh_from_db()
    assert (endpoint.title, keys.unseal(endpoint.sealed_key)) == ("Renamed", SECRET)
    client.post(page, typed(forget_key="on"))
    endpoint.refresh_from_db()
    assert endpoint.key_state == Endpoint.KeyState.REMOVED


@pytest.mark.parametrize("changes", [{"base_url": "https://elsewhere.example/v1"}, {"protocol": "anthropic"}])
def test_key_is_not_sent_to_a_changed_address(client: Client, boss, changes):
    endpoint = endpoint_with_key()
    response = client.post(f"{LIST}{endpoint.pk}/change/", typed(**changes))
    assert "new_key" in response.context["adminform"].form.errors
    endpoint.refresh_from_db()
    assert (endpoint.base_url, endpoint.protocol) == ("https://models.example/v1", "openai")
    client.post(f"{LIST}{endpoint.pk}/change/", typed(**changes, new_key="another-key"))
    endpoint.refresh_from_db()
    assert keys.unseal(endpoint.sealed_key) == "another-key"


@pytest.mark.parametrize(
    "field, value",
    [
        ("base_url", f"https://me:{SECRET}@models.example/v1"),
        ("base_url", f"https://a.example/?key={SECRET}"),
        ("key_variable", SECRET),
        ("new_key", SECRET + " and more"),
    ],
)
def test_key_in_the_wrong_field_is_not_shown(client: Client, boss, field, value):
    response = client.post(ADD, typed(**{field: value}))
    assert field in response.context["adminform"].form.errors
    assert SECRET.encode() not in response.content
    assert not Endpoint.objects.exists()


def test_viewers_see_only_that_a_key_exists(client: Client):
    endpoint = endpoint_with_key()
    staff(client, may=["view_endpoint"])
    page = client.get(f"{LIST}{endpoint.pk}/change/").content
    assert b"a key is stored" in page and b"Ours" in page
    assert SECRET.encode() not in page and endpoint.sealed_key.encode() not in page and b"new_key" not in page


def test_environment_variable_is_shown_without_its_value(client: Client, boss, monkeypatch):
    Endpoint.objects.create(name="ours", base_url="https://models.example/v1", key_variable="OURS_API_KEY")
    assert b"from environment variable OURS_API_KEY (not set)" in client.get(LIST).content
    monkeypatch.setenv("OURS_API_KEY", SECRET)
    page = client.get(LIST).content
    assert b"from environment variable OURS_API_KEY (set)" in page and SECRET.encode() not in page


def test_lists_cannot_be_searched_by_key(client: Client, boss):
    endpoint_with_key()
    assert client.get(LIST, {"enabled__exact": "1"}).status_code == 200
    assert client.get(LIST, {"sealed_key__startswith": "gAAAAA"}).status_code == 400


@pytest.mark.parametrize(
    ("entered", "address"),
    [
        ("api.mistral.ai/v1", "https://api.mistral.ai/v1"),
        ("127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        (" localhost:8000 ", "http://localhost:8000"),
        ("http://models.example", "http://models.example"),
    ],
)
def test_address_without_its_beginning_is_completed(client: Client, boss, entered, address):
    response = client.post(ADD, typed(base_url=entered))
    assert response.status_code == 302, response.context["adminform"].form.errors
    assert Endpoint.objects.get().base_url == address


@pytest.mark.parametrize("entered", [SECRET, f"sk-{SECRET}.abc", f"me:{SECRET}@models.example"])
def test_what_may_be_a_key_is_not_taken_for_an_address(client: Client, boss, entered):
    response = client.post(ADD, typed(base_url=entered))
    assert "base_url" in response.context["adminform"].form.errors
    assert SECRET not in response.content.decode()
