"""Results are sent to oTree until they arrive; a stand-in server speaks oTree's REST API over a real socket."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from api import delivery
from api.outcomes import outcome_of
from api.tests.calling import call
from config.supervisor import free_port
from erasing.services import erase
from exports.tests import building
from participants import services as people
from participants.models import Enrolment
from recruiters.arrivals import Arrival
from recruiters.models import Delivery, OtreeServer
from recruiters.otree import link_key
from studies.enrolling import enrol
from studies.models import Study

KEY = "otree-rest-key-4711"
UNKNOWN_PARTICIPANT = b"Not found (maybe the session was deleted): Participant, {'code': 'aaa'}"
"""oTree 6's response for an unknown participant."""


class StandIn:
    """A stand-in for oTree's REST API; it records requests and answers the first ones with the given statuses."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.statuses: list[int] = []
        self.reply, self.reply_404 = b"{}", UNKNOWN_PARTICIPANT
        self.speaks_http = True
        self.hangs = threading.Event()
        self.vars: dict[str, Any] = {}
        self.calls: list[tuple[str, str]] = []
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        standin = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
                standin.calls.append((self.path, self.headers["otree-rest-key"] or ""))
                while standin.hangs.is_set():
                    time.sleep(0.05)
                status = standin.statuses.pop(0) if standin.statuses else 200
                if self.headers["otree-rest-key"] != KEY:
                    status = 403
                if not standin.speaks_http:
                    self.wfile.write(b"220 mail.example ready\r\n")
                    return
                if status == 200 and standin.reply == b"{}":
                    standin.vars.update(body.get("vars", {}))
                self.send_response(status)
                if status in (301, 302, 307):
                    self.send_header("Location", f"{standin.url}/elsewhere")
                reply = standin.reply_404 if status == 404 else standin.reply
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            do_GET = do_POST

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@pytest.fixture
def otree() -> Iterator[StandIn]:
    standin = StandIn()
    standin.start()
    yield standin
    standin.stop()


@pytest.fixture
def study(db, otree) -> Study:
    server = OtreeServer(study="splitting", addresses=otree.url)
    server.keep_rest_key(KEY)
    server.save()
    return building.new_study(via="otree")


def create_ended(study: Study, otree: StandIn, code: str = "abc123xy") -> Enrolment:
    """Create a participant who came from oTree and left halfway."""
    return_to = f"{otree.url}/InitializeParticipant/{code}"
    person = enrol(study, Arrival("otree", worker=code, proof=f"{code}/parley/1", return_to=return_to))
    people.withdraw(enrolment_id=person.pk)
    person.refresh_from_db()
    return person


def let_time_pass() -> None:
    Delivery.objects.update(next_at=timezone.now() - timedelta(seconds=1))


def read(token: str) -> dict[str, Any]:
    """Return what a delivered token says, if it is signed with the study's link key."""
    key = link_key(OtreeServer.objects.get(study="splitting"))
    return jwt.decode(token, key, algorithms=["HS256"], audience="otree:result")


def test_a_signed_result_is_sent_once_to_the_participants_vars(study, otree):
    person = create_ended(study, otree)
    assert delivery.deliver_due() == 1
    assert otree.calls == [("/api/participant_vars/abc123xy", KEY)]
    (token,) = otree.vars["parley/1"]
    assert read(token) == {
        **{"aud": "otree:result", "study": "splitting", "sub": "abc123xy", "round": "parley/1"},
        "result": outcome_of(study, person).model_dump(mode="json"),
    }
    assert read(token)["result"]["ending"] == "withdrew"
    let_time_pass()
    assert delivery.deliver_due() == 0 and len(otree.calls) == 1
    assert Delivery.objects.get().state == "delivered"


