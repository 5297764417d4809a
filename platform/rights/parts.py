"""What users may see and do, according to their roles in studies and collections.

Each app declares which study or collection its models' rows belong to (`belongs`). Rows that belong to none
are for superusers only; rows of studies and collections without a membership are invisible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from rights.roles import Role

Condition = Callable[[QuerySet[Any]], Q]
"""Returns, for a queryset of studies or collections, the condition that a row belongs to one of them."""


@dataclass(frozen=True)
class _Route:
    """A route from rows to rows of `parent`: a lookup whose value is their field `at`, or a function."""

    parent: type[Model]
    by: str | Condition
    at: str

    def condition(self, parents: QuerySet[Any]) -> Q:
        return self.by(parents.values("pk")) if callable(self.by) else Q(**{f"{self.by}__in": parents.values(self.at)})


_routes: dict[type[Model], list[_Route]] = {}


def belongs(model: type[Model], *, to: type[Model], by: str | Condition, at: str = "pk") -> None:
    """Declare that rows of `model` belong to rows of `to`, a model with `members`.

    Args:
        by: the lookup that leads there ("pk" for `to` itself), or a function of a queryset of `to`.
        at: the field of `to` that the lookup yields, if not the primary key.
    """
    _routes.setdefault(model, []).append(_Route(to, by, at))


def shared(model: type[Model]) -> bool:
    """Return whether rows of `model` belong to studies or collections."""
    return model in _routes


def parent_models() -> list[type[Model]]:
    """Return the models that have members."""
    return [model for model, routes in _routes.items() if any(route.parent is model for route in routes)]


def user_of(request: HttpRequest) -> User:
    """Return the user who is signed in.

    Raises:
        PermissionDenied: nobody is.
    """
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def is_staff_member(user: Any) -> bool:
    """Return whether the user is active staff."""
    return bool(user.is_active and user.is_staff)


def visible(user: Any, queryset: QuerySet[Any], *, role: Role = Role.VIEWER) -> QuerySet[Any]:
    """Return the rows of studies and collections in which `user` has at least `role`; all rows for superusers."""
    if not is_staff_member(user):
        return queryset.none()
    if user.is_superuser:
        return queryset
    model = queryset.model
    reached = Q(pk__in=[])
    for route in _routes.get(model, []):
        # One subquery per route: combined into one condition, they could use no index.
        rows = model._base_manager.filter(route.condition(_own_rows(user, route.parent, role)))
        reached |= Q(pk__in=rows.order_by().values("pk"))
    return queryset.filter(reached)


def _own_rows(user: Any, model: type[Model], role: Role) -> QuerySet[Any]:
    return model._base_manager.filter(members__user=user.pk, members__role__in=role.and_higher)


def possible_parents(user: Any, model: type[Model], *, role: Role) -> list[tuple[Any, Model]]:
    """Return (lookup value, study or collection) for each that a new row of `model` by `user` may belong to."""
    if not is_staff_member(user):
        return []
    choices = []
    for route in _routes.get(model, []):
        parents = route.parent._base_manager.all() if user.is_superuser else _own_rows(user, route.parent, role)
        choices += [(getattr(row, route.at), row) for row in parents.order_by("pk")]
    return choices


def may(user: Any, row: Model, *, role: Role) -> bool:
    """Return whether `user` has at least `role` in what `row` belongs to."""
    return visible(user, type(row)._base_manager.filter(pk=row.pk), role=role).exists()


def parent_of(row: Model) -> Model | None:
    """Return the study or collection that `row` belongs to by a lookup; `row` itself if it is one."""
    rows = type(row)._base_manager.filter(pk=row.pk)
    for route in _routes.get(type(row), []):
        if isinstance(row, route.parent):
            return row
        key = None if callable(route.by) else rows.values_list(route.by, flat=True).first()
        if key is not None:
            return route.parent._base_manager.filter(**{route.at: key}).first()
    return None
