"""Endpoints in the admin: added from presets, tested and monitored, with permissions."""

from __future__ import annotations

import html
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from llm_agents import breaker
from llm_agents.endpoints import PRESETS
from llm_agents.standins import Calls
from llm_agents.standins.protocols import ALL_FEATURES
from llm_agents.standins.server import AnthropicStandIn, Failure, Hang, Malformed, OpenAIStandIn
from opponents import keys
from opponents.endpoints import stored_endpoint
from opponents.models import Call, Endpoint
from opponents.tests.secret import SECRET
from opponents.tests.test_keys import typed
from opponents.trying import try_out
from studies.tests.kit import staff
from tests.forms import form_data

pytestmark = pytest.mark.django_db

LIST = "/admin/opponents/endpoint/"
ADD = f"{LIST}add/"


def endpoint_at(standin, **changes) -> Endpoint:
    """Return an endpoint with a key whose calls go to the stand-in server."""
    protocol = "anthropic" if isinstance(standin, AnthropicStandIn) else "openai"
    address = next(value for name, value in standin.environment.items() if name.endswith("BASE_URL"))
    endpoint = Endpoint(**{"name": "standin", "protocol": protocol, "base_url": address, **changes})
    endpoint.keep_key(SECRET)
    endpoint.save()
    return endpoint


def press_test(client: Client, endpoint: Endpoint, model: str = "small") -> str:
    """Press the button and return the message shown."""
    response = client.post(f"{LIST}{endpoint.pk}/try/", {"model": model})
    assert response.status_code == 302
    page = client.get(response.url)
    assert SECRET.encode() not in page.content
    message_text = " ".join(str(message) for message in get_messages(page.wsgi_request))
    return message_text or html.unescape(page.content.decode())


def test_list_offers_every_preset(client: Client, boss):
    page = client.get(LIST).content.decode()
    for name, preset in PRESETS.items():
        assert f"{ADD}?preset={name}" in page and preset.title in page
    assert client.get(ADD, {"preset": "oracle"}).context["adminform"].form["name"].value() in (None, "")


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_added_by_saving(client: Client, boss, name):
    assert client.post(f"{ADD}?preset={name}", form_data(client.get(ADD, {"preset": name}))).status_code == 302
    endpoint = Endpoint.objects.get()
    assert (endpoint.name, endpoint.base_url) == (name, PRESETS[name].base_url or "")


@pytest.mark.parametrize("maker", [OpenAIStandIn, AnthropicStandIn])
def test_trial_shows_model_time_and_tokens(client: Client, boss, maker):
    with maker(["ready", Calls((("look", "{}"),))]) as standin:
        endpoint = endpoint_at(standin)
        message = press_test(client, endpoint)
        assert "small-stand-in answered in" in message and "11 → 7 tokens" in message and "ready" in message
        assert "It supports tools." in message
        assert len(standin.requests) == 2
    assert "small-stand-in answered" in LogEntry.objects.get().change_message
    assert not Call.objects.exists()


def test_trial_shows_missing_tool_support(client: Client, boss):
    with OpenAIStandIn(["ready"], features=ALL_FEATURES - {"tools"}) as standin:
        assert "Turn off “supports tools”" in press_test(client, endpoint_at(standin))


@pytest.mark.parametrize(
    "answer, expected_text",
    [
        (Failure(500, f"broken by {SECRET}"), "HTTP 500"),
        (Failure(401, f"no such key {SECRET}"), "did not accept the key"),
        (Failure(404, f"no model small for {SECRET}"), "no model small"),
        (Malformed(), "not"),
        (f"your key is {SECRET}", "[key]"),
    ],
)
def test_failed_test_explains_the_error_without_the_key(client: Client, boss, caplog, answer, expected_text):
    with OpenAIStandIn([answer]) as standin:
        assert expected_text in press_test(client, endpoint_at(standin))
    assert SECRET not in caplog.text
    assert SECRET not in repr(list(LogEntry.objects.values()))


def test_hung_endpoint_times_out():
    with OpenAIStandIn([Hang()]) as standin:
        trial = try_out(stored_endpoint(endpoint_at(standin)), "small", seconds=0.3)
    assert "No answer within 0.3 seconds" in trial.problem and trial.seconds < 2


def test_entered_key_survives_other_errors_unshown_and_is_forgotten_with_the_form(client: Client, boss):
    refused = client.post(ADD, typed(new_key=SECRET, concurrency="0"))
    assert refused.status_code == 200 and SECRET not in refused.content.decode()
    assert "to enter it again" in refused.content.decode()
    assert client.post(ADD, typed(new_key="")).status_code == 302
    assert keys.unseal(Endpoint.objects.get().sealed_key) == SECRET
    assert not [name for name in client.session.keys() if "key" in name]
    client.post(ADD, typed(name="abandoned", new_key=SECRET, concurrency="0"))
    client.get(ADD)
    client.post(ADD, typed(name="abandoned", new_key="", prices=""))
    abandoned = Endpoint.objects.get(name="abandoned")
    assert (abandoned.sealed_key, abandoned.prices) == ("", {})


