"""What views of other rooms need that show something of one study: the rights and records of its own admin."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase

from rights.admin import PartAdmin
from rights.roles import Role
from studies.models import Study

View = Callable[..., HttpResponseBase]


def whole(text: str | None) -> int:
    """Return the whole number that a request's parameter is, small enough to be a key; -1 if it is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else -1


def study_admin() -> PartAdmin:
    """Return the study's own admin, which decides who may see and do what, so that all pages agree."""
    return cast(PartAdmin, admin.site.get_model_admin(Study))


def of_study(*, role: Role = Role.VIEWER) -> Callable[[View], View]:
    """Decorator: pass the view the study whose `pk` is in its URL, if the user has this role in it."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponseBase:
            return view(request, study_admin().seen(request, str(pk), role=role), **kwargs)

        return admin.site.admin_view(wrapper)

    return decorate
