"""The demo's home page and the pages it leads to. Without `settings.DEMO` they do not exist."""

from __future__ import annotations

from django.contrib.auth import get_user_model, login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from showcase.demo import ADMIN
from showcase.local import demo_only, refused, why_not_local


@demo_only
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as the demo's administrator and continue to a page of the admin (`next`), on this computer only."""
    if reason := why_not_local(request):
        return refused(request, reason)
    user = get_user_model().objects.filter(username=ADMIN, is_active=True, is_staff=True).first()
    if user is None:
        return refused(request, _("The demo's administrator no longer exists."))
    if request.user != user:
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    url = request.POST.get("next", "")
    inside = url.startswith(reverse("admin:index")) and url_has_allowed_host_and_scheme(url, allowed_hosts=None)
    return redirect(url if inside else "admin:index")
