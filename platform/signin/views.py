"""The pages for setting up and entering a second factor."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from django_otp.middleware import is_verified
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from rights.parts import user_of
from signin import second_factor


class CodeForm(forms.Form):
    """One code from the app or a recovery code."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=40,
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "autofocus": True, "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


@never_cache
@staff_member_required
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("code")
def setup_page(request: HttpRequest) -> HttpResponse:
    """Set up or replace the second factor, or generate new recovery codes.

    The posted `do` is begin, confirm (with `code`) or codes. Users with a second factor must enter it first.
    """
    if second_factor.in_use(user_of(request)) and not is_verified(request.user):
        return redirect("signin:verify")
    do = request.POST.get("do") if request.method == "POST" else None
    if do == "begin":
        second_factor.begin(user_of(request))
        return redirect("signin:second_factor")
    if do == "codes" and is_verified(request.user):
        return _codes(request, second_factor.new_recovery_codes(user_of(request)))
    form = CodeForm(request.POST if do == "confirm" else None)
    if do == "confirm" and form.is_valid():
        try:
            return _codes(request, second_factor.confirm(request, form.cleaned_data["code"]))
        except second_factor.WrongCode as error:
            form.add_error("code", _error_text(error))
    return _render_setup(request, form)


def _render_setup(request: HttpRequest, form: CodeForm) -> HttpResponse:
    device = second_factor.pending(user_of(request))
    context: dict[str, Any] = {"form": form, "in_use": second_factor.in_use(user_of(request))}
    if device is not None:
        # segno's own markup, generated from the device's secret alone.
        context |= {"qr": mark_safe(second_factor.qr_code(device)), "secret": second_factor.secret_of(device)}
    else:
        context |= {"left": second_factor.codes_left(user_of(request))}
    return _page(request, "signin/second_factor.html", _("Two-factor authentication"), context)


def _codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return _page(request, "signin/codes.html", _("Recovery codes"), {"codes": codes})


@never_cache
@staff_member_required
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("code")
def verify_page(request: HttpRequest) -> HttpResponse:
    """Ask for the second factor after the password."""
    if is_verified(request.user):
        return _continue(request)
    if not second_factor.in_use(user_of(request)):
        return redirect("signin:second_factor")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            second_factor.verify(request, form.cleaned_data["code"])
            return _continue(request)
        except second_factor.WrongCode as error:
            form.add_error("code", _error_text(error))
    return _page(request, "signin/verify.html", _("Enter your code"), {"form": form, "next": _next(request)})


def _page(request: HttpRequest, template: str, title: str, context: dict[str, Any]) -> HttpResponse:
    site = {**admin.site.each_context(request), "required": settings.REQUIRE_SECOND_FACTOR}
    return render(request, template, {**site, "title": title, **context})


def _next(request: HttpRequest) -> str:
    """Return the page the user requested if it is on this site, else the admin's first page."""
    next_url = request.POST.get("next") or request.GET.get("next") or ""
    is_local = url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure())
    return next_url if is_local else reverse("admin:index")


def _continue(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(_next(request))


def _error_text(error: second_factor.WrongCode) -> str:
    if error.is_unreadable:
        return _(
            "This server can no longer check your app's codes. Enter a recovery code, or ask the administrator to "
            "reset your two-factor authentication."
        )
    if not error.seconds:
        return _("That code isn't valid right now. Check it again, or wait for the next one.")
    return ngettext(
        "That code isn't valid. Please wait {seconds} second before you try again.",
        "That code isn't valid. Please wait {seconds} seconds before you try again.",
        error.seconds,
    ).format(seconds=error.seconds)


class ChoosePassword(PasswordResetConfirmView):
    """Lets an invited user choose a password with a single-use link."""

    template_name = "signin/choose_password.html"
    success_url = reverse_lazy("admin:login")
    title = gettext_lazy("Choose a password")

    def get_form(self, form_class: Any = None) -> Any:
        form = super().get_form(form_class)
        for field in form.fields.values():
            field.widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})
        return form

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return {**admin.site.each_context(self.request), **super().get_context_data(**context)}
