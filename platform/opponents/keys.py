"""Encryption of the endpoints' keys in the database."""

from __future__ import annotations

from django.views.decorators.debug import sensitive_variables

import sealing

PURPOSE = b"parley: keys of opponents' endpoints"
"""Part of the key derivation, so that no other key derived from SECRET_KEY decrypts these."""


@sensitive_variables()
def seal(key: str) -> str:
    """Return the encrypted key."""
    return sealing.seal(key, purpose=PURPOSE)


@sensitive_variables()
def unseal(sealed: str) -> str | None:
    """Return the decrypted key; None if it cannot be decrypted."""
    return sealing.unseal(sealed, purpose=PURPOSE)
