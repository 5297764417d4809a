"""Signing in: guessing is slowed down, and a required second factor is enforced."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory, override_settings
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.models import Record
from recruiters.addresses import address_of
from signin.models import AuthenticatorApp

pytestmark = pytest.mark.django_db

PASSWORD = "long enough 123"
SET_UP, VERIFY, LOGIN, INDEX = "/admin/second-factor/", "/admin/second-factor/verify/", "/admin/login/", "/admin/"
SIX_DIGITS = "000000"


@pytest.fixture(autouse=True)
def no_failed_sign_ins() -> None:
    cache.clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada", password=PASSWORD)


@pytest.fixture
def required(settings) -> None:
    settings.REQUIRE_SECOND_FACTOR = True


def sign_in(client: Client, password: str = PASSWORD, **environ):
    return client.post(LOGIN, {"username": "ada", "password": password, "next": INDEX}, **environ)


def code_of(device: AuthenticatorApp, ahead: int = 0) -> str:
    """Return the app's current code, or the one `ahead` half-minutes later."""
    device.refresh_from_db()
    return f"{totp(device.bin_key, drift=device.drift + ahead):06d}"


def set_up(client: Client) -> tuple[AuthenticatorApp, list[str]]:
    client.post(SET_UP, {"do": "begin"})
    device = AuthenticatorApp.objects.get(confirmed=False)
    page = client.post(SET_UP, {"do": "confirm", "code": code_of(device)}).content.decode()
    return device, re.findall(r"<li><code>(\w+)</code></li>", page)


# ---- guessing passwords ----------------------------------------------------------------------------------


def test_five_failures_block_sign_in_and_say_until_when(client, ada):
    for _i in range(4):
        assert sign_in(client, "wrong").status_code == 200
    response = sign_in(client, "wrong")
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 15 * 60
    assert re.search(r" 1[45] minutes, at \d\d:\d\d \(UTC\)", response.content.decode())
    assert sign_in(client).status_code == 429, "the right password does not help now"
    assert not AccessAttempt.objects.filter(post_data__contains=PASSWORD).exists()


def test_correct_password_works_after_the_block(client, ada):
    for _i in range(5):
        sign_in(client, "wrong")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in(client)["Location"] == INDEX


def test_other_users_are_not_blocked(client, ada):
    for _i in range(6):
        sign_in(client, "wrong", REMOTE_ADDR="203.0.113.9")
    assert sign_in(client, REMOTE_ADDR="203.0.113.10")["Location"] == INDEX


def test_address_that_tries_many_usernames_is_blocked(client, ada):
    for number in range(20):
        client.post(LOGIN, {"username": f"name-{number}", "password": "wrong"}, REMOTE_ADDR="203.0.113.9")
    assert sign_in(client, REMOTE_ADDR="203.0.113.9").status_code == 429
    assert sign_in(client, REMOTE_ADDR="203.0.113.10")["Location"] == INDEX


def test_username_tried_from_many_addresses_is_slowed_down_and_not_blocked(client, ada, settings):
    """Otherwise anyone who knows a name could keep its owner out."""
    settings.SIGN_IN_FAILURES = 2
    settings.AXES_COOLOFF_TIME = timedelta(days=36500)
    delays = []
    for number in range(13):
        answer = sign_in(client, "wrong", REMOTE_ADDR=f"203.0.113.{number}")
        delays.append(answer.wsgi_request.delay_seconds)
    assert delays == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]
    assert sign_in(client, REMOTE_ADDR="203.0.113.200")["Location"] == INDEX


