"""Requires the second factor on every admin page, if the user needs one."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django_otp.middleware import is_verified

from signin import second_factor


class SecondFactorMiddleware(MiddlewareMixin):
    """Redirects users who have only entered their password to the second factor."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not request.path_info.startswith(settings.ADMIN_PATH) or _is_public(request.path_info):
            return None
        user = request.user
        if not user.is_authenticated or is_verified(user) or not second_factor.needed(user):
            return None
        if second_factor.in_use(user):
            return redirect_to_login(request.get_full_path(), reverse("signin:verify"))
        return redirect("signin:second_factor")


def _is_public(path: str) -> bool:
    """Return whether the path is a sign-in or sign-out page, which checks access itself."""
    return path in {reverse(name) for name in ("admin:login", "admin:logout", "signin:verify", "signin:second_factor")}
