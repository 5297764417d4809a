"""What somebody may see and do, from the parts they have in studies and collections.

Every kind of row says which study or collection it belongs to (`belongs`, called by the app that knows).
What belongs to none is for superusers alone; what somebody has no part in does not exist for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Model, Q, QuerySet

from rights.roles import Role

Way = Callable[[QuerySet[Any]], Q]
"""From studies (or collections) to the condition that a row belongs to one of them."""

_ways: dict[type[Model], list[tuple[type[Model], str | Way]]] = {}


def belongs(model: type[Model], *, to: type[Model], by: str | Way) -> None:
    """Rows of `model` belong to rows of `to`, a model with `members`.

    Args:
        by: the lookup that leads there ("pk" for `to` itself), or a function of a queryset of `to`.
    """
    _ways.setdefault(model, []).append((to, by))


def shared(model: type[Model]) -> bool:
    """Whether rows of `model` belong to studies or collections at all."""
    return model in _ways


def wholes() -> list[type[Model]]:
    """The models that people have parts in."""
    return [model for model, ways in _ways.items() if any(whole is model for whole, _by in ways)]


def works_here(user: Any) -> bool:
    """Whether this is somebody of the staff."""
    return bool(user.is_active and user.is_staff)


def visible(user: Any, queryset: QuerySet[Any], *, role: Role = Role.VIEWER) -> QuerySet[Any]:
    """Of the rows, those of studies and collections in which `user` has `role` or more; superusers have all."""
    if not works_here(user):
        return queryset.none()
    if user.is_superuser:
        return queryset
    model = queryset.model
    reached = Q(pk__in=[])
    for whole, by in _ways.get(model, []):
        mine = whole._base_manager.filter(members__user=user.pk, members__role__in=role.or_more)
        reached |= by(mine.values("pk")) if callable(by) else Q(**{f"{by}__in": mine.values("pk")})
    return queryset.filter(pk__in=model._base_manager.filter(reached).values("pk"))


def may(user: Any, thing: Model, *, role: Role) -> bool:
    """Whether `user` has `role` or more in what `thing` belongs to."""
    return visible(user, type(thing)._base_manager.filter(pk=thing.pk), role=role).exists()


def whole_of(thing: Model) -> Model | None:
    """The study or collection that `thing` belongs to by a lookup; itself where it is one."""
    rows = type(thing)._base_manager.filter(pk=thing.pk)
    for whole, by in _ways.get(type(thing), []):
        if isinstance(thing, whole):
            return thing
        key = None if callable(by) else rows.values_list(by, flat=True).first()
        if key is not None:
            return whole._base_manager.filter(pk=key).first()
    return None
