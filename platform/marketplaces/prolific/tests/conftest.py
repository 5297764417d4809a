"""A study, an account and a stand-in for Prolific that know each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def twin() -> Iterator[Any]:
    from marketplaces.prolific.twin import Twin

    with Twin() as running:
        yield running


@pytest.fixture
def account(db: None, twin: Any) -> Any:
    from marketplaces.models import Account
    from marketplaces.prolific.twin import TOKEN

    made = Account(title="Lab", kind="prolific", place=Account.Place.REHEARSAL, address=twin.address)
    made.keep_credentials({"token": TOKEN})
    made.save()
    return made


@pytest.fixture
def study(account: Any) -> Any:
    from exports.tests import building
    from marketplaces.models import Recruitment

    made = building.new_study(entry="prolific", quota=20)
    Recruitment.objects.create(study=made, account=account)
    return made


@pytest.fixture
def desk(study: Any, twin: Any) -> Any:
    from marketplaces.prolific.tests.staging import Desk

    return Desk(study, twin)
