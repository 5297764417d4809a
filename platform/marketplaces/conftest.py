"""A study on each marketplace's stand-in: `stage` on all of them in turn, `staged` on mTurk, `desk` on Prolific."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def _stage_at(kind: str) -> Iterator[Any]:
    from marketplaces.tests.kit import STAGES

    with pytest.MonkeyPatch.context() as patch, STAGES[kind].served() as standin:
        patch.setattr("marketplaces.mturk.client.ANSWER_SECONDS", 5)
        yield STAGES[kind](standin)


@pytest.fixture(params=["mturk", "prolific"])
def stage(request: pytest.FixtureRequest, db: None) -> Iterator[Any]:
    with _stage_at(request.param) as on_stage:
        yield on_stage


@pytest.fixture
def staged(db: None) -> Iterator[Any]:
    with _stage_at("mturk") as on_stage:
        yield on_stage


@pytest.fixture
def desk(db: None) -> Iterator[Any]:
    with _stage_at("prolific") as on_stage:
        yield on_stage
