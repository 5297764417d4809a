"""Endpoints' keys as the database holds them."""

from __future__ import annotations

from django.views.decorators.debug import sensitive_variables

import sealing

PURPOSE = b"parley: keys of opponents' endpoints"
"""Bound into the derived key, so that nothing else derived from SECRET_KEY opens it."""


@sensitive_variables()
def seal(key: str) -> str:
    """The key as it is kept."""
    return sealing.seal(key, purpose=PURPOSE)


@sensitive_variables()
def unseal(sealed: str) -> str | None:
    """The key that was sealed; None where it can no longer be read."""
    return sealing.unseal(sealed, purpose=PURPOSE)
