"""Fixtures: the stand-in on a real socket, and a study that recruits from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from marketplaces.mturk.standin import StandIn


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A stand-in for one test; its clients time out after five seconds."""
    monkeypatch.setattr("marketplaces.mturk.client.ANSWER_SECONDS", 5)
    with StandIn() as served:
        yield served


@pytest.fixture
def staged(db: None, standin: StandIn) -> Any:
    from marketplaces.mturk.tests.staged import staged_at

    return staged_at(standin)
