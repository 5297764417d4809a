from __future__ import annotations

import pytest


@pytest.fixture
def study(db):
    """A launched study without participants."""
    from exports.tests import building

    return building.new_study()


@pytest.fixture
def owner(study):
    """The study's owner."""
    from django.contrib.auth.models import User

    from rights.members import give
    from rights.roles import Role

    user = User.objects.create_user("researcher", password="long enough 123", is_staff=True)
    give(study, user=user, role=Role.OWNER, by=None)
    return user


@pytest.fixture
def read_token(study, owner) -> str:
    """A token with the scope to read the study."""
    from api.tests.calling import issue_token

    return issue_token(study, owner, "read", name="reader")
