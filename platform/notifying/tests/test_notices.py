"""Researchers are told of alerts: once, together, only if they want to, and they see why it did not arrive."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from decimal import Decimal
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from helping import services as help_services
from helping.models import Message
from matches.models import Match
from monitoring import people as monitored
from notifying import finding, sending
from notifying.finding import Found, record
from notifying.models import SET_UP, Alert, Kind, Recipient
from notifying.tests.mailbox import mail_server
from opponents.models import Circuit
from payouts.models import LedgerRow
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests.kit import at_once
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db
SECRET = "a secret of at least 24 letters"


@pytest.fixture
def mailbox(settings):
    with mail_server() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_URL = f"smtp://127.0.0.1:{box.port}"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        yield box


@pytest.fixture
def webhook():
    """A real HTTP server that keeps what it is sent, and responds with `status`."""
    received = SimpleNamespace(requests=[], status=204)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.requests.append((dict(self.headers.items()), body))
            self.send_response(received.status)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield received
        server.shutdown()


@pytest.fixture
def study() -> Study:
    return launched_study(agents="openai:m")


def telling(study: Study, address: str = "rosa@example.org", kinds=tuple(Kind.values), **fields) -> Recipient:
    return Recipient.objects.create(study=study, address=address, kinds=list(kinds), **fields)


def later(minutes: float) -> None:
    """Let time pass for what is recorded."""
    for row in Alert.objects.all():
        Alert.objects.filter(pk=row.pk).update(
            found_at=row.found_at - timedelta(minutes=minutes), seen_at=row.seen_at - timedelta(minutes=minutes)
        )
    for one in Recipient.objects.filter(next_at__isnull=False):
        Recipient.objects.filter(pk=one.pk).update(next_at=one.next_at - timedelta(minutes=minutes))


def tell(study: Study) -> None:
    """Record that a model does not respond, long enough ago to be told."""
    record(study, [Found(Kind.MODEL, "openai")])
    later(2)


def kinds_found(study: Study) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in finding.alerts_of(study)]


def break_model() -> None:
    Circuit.objects.update_or_create(
        endpoint="openai", defaults={"open_until": timezone.now() + timedelta(hours=9), "changed_at": timezone.now()}
    )


class TestFinding:
    def test_nothing_is_found_for_studies_that_tell_nobody(self, study):
        break_model()
        assert finding.find_everywhere() == 0 and not Alert.objects.exists()

    def test_model_that_does_not_respond(self, study):
        telling(study)
        assert kinds_found(study) == []
        break_model()
        assert kinds_found(study) == [(Kind.MODEL, "openai")]

    @pytest.mark.parametrize(("spent", "found"), [("79.99", False), ("80", True)])
    def test_budget_from_eighty_percent(self, study, monkeypatch, spent, found):
        telling(study, kinds=[Kind.BUDGET])
        money = finding.spending_of(study).study.__class__(Decimal(spent), Decimal(100))
        monkeypatch.setattr(finding, "spending_of", lambda _study: SimpleNamespace(study=money, today=None))
        assert (kinds_found(study) == [(Kind.BUDGET, "study of 100")]) == found

    def test_study_is_complete_when_every_cell_is_full(self, study, monkeypatch):
        telling(study, kinds=[Kind.COMPLETE])
        assert kinds_found(study) == []
        people = monitored.people_of(study)
        full = [monitored.CellStatus(cell.number, cell.title, 1, 1, 0) for cell in people.cells]
        monkeypatch.setattr(finding, "people_of", lambda _study: monitored.People(people.by_state, 1, full))
        assert kinds_found(study) == [(Kind.COMPLETE, "version 1")]

    def test_payments_that_wait(self, study):
        telling(study, kinds=[Kind.PAYMENTS])
        assert kinds_found(study) == []
        LedgerRow.objects.create(
            enrolment=arrived_participant(study), study=study.slug, reason="base", amount=1, currency="USD", workings={}
        )
        assert kinds_found(study) == [(Kind.PAYMENTS, "due")]

    def test_question_that_waits(self, study):
        telling(study, kinds=[Kind.QUESTION])
        visitor = Visitor(arrived_participant(study))
        help_services.ask(enrolment=visitor.enrolment, text="Hello?")
        assert kinds_found(study) == []
        Message.objects.update(at=timezone.now() - finding.PATIENCE)
        assert kinds_found(study) == [(Kind.QUESTION, "")]

    @pytest.mark.parametrize(("percent", "found"), [(50, True), (51, False)])
    def test_absence_above_the_share_that_is_set(self, study, monkeypatch, percent, found):
        telling(study, kinds=[Kind.ABSENCE], absence_percent=percent)
        monkeypatch.setattr(finding, "absent_of", lambda _study: (2, 4))
        assert (kinds_found(study) == [(Kind.ABSENCE, str(percent))]) == found

    def test_absent_are_those_in_live_matches_whose_page_is_lost(self):
        study = launched_study(slug="absent")
        visitors = [Visitor(arrived_participant(study, f"w{n}")).walk_to("match") for n in range(3)]
        assert finding.absent_of(study) == (0, 3)
        match = visitors[0].match()
        Match.objects.filter(pk=match.pk).update(absences={"alice": {"since": timezone.now().isoformat()}})
        assert finding.absent_of(study) == (1, 3)

    def test_what_lasts_is_one_occasion_and_what_comes_back_another(self, study):
        down = [Found(Kind.MODEL, "openai")]
        assert [record(study, down), record(study, down)] == [1, 0]
        later(29)
        assert record(study, down) == 0
        later(29)
        assert record(study, down) == 0
        later(31)
        assert record(study, down) == 1
        assert list(Alert.objects.values_list("number", flat=True)) == [1, 2]

    def test_what_happens_once_is_never_told_again(self, study):
        full = [Found(Kind.COMPLETE, "version 1", {"completed": 2, "version": 1})]
        record(study, full)
        later(60 * 24)
        assert record(study, full) == 0

    def test_error_in_one_study_does_not_stop_another(self, study, monkeypatch, caplog):
        other = launched_study(slug="other", agents="openai:m")
        telling(study)
        telling(other)
        break_model()
        find = finding.alerts_of
        monkeypatch.setattr(finding, "alerts_of", lambda one: 1 / 0 if one == study else find(one))
        assert finding.find_everywhere() == 1
        assert Alert.objects.get().study == other and "cannot be found" in caplog.text


class TestMail:
    def test_alerts_arrive_together_in_one_mail_and_once(self, study, mailbox):
        telling(study)
        record(study, [Found(Kind.MODEL, "openai"), Found(Kind.PAYMENTS, "due", {"number": 3})])
        assert sending.send_due() == 0, "they wait for others"
        later(2)
        assert sending.send_due() == 1
        (mail,) = mailbox.mails
        assert mail["to"] == "rosa@example.org"
        assert "[Parley] Splitting: “openai” " in mail["subject"]
        text = mail.get_content().replace("\r\n", "\n")
        assert f"http://127.0.0.1:8000/admin/monitor/{study.pk}/" in text
        assert "3 payments" in text and "http://127.0.0.1:8000/admin/pay/" in text
        later(60)
        assert sending.send_due() == 0 and len(mailbox.mails) == 1

    def test_next_mail_keeps_its_distance(self, study, mailbox):
        telling(study)
        tell(study)
        sending.send_due()
        record(study, [Found(Kind.QUESTION, "", {"number": 1})])
        later(5)
        assert sending.send_due() == 0
        later(6)
        assert sending.send_due() == 1 and "1 question waits" in mailbox.mails[1]["subject"]

    def test_each_address_is_told_only_of_what_it_wants(self, study, mailbox):
        telling(study, "a@example.org", [Kind.MODEL])
        telling(study, "b@example.org", [Kind.ABSENCE], absence_percent=30)
        record(study, [Found(Kind.MODEL, "openai"), Found(Kind.ABSENCE, "20", {"absent": 2, "playing": 9})])
        later(2)
        assert sending.send_due() == 1 and mailbox.mails[0]["to"] == "a@example.org"

    def test_mail_names_no_participant(self, study, mailbox):
        telling(study)
        visitor = Visitor(arrived_participant(study, worker="A1SECRET")).walk_to("match")
        help_services.ask(enrolment=visitor.enrolment, text="My name is Ottokar.")
        Message.objects.update(at=timezone.now() - finding.PATIENCE)
        finding.find_everywhere()
        later(2)
        assert sending.send_due() == 1
        mail = mailbox.mails[0].as_string()
        assert not any(word in mail for word in ("Ottokar", "A1SECRET", "Robin", visitor.enrolment.pseudonym))

    def test_refused_address_says_so_where_it_was_set_and_gets_no_more(self, study, mailbox, client):
        mailbox.replies["gone@example.org"] = "550 5.1.1 no such <b>user</b>"
        recipient = telling(study, "gone@example.org")
        tell(study)
        assert sending.send_due() == 0
        user = User.objects.create_user("ed", is_staff=True)
        give(study, user=user, role=Role.EDITOR, by=None)
        client.force_login(user)
        for page in ("", f"{recipient.pk}/change/"):
            html = client.get(f"/admin/notifying/recipient/{page}").content.decode()
            assert "550 5.1.1 no such &lt;b&gt;user" in html
        later(60 * 24)
        assert sending.send_due() == 0
        assert mailbox.mails == []

    @pytest.mark.parametrize("reply", ["451 try later", "down", "none"])
    def test_what_may_pass_is_tried_again_after_a_growing_while(self, study, mailbox, settings, reply):
        port = mailbox.port
        if reply == "down":
            settings.EMAIL_PORT = 9
        elif reply == "none":
            settings.EMAIL_URL = ""
        else:
            mailbox.replies["rosa@example.org"] = reply
        recipient = telling(study)
        tell(study)
        sending.send_due()
        recipient.refresh_from_db()
        assert recipient.problem and recipient.next_at > timezone.now() + timedelta(seconds=50)
        later(1)
        sending.send_due()
        recipient.refresh_from_db()
        assert recipient.next_at > timezone.now() + timedelta(seconds=110)
        mailbox.replies.clear()
        settings.EMAIL_PORT, settings.EMAIL_URL = port, "smtp://127.0.0.1"
        later(3)
        assert sending.send_due() == 1 and len(mailbox.mails) == 1
        recipient.refresh_from_db()
        assert recipient.problem == ""

    def test_two_workers_send_a_notice_once(self, study, mailbox, monkeypatch):
        telling(study)
        tell(study)
        mail = sending._mail

        def mail_while_another_worker_looks(*arguments) -> None:
            assert sending.send_due() == 0
            mail(*arguments)

        monkeypatch.setattr(sending, "_mail", mail_while_another_worker_looks)
        assert sending.send_due() == 1 and len(mailbox.mails) == 1

    def test_worker_that_is_killed_while_sending_leaves_the_notice_to_another(self, study, mailbox, monkeypatch):
        telling(study)
        tell(study)
        with monkeypatch.context() as killed:
            killed.setattr(sending, "_mail", Mock(side_effect=SystemExit))
            with pytest.raises(SystemExit):
                sending.send_due()
        assert sending.send_due() == 0
        later(6)
        assert sending.send_due() == 1 and len(mailbox.mails) == 1


class TestWebhook:
    def test_request_is_signed_and_holds_counts_and_links(self, study, webhook):
        recipient = telling(study, webhook.url)
        recipient.keep_secret(SECRET)
        recipient.save()
        record(study, [Found(Kind.PAYMENTS, "due", {"number": 2})])
        later(2)
        assert sending.send_due() == 1
        ((headers, body),) = webhook.requests
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        digest = base64.b64encode(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{digest}"
        sent = json.loads(body)
        assert (sent["type"], sent["study"]["slug"]) == ("study.alert", study.slug)
        (alert,) = sent["alerts"]
        assert (alert["kind"], alert["number"], alert["text"]) == ("payments", 2, "2 payments wait for approval.")

    def test_secret_in_the_standard_s_own_form_is_decoded(self):
        headers = {"webhook-id": "msg_1", "webhook-timestamp": "1614265330"}
        key = base64.b64encode(b"0123456789012345678901234").decode()
        expected = hmac.new(b"0123456789012345678901234", b"msg_1.1614265330.{}", hashlib.sha256).digest()
        assert sending.signature(f"whsec_{key}", headers, b"{}") == f"v1,{base64.b64encode(expected).decode()}"

    def test_failed_request_is_repeated_with_the_same_identifier(self, study, webhook):
        webhook.status = 500
        recipient = telling(study, webhook.url)
        tell(study)
        assert sending.send_due() == 0
        recipient.refresh_from_db()
        assert recipient.problem == "The webhook responded with status 500."
        webhook.status = 200
        later(2)
        assert sending.send_due() == 1
        first, second = (headers["webhook-id"] for headers, _body in webhook.requests)
        assert first == second

    def test_private_network_is_refused(self, study, settings):
        settings.LOCAL_HOSTS = []
        recipient = telling(study, "https://10.0.0.1/hook")
        tell(study)
        sending.send_due()
        recipient.refresh_from_db()
        assert "private network" in recipient.problem


class TestSetting:
    def add(self, client, study: Study, **fields: object):
        data = {"study": study.pk, "address": "rosa@example.org", "kinds": ["model"], "absence_percent": 20, **fields}
        return client.post("/admin/notifying/recipient/add/", data)

    def test_address_that_is_set_gets_a_first_notice_at_once(self, boss, client, study, mailbox):
        assert self.add(client, study).status_code == 302
        assert Alert.objects.get().kind == SET_UP
        assert sending.send_due() == 1
        assert "This address receives the notices" in mailbox.mails[0]["subject"]

    @pytest.mark.parametrize(
        "address",
        ["rosa", "http://example.org/hook", "ftp://example.org", "https://u:p@example.org/", "https://", "a@b@c"],
    )
    def test_other_addresses_are_refused(self, boss, client, study, address):
        page = self.add(client, study, address=address)
        assert page.status_code == 200 and not Recipient.objects.exists()

    def test_secret_is_stored_sealed_and_never_shown(self, boss, client, study):
        self.add(client, study, address="https://example.org/hook", new_secret=SECRET)
        recipient = Recipient.objects.get()
        assert recipient.secret() == SECRET and SECRET not in recipient.sealed_secret
        assert SECRET not in client.get(f"/admin/notifying/recipient/{recipient.pk}/change/").content.decode()

    def test_viewer_neither_sees_nor_sets_addresses(self, client, study):
        telling(study)
        user = User.objects.create_user("vi", is_staff=True)
        give(study, user=user, role=Role.VIEWER, by=None)
        client.force_login(user)
        assert "rosa@example.org" not in client.get("/admin/notifying/recipient/").content.decode()
        assert self.add(client, study, address="vi@example.org").status_code == 200
        assert Recipient.objects.count() == 1


@pytest.mark.slow
@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_workers_that_find_the_same_record_it_once():
    finding_it = partial(record, launched_study(), [Found(Kind.COMPLETE, "version 1")])
    assert sum(at_once([finding_it] * 4)) == 1
    assert Alert.objects.count() == 1
