"""Second factors whose secrets a copy of the database does not reveal."""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice, default_key

import sealing

_SEEDS = b"parley: seeds of authenticator apps"
_CODES = "signin.recovery_codes"


class AuthenticatorApp(TOTPDevice):
    """A user's authenticator app. Its seed is encrypted, and the library's own column for it stays empty."""

    sealed_seed = models.TextField(editable=False)

    class Meta:
        verbose_name = _("authenticator app")
        verbose_name_plural = _("authenticator apps")

    @classmethod
    @sensitive_variables()
    def begin(cls, **fields: object) -> AuthenticatorApp:
        """Create an app with a new seed."""
        return cls.objects.create(key="", sealed_seed=sealing.seal(default_key(), purpose=_SEEDS), **fields)

    @property
    def is_readable(self) -> bool:
        """Whether the seed can be decrypted: not after SECRET_KEY was lost."""
        return sealing.unseal(self.sealed_seed, purpose=_SEEDS) is not None

    @property
    @sensitive_variables()
    def bin_key(self) -> bytes:
        seed = sealing.unseal(self.sealed_seed, purpose=_SEEDS)
        if seed is None:
            raise ValueError("The seed cannot be decrypted.")
        return unhexlify(seed)

    @sensitive_variables()
    def verify_token(self, token: str) -> bool:
        """Check a code; after a right one, the seed is sealed again, with the current SECRET_KEY."""
        if not self.is_readable or not super().verify_token(token):
            return False
        self.sealed_seed = sealing.seal(self.bin_key.hex(), purpose=_SEEDS)
        self.save(update_fields=["sealed_seed"])
        return True


class RecoveryCodes(StaticDevice):
    """A user's recovery codes, stored as keyed hashes."""

    class Meta:
        proxy = True
        verbose_name = verbose_name_plural = _("recovery codes")

    @sensitive_variables()
    def keep(self, codes: Iterable[str]) -> None:
        StaticToken.objects.bulk_create(StaticToken(device=self, token=self._hashes(code)[0]) for code in codes)

    @sensitive_variables()
    def verify_token(self, token: str) -> bool:
        stored = self.token_set.filter(token__in=self._hashes(token)).first()
        return bool(super().verify_token(stored.token if stored else ""))

    @sensitive_variables()
    def _hashes(self, code: str) -> list[str]:
        """Return the code's hash under the current SECRET_KEY and each earlier one, as long as the column allows."""
        return [
            salted_hmac(_CODES, f"{self.pk}/{code}", secret=secret, algorithm="sha256").hexdigest()[:16]
            for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        ]
