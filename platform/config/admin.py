"""Who may work here: users, in the look of the rest. Only superusers make and change them.

What somebody may do in a study follows from their part in it; permissions are left for endpoints alone.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from audit.admin import AuditedAdmin
from signin import second_factor

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(AuditedAdmin, DjangoUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "last_login"]
    list_filter = ["is_active", "is_staff", "is_superuser"]
    filter_horizontal = []
    actions = ["remove_second_factor"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        (_("Person"), {"fields": ["first_name", "last_name", "email"]}),
        (_("Rights"), {"fields": ["is_active", "is_staff", "is_superuser", "user_permissions"]}),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any) -> Any:
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        if db_field.name == "user_permissions" and field is not None:
            field.queryset = Permission.objects.filter(
                content_type__app_label="opponents", codename__endswith="_endpoint"
            )
            field.help_text = _(
                "Endpoints and their keys. Parts in studies and collections are given on their own pages."
            )
        return field

    @admin.action(description=_("Remove the second factor (lost phone)"))
    def remove_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Whoever it was taken from sets up a new one at the next sign-in."""
        removed = sum(second_factor.remove(user, by=request.user) for user in users)
        self.message_user(request, _("Removed from {number} of them.").format(number=removed))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    has_change_permission = has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)
