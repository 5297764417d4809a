"""The page on which owners manage the members of a study or collection."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from rights import members
from rights.admin.pages import PartAdmin
from rights.admin.trails import trail
from rights.parts import user_of
from rights.roles import Role

INVITED = "invited"
"""Session key that holds the last invitation link until it is shown."""


class MembersPage(PartAdmin):
    """Adds the URLs <object>/members/ (for members) and <object>/members/set/ and /invite/ (POST, for owners)."""

    def get_urls(self) -> list[URLPattern]:
        url_prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {
            "members": ("<path:object_id>/members/", self.members),
            "set_member": ("<path:object_id>/members/set/", require_POST(self.set_member)),
            "invite": ("<path:object_id>/members/invite/", require_POST(self.invite)),
        }
        member_urls = [
            path(route, self.admin_site.admin_view(view), name=f"{url_prefix}_{name}")
            for name, (route, view) in views.items()
        ]
        return [*member_urls, *super().get_urls()]

    def members(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the members and their roles; owners can change them."""
        parent = self.seen(request, object_id)
        url_prefix = f"admin:{self.opts.app_label}_{self.opts.model_name}"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": parent,
            **trail(parent, here=_("Members")),
            "title": _("Members of {title}").format(title=parent),
            "invite_url": reverse(f"{url_prefix}_invite", args=[parent.pk]),
            "link": request.session.pop(INVITED, None) if self._allowed(request, parent, Role.OWNER) else None,
            "set_url": reverse(f"{url_prefix}_set_member", args=[parent.pk]),
            "members": members.members_of(parent),
            "records": f"{reverse('admin:audit_record_changelist')}?of={parent._meta.label_lower}:{parent.pk}",
            "may_set": self._allowed(request, parent, Role.OWNER),
            "possible_members": members.possible_members(parent),
            "roles": list(Role),
        }
        return TemplateResponse(request, "admin/rights/members.html", context, headers={"Cache-Control": "no-store"})

    def set_member(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Set a user's role; an empty `role` removes the user."""
        parent = self.seen(request, object_id, role=Role.OWNER)
        role = request.POST.get("role", "")
        person_key = request.POST.get("person", "")
        user = User.objects.filter(pk=person_key).first() if person_key.isascii() and person_key.isdigit() else None
        if user is None or role not in ("", *Role.values):
            self.message_user(request, _("Please choose a person and a role."), messages.ERROR)
            return self._back(request, parent)
        try:
            self._set(request, parent, user, role)
        except members.NotPossible as reason:
            self.message_user(request, str(reason), messages.ERROR)
        return self._back(request, parent)

    def invite(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give the owner of an e-mail address a role; new users get an account and a link to choose a password."""
        parent = self.seen(request, object_id, role=Role.OWNER)
        role = request.POST.get("role", "")
        if role not in Role.values:
            self.message_user(request, _("Please choose a person and a role."), messages.ERROR)
            return self._back(request, parent)
        try:
            user, is_new = members.invite(
                parent, email=request.POST.get("email", "")[:254], role=Role(role), by=user_of(request)
            )
        except members.NotPossible as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return self._back(request, parent)
        message = _("{person} is now {role}.").format(person=user, role=Role(role).label)
        self.message_user(request, message, messages.SUCCESS)
        if is_new:
            key = urlsafe_base64_encode(str(user.pk).encode())
            path = reverse("signin:choose_password", args=[key, default_token_generator.make_token(user)])
            request.session[INVITED] = {"person": str(user), "address": request.build_absolute_uri(path)}
        return self._back(request, parent)

    def _set(self, request: HttpRequest, parent: Any, user: User, role: str) -> None:
        if role:
            members.give(parent, user=user, role=Role(role), by=user_of(request))
            message = _("{person} is now {role}.").format(person=user, role=Role(role).label)
        else:
            members.remove(parent, user=user, by=user_of(request))
            message = _("{person} is no longer a member.").format(person=user)
        self.message_user(request, message, messages.SUCCESS)

    def _back(self, request: HttpRequest, parent: Any) -> HttpResponseRedirect:
        """Redirect to the page, or to the list if the user has just removed themselves."""
        url_prefix = f"admin:{self.opts.app_label}_{self.opts.model_name}"
        if self.has_view_permission(request, parent):
            return HttpResponseRedirect(reverse(f"{url_prefix}_members", args=[parent.pk]))
        return HttpResponseRedirect(reverse(f"{url_prefix}_changelist"))
