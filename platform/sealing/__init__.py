"""Outside services' keys as the database holds them: encrypted with a key derived from SECRET_KEY.

A new SECRET_KEY reads what was sealed under an old one as long as that is in SECRET_KEY_FALLBACKS.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.views.decorators.debug import sensitive_variables


@sensitive_variables()
def seal(key: str, *, purpose: bytes) -> str:
    """The key as it is kept; only the same purpose opens it again."""
    return _box(purpose).encrypt(key.encode()).decode()


@sensitive_variables()
def unseal(sealed: str, *, purpose: bytes) -> str | None:
    """The key that was sealed for this purpose; None where it can no longer be read."""
    try:
        return _box(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


@sensitive_variables()
def _box(purpose: bytes) -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_derived(secret, purpose)) for secret in secrets])


@sensitive_variables()
def _derived(secret: str, purpose: bytes) -> bytes:
    made = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return base64.urlsafe_b64encode(made)