@override_settings(TRUSTED_PROXIES=1)
def test_behind_a_proxy_each_visitor_is_blocked_alone(client, ada):
    for _i in range(6):
        sign_in(client, "wrong", HTTP_X_FORWARDED_FOR="forged, 203.0.113.9")
    assert sign_in(client, HTTP_X_FORWARDED_FOR="203.0.113.9").status_code == 429
    assert sign_in(client, HTTP_X_FORWARDED_FOR="203.0.113.10")["Location"] == INDEX


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "203.0.113.7", "127.0.0.1"), (1, "203.0.113.7", "203.0.113.7"), (1, "forged, 203.0.113.7", "203.0.113.7"),
        (2, "forged, 203.0.113.7, 10.0.0.1", "203.0.113.7"), (2, "203.0.113.7", "127.0.0.1"), (1, "", "127.0.0.1"),
    ],
)  # fmt: skip
def test_address_behind_proxies_comes_from_trusted_proxies(proxies, forwarded, address):
    request = RequestFactory().get("/", HTTP_X_FORWARDED_FOR=forwarded)
    with override_settings(TRUSTED_PROXIES=proxies):
        assert address_of(request) == address


def test_sign_ins_are_logged_without_the_typed_text(client, ada):
    sign_in(client, "my old password")
    client.post(LOGIN, {"username": "password in the wrong field", "password": "x"})
    sign_in(client)
    records = list(Record.objects.order_by("pk"))
    assert [(record.action, record.title) for record in records] == [
        ("sign_in_failed", "ada"), ("sign_in_failed", ""), ("signed_in", "ada"),
    ]  # fmt: skip
    assert "password" not in str([(record.title, record.details) for record in records])
    for _i in range(8):
        sign_in(client, "wrong")
    assert Record.objects.filter(action="sign_in_barred").count() >= 1
    assert Record.objects.filter(action="sign_in_failed").count() <= 2 + 5


def test_sign_in_without_next_page_leads_to_the_admin(client, ada):
    assert client.post(LOGIN, {"username": "ada", "password": PASSWORD})["Location"] == INDEX


# ---- the second factor -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [INDEX, "/admin/studies/study/", "/admin/exports/studies/1/", "/admin/auth/user/"])
def test_required_second_factor_must_be_set_up_first(client, ada, required, path):
    sign_in(client)
    for response in (client.get(path), client.post(path)):
        assert (response.status_code, response["Location"]) == (302, SET_UP)
    page = client.get(SET_UP)
    assert page.status_code == 200 and not TOTPDevice.objects.exists(), "viewing the page creates nothing"


def test_setup_shows_qr_code_secret_and_recovery_codes(client, ada, required):
    sign_in(client)
    client.post(SET_UP, {"do": "begin"})
    page = client.get(SET_UP).content.decode()
    assert "<svg" in page and re.search(r"<code>(\w{4} ){7}\w{4}</code>", page)
    error_page = client.post(SET_UP, {"do": "confirm", "code": SIX_DIGITS}).content.decode()
    assert "Please wait" in error_page or "valid right now" in error_page
    assert not TOTPDevice.objects.filter(confirmed=True).exists()
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    _device, codes = set_up(client)
    assert len(set(codes)) == 10
    assert client.get(INDEX).status_code == 200
    assert codes[0] not in client.get(SET_UP).content.decode(), "they are shown once"
    assert Record.objects.filter(action="second_factor_set", by="ada").count() == 1


def test_app_code_is_asked_for_and_works_once(client, ada, required):
    sign_in(client)
    device, _codes = set_up(client)
    second_client = Client()
    sign_in(second_client)
    response = second_client.get("/admin/studies/study/")
    assert response["Location"] == f"{VERIFY}?next=/admin/studies/study/"
    assert second_client.get(SET_UP)["Location"] == VERIFY, "a password alone sets up no other app"
    assert second_client.post(SET_UP, {"do": "begin"})["Location"] == VERIFY
    TOTPDevice.objects.update(last_t=-1)
    code = code_of(device)
    redirected = second_client.post(VERIFY, {"code": code, "next": "/admin/studies/study/"})
    assert redirected["Location"] == "/admin/studies/study/"
    assert second_client.get("/admin/studies/study/").status_code == 200
    third_client = Client()
    sign_in(third_client)
    assert third_client.post(VERIFY, {"code": code}).status_code == 200, "not a second time"
    assert third_client.get(INDEX).status_code == 302


