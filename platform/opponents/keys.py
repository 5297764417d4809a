"""Endpoints' keys as the database holds them: encrypted with a key derived from SECRET_KEY.

A new SECRET_KEY reads what was sealed under an old one as long as that is in SECRET_KEY_FALLBACKS.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

PURPOSE = b"parley: keys of opponents' endpoints"
"""Bound into the derived key, so that nothing else derived from SECRET_KEY opens it."""


@sensitive_variables()
def seal(key: str) -> str:
    """The key as it is kept."""
    return _box().encrypt(key.encode()).decode()


@sensitive_variables()
def unseal(sealed: str) -> str | None:
    """The key that was sealed; None where it can no longer be read."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


@sensitive_variables()
def _box() -> MultiFernet:
    return MultiFernet([Fernet(_derived(secret)) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


@sensitive_variables()
def _derived(secret: str) -> bytes:
    made = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return base64.urlsafe_b64encode(made)
