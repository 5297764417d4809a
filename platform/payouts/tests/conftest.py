"""A stand-in recruiter, and a check of the books after every test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

KIND = "standin"


@pytest.fixture(params=[True, False], ids=["repeats safely", "pays twice if asked twice"])
def standin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A stand-in server that pays participants; one kind pays twice if asked twice."""
    from payouts import payers
    from payouts.tests.standin import StandIn, StandInPayer

    with StandIn(repeats_safely=request.param) as server:
        method = payers.PaymentMethod("Stand-in", lambda study: StandInPayer(server.address, may_repeat=request.param))
        monkeypatch.setitem(payers._methods, KIND, method)
        yield server


@pytest.fixture(autouse=True)
def in_order(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check after each test that the sums of the ledger agree."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None:
        yield
        return
    from payouts import books

    request.getfixturevalue("transactional_db" if marker.kwargs.get("transaction") else "db")
    yield
    assert books.check() == []
