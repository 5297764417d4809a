"""Webhooks, paid screen-outs, filters, authenticity flags, and an address for each treatment."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from exports.dataset import export
from exports.tests import building
from exports.verify import verify
from marketplaces import syncing
from marketplaces.kinds import NotPossible
from marketplaces.models import Offer, Recruitment
from marketplaces.prolific import authenticity, hooks
from marketplaces.prolific.filters import FiltersForm
from marketplaces.prolific.models import Hook
from payouts import books
from payouts.models import LedgerRow
from recruiters.uploads import BadFile
from tests.visitors import text_of

pytestmark = pytest.mark.django_db
HOOKS_ADDRESS = "http://testserver/hooks/prolific/"


class TestWebhooks:
    @pytest.fixture
    def hook(self, desk):
        desk.publish()
        created_hook = hooks.subscribe(desk.offered, address=HOOKS_ADDRESS)
        Recruitment.objects.update(next_at=timezone.now() + timedelta(hours=1))
        return created_hook

    @pytest.fixture
    def left(self, hook, desk):
        """A participant who has just returned their submission on Prolific."""
        worker = desk.worker()
        worker.arrive()
        worker.leave()
        return worker

    @pytest.fixture
    def event(self, left, desk):
        return desk.market.events[-1]

    @staticmethod
    def post(event, body: bytes | None = None, **headers) -> int:
        """Post an event, perhaps with another body or other headers; return the status."""
        target, sent = event.target.removeprefix("http://testserver"), {**event.headers, **headers}
        return Client().post(target, event.body if body is None else body, "application/json", headers=sent).status_code

    @staticmethod
    def is_due() -> bool:
        return Recruitment.objects.get().next_at <= timezone.now()

    def test_subscription_is_confirmed_and_can_be_repeated(self, hook, desk):
        hooks.subscribe(desk.offered, address=HOOKS_ADDRESS)
        subscriptions = desk.market.hooks.values()
        assert sorted(subscription["event_type"] for subscription in subscriptions) == [
            "study.status.change",
            "submission.status.change",
        ]
        assert all(subscription["is_enabled"] for subscription in subscriptions) and Hook.objects.count() == 1
        assert Hook.objects.get().secret() == desk.market.hook_secret
        assert desk.market.hook_secret not in Hook.objects.get().sealed_secret

    def test_signed_event_brings_the_next_sync_forward(self, left, event):
        assert not self.is_due() and self.post(event) == 204 and self.is_due()
        assert left.person.state != "returned"
        assert syncing.sync_due() == 1
        assert left.person.state == "returned"

    def test_repeated_event_is_accepted_without_effect(self, event):
        self.post(event)
        Recruitment.objects.update(next_at=timezone.now() + timedelta(hours=1))
        assert self.post(event) == self.post(event, **{"X-Event-ID": "another-name"}) == 204
        assert not self.is_due()

    def test_events_out_of_order_keep_the_current_status(self, hook, desk):
        worker = desk.worker().work()
        later = desk.market.events[-1]
        payload = {**json.loads(later.body), "status": "RETURNED"}
        earlier = replace(later, body=json.dumps(payload).encode(), key="earlier", sent_at=later.sent_at - 60)
        for event in (later, earlier):
            assert self.post(event) == 204
            syncing.sync_due()
        assert (worker.person.state, worker.row.status) == ("completed", "AWAITING REVIEW")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("X-Prolific-Request-Signature", "x" * 44),
            ("X-Prolific-Request-Signature", ""),
            ("X-Prolific-Request-Signature", "é"),
            ("X-Prolific-Request-Timestamp", "1"),
            ("X-Prolific-Request-Timestamp", "-1"),
            ("X-Prolific-Request-Timestamp", ""),
        ],
    )
    def test_forged_event_is_refused(self, event, name, value):
        assert self.post(event, **{name: value}) == 403
        assert not self.is_due()

    def test_changed_old_or_foreign_event_is_refused(self, event):
        old_event = replace(event, sent_at=event.sent_at - 2 * 24 * 3600)
        assert self.post(replace(event, secret="x")) == self.post(old_event) == self.post(event, b"{}") == 403
        assert self.post(event, b"x" * 70_000) == 413
        assert Client().get(event.target.removeprefix("http://testserver")).status_code == 405
        unknown = replace(event, target=f"{HOOKS_ADDRESS}00000000-0000-0000-0000-000000000000/")
        assert self.post(unknown) == 404 and not self.is_due()

    def test_malformed_signed_event_changes_nothing(self, event):
        for body in (b"", b"[]", b'{"event_type": 5}', b"[" * 5000):
            assert self.post(replace(event, body=body, key=str(len(body)))) == 204

    def test_webhooks_outside_rehearsals_require_https(self, desk):
        publication = desk.publish()
        publication.account.place = "production"
        with pytest.raises(NotPossible, match="https"):
            hooks.subscribe(publication, address=HOOKS_ADDRESS)


class TestScreenedOut:
    QUESTION = {
        "name": "known", "kind": "single", "text": "Known?", "options": ["No", "Yes"], "ends_if": "known == 'Yes'",
    }  # fmt: skip

    def screened_out(self, desk):
        worker = desk.worker()
        person = worker.arrive()
        building.consent(person)
        building.answer(person, question_known="Yes")
        return worker

    def test_screen_out_payment_is_shown_and_recorded(self, desk):
        building.launch_with(desk.study, before=[self.QUESTION])
        publication = desk.publish(screen_out=Decimal("0.20"))
        worker = self.screened_out(desk)
        page = text_of(Client().get(worker.person.get_absolute_url()))
        assert "Prolific pays you $0.20" in page
        worker.submit("screened_out")
        assert desk.market.paid == [(worker.key, "screen_out", 20)]
        for _again in range(2):
            assert desk.sync().problem == ""
        row = LedgerRow.objects.get()
        assert (row.reason, row.amount, row.state) == ("screen_out", Decimal("0.20"), "elsewhere")
        assert row.currency == publication.currency and not books.check(desk.study.slug)
        page = text_of(Client().get(worker.person.get_absolute_url()))
        assert "For the screening, $0.20: " in page
        assert "There is no payment" not in page

    def test_unsupported_screen_out_payment_creates_nothing(self, desk):
        desk.market.pays_screen_outs = False
        with pytest.raises(NotPossible, match="may not support them"):
            desk.draft(screen_out=Decimal("0.20"))
        assert not Offer.objects.exists() and not desk.market.studies

    def test_screen_out_payment_must_be_valid(self, desk):
        with pytest.raises(NotPossible, match="less"):
            desk.draft(screen_out=Decimal("1.00"))
        building.launch_with(desk.study, endings={"screened_out": "base"})
        with pytest.raises(NotPossible, match="not both"):
            desk.draft(screen_out=Decimal("0.20"))


def test_filters_are_sent_unchanged(desk):
    filters = [{"filter_id": "current-country-of-residence", "selected_values": ["1"]}]
    publication = desk.draft(filters=filters)
    study = desk.market.studies[publication.remote_id]
    assert study["filters"] == filters and "eligibility_requirements" not in study


FILTERS = [
    {"filter_id": "country", "type": "select", "data_type": "ChoiceID", "choices": {"1": "United States"}},
    {"filter_id": "age", "type": "range", "data_type": "integer", "min": 18, "max": 100},
    {"filter_id": "approved", "type": "range", "data_type": "float"},
    {"filter_id": "joined", "type": "range", "data_type": "date"},
    {"filter_id": "blocked", "type": "select", "data_type": "StudyID", "choices": {}},
    {"filter_id": "unheard-of", "type": "map", "data_type": "integer"},
]


def offered(**typed):
    data = QueryDict(mutable=True)
    for name, values in typed.items():
        data.setlist(f"filters-{name.replace('_', '-')}", values)
    form = FiltersForm(data, rows=FILTERS)
    form.is_valid()
    return form


def test_chosen_filters_are_written_in_prolifics_format():
    form = offered(country=["1"], age_lower=["18"], age_upper=["30"], joined_lower=["2026-01-31"], blocked=["a, b\nc"])
    assert form.selected() == [
        {"filter_id": "country", "selected_values": ["1"]},
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 30}},
        {"filter_id": "joined", "selected_range": {"lower": "2026-01-31"}},
        {"filter_id": "blocked", "selected_values": ["a", "b", "c"]},
    ]
    assert offered().selected() == []


@pytest.mark.parametrize(
    ("typed", "name", "reason"),
    [
        ({"country": ["7"]}, "country", "7 is not one of"),
        ({"age_lower": ["30"], "age_upper": ["18"]}, "age-lower", "“from” is above “to”."),
        ({"approved_lower": ["much"]}, "approved-lower", "Enter a number."),
        ({"joined_upper": ["yesterday"]}, "joined-upper", "Enter a valid date."),
    ],
)
def test_invalid_filters_are_refused_in_words(typed, name, reason):
    assert reason in str(offered(**typed).errors[name])


def test_page_offers_the_filters_that_prolific_lists(desk, admin_client):
    address = desk.offering
    page = text_of(admin_client.get(address))
    assert "Current Country of Residence" in page and "do you currently reside?" in page
    form = {
        "name": "Two people share", "description": "You decide.", "places": 5, "minutes": 10, "devices": "desktop",
        "filters-age-lower": "25", "filters-current-country-of-residence": ["1", "2"],
    }  # fmt: skip
    wrong = admin_client.post(address, {**form, "filters-age-lower": "old"})
    assert "Enter a whole number" in text_of(wrong) and not desk.market.studies
    admin_client.post(address, form)
    (study,) = desk.market.studies.values()
    assert study["filters"] == [
        {"filter_id": "age", "selected_range": {"lower": 25}},
        {"filter_id": "current-country-of-residence", "selected_values": ["1", "2"]},
    ]


class TestAuthenticity:
    @pytest.fixture
    def workers(self, desk):
        arrived = [desk.worker(), desk.worker()]
        for worker in arrived:
            worker.arrive()
        desk.sync()
        return arrived

    def flags(self, desk):
        return dict(desk.study.submissions.values_list("enrolment__identity__worker", "authenticity"))

    def test_flags_are_imported_by_submission_or_participant(self, desk, workers):
        first, second = workers
        by_session = f"Submission id,Status,Authenticity\n{first.key},x,High\n{'0' * 24},x,low\n"
        assert authenticity.import_flags(desk.offered, by_session.encode()) == {"taken": 1, "unknown": 1}
        by_worker = f"Participant id;Authenticity\n{second.participant};Low\n"
        assert authenticity.import_flags(desk.offered, by_worker.encode()) == {"taken": 1, "unknown": 0}
        assert self.flags(desk) == {first.participant: "high", second.participant: "low"}
        desk.sync()
        assert self.flags(desk) == {first.participant: "high", second.participant: "low"}

    @pytest.mark.parametrize(
        ("text", "expected_text"),
        [
            ("a,b\n1,2\n", "name a column"),
            ("Participant id,Authenticity\nx,perhaps\n", "not high, mixed or low"),
            ("Participant id,Authenticity\nx,low\nx,high\n", "another flag"),
            ("", "name a column"),
        ],
    )
    def test_invalid_file_is_refused_as_a_whole(self, desk, workers, text, expected_text):
        with pytest.raises(BadFile, match=expected_text):
            authenticity.import_flags(desk.offered, text.encode())
        assert set(self.flags(desk).values()) == {""}

    def test_flags_reported_by_the_api_are_read(self, desk, workers):
        workers[0].there.authenticity = "LOW"
        desk.sync()
        assert self.flags(desk) == {workers[0].participant: "low", workers[1].participant: ""}

    def test_flags_are_in_the_dataset_and_its_codebook(self, desk, workers, tmp_path):
        first, second = workers
        flags = f"Participant id,Authenticity\n{first.participant},low\n"
        authenticity.import_flags(desk.offered, flags.encode())
        export(desk.study, tmp_path / "d")
        rows = {row["participant"]: row for row in csv.DictReader((tmp_path / "d" / "participants.csv").open())}
        assert (
            rows[first.person.pseudonym]["authenticity"] == "low" and not rows[second.person.pseudonym]["authenticity"]
        )
        assert rows[first.person.pseudonym]["state"] == rows[second.person.pseudonym]["state"]
        codebook = {
            (row["table"], row["column"]): row for row in csv.DictReader((tmp_path / "d" / "codebook.csv").open())
        }
        assert "low" in codebook["participants", "authenticity"]["values"]
        assert verify(tmp_path / "d") == []

    def test_reported_flag_is_kept(self):
        assert authenticity.reported_flag({"authenticity_check": "LOW"}) == "low"
        assert authenticity.reported_flag({"authenticity_check": None}) is None

    def test_flags_are_imported_on_the_page(self, desk, workers, admin_client):
        from django.core.files.uploadedfile import SimpleUploadedFile

        address = desk.act("authenticity")
        data = f"Participant id,Authenticity\n{workers[0].participant},mixed\n".encode()
        page = admin_client.post(address, {"flags": SimpleUploadedFile("f.csv", data)}, follow=True)
        assert "Flags imported for participants: 1" in text_of(page) and "mixed: 1" in text_of(page)
        wrong = admin_client.post(address, {"flags": SimpleUploadedFile("f.csv", b"a,b\n")}, follow=True)
        assert "name a column" in text_of(wrong)


def test_each_treatment_address_leads_to_its_cell(desk):
    building.launch_with(desk.study, grid={"rounds": [1, 12]}, quota=2)
    publication = desk.publish(by_treatment=True)
    addresses = desk.market.studies[publication.remote_id]["access_details"]
    assert [address["total_allocation"] for address in addresses] == [2, 2] and publication.places == 4
    workers = [desk.worker() for _each in range(4)]
    for worker in workers:
        person = worker.arrive()
        number = next(n for key, n in publication.terms.treatments.items() if worker.there.address.endswith(f"t={key}"))
        assert person.placement.cell.number == number
    assert sorted(worker.person.placement.cell.number for worker in workers) == sorted(
        [*publication.terms.treatments.values()] * 2
    )


def test_treatment_address_cannot_be_guessed(desk):
    building.launch_with(desk.study, grid={"rounds": [1, 12]}, quota=2)
    publication = desk.publish(by_treatment=True)
    worker = desk.worker()
    own_key = worker.there.address.rpartition("t=")[2]
    assert len(own_key) >= 12 and own_key in publication.terms.treatments
    worker.there.address = worker.there.address.replace(own_key, "1")
    assert "cell" not in worker.arrive().identity.details
