"""Connected fixtures: a study, an account and a stand-in for Prolific."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def standin() -> Iterator[Any]:
    from marketplaces.prolific.standin import StandIn

    with StandIn() as running:
        yield running


@pytest.fixture
def desk(db: None, standin: Any) -> Any:
    from marketplaces.prolific.tests.staging import staged_on

    return staged_on(standin)


@pytest.fixture
def study(desk: Any) -> Any:
    return desk.study


@pytest.fixture
def account(desk: Any) -> Any:
    return desk.study.recruitment.account


@pytest.fixture
def sign_in(desk: Any, account: Any) -> Any:
    """Return a function that signs in a user with one role in the study and one in the account."""
    from marketplaces.tests import doing

    def sign_in_user(*, study: Any, account_role: Any) -> Any:
        return doing.sign_in(desk.study, account, role=study, account_role=account_role)

    return sign_in_user
