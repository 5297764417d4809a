"""Addresses of outside services that users can enter: which ones our requests must not reach."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError
from django.test import override_settings

from marketplaces.models import Account
from opponents.models import Endpoint
from recruiters.models import OtreeServer

METADATA = [
    "http://169.254.169.254", "http://[fd00:ec2::254]", "http://100.100.100.200", "http://[::ffff:169.254.169.254]",
    "http://0xa9fea9fe", "http://2852039166", "http://metadata.google.internal", "http://0.0.0.0",
    "http://[64:ff9b::a9fe:a9fe]", "http://[2002:a9fe:a9fe::1]", "http://①⑥⑨.254.169.254", "http://169。254。169。254",
]  # fmt: skip
MALFORMED = [
    "http://shop.example/?next=x", "http://shop.example/#x", "http://shop.example/?", "http://me:word@shop.example",
    "ftp://shop.example", "http://[", "http:///x", "http://shop.example\\@evil.example", "shop.example",
]  # fmt: skip
PRIVATE = [
    "http://10.0.0.7", "http://192.168.1.5:8000", "http://127.0.0.1:6379", "http://127.1", "http://2130706433",
    "http://localhost:5432", "http://[::1]:8000", "http://redis:6379", "http://printer.local", "http://[fc00::1]",
    "http://①②⑦.0.0.1", "http://[64:ff9b::7f00:1]",
]  # fmt: skip


def _check_stand_in(address: str) -> None:
    Account(title="Rehearsal", kind="mturk", address=address).clean_fields()


def _check_otree(address: str) -> None:
    OtreeServer(study="study", addresses=address).clean_fields()


def _check_endpoint(address: str) -> None:
    Endpoint(name="mine", title="Mine", protocol="openai", base_url=address).clean_fields()


@pytest.mark.parametrize("check", [_check_stand_in, _check_otree, _check_endpoint])
@pytest.mark.parametrize("address", [*METADATA, *MALFORMED])
def test_internal_and_malformed_addresses_are_refused(check: Callable[[str], None], address: str) -> None:
    with pytest.raises(ValidationError):
        check(address)


@pytest.mark.parametrize("check", [_check_stand_in, _check_otree])
@pytest.mark.parametrize("address", PRIVATE)
@override_settings(LOCAL_HOSTS=[])
def test_private_hosts_must_be_configured(check: Callable[[str], None], address: str) -> None:
    with pytest.raises(ValidationError, match="LOCAL_HOSTS"):
        check(address)
    with override_settings(LOCAL_HOSTS=["10.0.0.7"]):
        check("http://10.0.0.7")


def test_models_can_be_served_on_a_private_network() -> None:
    _check_endpoint("http://10.0.0.7:8000/v1")
    _check_endpoint("http://localhost:11434/v1")


@override_settings(BEHIND_TLS=True, LOCAL_HOSTS=["stand-in.example.org"])
def test_public_installation_rehearses_only_with_known_hosts() -> None:
    _check_stand_in("https://stand-in.example.org/")
    with pytest.raises(ValidationError, match="LOCAL_HOSTS"):
        _check_stand_in("https://elsewhere.example.org/")
