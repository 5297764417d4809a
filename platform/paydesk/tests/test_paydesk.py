"""The pay page: owners approve what they saw, viewing changes nothing, and no identity is shown."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from audit.models import Record
from exports.tests import building
from marketplaces.models import Account
from payouts import payers, paying
from payouts.models import LedgerRow, Limit, Posting
from payouts.telling import pay_status
from payouts.tests.conftest import KIND
from payouts.tests.people import finished
from payouts.tests.standin import StandIn
from payouts.tests.test_paying import later, settle, states
from plans.pay import PayRule
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.names import rename
from studies.tests import kit
from tests.visitors import text_of

pytestmark = pytest.mark.django_db

SLUG = "splitting"


@pytest.fixture
def study() -> Study:
    return building.new_study(slug=SLUG)


def client_of(client: Client, study: Study, role: Role) -> User:
    user = User.objects.create_user(f"the-{role}", is_staff=True)
    give(study, user=user, role=role, by=None)
    client.force_login(user)
    return user


@pytest.fixture
def owner(client: Client, study: Study) -> User:
    return client_of(client, study, Role.OWNER)


def path(study: Study, name: str = "page", *ids: object) -> str:
    return reverse(f"paydesk:{name}", args=[study.pk, *ids])


def message_of(response) -> str:
    """Return the page's message after an action."""
    return " ".join(str(message) for message in response.context["messages"])


def set_limit(client: Client, study: Study, most: str) -> str:
    """Set the limit in US dollars; return the page's message."""
    return message_of(client.post(path(study, "limit"), {"currency": "USD", "most": most}, follow=True))


def act(client: Client, study: Study, name: str, *rows: LedgerRow, note: str = "", state: str = "due"):
    chosen = ",".join(str(row.pk) for row in rows)
    posted = {"act": name, "rows": chosen, "note": note, "state": state}
    return client.post(path(study, "do"), posted, follow=True)


def test_sums_and_rows_are_shown_with_the_rule_and_the_numbers(client, study, owner, standin: StandIn):
    finished("A1", study=SLUG)
    page = client.get(path(study)).content.decode()
    assert "Sums in USD" in page and "3.00" in page
    assert "agree to the cent" in page
    assert "2 × 2.00 (announced average) × 0.5 (success, from 0 to 1)" in page
    assert "1.00 USD for “completed" in page
    assert "payments are waiting for approval" in page
    finished("A2", study=SLUG, rule=PayRule(rule="linear", rate="0.5", cap="7.00"))
    assert "0.5 × 100 (payoff), capped at 7.00" in client.get(path(study)).content.decode()


def test_viewing_asks_no_recruiter_and_changes_nothing(client, study, owner, standin: StandIn):
    base, _bonus = finished("A1", study=SLUG)
    before = list(LedgerRow.objects.values())
    client.get(path(study))
    client.get(path(study, "row", base.uid))
    for name in ("ask", "do", "try", "limit", "finance"):
        assert client.get(path(study, name)).status_code == 405
    assert client.get(path(study, "resolve", base.uid)).status_code == 405
    assert list(LedgerRow.objects.values()) == before and not standin.asked


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_owners_act(client, study, standin: StandIn, role: Role):
    client_of(client, study, role)
    base, _bonus = finished("A1", study=SLUG)
    page = client.get(path(study)).content.decode()
    assert "Approve…" not in page and "Set limit" not in page
    for name in ("ask", "do", "try", "limit"):
        assert client.post(path(study, name), {"act": "approve", "rows": base.pk}).status_code == 403
    assert client.post(path(study, "resolve", base.uid), {"paid": "yes"}).status_code == 403
    assert states(base) == ["due"]


def test_only_editors_of_an_account_spend_its_money(client, study, owner, standin: StandIn, monkeypatch):
    account = Account.objects.create(title="The lab's money", kind="mturk")
    monkeypatch.setitem(payers._methods, KIND, replace(payers._methods[KIND], account=lambda slug: account))
    base, _bonus = finished("A1", study=SLUG)
    for name in ("ask", "do", "try"):
        shown_message = message_of(client.post(path(study, name), {"act": "approve", "rows": base.pk}, follow=True))
        assert "paid from The lab's money" in shown_message
    assert states(base) == ["due"] and not standin.asked
    give(account, user=owner, role=Role.EDITOR, by=None)
    assert "Approve: one payment." in message_of(act(client, study, "approve", base))
    assert states(base) == ["approved"]


