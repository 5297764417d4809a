"""Unexpected queries and keys in the admin's URLs: they reveal nothing and cause no server error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Field
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.test_rights import House, addresses

pytestmark = pytest.mark.django_db

GUESSES = ("regex", "startswith", "contains", "gt", "lt", "in", "isnull", "exact", "length__gt")
ODD_VALUES = ("x", "\x00", "9" * 30, "studies.study:" + "9" * 30)
ODD_KEYS = ("9" * 30, "%00", "%EF%BC%90")
DATE_PARTS = ("year", "month", "day")


@pytest.fixture
def house() -> House:
    return House()


def _client(user: Any) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def _list_of(page: ModelAdmin[Any]) -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")


def _declared(page: ModelAdmin[Any]) -> set[str]:
    """Return the parameters that the list's own filters send."""
    names = set()
    for one in page.list_filter:
        if isinstance(one, type) and issubclass(one, SimpleListFilter):
            names.add(one.parameter_name)
        else:
            field = one if isinstance(one, str) else one[0]
            names |= {field, f"{field}__exact", f"{field}__isnull"}
    if page.date_hierarchy:
        names |= {f"{page.date_hierarchy}__{part}" for part in DATE_PARTS}
    return names


def _lookups(page: ModelAdmin[Any]) -> Iterator[str]:
    """Yield every field of the list's rows, and of rows these refer to, with every lookup that could reveal it."""
    for field in page.model._meta.get_fields():
        yield from (f"{field.name}__{guess}" for guess in GUESSES)
        yield field.name
        if field.is_relation and field.related_model:
            for other in field.related_model._meta.get_fields():
                if isinstance(other, Field):
                    yield f"{field.name}__{other.name}__regex"


def test_lists_filter_only_by_what_they_declare(house: House) -> None:
    client, told = _client(house.user["superuser"]), []
    for page in admin.site._registry.values():
        hidden = sorted(set(_lookups(page)) - _declared(page))
        request = RequestFactory().get("/")
        told += [f"{page.opts.label}: {name}" for name in hidden if page.lookup_allowed(name, "1", request)]
        assert client.get(_list_of(page), {hidden[0]: "1"}).status_code == 400, page.opts.label
    assert told == []


def test_a_viewer_cannot_guess_a_participants_link(house: House) -> None:
    """Guess letter by letter whether the list has a matching row."""
    client = _client(house.user["viewer"])
    token = house.study.versions.get().cells.get().placements.get().enrolment.token
    for list_of, lookup in (
        ("participants_enrolment", "token__regex"),
        ("participants_enrolment", "return_to__startswith"),
        ("studies_placement", "enrolment__token__startswith"),
        ("participants_problemreport", "enrolment__token__regex"),
    ):
        right = client.get(reverse(f"admin:{list_of}_changelist"), {lookup: f"{token[:3]}"})
        wrong = client.get(reverse(f"admin:{list_of}_changelist"), {lookup: "###"})
        assert (right.status_code, wrong.status_code) == (400, 400), lookup


def test_offered_filters_work(house: House) -> None:
    client = _client(house.user["superuser"])
    for page in admin.site._registry.values():
        shown = client.get(_list_of(page)).context["cl"]
        for one in shown.filter_specs:
            for choice in one.choices(shown):
                if "query_string" in choice:
                    assert client.get(_list_of(page) + choice["query_string"]).status_code == 200, choice
        if page.date_hierarchy:
            dated = {f"{page.date_hierarchy}__{part}": 12 for part in DATE_PARTS}
            assert client.get(_list_of(page), dated).status_code == 200


@pytest.mark.slow
def test_odd_list_queries_cause_no_server_error(house: House) -> None:
    client, failed = _client(house.user["superuser"]), []
    for page in admin.site._registry.values():
        for name in sorted({*_declared(page), "q", "p", "o", "_to_field"}):
            for value in ODD_VALUES:
                if client.get(_list_of(page), {name: value}).status_code >= 500:
                    failed.append(f"{page.opts.label}: {name}={value!r}")
    assert failed == []


@pytest.mark.slow
def test_odd_keys_in_urls_cause_no_server_error(house: House) -> None:
    client, failed = _client(house.user["superuser"]), []
    for address in addresses():
        for key in ODD_KEYS if address.about else ():
            path = "/" + re.sub(r"<[^>]+>", key, address.route).replace("~", "")
            for method in (client.get, client.post):
                if method(path).status_code >= 500:
                    failed.append(f"{method.__name__} {path}")
        odd = {"study": "9" * 30, "game": "\x00"}
        if address.name.endswith("_add") and client.get(f"/{address.route}", odd).status_code >= 500:
            failed.append(address.route)
    assert failed == []
