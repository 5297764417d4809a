"""A stage on each marketplace's stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(params=["mturk", "prolific"])
def stage(request: pytest.FixtureRequest, db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from marketplaces.mturk.standin import StandIn as Mturk
    from marketplaces.prolific.standin import StandIn as Prolific
    from marketplaces.tests.both import MturkStage, ProlificStage

    monkeypatch.setattr("marketplaces.mturk.client.ANSWER_SECONDS", 5)
    server, make = {"mturk": (Mturk, MturkStage), "prolific": (Prolific, ProlificStage)}[request.param]
    with server() as standin:
        yield make(standin)
