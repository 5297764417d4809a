"""The admin of users. Only superusers create and change them.

Rights in a study follow from membership; Django's permissions are used for endpoints only.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldBooleanSwitchWidget

from audit.admin import AuditedAdmin
from rights.admin import DeclaredLookups
from rights.parts import user_of
from signin import second_factor

admin.site.unregister(User)
admin.site.unregister(Group)


ENDPOINT_RIGHTS = {"may_see_endpoints": ["view"], "may_change_endpoints": ["add", "change", "delete"]}
"""Endpoint rights that the form offers as switches, as prefixes of Django's permissions."""


class UserForm(UserChangeForm):
    """A user's account, with rights beyond memberships as switches."""

    may_see_endpoints = forms.BooleanField(
        label=_("may view endpoints"), required=False, widget=UnfoldBooleanSwitchWidget()
    )
    may_change_endpoints = forms.BooleanField(
        label=_("may create endpoints and set their keys"), required=False, widget=UnfoldBooleanSwitchWidget()
    )

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["is_active"].label = _("may sign in")
        self.fields["is_active"].help_text = _("Switch this off instead of deleting the account.")
        self.fields["is_superuser"].label = _("administrator")
        self.fields["is_superuser"].help_text = _("Can view and change everything, including users and endpoints.")
        granted = set(self.instance.user_permissions.values_list("codename", flat=True)) if self.instance.pk else set()
        for name, actions in ENDPOINT_RIGHTS.items():
            self.fields[name].initial = all(f"{action}_endpoint" in granted for action in actions)

    def give_endpoint_rights(self) -> None:
        """Grant or revoke the rights that the form shows; leave all others unchanged."""
        for name, actions in ENDPOINT_RIGHTS.items():
            if name not in self.changed_data:
                continue
            permissions = Permission.objects.filter(
                content_type__app_label="opponents", codename__in=[f"{action}_endpoint" for action in actions]
            )
            update_permissions = (
                self.instance.user_permissions.add if self.cleaned_data[name] else self.instance.user_permissions.remove
            )
            update_permissions(*permissions)


class NewUserForm(UserCreationForm):
    """Form for a new account: a name, an e-mail address and a password."""

    class Meta(UserCreationForm.Meta):
        fields = ("username", "email")


@admin.register(User)
class UserAdmin(DeclaredLookups, AuditedAdmin, DjangoUserAdmin, ModelAdmin):
    form = UserForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "is_active", "is_superuser", "last_login"]
    list_filter = ["is_active", "is_superuser"]
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]
    actions = ["remove_second_factor"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        (_("Person"), {"fields": ["first_name", "last_name", "email"]}),
        (
            _("Rights"),
            {
                "fields": ["is_active", "is_superuser", "may_see_endpoints", "may_change_endpoints"],
                "description": _("Roles in studies and collections are assigned on their own pages, under Members."),
            },
        ),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (
            None,
            {
                "fields": ["username", "email", "password1", "password2"],
                "description": _("New users can sign in, create studies, and be added to other researchers' studies."),
            },
        )
    ]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Leave fields that exist only on the form out of the model form's fields."""
        if obj is not None:
            names = [name for _title, section in self.get_fieldsets(request, obj) for name in section["fields"]]
            kwargs["fields"] = [name for name in names if name not in (*ENDPOINT_RIGHTS, *self.readonly_fields)]
        return super().get_form(request, obj, change=change, **kwargs)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Make every user staff; `is_active` revokes access."""
        obj.is_staff = True if not change else obj.is_staff or obj.is_active
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if change:
            form.give_endpoint_rights()

    @admin.action(description=_("Remove the second factor (lost phone)"))
    def remove_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Remove the second factor; the users set up a new one the next time they sign in."""
        removed = sum(second_factor.remove(user, by=user_of(request)) for user in users)
        self.message_user(request, _("Second factor removed: {number}.").format(number=removed))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    has_change_permission = has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)
