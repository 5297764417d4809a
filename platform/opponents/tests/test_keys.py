"""A key goes in and never comes out: not by pages, forms, logs, history, errors, dumps or `repr`."""

from __future__ import annotations

import io
import json
import logging

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import connection
from django.test import Client

from llm_agents.endpoints import endpoint as endpoint_called
from llm_agents.errors import NotConfigured
from opponents import keys
from opponents.endpoints import MEMORY, kept
from opponents.models import Endpoint
from opponents.tests.secret import SECRET

pytestmark = pytest.mark.django_db

LIST = "/admin/opponents/endpoint/"
ADD = f"{LIST}add/"


@pytest.fixture
def boss(client: Client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def keyed(**changes) -> Endpoint:
    place = Endpoint(**{"name": "ours", "title": "Ours", "base_url": "https://models.example/v1", **changes})
    place.keep_key(SECRET)
    place.save()
    return place


def typed(**changes) -> dict[str, str]:
    """What a browser posts from the form, with some fields typed over."""
    form = {
        "name": "ours",
        "title": "Ours",
        "enabled": "on",
        "protocol": "openai",
        "base_url": "https://models.example/v1",
        "new_key": "",
        "key_variable": "",
        "structured": "none",
        "concurrency": "8",
        "per_minute": "",
        "prices": "{}",
        "prices_as_of": "",
    }
    return {name: value for name, value in {**form, **changes}.items() if value is not None}


def test_the_database_holds_it_encrypted_and_every_time_anew():
    first, second = keyed(), keyed(name="theirs")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM opponents_endpoint")
        assert SECRET not in repr(cursor.fetchall())
    assert first.sealed_key != second.sealed_key
    assert keys.unseal(first.sealed_key) == keys.unseal(second.sealed_key) == SECRET


def test_a_dump_of_the_database_does_not_say_it():
    keyed()
    out = io.StringIO()
    call_command("dumpdata", "opponents", stdout=out)
    assert "ours" in out.getvalue() and SECRET not in out.getvalue()


def test_neither_does_a_repr():
    place = keyed()
    assert SECRET not in repr(place) + repr(vars(place)) + repr(kept(place)) + str(kept(place))
    assert kept(place).secret() == SECRET


def test_whoever_has_another_secret_key_has_no_key_and_is_told(settings):
    place = keyed()
    settings.SECRET_KEY = "another"
    assert place.key_state == Endpoint.KeyState.UNREADABLE
    MEMORY.read()
    with pytest.raises(NotConfigured, match="Enter it again"):
        endpoint_called("ours").secret()


def test_a_secret_key_can_be_changed_while_the_old_one_is_a_fallback(settings):
    place = keyed()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    assert kept(place).secret() == SECRET


def test_what_was_tampered_with_is_no_key():
    place = keyed()
    place.sealed_key = place.sealed_key[:-8] + "AAAAAAA="
    assert place.key_state == Endpoint.KeyState.UNREADABLE


def test_no_page_and_no_log_says_it_from_typing_to_forgetting(client: Client, boss: User, caplog):
    caplog.set_level(logging.DEBUG)
    bodies = []

    def see(response) -> None:
        bodies.append(response.content + repr(response.headers).encode() + repr(client.cookies).encode())

    see(client.post(ADD, typed(new_key=SECRET, name="Not a slug")))
    see(client.post(ADD, typed(new_key=SECRET), follow=True))
    place = Endpoint.objects.get()
    assert keys.unseal(place.sealed_key) == SECRET
    page = f"{LIST}{place.pk}/change/"
    see(client.post(page, typed(new_key=SECRET, concurrency="0"), follow=True))
    see(client.post(page, typed(new_key=SECRET, concurrency="9"), follow=True))
    for address in (LIST, page, f"{LIST}{place.pk}/history/", f"{LIST}{place.pk}/delete/", "/admin/", ADD):
        see(client.get(address))
    assert b"a key is kept" in client.get(page).content
    assert all(SECRET.encode() not in body and place.sealed_key.encode() not in body for body in bodies)
    assert SECRET not in caplog.text
    assert SECRET not in json.dumps(list(LogEntry.objects.values("change_message", "object_repr")))


def test_saving_without_a_new_key_leaves_it_and_forgetting_drops_it(client: Client, boss: User):
    place = keyed()
    page = f"{LIST}{place.pk}/change/"
    client.post(page, typed(title="Renamed"))
    place.refresh_from_db()
    assert (place.title, keys.unseal(place.sealed_key)) == ("Renamed", SECRET)
    client.post(page, typed(forget_key="on"))
    place.refresh_from_db()
    assert place.key_state == Endpoint.KeyState.NONE


@pytest.mark.parametrize("changes", [{"base_url": "https://elsewhere.example/v1"}, {"protocol": "anthropic"}])
def test_a_kept_key_is_not_sent_to_another_address_by_whoever_may_edit(client: Client, boss: User, changes):
    place = keyed()
    response = client.post(f"{LIST}{place.pk}/change/", typed(**changes))
    assert "new_key" in response.context["adminform"].form.errors
    place.refresh_from_db()
    assert (place.base_url, place.protocol) == ("https://models.example/v1", "openai")
    client.post(f"{LIST}{place.pk}/change/", typed(**changes, new_key="another-key"))
    place.refresh_from_db()
    assert keys.unseal(place.sealed_key) == "another-key"


@pytest.mark.parametrize(
    "field, value",
    [
        ("base_url", f"https://me:{SECRET}@models.example/v1"),
        ("base_url", f"https://a.example/?key={SECRET}"),
        ("key_variable", SECRET),
        ("new_key", SECRET + " and more"),
    ],
)
def test_a_key_typed_where_none_belongs_is_not_even_shown_to_who_typed_it(client: Client, boss: User, field, value):
    response = client.post(ADD, typed(**{field: value}))
    assert field in response.context["adminform"].form.errors
    assert SECRET.encode() not in response.content
    assert not Endpoint.objects.exists()


def test_who_may_only_look_sees_that_there_is_one_and_nothing_else(client: Client):
    place = keyed()
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_endpoint"))
    client.force_login(user)
    page = client.get(f"{LIST}{place.pk}/change/").content
    assert b"a key is kept" in page and b"Ours" in page
    assert SECRET.encode() not in page and place.sealed_key.encode() not in page and b"new_key" not in page


def test_a_variables_state_is_shown_and_not_its_value(client: Client, boss: User, monkeypatch):
    Endpoint.objects.create(name="ours", base_url="https://models.example/v1", key_variable="OURS_API_KEY")
    assert b"from environment variable OURS_API_KEY (not set)" in client.get(LIST).content
    monkeypatch.setenv("OURS_API_KEY", SECRET)
    page = client.get(LIST).content
    assert b"from environment variable OURS_API_KEY (set)" in page and SECRET.encode() not in page


def test_no_list_can_be_searched_by_it(client: Client, boss: User):
    keyed()
    assert client.get(LIST, {"enabled__exact": "1"}).status_code == 200
    assert client.get(LIST, {"sealed_key__startswith": "gAAAAA"}).status_code == 400
