"""Every marketplace defines everything that the rest of Parley expects."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest
from django.conf import settings

from marketplaces import kinds, modules
from payouts import payers
from recruiters import arrivals


@pytest.mark.parametrize("key", kinds.keys())
def test_marketplace_supports_arriving_leaving_and_paying(key):
    kind = kinds.get(key)
    assert kind.key == key and kind.title and kind.credentials
    assert key in dict(arrivals.choices())
    assert arrivals.KINDS[key].leave.__module__.startswith(f"marketplaces.{key}.")
    method = payers.method_of(key)
    for module, names in modules.FUNCTIONS.items():
        assert all(hasattr(import_module(f"marketplaces.{key}.{module}"), name) for name in names.split())
    assert method is not None and method.payer is not None and method.elsewhere is None


@pytest.mark.parametrize("key", kinds.keys())
def test_marketplace_has_a_stand_in(key):
    assert find_spec(f"marketplaces.{key}.standin.__main__") is not None


def test_marketplace_may_frame_pages_if_declared():
    allowed = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]["frame-ancestors"]
    assert {site for kind in kinds.every() for site in kind.frames} < set(allowed)