def test_guessing_codes_is_slowed_down(client, ada, required):
    sign_in(client)
    device, _codes = set_up(client)
    second_client = Client()
    sign_in(second_client)
    for _i in range(4):
        page = second_client.post(VERIFY, {"code": SIX_DIGITS}).content.decode()
    assert "Please wait" in page
    TOTPDevice.objects.update(last_t=-1)
    assert second_client.post(VERIFY, {"code": code_of(device)}).status_code == 200, "even the right one must wait"
    assert Record.objects.filter(action="second_factor_failed").count() == 5


def test_recovery_code_works_once(client, ada, required):
    sign_in(client)
    _device, codes = set_up(client)
    for status in (302, 200):
        second_client = Client()
        sign_in(second_client)
        assert second_client.post(VERIFY, {"code": codes[0].upper()}).status_code == status
    assert StaticToken.objects.count() == 9
    client.post(SET_UP, {"do": "codes"})
    assert StaticToken.objects.count() == 10
    second_client = Client()
    sign_in(second_client)
    assert second_client.post(VERIFY, {"code": codes[1]}).status_code == 200, "earlier codes are invalid"


def test_copy_of_the_database_reveals_no_second_factor(client, ada, required):
    sign_in(client)
    device, codes = set_up(client)
    seed = device.bin_key.hex()
    tables = [model.objects.values() for model in (TOTPDevice, AuthenticatorApp, StaticDevice, StaticToken)]
    stored = str([list(rows) for rows in tables])
    assert not [secret for secret in (seed, *codes) if secret in stored.lower()]


def test_second_factor_outlives_a_changed_secret_key_among_the_fallbacks(client, ada, required, settings):
    sign_in(client)
    device, codes = set_up(client)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    TOTPDevice.objects.update(last_t=-1)
    for code in (code_of(device), codes[0]):
        second_client = Client()
        sign_in(second_client)
        assert second_client.post(VERIFY, {"code": code}).status_code == 302
    settings.SECRET_KEY_FALLBACKS = []
    AuthenticatorApp.objects.update(last_t=-1)
    second_client = Client()
    sign_in(second_client)
    code = code_of(AuthenticatorApp.objects.get())
    assert second_client.post(VERIFY, {"code": code}).status_code == 302, "sealed again when it was last used"
    settings.SECRET_KEY = "a third one"
    second_client = Client()
    sign_in(second_client)
    page = second_client.post(VERIFY, {"code": SIX_DIGITS}).content.decode()
    assert "ask the administrator to reset" in page


def test_next_page_must_be_on_this_site(client, ada, required):
    sign_in(client)
    _device, codes = set_up(client)
    second_client = Client()
    sign_in(second_client)
    assert second_client.post(VERIFY, {"code": codes[0], "next": "https://elsewhere.example/"})["Location"] == INDEX


def test_optional_second_factor_is_asked_for_if_set_up(client, ada):
    sign_in(client)
    assert client.get(INDEX).status_code == 200
    set_up(client)
    second_client = Client()
    sign_in(second_client)
    assert second_client.get(INDEX)["Location"] == f"{VERIFY}?next=/admin/"


def test_administrator_resets_a_lost_second_factor(client, ada, required):
    sign_in(client)
    set_up(client)
    User.objects.create_user("bob", is_staff=True)
    bob = User.objects.get(username="bob")
    AuthenticatorApp.begin(user=bob, confirmed=True)
    client.post(reverse("admin:auth_user_changelist"), {"action": "remove_second_factor", "_selected_action": [bob.pk]})
    assert not TOTPDevice.objects.filter(user=bob).exists()
    assert Record.objects.get(action="second_factor_removed").title == "bob"
    call_command("reset_second_factor", "ada")
    assert not TOTPDevice.objects.exists()
    with pytest.raises(CommandError, match="There is no user"):
        call_command("reset_second_factor", "nobody")


def test_admin_shows_no_second_factor_secrets(client, ada):
    client.force_login(ada)
    for path in ("/admin/otp_totp/totpdevice/", "/admin/otp_static/staticdevice/"):
        assert client.get(path).status_code == 404


def test_participants_need_no_second_factor(client, required):
    assert client.get("/").status_code == 200
    assert client.get("/join/nowhere").status_code == 404