def test_the_confirmation_page_shows_people_amounts_fees_and_balance(client, study, owner, standin: StandIn):
    finished("A1", study=SLUG), finished("A2", study=SLUG)
    asked_page = client.post(path(study, "ask"), {"act": "approve", "state": "due"})
    (sums,) = asked_page.context["sums"].values()
    assert (len(sums.people), sums.rows, sums.amount, sums.fee) == (2, 4, Decimal("6.00"), Decimal("1.20"))
    page = asked_page.content.decode()
    assert "7.20" in page and "100.00 USD." in page
    assert set(LedgerRow.objects.values_list("state", flat=True)) == {"due"}, "asking changes nothing"


def test_confirmed_rows_are_approved_paid_and_recorded_once(client, study, owner, standin: StandIn):
    base, bonus = finished("A1", study=SLUG)
    other_base, _ = finished("A2", study=SLUG)
    asked_page = client.post(path(study, "ask"), {"act": "approve", "state": "due", "rows": [base.pk, bonus.pk]})
    assert [row.pk for row in asked_page.context["rows"]] == [base.pk, bonus.pk]
    response = act(client, study, "approve", base, bonus)
    assert "2 payments" in message_of(response)
    assert states(base, bonus, other_base) == ["approved", "approved", "due"]
    assert "None of these payments is" in message_of(act(client, study, "approve", base)), "a second click"
    assert base.postings.count() == 2
    settle()
    assert states(base, bonus, other_base) == ["confirmed", "confirmed", "due"]
    record = Record.objects.get(action="pay_approved")
    assert record.by == "the-owner" and record.details["rows"] == 2 and record.details["chosen USD"] == "3.00"


def test_exceeding_the_limit_is_refused_with_the_numbers(client, study, owner, standin: StandIn):
    base, bonus = finished("A1", study=SLUG)
    set_limit(client, study, "3.59")
    asked_page = client.post(path(study, "ask"), {"act": "approve", "state": "due"}).content.decode()
    for phrase in ("with these: 3.60 USD", "limit is 3.59 USD", "will be refused"):
        assert phrase in asked_page
    assert "limit is 3.59 USD" in message_of(act(client, study, "approve", base, bonus))
    assert states(base, bonus) == ["due", "due"]
    assert "limit set" in set_limit(client, study, "4").lower()
    act(client, study, "approve", base, bonus)
    assert "cannot be lower" in set_limit(client, study, "1")
    set_limit(client, study, "")
    assert Limit.objects.get().most is None


@pytest.mark.parametrize("typed", ["much", "-1", "1.234", "NaN", "Infinity", "1e30"])
def test_an_invalid_limit_is_refused(client, study, owner, typed: str):
    assert "not a valid amount" in set_limit(client, study, typed)
    assert not Limit.objects.exclude(most=None).exists()


@pytest.mark.parametrize("rows", ["", "x", "1,2,-3", "9" * 30, "'; drop"])
def test_invalid_keys_are_ignored(client, study, owner, rows: str):
    assert client.post(path(study, "do"), {"act": "approve", "rows": rows}).status_code == 302
    assert client.post(path(study, "do"), {"act": "steal", "rows": rows}).status_code == 404


def test_a_limit_belongs_to_its_study_and_is_deleted_with_it(client, owner):
    draft = kit.new_study("prices")
    give(draft, user=owner, role=Role.OWNER, by=None)
    rename(draft, "costs")
    set_limit(client, draft, "50")
    with pytest.raises(ValidationError, match="limits already use it"):
        rename(draft, "without-a-limit")
    draft.refresh_from_db()
    draft.delete()
    assert not Limit.objects.exists(), "a later study of this name has its own limits"


def test_rows_of_another_study_cannot_be_changed(client, study, owner, standin: StandIn):
    base, _bonus = finished("A1", study="another")
    act(client, study, "approve", base)
    act(client, study, "write_off", base, note="mine")
    assert states(base) == ["due"]
    assert client.get(path(study, "row", base.uid)).status_code == 404


