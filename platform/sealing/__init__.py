"""Outside services' keys, encrypted in the database with a key derived from SECRET_KEY.

Keys sealed under an old SECRET_KEY can be read as long as it is in SECRET_KEY_FALLBACKS.
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
    """Return the encrypted key; it can be decrypted only for the same purpose."""
    return _cipher(purpose).encrypt(key.encode()).decode()


@sensitive_variables()
def unseal(sealed: str, *, purpose: bytes) -> str | None:
    """Return the key sealed for this purpose; None if it can no longer be read."""
    try:
        return _cipher(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


@sensitive_variables()
def _cipher(purpose: bytes) -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_derived_key(secret, purpose)) for secret in secrets])


@sensitive_variables()
def _derived_key(secret: str, purpose: bytes) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return base64.urlsafe_b64encode(derived)
