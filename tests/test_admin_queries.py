"""Unexpected queries and keys in the admin's URLs reveal nothing and cause no server error."""

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

from tests.test_rights import SampleData, admin_urls

pytestmark = pytest.mark.django_db

GUESSES = ("regex", "startswith", "contains", "gt", "lt", "in", "isnull", "exact", "length__gt")
ODD_VALUES = ("x", "\x00", "9" * 30, "studies.study:" + "9" * 30)
ODD_KEYS = ("9" * 30, "%00", "%EF%BC%90")
DATE_PARTS = ("year", "month", "day")


@pytest.fixture
def sample() -> SampleData:
    return SampleData()


def _client(user: Any) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def _list_url(page: ModelAdmin[Any]) -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")


def _declared_parameters(page: ModelAdmin[Any]) -> set[str]:
    """Return the query parameters of the list's own filters."""
    names = set()
    for list_filter in page.list_filter:
        if isinstance(list_filter, type) and issubclass(list_filter, SimpleListFilter):
            names.add(list_filter.parameter_name)
        else:
            field = list_filter if isinstance(list_filter, str) else list_filter[0]
            names |= {field, f"{field}__exact", f"{field}__isnull"}
    if page.date_hierarchy:
        names |= {f"{page.date_hierarchy}__{part}" for part in DATE_PARTS}
    return names


def _lookups(page: ModelAdmin[Any]) -> Iterator[str]:
    """Yield every lookup that could reveal a field of the list's rows or of the rows to which they refer."""
    for field in page.model._meta.get_fields():
        yield from (f"{field.name}__{lookup}" for lookup in GUESSES)
        yield field.name
        if field.is_relation and field.related_model:
            for related_field in field.related_model._meta.get_fields():
                if isinstance(related_field, Field):
                    yield f"{field.name}__{related_field.name}__regex"


def test_lists_accept_only_declared_filters(sample: SampleData) -> None:
    client, allowed = _client(sample.user["superuser"]), []
    for page in admin.site._registry.values():
        hidden = sorted(set(_lookups(page)) - _declared_parameters(page))
        request = RequestFactory().get("/")
        allowed += [f"{page.opts.label}: {name}" for name in hidden if page.lookup_allowed(name, "1", request)]
        assert client.get(_list_url(page), {hidden[0]: "1"}).status_code == 400, page.opts.label
    assert allowed == []


def test_viewer_cannot_guess_a_participants_link(sample: SampleData) -> None:
    """A lookup on the token must be refused: it would reveal the token letter by letter."""
    client = _client(sample.user["viewer"])
    token = sample.study.versions.get().cells.get().placements.get().enrolment.token
    for model, lookup in (
        ("participants_enrolment", "token__regex"),
        ("participants_enrolment", "return_to__startswith"),
        ("studies_placement", "enrolment__token__startswith"),
        ("participants_problemreport", "enrolment__token__regex"),
    ):
        matching = client.get(reverse(f"admin:{model}_changelist"), {lookup: f"{token[:3]}"})
        not_matching = client.get(reverse(f"admin:{model}_changelist"), {lookup: "###"})
        assert (matching.status_code, not_matching.status_code) == (400, 400), lookup


@pytest.mark.slow
def test_offered_filters_work(sample: SampleData) -> None:
    client = _client(sample.user["superuser"])
    for page in admin.site._registry.values():
        changelist = client.get(_list_url(page)).context["cl"]
        for list_filter in changelist.filter_specs:
            for choice in list_filter.choices(changelist):
                if "query_string" in choice:
                    assert client.get(_list_url(page) + choice["query_string"]).status_code == 200, choice
        if page.date_hierarchy:
            date_lookups = {f"{page.date_hierarchy}__{part}": 12 for part in DATE_PARTS}
            assert client.get(_list_url(page), date_lookups).status_code == 200


@pytest.mark.slow
def test_odd_list_queries_cause_no_server_error(sample: SampleData) -> None:
    client, failed = _client(sample.user["superuser"]), []
    for page in admin.site._registry.values():
        for name in sorted({*_declared_parameters(page), "q", "p", "o", "_to_field"}):
            for value in ODD_VALUES:
                if client.get(_list_url(page), {name: value}).status_code >= 500:
                    failed.append(f"{page.opts.label}: {name}={value!r}")
    assert failed == []


@pytest.mark.slow
def test_odd_keys_in_urls_cause_no_server_error(sample: SampleData) -> None:
    client, failed = _client(sample.user["superuser"]), []
    for url in admin_urls():
        for key in ODD_KEYS if url.names_object else ():
            path = "/" + re.sub(r"<[^>]+>", key, url.route).replace("~", "")
            for method in (client.get, client.post):
                if method(path).status_code >= 500:
                    failed.append(f"{method.__name__} {path}")
        odd_query = {"study": "9" * 30, "game": "\x00"}
        if url.name.endswith("_add") and client.get(f"/{url.route}", odd_query).status_code >= 500:
            failed.append(url.route)
    assert failed == []