def test_a_dry_run_shows_each_result_and_moves_no_money(client, study, owner, standin: StandIn):
    rows = {worker: finished(worker, study=SLUG)[0] for worker in ("A1", "A2", "A3")}
    standin.statuses |= {"A2": "working", "A3": "somebody_else"}
    before = (list(LedgerRow.objects.values()), Posting.objects.count())
    keys = [row.pk for row in rows.values()]
    page = client.post(path(study, "try"), {"state": "due", "rows": keys})
    results = {result.shown_row.row.pk: result for result in page.context["results"]}
    assert [results[row.pk].verdict for row in rows.values()] == ["pays", "waits", "fails"]
    assert results[rows["A1"].pk].fee == Decimal("0.20")
    assert "someone else" in results[rows["A3"].pk].explanation
    assert "100.00 USD." in page.content.decode()
    assert (list(LedgerRow.objects.values()), Posting.objects.count()) == before
    assert set(standin.asked) == {"assignment_status"} and not standin.paid
    assert "Balance at Stand-in: 100.00 USD" in client.get(path(study)).content.decode(), "it is remembered"


def test_a_dry_run_reports_a_recruiter_that_does_not_answer(client, study, owner, standin: StandIn):
    base, _bonus = finished("A1", study=SLUG)
    standin.misbehave("refused", "assignment_status")
    page = client.post(path(study, "try"), {"state": "due", "rows": [base.pk]})
    assert page.context["results"][0].verdict == "waits" and "did not answer" in page.content.decode()


def test_lab_participants_are_approved_marked_as_paid_and_made_due_again(client, study, owner):
    base, bonus = finished("code", recruiter="codes", study=SLUG)
    act(client, study, "approve", base, bonus)
    assert "Pay it yourself" in client.get(path(study), {"state": "approved"}).content.decode()
    assert "Give a short reason" in message_of(act(client, study, "mark_paid", base, bonus))
    act(client, study, "mark_paid", base, bonus, note="cash, list 3")
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert "paid by hand" in client.get(path(study), {"state": "confirmed"}).content.decode()
    act(client, study, "put_back", bonus, note="wrong line")
    assert states(base, bonus) == ["confirmed", "due"]
    assert list(Record.objects.filter(action__startswith="pa").order_by("pk").values_list("action", flat=True)) == [
        "pay_approved", "paid", "pay_put_back",
    ]  # fmt: skip


def test_a_failure_shows_its_reason_and_can_be_approved_again(client, study, owner, standin: StandIn):
    base, _bonus = finished("A1", study=SLUG)
    standin.refuses = "not enough money in the account"
    act(client, study, "approve", base)
    settle()
    assert "not enough money" in client.get(path(study)).content.decode()
    standin.refuses = ""
    act(client, study, "approve", base, state="failed")
    settle()
    assert states(base) == ["confirmed"]


def test_unclear_payments_come_first_and_are_resolved_in_two_steps(client, study, owner, standin: StandIn):
    base, _bonus = finished("A1", study=SLUG)
    act(client, study, "approve", base)
    standin.misbehave("lost", "pay")
    standin.misbehave("refused", "look_up", times=40)
    paying.pay_due()
    for _hour in range(14):
        later(2)
        paying.pay_due()
    page = client.get(path(study)).content.decode()
    assert "whether one payment was made" in page
    assert "Was it paid?" in client.get(path(study, "row", base.uid)).content.decode()

    def resolve(**posted: str) -> str:
        return message_of(client.post(path(study, "resolve", base.uid), posted, follow=True))

    for posted in ({"paid": "yes", "note": "x"}, {"sure": "on", "note": "x"}, {"paid": "maybe", "sure": "on"}):
        assert "Nothing was changed" in resolve(**posted)
    assert "Give a short reason" in resolve(paid="yes", sure="on", note="")
    assert states(base) == ["unclear"]
    resolve(paid="yes", sure="on", note="in their list of payments")
    assert states(base) == ["confirmed"]
    assert "no longer unclear" in resolve(paid="no", sure="on", note="x")
    assert Record.objects.get(action="pay_resolved").details["paid"] is True


def test_pay_from_an_outside_experiment_is_marked_and_cannot_be_approved(client, study, owner):
    base, _bonus = finished("label", recruiter="otree", study=SLUG)
    page = client.get(path(study)).content.decode()
    assert "sends participants here pays them" in page and "Approve…" not in page
    assert "None of these" in message_of(act(client, study, "approve", base))


