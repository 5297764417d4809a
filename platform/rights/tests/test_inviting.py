"""An invitation by e-mail address creates or finds an account."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from rights.members import give
from rights.roles import Role
from studies.models import Study
from tests.visitors import launched_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> User:
    user = User.objects.create_user("owner", "owner@example.org", "long enough 123", is_staff=True)
    give(launched_study(), user=user, role=Role.OWNER, by=None)
    client.force_login(user)
    return user


def members_page() -> str:
    return f"/admin/studies/study/{Study.objects.get().pk}/members/"


def signed_in(client: Client, name: str) -> bool:
    """Return whether the user can sign in with the password chosen in these tests."""
    return client.post("/admin/login/", {"username": name, "password": "correct horse 7"}).status_code == 302


def test_a_new_member_gets_an_account_and_a_single_use_link(client, owner):
    page = client.post(
        f"{members_page()}invite/", {"email": "new@example.org", "role": "editor"}, follow=True
    ).content.decode()
    link = re.search(r"https?://testserver(/admin/second-factor/choose/[^<]+)<", page)[1]
    assert link not in client.get(members_page()).content.decode(), "shown once"
    person = User.objects.get(email="new@example.org")
    assert person.is_staff and not person.is_superuser and not person.has_usable_password()
    guest = Client()
    form = guest.get(link, follow=True)
    passwords = {"new_password1": "correct horse 7", "new_password2": "correct horse 7"}
    assert guest.post(form.request["PATH_INFO"], passwords).status_code == 302
    assert signed_in(guest, "new@example.org")
    assert guest.get(members_page()).status_code == 200
    assert "has already been used" in Client().get(link, follow=True).content.decode()


def test_the_link_of_an_existing_account_is_not_shown(client, owner):
    User.objects.create_user("boss", "boss@example.org", is_superuser=True)
    page = client.post(f"{members_page()}invite/", {"email": "BOSS@example.org", "role": "viewer"}, follow=True)
    assert "boss is" in page.content.decode() and "/choose/" not in page.content.decode()


@pytest.mark.parametrize("email", ["", "nobody", "a@b", "x" * 300 + "@example.org"])
def test_an_invalid_address_creates_no_account(client, owner, email):
    client.post(f"{members_page()}invite/", {"email": email, "role": "viewer"})
    assert User.objects.count() == 1


def test_only_owners_invite(client, owner):
    editor = User.objects.create_user("editor", password="long enough 123", is_staff=True)
    give(Study.objects.get(), user=editor, role=Role.EDITOR, by=None)
    client.force_login(editor)
    assert client.post(f"{members_page()}invite/", {"email": "a@example.org", "role": "owner"}).status_code == 403


def test_existing_users_are_listed_and_become_staff_when_added(client, owner):
    new_user = User.objects.create_user("plain", "plain@example.org", "long enough 123")
    assert "plain" in client.get(members_page()).content.decode()
    client.post(f"{members_page()}set/", {"person": new_user.pk, "role": "viewer"})
    client.force_login(new_user)
    assert client.get(members_page()).status_code == 200


def test_an_administrator_creates_a_user_who_can_sign_in(client):
    client.force_login(User.objects.create_superuser("admin", password="long enough 123"))
    account = {"username": "new", "email": "new@example.org", "usable_password": "true"}
    client.post("/admin/auth/user/add/", {**account, "password1": "correct horse 7", "password2": "correct horse 7"})
    client.logout()
    assert signed_in(client, "new")
    assert client.get("/admin/studies/study/").status_code == 200
