"""The page on which owners manage the members of a study or collection."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from rights import members
from rights.admin.pages import NO_STORE, PartAdmin, at
from rights.admin.trails import trail
from rights.parts import user_of
from rights.roles import Role

INVITED = "invited"
"""Session key that holds the last invitation link until it is shown."""


class MembersPage(PartAdmin):
    """Adds the URLs <object>/members/ (for members) and <object>/members/set/ and /invite/ (POST, for owners)."""

    @at("<path:object_id>/members/")
    def members(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the members and their roles; owners can change them."""
        parent = self.seen(request, object_id)
        context = {
            **trail(parent, here=_("Members")),
            "invite_url": self.url_of("invite", parent.pk),
            "link": request.session.pop(INVITED, None) if self._allowed(request, parent, Role.OWNER) else None,
            "set_url": self.url_of("set_member", parent.pk),
            "members": members.members_of(parent),
            "records": f"{reverse('admin:audit_record_changelist')}?of={parent._meta.label_lower}:{parent.pk}",
            "may_set": self._allowed(request, parent, Role.OWNER),
            "possible_members": members.possible_members(parent),
            "roles": list(Role),
        }
        title = _("Members of {title}").format(title=parent)
        return self.page(request, "admin/rights/members.html", title, context, of=parent, headers=NO_STORE)

    @at("<path:object_id>/members/set/", "POST")
    def set_member(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Set a user's role; an empty `role` removes the user."""
        parent = self.seen(request, object_id, role=Role.OWNER)
        role = request.POST.get("role", "")
        person_key = request.POST.get("person", "")
        user = User.objects.filter(pk=person_key).first() if person_key.isascii() and person_key.isdigit() else None
        if user is None or role not in ("", *Role.values):
            return self._back(request, parent, _("Please choose a person and a role."), messages.ERROR)
        try:
            message = self._set(request, parent, user, role)
        except members.NotPossible as reason:
            return self._back(request, parent, reason, messages.ERROR)
        return self._back(request, parent, message)

    @at("<path:object_id>/members/invite/", "POST")
    def invite(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give the owner of an e-mail address a role; new users get an account and a link to choose a password."""
        parent = self.seen(request, object_id, role=Role.OWNER)
        role = request.POST.get("role", "")
        if role not in Role.values:
            return self._back(request, parent, _("Please choose a person and a role."), messages.ERROR)
        try:
            user, is_new = members.invite(
                parent, email=request.POST.get("email", "")[:254], role=Role(role), by=user_of(request)
            )
        except members.NotPossible as reason:
            return self._back(request, parent, reason, messages.ERROR)
        if is_new:
            key = urlsafe_base64_encode(str(user.pk).encode())
            path = reverse("signin:choose_password", args=[key, default_token_generator.make_token(user)])
            request.session[INVITED] = {"person": str(user), "address": request.build_absolute_uri(path)}
        message = _("{person} is now {role}.").format(person=user, role=Role(role).label)
        return self._back(request, parent, message)

    def _set(self, request: HttpRequest, parent: Any, user: User, role: str) -> str:
        if role:
            members.give(parent, user=user, role=Role(role), by=user_of(request))
            return _("{person} is now {role}.").format(person=user, role=Role(role).label)
        members.remove(parent, user=user, by=user_of(request))
        return _("{person} is no longer a member.").format(person=user)

    def _back(
        self, request: HttpRequest, parent: Any, message: Any, level: int = messages.SUCCESS
    ) -> HttpResponseRedirect:
        """Redirect to the page, or to the list if the user has just removed themselves."""
        is_member = self.has_view_permission(request, parent)
        address = self.url_of("members", parent.pk) if is_member else self.url_of("changelist")
        return self.leave_to(request, address, message, level)
