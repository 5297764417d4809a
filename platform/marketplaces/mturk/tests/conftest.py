"""The stand-in over a real socket, and a study that recruits from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from marketplaces.mturk.twin import Twin


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Twin]:
    """A Mechanical Turk of one test; whoever asks it gives up after five seconds."""
    monkeypatch.setattr("marketplaces.mturk.client.ANSWER_SECONDS", 5)
    with Twin() as served:
        yield served


@pytest.fixture
def house(db: None, twin: Twin) -> Any:
    from marketplaces.mturk.tests.house import house_at

    return house_at(twin)
