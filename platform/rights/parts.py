"""What users may see and do, according to their roles in studies and collections.

Each app declares which study or collection its models' rows belong to (`belongs`). Rows that belong to none
are for superusers only; rows of studies and collections without a membership are invisible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q, QuerySet

from rights.roles import Role

Condition = Callable[[QuerySet[Any]], Q]
"""Returns, for a queryset of studies or collections, the condition that a row belongs to one of them."""


@dataclass(frozen=True)
class _Route:
    """A route from rows to rows of `whole`: a lookup whose value is their field `at`, or a function."""

    whole: type[Model]
    by: str | Condition
    at: str

    def condition(self, wholes: QuerySet[Any]) -> Q:
        return self.by(wholes.values("pk")) if callable(self.by) else Q(**{f"{self.by}__in": wholes.values(self.at)})


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


def wholes() -> list[type[Model]]:
    """Return the models that have members."""
    return [model for model, routes in _routes.items() if any(route.whole is model for route in routes)]


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
        found = model._base_manager.filter(route.condition(_own_rows(user, route.whole, role)))
        reached |= Q(pk__in=found.order_by().values("pk"))
    return queryset.filter(reached)


def _own_rows(user: Any, whole: type[Model], role: Role) -> QuerySet[Any]:
    return whole._base_manager.filter(members__user=user.pk, members__role__in=role.and_higher)


def open_to(user: Any, model: type[Model], *, role: Role) -> list[tuple[Any, Model]]:
    """Return (lookup value, study or collection) for each that a new row of `model` by `user` may belong to."""
    if not is_staff_member(user):
        return []
    found = []
    for route in _routes.get(model, []):
        wholes = route.whole._base_manager.all() if user.is_superuser else _own_rows(user, route.whole, role)
        found += [(getattr(row, route.at), row) for row in wholes.order_by("pk")]
    return found


def may(user: Any, thing: Model, *, role: Role) -> bool:
    """Return whether `user` has at least `role` in what `thing` belongs to."""
    return visible(user, type(thing)._base_manager.filter(pk=thing.pk), role=role).exists()


def whole_of(thing: Model) -> Model | None:
    """Return the study or collection that `thing` belongs to by a lookup; `thing` itself if it is one."""
    rows = type(thing)._base_manager.filter(pk=thing.pk)
    for route in _routes.get(type(thing), []):
        if isinstance(thing, route.whole):
            return thing
        key = None if callable(route.by) else rows.values_list(route.by, flat=True).first()
        if key is not None:
            return route.whole._base_manager.filter(**{route.at: key}).first()
    return None