def test_price_rows_are_dated_today(client: Client, boss):
    rows = {"prices-model": ["small", "", ""], "prices-input": ["0.15", "", ""], "prices-output": ["0.60", "", ""]}
    client.post(ADD, {**typed(prices_as_of=""), **rows, "prices-cached": ["", "", ""]})
    endpoint = Endpoint.objects.get()
    assert endpoint.prices == {"small": {"input": 0.15, "output": 0.6}}
    assert endpoint.prices_as_of == timezone.localdate()
    refused = client.post(ADD, {**typed(name="b"), "prices-model": ["x"], "prices-input": ["much"]})
    assert "prices in dollars for “x”" in " ".join(refused.context["adminform"].form.errors["prices"])


def test_missing_endpoint_or_key_is_reported(client: Client, boss):
    unreachable = Endpoint.objects.create(name="nobody", base_url="http://127.0.0.1:9/v1")
    assert "could not be reached" in press_test(client, unreachable)
    without_key = Endpoint.objects.create(name="unset", base_url="http://127.0.0.1:9/v1", key_variable="OURS_API_KEY")
    assert "OURS_API_KEY is not set" in press_test(client, without_key)


def test_unreadable_key_and_daily_cap_block_the_test_which_disabled_endpoints_may_take(client: Client, boss, settings):
    with OpenAIStandIn(["ready"]) as standin:
        endpoint = endpoint_at(standin, sealed_key="")
        Endpoint.objects.filter(pk=endpoint.pk).update(sealed_key="gAAAAA")
        assert "Enter it again" in press_test(client, endpoint)
        settings.SPEND_CAP_PER_DAY = "0"
        assert "daily limit" in press_test(client, endpoint_at(standin, name="capped"))
        assert not standin.requests
        settings.SPEND_CAP_PER_DAY = ""
        assert "answered" in press_test(client, endpoint_at(standin, name="disabled", enabled=False))


@pytest.mark.django_db(transaction=True)
def test_answer_closes_the_circuit(client: Client, boss):
    breaker.trip("standin")
    with OpenAIStandIn(["ready"]) as standin:
        press_test(client, endpoint_at(standin))
    assert breaker.state("standin") == "closed"


def test_trial_needs_post_and_a_model(client: Client, boss):
    endpoint = Endpoint.objects.create(name="ours")
    assert client.get(f"{LIST}{endpoint.pk}/try/").status_code == 405
    assert "the name of the model" in press_test(client, endpoint, model="")
    assert client.post(f"{LIST}999/try/", {"model": "small"}).status_code == 404

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(boss)
    assert strict.post(f"{LIST}{endpoint.pk}/try/", {"model": "small"}).status_code == 403


@pytest.mark.parametrize(
    "permissions, sees, adds, changes",
    [
        ([], False, False, False), (["view_call"], False, False, False), (["view_endpoint"], True, False, False),
        (["view_endpoint", "add_endpoint"], True, True, False),
        (["view_endpoint", "change_endpoint"], True, False, True),
    ],
)  # fmt: skip
def test_roles_have_their_permissions(client: Client, permissions, sees, adds, changes):
    endpoint = Endpoint.objects.create(name="ours", base_url="http://127.0.0.1:9/v1")
    staff(client, may=permissions)
    page = f"{LIST}{endpoint.pk}/change/"
    assert client.get(LIST).status_code == client.get(page).status_code == (200 if sees else 403)
    assert client.get(ADD).status_code == (200 if adds else 403)
    assert client.post(f"{LIST}{endpoint.pk}/try/", {"model": "small"}).status_code == (302 if changes else 403)
    client.post(page, typed(title="Theirs", base_url="http://127.0.0.1:9/v1", new_key=SECRET))
    endpoint.refresh_from_db()
    assert (endpoint.title == "Theirs", endpoint.key_state == "kept") == (changes, changes)
    if sees:
        assert (b"preset=openai" in client.get(LIST).content) is adds
        assert (b"Test endpoint" in client.get(page).content) is changes


def test_anonymous_users_are_sent_to_sign_in(client: Client):
    endpoint = Endpoint.objects.create(name="ours")
    for address in (LIST, ADD, f"{LIST}{endpoint.pk}/change/", f"{LIST}{endpoint.pk}/try/"):
        assert "login" in client.get(address).headers["Location"]


def test_calls_are_read_only_with_endpoint_and_price(client: Client, boss):
    record = {"model": "small", "endpoint": "ours", "rung": 2, "attempt": 3, "latency": 1.25, "problem": "too much"}
    call = Call.objects.create(
        match_uid="0" * 32, role="alice", answering=1, record=record, endpoint="ours", cost=Decimal("0.0123")
    )
    page = client.get("/admin/opponents/call/").content.decode()
    for name, text in {"endpoint": "ours", "fallback": "2", "attempt": "3", "cost_in_dollars": "$0.0123"}.items():
        assert f">{text}<" in page.split(f"field-{name}", 1)[1][:900].replace("\n", "")
    assert client.get("/admin/opponents/call/add/").status_code == 403
    assert client.post(f"/admin/opponents/call/{call.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.get(f"/admin/opponents/call/{call.pk}/change/").status_code == 200