def test_the_export_has_every_row_and_no_worker(client, study, owner, standin: StandIn):
    standin.refuses = "=HYPERLINK(1) for worker A1SECRET"
    base, _bonus = finished("A1SECRET", study=SLUG)
    act(client, study, "approve", base)
    settle()
    response = client.post(path(study, "finance"))
    text = b"".join(response.streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["reason"], row["amount"], row["state"]) for row in rows] == [
        ("base", "1.00", "failed"), ("bonus", "2.00", "due"),
    ]  # fmt: skip
    assert rows[0]["approved_by"] == "the-owner" and rows[0]["approved_at"].endswith("Z")
    assert rows[0]["problem"].startswith("'=HYPERLINK"), "formulas are defused"
    assert "A1SECRET" not in text
    assert Record.objects.filter(action="pay_listed").exists()


def test_no_page_shows_a_workers_identifiers(client, study, owner, standin: StandIn):
    base, bonus = finished("A1SECRET", study=SLUG)
    pages = [client.get(path(study)), client.post(path(study, "try"), {"state": "due"})]
    pages.append(client.post(path(study, "ask"), {"act": "approve", "state": "due"}))
    act(client, study, "approve", base, bonus)
    settle()
    pages += [client.get(path(study), {"state": "confirmed"}), client.get(path(study, "row", base.uid))]
    assert all(page.status_code == 200 and b"SECRET" not in page.content for page in pages)


def test_notes_are_text_without_null_characters(client, study, owner):
    base, _bonus = finished("code", recruiter="codes", study=SLUG)
    act(client, study, "write_off", base, note="<script>alert(1)\x00</script>")
    assert states(base) == ["written_off"] and base.postings.last().why == "<script>alert(1)</script>"
    page = client.get(path(study, "row", base.uid)).content.decode()
    assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page


def test_errors_in_the_books_are_shown_at_once(client, study, owner):
    base, _bonus = finished("A1", study=SLUG)
    LedgerRow.objects.filter(pk=base.pk).update(state="approved")
    assert "The accounts don't balance" in client.get(path(study)).content.decode()
    LedgerRow.objects.filter(pk=base.pk).update(state="due")


REASON = "All answers were typed within a second and have nothing to do with the questions."


def test_completed_work_is_rejected_with_a_reason_and_the_rejection_is_undone(client, study, owner):
    base, bonus = finished("A1", study=SLUG, recruiter="codes")
    reject = path(study, "reject", base.enrolment_id)
    assert reject in client.get(path(study)).content.decode()
    page = text_of(client.get(reject))
    assert "No recruiter is told" in page and "reads your reason" in page

    assert "at least 20 characters" in text_of(client.post(reject, {"note": "no"}))
    assert states(base, bonus) == ["due", "due"], "a refused rejection changes nothing"
    response = client.post(reject, {"note": f"{REASON} A1-of-the-lab"}, follow=True)
    assert "Nothing is paid to them" in message_of(response)
    assert states(base, bonus) == ["written_off", "written_off"]
    assert Record.objects.get(action="rejected").details["reason"].startswith(REASON)
    assert REASON in pay_status(base.enrolment)[0], "the person reads the reason on the last page"
    monitor = client.get(reverse("monitoring:page", args=[study.pk]))
    assert "rejected 1" in text_of(monitor)

    act(client, study, "put_back", base, bonus, note="Looked again: it was fine.", state="written_off")
    assert states(base, bonus) == ["due", "due"]
    assert not LedgerRow.objects.filter(rejected=True).exists()


def test_work_that_is_being_paid_cannot_be_rejected(client, study, owner):
    base, bonus = finished("A1", study=SLUG, recruiter="codes")
    act(client, study, "approve", base)
    response = client.post(path(study, "reject", base.enrolment_id), {"note": REASON})
    assert "Withdraw the approval first" in text_of(response)
    assert states(base, bonus) == ["approved", "due"]


def test_only_owners_reject_and_only_people_of_the_study(client, study):
    base, _bonus = finished("A1", study=SLUG, recruiter="codes")
    client_of(client, study, Role.EDITOR)
    assert client.post(path(study, "reject", base.enrolment_id), {"note": REASON}).status_code == 403
    assert "Reject" not in text_of(client.get(path(study)))
