"""Encryption of the endpoints' keys in the database."""

from __future__ import annotations

from django.views.decorators.debug import sensitive_variables

import sealing

PURPOSE = b"parley: keys of opponents' endpoints"
"""Part of the derived key, so that nothing else derived from SECRET_KEY decrypts it."""


@sensitive_variables()
def seal(key: str) -> str:
    """Return the encrypted key."""
    return sealing.seal(key, purpose=PURPOSE)


@sensitive_variables()
def unseal(sealed: str) -> str | None:
    """Return the decrypted key; None if it cannot be decrypted."""
    return sealing.unseal(sealed, purpose=PURPOSE)
