"""The second factor: an authenticator app and recovery codes (django-otp)."""

from __future__ import annotations

import base64

import segno
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django_otp import login
from django_otp.plugins.otp_static.models import StaticToken

from audit import services as audit
from audit.actions import Action
from rights.parts import user_of
from signin.models import AuthenticatorApp, RecoveryCodes

RECOVERY_CODES = 10


class WrongCode(Exception):
    """The code was wrong.

    Attributes:
        seconds: how long to wait before the next try.
        is_unreadable: no code of the app can be right any more, because its seed cannot be decrypted.
    """

    def __init__(self, seconds: int = 0, *, is_unreadable: bool = False):
        super().__init__(seconds)
        self.seconds, self.is_unreadable = seconds, is_unreadable


def in_use(user: User) -> bool:
    """Return whether `user` has an authenticator app."""
    return AuthenticatorApp.objects.filter(user=user, confirmed=True).exists()


def needed(user: User) -> bool:
    """Return whether `user` must enter or set up a second factor before anything else."""
    return bool(settings.REQUIRE_SECOND_FACTOR) or in_use(user)


def pending(user: User) -> AuthenticatorApp | None:
    """Return the authenticator app being set up, or None."""
    app = AuthenticatorApp.objects.filter(user=user, confirmed=False).order_by("-pk").first()
    return app if app is not None and app.is_readable else None


@transaction.atomic
def begin(user: User) -> AuthenticatorApp:
    """Create a secret for a new app; the current app stays in use until the new one is confirmed."""
    AuthenticatorApp.objects.filter(user=user, confirmed=False).delete()
    return AuthenticatorApp.begin(user=user, name="app", confirmed=False)


def qr_code(device: AuthenticatorApp) -> str:
    """Return the QR code to scan, as SVG."""
    return segno.make(device.config_url, error="m").svg_inline(scale=5, border=3, light="#fff", omitsize=True)


def secret_of(device: AuthenticatorApp) -> str:
    """Return the secret for typing in, in groups of four characters."""
    secret = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(secret[i : i + 4] for i in range(0, len(secret), 4))


def confirm(request: HttpRequest, code: str) -> list[str]:
    """Replace the current app with the one being set up; return new recovery codes.

    Raises:
        WrongCode: nothing changed except the failure count.
    """
    user = user_of(request)
    with transaction.atomic():
        device = AuthenticatorApp.objects.select_for_update().filter(user=user, confirmed=False).order_by("-pk").first()
        accepted = device is not None and _verify(device, code)
        if accepted:
            AuthenticatorApp.objects.filter(user=user).exclude(pk=device.pk).delete()
            device.confirmed = True
            device.save(update_fields=["confirmed"])
            audit.record(action=Action.SECOND_FACTOR_SET, user=user, target=user)
            codes = _new_codes(user)
    if not accepted:
        raise WrongCode(_wait(device))
    login(request, device)
    return codes


def verify(request: HttpRequest, code: str) -> None:
    """Check the second factor: a code from the app, or a recovery code, which is used up.

    Raises:
        WrongCode: nothing changed except the failure count.
    """
    user = user_of(request)
    code = "".join(code.split()).lower()
    kind = AuthenticatorApp if code.isdigit() else RecoveryCodes
    with transaction.atomic():
        device = kind.objects.select_for_update().filter(user=user, confirmed=True).first()
        accepted = device is not None and _verify(device, code)
        if not accepted:
            audit.record(action=Action.SECOND_FACTOR_FAILED, user=user, target=user)
    if not accepted:
        is_unreadable = isinstance(device, AuthenticatorApp) and not device.is_readable
        raise WrongCode(_wait(device), is_unreadable=is_unreadable)
    login(request, device)


@transaction.atomic
def new_recovery_codes(user: User) -> list[str]:
    """Return ten new single-use recovery codes; earlier ones become invalid."""
    audit.record(action=Action.RECOVERY_CODES_MADE, user=user, target=user)
    return _new_codes(user)


def codes_left(user: User) -> int:
    return StaticToken.objects.filter(device__user=user).count()


@transaction.atomic
def remove(user: User, *, by: User | None) -> bool:
    """Delete the user's app and recovery codes; return False if there were none."""
    existed = in_use(user)
    for kind in (AuthenticatorApp, RecoveryCodes):
        kind.objects.filter(user=user).delete()
    if existed:
        audit.record(action=Action.SECOND_FACTOR_REMOVED, user=by, target=user)
    return existed


def _new_codes(user: User) -> list[str]:
    RecoveryCodes.objects.filter(user=user).delete()
    codes = [StaticToken.random_token() for _i in range(RECOVERY_CODES)]
    RecoveryCodes.objects.create(user=user, name="recovery", confirmed=True).keep(codes)
    return codes


def _verify(device: AuthenticatorApp | RecoveryCodes, code: str) -> bool:
    allowed, _why = device.verify_is_allowed()
    return bool(allowed and device.verify_token("".join(code.split()).lower()))


def _wait(device: AuthenticatorApp | RecoveryCodes | None) -> int:
    """Return the seconds until the next try, which grow with every failure."""
    if device is None or not device.throttling_failure_count:
        return 0
    return int(device.get_throttle_factor() * 2 ** (device.throttling_failure_count - 1))
