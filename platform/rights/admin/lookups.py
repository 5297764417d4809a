"""Restrict list filters to those that a page declares, whatever the URL contains."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest

_FIELD_LOOKUPS = ("", "__exact", "__isnull")
_DATE_LOOKUPS = ("__year", "__month", "__day")


class DeclaredLookups:
    """Goes before Django's own classes on every admin page.

    Django allows lookups on all of a row's fields, so a viewer could find out a participant's link letter by
    letter (`?token__regex=…`). Here, only `list_filter` and `date_hierarchy` filter.
    """

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        page: Any = self
        if page.date_hierarchy and lookup in {f"{page.date_hierarchy}{suffix}" for suffix in _DATE_LOOKUPS}:
            return re.fullmatch("[0-9]{1,4}", str(value)) is not None
        allowed = set()
        for list_filter in page.get_list_filter(request):
            if isinstance(list_filter, type) and issubclass(list_filter, SimpleListFilter):
                allowed.add(list_filter.parameter_name)
            else:
                field = list_filter if isinstance(list_filter, str) else list_filter[0]
                allowed |= {f"{field}{ending}" for ending in _FIELD_LOOKUPS}
        return lookup in allowed


class ByKey(SimpleListFilter):
    """Filters by the key of the row that `lookup` leads to; ignores invalid keys."""

    lookup: str

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        key = self.value() or ""
        return queryset.filter(**{self.lookup: key}) if re.fullmatch("[0-9]{1,18}", key) else queryset
