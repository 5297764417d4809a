"""Give and remove roles. The creator of a study or collection owns it, and there is always an owner."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.db.models.signals import post_save
from django.utils.translation import gettext as _

from audit import services as audit
from audit.actions import Action
from rights.roles import Role


class NotPossible(Exception):
    """The role cannot be given or removed; the message tells the user why."""


def creators_own(model: type[Model]) -> None:
    """Make the user in `created_by` the owner of each new row of `model`."""
    post_save.connect(_make_owner, sender=model, dispatch_uid=f"owner of {model._meta.label}")


def _make_owner(sender: type[Model], instance: Any, created: bool, raw: bool = False, **_signal: Any) -> None:
    if created and not raw and instance.created_by_id is not None:
        instance.members.create(user_id=instance.created_by_id, role=Role.OWNER)


def members_of(parent: Any) -> list[Any]:
    """Return the members, owners first."""
    ranks = list(Role)[::-1]
    members = parent.members.select_related("user").order_by("user__username")
    return sorted(members, key=lambda member: ranks.index(member.role))


def possible_members(parent: Any) -> QuerySet[User]:
    """Return the users who are not members yet."""
    member_users = parent.members.values("user")
    return User.objects.filter(is_active=True).exclude(pk__in=member_users).order_by("username")


@transaction.atomic
def invite(parent: Any, *, email: str, role: Role, by: User | None) -> tuple[User, bool]:
    """Give the owner of an e-mail address a role; without an account they get one, without a password.

    Returns: the user, and whether the account is new. Only then may the inviter see the link to choose a
    password: an existing account may have roles elsewhere.

    Raises:
        NotPossible: the address is invalid, several accounts have it, or `give` refuses.
    """
    email = email.strip()
    try:
        validate_email(email)
    except ValidationError:
        raise NotPossible(_("Please enter an e-mail address, such as name@example.org.")) from None
    accounts = list(User.objects.filter(Q(email__iexact=email) | Q(username__iexact=email))[:2])
    if len(accounts) > 1:
        raise NotPossible(_("Several accounts have this address. Choose the person from the list."))
    user = accounts[0] if accounts else User.objects.create_user(email[:150], email, is_staff=True)
    if not accounts:
        details = {"person": user.get_username()}
        audit.record(action=Action.MADE, user=by, target=user, details=details)
    give(parent, user=user, role=role, by=by)
    return user, not accounts


@transaction.atomic
def give(parent: Any, *, user: User, role: Role, by: User | None) -> None:
    """Set the user's role.

    Raises:
        NotPossible: they cannot sign in here, or there would be no owner left.
    """
    _lock(parent)
    if not user.is_active:
        raise NotPossible(_("This person cannot sign in here."))
    if not user.is_staff:
        user.is_staff = True
        user.save(update_fields=["is_staff"])
    membership = parent.members.filter(user=user).first()
    if membership is not None and membership.role == Role.OWNER != role:
        _check_other_owner(parent, user)
    parent.members.update_or_create(user=user, defaults={"role": role})
    details = {"person": user.get_username(), "role": str(role), "before": membership.role if membership else None}
    audit.record(action=Action.RIGHTS_CHANGED, user=by, target=parent, details=details)


@transaction.atomic
def remove(parent: Any, *, user: User, by: User | None) -> None:
    """Remove the user from the members; do nothing if they are not one.

    Raises:
        NotPossible: there would be no owner left.
    """
    _lock(parent)
    membership = parent.members.filter(user=user).first()
    if membership is None:
        return
    if membership.role == Role.OWNER:
        _check_other_owner(parent, user)
    membership.delete()
    details = {"person": user.get_username(), "role": None, "before": membership.role}
    audit.record(action=Action.RIGHTS_CHANGED, user=by, target=parent, details=details)


def _lock(parent: Any) -> None:
    """Lock the object, so that its last two owners cannot both leave at once."""
    type(parent)._base_manager.select_for_update().get(pk=parent.pk)


def _check_other_owner(parent: Any, leaving: User) -> None:
    if not parent.members.filter(role=Role.OWNER).exclude(user=leaving).exists():
        raise NotPossible(_("There must be an owner. Make someone else an owner first."))
