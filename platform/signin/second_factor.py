"""The second factor: an authenticator app and recovery codes (django-otp)."""

from __future__ import annotations

import base64

import segno
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django_otp import login
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit import services as audit
from audit.actions import Action

RECOVERY_CODES = 10


class WrongCode(Exception):
    """The code was wrong; `seconds` is how long to wait before the next try."""

    def __init__(self, seconds: int = 0):
        super().__init__(seconds)
        self.seconds = seconds


def in_use(user: User) -> bool:
    """Return whether `user` has an authenticator app."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


def needed(user: User) -> bool:
    """Return whether `user` must enter or set up a second factor before anything else."""
    return bool(settings.REQUIRE_SECOND_FACTOR) or in_use(user)


def pending(user: User) -> TOTPDevice | None:
    """Return the authenticator app being set up, or None."""
    return TOTPDevice.objects.filter(user=user, confirmed=False).order_by("-pk").first()


@transaction.atomic
def begin(user: User) -> TOTPDevice:
    """Create a secret for a new app; the current app stays in use until the new one is confirmed."""
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    return TOTPDevice.objects.create(user=user, name="app", confirmed=False)


def qr_code(device: TOTPDevice) -> str:
    """Return the QR code to scan, as SVG."""
    return segno.make(device.config_url, error="m").svg_inline(scale=5, border=3, light="#fff", omitsize=True)


def secret_of(device: TOTPDevice) -> str:
    """Return the secret for typing in, in groups of four characters."""
    secret = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(secret[i : i + 4] for i in range(0, len(secret), 4))


def confirm(request: HttpRequest, code: str) -> list[str]:
    """Replace the current app with the one being set up; return new recovery codes.

    Raises:
        WrongCode: nothing changed except the failure count.
    """
    user = request.user
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=False).order_by("-pk").first()
        accepted = device is not None and _verify(device, code)
        if accepted:
            TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
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
    user = request.user
    code = "".join(code.split()).lower()
    kind = TOTPDevice if code.isdigit() else StaticDevice
    with transaction.atomic():
        device = kind.objects.select_for_update().filter(user=user, confirmed=True).first()
        accepted = device is not None and _verify(device, code)
        if not accepted:
            audit.record(action=Action.SECOND_FACTOR_FAILED, user=user, target=user)
    if not accepted:
        raise WrongCode(_wait(device))
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
    for kind in (TOTPDevice, StaticDevice):
        kind.objects.filter(user=user).delete()
    if existed:
        audit.record(action=Action.SECOND_FACTOR_REMOVED, user=by, target=user)
    return existed


def _new_codes(user: User) -> list[str]:
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery", confirmed=True)
    codes = [StaticToken.random_token() for _i in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


def _verify(device: TOTPDevice | StaticDevice, code: str) -> bool:
    allowed, _why = device.verify_is_allowed()
    return bool(allowed and device.verify_token("".join(code.split()).lower()))


def _wait(device: TOTPDevice | StaticDevice | None) -> int:
    """Return the seconds until the next try, which grow with every failure."""
    if device is None or not device.throttling_failure_count:
        return 0
    return int(device.get_throttle_factor() * 2 ** (device.throttling_failure_count - 1))
