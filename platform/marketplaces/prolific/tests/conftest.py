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

    from django.contrib.auth.models import User
    from django.test import Client

    from rights.members import give

    def sign_in_user(*, study: Any, account_role: Any) -> Any:
        user = User.objects.create_user(f"{study}-{account_role}", is_staff=True)
        give(desk.study, user=user, role=study, by=None)
        if account_role:
            give(account, user=user, role=account_role, by=None)
        client = Client()
        client.force_login(user)
        return client

    return sign_in_user