def test_a_result_can_be_checked_after_a_change_of_the_server_secret(study, otree, settings):
    old_key = link_key(OtreeServer.objects.get())
    create_ended(study, otree)
    with override_settings(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert delivery.deliver_due() == 1
    _new_token, token = otree.vars["parley/1"]
    assert jwt.decode(token, old_key, algorithms=["HS256"], audience="otree:result")["sub"] == "abc123xy"


def test_the_connection_is_tested_both_ways_with_the_key(study, otree):
    claims = {"aud": "parley:connection", "study": "splitting", "exp": time.time() + 60, "back": otree.url}
    claims |= {"currency": "USD"}

    def problems(**further: Any) -> list[str]:
        token = jwt.encode({**claims, **further}, link_key(OtreeServer.objects.get()), "HS256")
        return call(f"/connection/{token}").json()["problems"]

    assert problems(answers=False) == [] and otree.calls == [], "oTree cannot answer now"
    assert problems(answers=True) == [] and otree.calls == [("/api/otree_version", KEY)]
    server = OtreeServer.objects.get()
    server.keep_rest_key("another")
    server.save()
    (problem,) = problems(answers=True)
    assert "rejected the key" in problem and "another" not in problem
    otree.stop()
    (problem,) = problems(answers=True)
    assert "Could not reach" in problem and otree.url in problem


def test_only_finished_otree_participants_have_due_results(study, otree):
    enrol(study, Arrival("otree", worker="x", proof="x"))
    people.withdraw(enrolment_id=building.arrive(study, worker="A1").pk)
    OtreeServer.objects.update(sealed_rest_key="")
    create_ended(study, otree)
    assert not Delivery.objects.exists() and delivery.deliver_due() == 0


def test_a_server_that_is_down_is_retried_at_growing_intervals(study, otree):
    create_ended(study, otree)
    otree.stop()
    waits = []
    for _i in range(4):
        before = timezone.now()
        assert delivery.deliver_due() == 0
        waiting = Delivery.objects.get()
        waits.append((waiting.next_at - before).total_seconds())
        assert waiting.state == "due" and waiting.problem.startswith("Could not reach")
        assert delivery.deliver_due() == 0 and Delivery.objects.get().attempts == waiting.attempts, (
            "it is not retried before it is due"
        )
        let_time_pass()
    assert waits == sorted(waits) and waits[-1] > 4 * waits[0]
    otree.start()
    assert delivery.deliver_due() == 1
    assert (Delivery.objects.get().state, Delivery.objects.get().problem) == ("delivered", "")


def test_hanging_server_delays_only_one_attempt(study, otree, monkeypatch):
    monkeypatch.setattr(delivery, "TIMEOUT_SECONDS", 0.5)
    for code in ("aaa", "bbb", "ccc"):
        create_ended(study, otree, code)
    otree.hangs.set()
    assert delivery.deliver_due() == 0
    assert len(otree.calls) == 1, "other results do not wait for the same timeout"
    assert delivery.deliver_due() == 0 and len(otree.calls) == 1, "the next sweep does not retry at once"
    otree.hangs.clear()
    let_time_pass()
    assert delivery.deliver_due() == 3
    assert {path.rpartition("/")[2] for path, _key in otree.calls} == {"aaa", "bbb", "ccc"}
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


def test_silent_server_does_not_delay_other_studies(study, otree):
    other_study = building.new_study(slug="other", via="otree")
    silent = StandIn()
    server = OtreeServer(study="other", addresses=silent.url)
    server.keep_rest_key(KEY)
    server.save()
    create_ended(other_study, silent)
    create_ended(study, otree)
    assert delivery.deliver_due() == 1
    assert set(Delivery.objects.values_list("state", flat=True)) == {"due", "delivered"}


def test_refused_result_does_not_delay_others(study, otree):
    for code in ("aaa", "bbb", "ccc"):
        create_ended(study, otree, code)
    otree.statuses = [404, 500]
    assert delivery.deliver_due() == 1
    let_time_pass()
    assert delivery.deliver_due() == 1
    states = list(Delivery.objects.order_by("pk").values_list("state", flat=True))
    assert states == ["given_up", "delivered", "delivered"]


@pytest.mark.parametrize("status", [500, 502, 302, 307])
def test_the_result_arrives_after_any_errors(study, otree, status):
    create_ended(study, otree)
    otree.statuses = [status]
    assert delivery.deliver_due() == 0
    assert str(status) in Delivery.objects.get().problem
    assert [path for path, _key in otree.calls] == ["/api/participant_vars/abc123xy"], "no redirect is followed"
    let_time_pass()
    assert delivery.deliver_due() == 1 and "parley/1" in otree.vars


def test_wrong_key_is_shown_and_can_be_corrected(study, otree, client, admin_user, caplog):
    server = OtreeServer.objects.get()
    server.keep_rest_key("wrong-key-4712")
    server.save()
    create_ended(study, otree)
    with caplog.at_level(logging.DEBUG):
        assert delivery.deliver_due() == 0
    assert "wrong-key-4712" not in caplog.text
    client.force_login(admin_user)
    listed = client.get(reverse("admin:recruiters_delivery_changelist")).content.decode()
    assert "rejected the key" in listed and "wrong-key-4712" not in listed
    address = reverse("admin:recruiters_otreeserver_change", args=[server.pk])
    client.post(address, {"addresses": otree.url, "new_rest_key": KEY})
    assert KEY not in client.get(address).content.decode()
    let_time_pass()
    assert delivery.deliver_due() == 1


def test_a_stored_key_is_sent_to_no_other_address(study, otree, client, admin_user):
    client.force_login(admin_user)
    address = reverse("admin:recruiters_otreeserver_change", args=[OtreeServer.objects.get().pk])
    page = client.post(address, {"addresses": "https://elsewhere.example", "new_rest_key": ""})
    assert "Please enter it again" in page.content.decode()
    assert OtreeServer.objects.get().allowed() == [otree.url]


def test_nothing_is_sent_to_disallowed_addresses(study, otree):
    create_ended(study, otree)
    OtreeServer.objects.update(addresses="https://elsewhere.example")
    assert delivery.deliver_due() == 0
    assert otree.calls == [] and "no longer" in Delivery.objects.get().problem


def test_server_on_a_private_network_must_be_configured(study, otree, settings):
    settings.LOCAL_HOSTS = []
    create_ended(study, otree)
    assert delivery.deliver_due() == 0
    assert otree.calls == [] and "LOCAL_HOSTS" in Delivery.objects.get().problem


@pytest.mark.parametrize("nonsense", ["no HTTP", "a page", "a list"])
def test_response_from_another_server_is_no_delivery(study, otree, nonsense):
    create_ended(study, otree)
    otree.speaks_http = nonsense != "no HTTP"
    otree.reply = b"[]" if nonsense == "a list" else b"<html>Down for maintenance</html>"
    assert delivery.deliver_due() == 0
    waiting = Delivery.objects.get()
    assert waiting.state == "due" and "oTree" in waiting.problem
    otree.speaks_http, otree.reply = True, b"{}"
    let_time_pass()
    assert delivery.deliver_due() == 1 and "parley/1" in otree.vars


def test_a_proxy_without_otree_is_retried(study, otree):
    create_ended(study, otree)
    otree.statuses, otree.reply_404 = [404], b"404 page not found"
    assert delivery.deliver_due() == 0
    assert Delivery.objects.get().state == "due"
    let_time_pass()
    assert delivery.deliver_due() == 1


def test_error_in_one_study_does_not_delay_others(study, otree):
    other_study = building.new_study(slug="other", via="otree")
    server = OtreeServer(study="other", addresses=otree.url)
    server.keep_rest_key(KEY)
    server.save()
    create_ended(other_study, otree, "aaa").placement.delete()
    create_ended(study, otree, "bbb")
    assert delivery.deliver_due() == 1
    assert [path for path, _key in otree.calls] == ["/api/participant_vars/bbb"]


def test_the_result_of_an_erased_participant_is_not_sent(study, otree):
    person = create_ended(study, otree)
    erase(enrolment=person, by=None, reason="asked")
    assert delivery.deliver_due() == 0 and otree.calls == []
    given_up = Delivery.objects.get()
    assert given_up.state == "given_up" and "erased" in given_up.problem
    person.refresh_from_db()
    assert person.return_to == ""


def test_delivery_stops_if_otree_forgot_the_participant(study, otree):
    create_ended(study, otree)
    otree.statuses = [404]
    delivery.deliver_due()
    let_time_pass()
    assert delivery.deliver_due() == 0 and len(otree.calls) == 1
    assert Delivery.objects.get().state == "given_up"


def test_the_key_is_stored_encrypted(study):
    assert KEY not in json.dumps(OtreeServer.objects.values().get(), default=str)
    assert OtreeServer.objects.get().rest_key() == KEY
