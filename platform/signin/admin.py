"""Removes second factors from the admin, because those pages would show the secrets."""

from __future__ import annotations

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

for _model in (StaticDevice, TOTPDevice):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)
