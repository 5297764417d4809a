from __future__ import annotations

import pytest


@pytest.fixture
def maker(db):
    """A researcher who may see and change studies."""
    from django.contrib.auth.models import Permission, User

    user = User.objects.create_user("researcher", password="long enough 123", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_study", "change_study"]))
    return user


@pytest.fixture
def study(db):
    """A launched study that nobody has come to yet."""
    from exports.tests import building

    return building.new_study()


@pytest.fixture
def reader(study, maker) -> str:
    """A token that may read the study."""
    from api.tests.calling import issued

    return issued(study, maker, "read", name="reader")
