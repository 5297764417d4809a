"""What every marketplace's submissions share: recorded, compared with what Parley knows, rejected, and paid."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Record
from erasing import services as erasing
from exports.tests import building
from llm_agents.standins.kit import WITHOUT_EFFECT, Fault
from marketplaces import comparing, submissions
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Submission
from participants.models import Enrolment
from payouts import books
from payouts import deciding as ledger
from payouts.deciding import COMMITTED
from payouts.models import LedgerRow, Posting
from recruiters.arrivals import Arrival
from rights.roles import Role
from tests.visitors import breadcrumb_urls, text_of

pytestmark = pytest.mark.django_db
STATUS = Submission.Status


def findings(stage) -> dict[str, str]:
    return {label: line.finding for label, line in stage.lines().items() if line.finding}


class TestRecording:
    def test_submission_is_matched_to_its_participant(self, stage):
        worker = stage.submitted()
        assert (worker.row.status, worker.row.whose) == (STATUS.SUBMITTED, "ours")
        assert not findings(stage) and comparing.status_counts(stage.study) == [("awaiting review", 1)]
        assert worker.participant not in str(vars(worker.row))
        stage.sync()
        assert Submission.objects.count() == 1 and worker.person.ledger.count() == 2

    def test_late_arrival_is_matched_at_the_next_sync(self, stage):
        worker = stage.worker()
        identity = worker.arrive().identity
        link = {"worker": identity.worker, "proof": identity.proof, "details": identity.details}
        worker.submit()
        worker.person.delete()
        stage.sync()
        assert Submission.objects.get().whose == "nobody"
        person = building.enrol(stage.study, Arrival(stage.kind, **link))
        stage.sync()
        assert (worker.row.enrolment, worker.row.whose) == (person, "ours")

    def test_unchanged_submissions_need_no_more_queries(self, stage):
        queries = []
        for number in range(4):
            worker = stage.worker()
            worker.arrive()
            worker.submit()
            if number in (1, 3):
                stage.sync()
                with CaptureQueriesContext(connection) as captured:
                    stage.sync()
                queries.append([query["sql"] for query in captured.captured_queries])
        assert len(queries[0]) == len(queries[1])
        assert not [sql for sql in queries[1] if "marketplaces_submission" in sql and not sql.startswith("SELECT")]

    def test_all_pages_of_the_list_are_read(self, stage, monkeypatch):
        monkeypatch.setattr(f"marketplaces.{stage.kind}.client.PAGE_SIZE", 2)
        for _i in range(5):
            stage.worker().submit()
        stage.sync()
        assert comparing.status_counts(stage.study) == [("awaiting review", 5)]

    def test_erased_participant_is_unlinked_and_still_recognised(self, stage):
        worker = stage.submitted()
        erasing.erase(enrolment=worker.person, by=None, reason="asked for it")
        for _time in range(2):
            assert (Submission.objects.get().enrolment, Submission.objects.get().whose) == (None, "ours")
            assert not findings(stage)
            stage.sync()

    @pytest.mark.parametrize("failure", [kind for kind in Fault if kind not in (Fault.SLOW, Fault.TWICE)])
    def test_error_is_shown_until_the_next_success(self, stage, failure):
        worker = stage.worker().work()
        stage.standin.misbehave(failure, stage.list_call)
        recruitment = stage.sync()
        assert recruitment.problem and recruitment.failures == 1 and not Submission.objects.exists()
        recruitment = stage.sync()
        assert (recruitment.problem, recruitment.failures, worker.row.status) == ("", 0, STATUS.SUBMITTED)


class TestComparing:
    def test_differences_are_named_without_identifiers(self, stage):
        early, failed, slow, done, stranger = (stage.worker() for _one in range(5))
        early.arrive()
        early.submit()
        failed.fail()
        failed.submit()
        slow.finish()
        done.work()
        stranger.submit()
        stage.sync()
        found = findings(stage)
        assert found.pop(early.person.pseudonym) == "unfinished"
        assert found.pop(failed.person.pseudonym) == {"mturk": "unpaid", "prolific": "shared code"}[stage.kind]
        assert found.pop(slow.person.pseudonym) == "unsubmitted"
        assert list(found.values()) == ["never arrived"]
        failed.decide(STATUS.APPROVED)
        stage.sync()
        assert findings(stage)[failed.person.pseudonym] == "approved"
        page = stage.sign_in(Role.OWNER).get(stage.page)
        assert "has not finished here" in text_of(page) and "never arrived here" in text_of(page)
        for worker in (early, failed, slow, done, stranger):
            assert worker.participant not in page.content.decode()

    def test_every_finding_has_words_for_every_marketplace(self, stage):
        person = stage.worker().arrive()
        for found in comparing.FINDINGS:
            line = comparing._line(None, person, found, stage.account)
            assert line.discrepancy and line.advice and "{" not in line.discrepancy + line.advice


class TestRejecting:
    def reject(self, stage, worker) -> None:
        submissions.reject(worker.row, **stage.reason)

    def test_rejection_is_confirmed_first_and_gives_the_reason(self, stage):
        worker, owner = stage.submitted(), stage.sign_in(Role.OWNER)
        page = worker.act("reject")
        from_pay_page = f"/admin/pay/{stage.study.pk}/reject/{worker.person.pk}/"
        assert owner.get(from_pay_page)["Location"] == page
        assert breadcrumb_urls(owner.get(page))[-1].removesuffix("/") in stage.page or stage.kind == "prolific"
        assert worker.participant not in owner.get(page).content.decode()
        for refused in ("", "bad", " " * 50):
            owner.post(page, {**stage.reason, "reason": refused})
        assert worker.status == STATUS.SUBMITTED and not Record.objects.filter(action="rejected").exists()
        assert "Rejected" in text_of(owner.post(page, stage.reason, follow=True))
        assert (worker.status, worker.row.status) == (STATUS.REJECTED, STATUS.REJECTED)
        assert worker.states == {"written_off"} and not books.check(stage.study.slug)
        for row in worker.person.ledger.all():
            posting = row.postings.order_by("-number").first()
            assert posting.by == "owner-owner" and posting.why.startswith(f"Rejected on {stage.there}. Every answer")
        assert Record.objects.filter(action="rejected").count() == 1
        assert "decided not to pay this" in text_of(Client().get(worker.person.get_absolute_url()))
        assert "not awaiting review" in text_of(owner.post(page, stage.reason, follow=True)) or stage.kind == "prolific"
        assert "this participant that awaits review" in text_of(owner.get(from_pay_page, follow=True))

    def test_identifier_in_the_reason_is_not_recorded(self, stage):
        worker = stage.submitted()
        typed = f"{worker.participant} typed every answer within a second. " * 3
        stage.sign_in(Role.OWNER).post(worker.act("reject"), {**stage.reason, "reason": typed})
        assert worker.status == STATUS.REJECTED
        records = [*Posting.objects.values_list("why", flat=True), str(Record.objects.get(action="rejected").details)]
        assert "typed every answer" in " ".join(records) and worker.participant not in " ".join(records)

    @pytest.mark.parametrize("fault", [fault for fault in Fault if fault not in (Fault.SLOW, Fault.TWICE)])
    def test_rejection_with_lost_answer_is_looked_up(self, stage, fault):
        worker = stage.submitted()
        stage.standin.misbehave(fault, stage.reject_call, seconds=7)
        if fault in WITHOUT_EFFECT:
            with pytest.raises(MarketplaceError):
                self.reject(stage, worker)
            assert (worker.status, worker.states) == (STATUS.SUBMITTED, {"due"})
        else:
            self.reject(stage, worker)
            assert (worker.status, worker.states) == (STATUS.REJECTED, {"written_off"})

    @pytest.mark.parametrize("state", COMMITTED)
    def test_participant_with_approved_pay_is_not_rejected(self, stage, state):
        worker = stage.submitted()
        worker.person.ledger.filter(reason="base").update(state=state)
        stage.standin.calls.clear()
        with pytest.raises(NotPossible, match="being paid"):
            self.reject(stage, worker)
        assert not stage.standin.calls

    def test_submission_decided_meanwhile_is_not_rejected(self, stage):
        worker = stage.submitted()
        worker.decide(STATUS.APPROVED)
        with pytest.raises(NotPossible, match="not awaiting review"):
            self.reject(stage, worker)
        assert worker.row.status == STATUS.APPROVED and worker.states == {"due"}

    def test_rejection_on_the_marketplace_itself_updates_the_ledger(self, stage):
        worker = stage.submitted()
        worker.decide(STATUS.REJECTED)
        stage.sync()
        assert worker.states == {"written_off"}
        row = worker.person.ledger.get(reason="bonus")
        ledger.put_back(study=stage.study.slug, rows=[row.pk], user=None, reason="Paid otherwise.")
        stage.sync()
        assert worker.states == {"due", "written_off"}, "unchanged submissions are not recorded again"

    def test_rejection_undone_there_is_paid_once(self, stage):
        worker = stage.submitted()
        self.reject(stage, worker)
        worker.decide(STATUS.APPROVED)
        stage.sync()
        assert worker.states == {"due"}
        stage.pay_all()
        assert worker.states == {"confirmed"} and not books.check(stage.study.slug)

    def test_other_write_offs_are_not_changed(self, stage):
        worker = stage.submitted()
        rows = list(worker.person.ledger.values_list("pk", flat=True))
        ledger.write_off(study=stage.study.slug, rows=rows, user=None, reason="They asked for it.")
        self.reject(stage, worker)
        worker.decide(STATUS.APPROVED)
        stage.sync()
        assert worker.states == {"written_off"}

    def test_only_owners_decide_and_see_identities(self, stage):
        worker = stage.submitted()
        editor, owner = stage.sign_in(Role.EDITOR), stage.sign_in(Role.OWNER)
        assert editor.post(worker.act("reject"), stage.reason).status_code == 403
        assert "Reject …" not in text_of(editor.get(stage.page))
        identities = f"/admin/marketplaces/submission/of/{stage.study.pk}/worker/"
        assert editor.post(identities, {"enrolment": worker.person.pk}).status_code == 403
        stage.standin.calls.clear()
        pages = (
            stage.page,
            f"/admin/marketplaces/submission/?study__id__exact={stage.study.pk}",
            f"/admin/marketplaces/submission/{worker.row.pk}/change/",
        )
        for page in pages:
            assert worker.participant not in owner.get(page).content.decode()
        assert worker.act("reject") in owner.get(pages[-1]).content.decode()
        assert not stage.standin.calls, "looking sends no request"
        shown = owner.post(identities, {"enrolment": worker.person.pk})
        assert worker.participant in text_of(shown) and "no-store" in shown["Cache-Control"]
        record = Record.objects.get(action="identity_shown")
        assert worker.participant not in f"{record.title}{record.details}"


class TestPaying:
    def test_base_and_bonus_are_paid_once_each(self, stage):
        worker = stage.submitted()
        rows = stage.pay_all()
        assert {row.state for row in rows.values()} == {LedgerRow.State.CONFIRMED}
        assert worker.status == STATUS.APPROVED
        stage.sync()
        assert not findings(stage) and not books.check(stage.study.slug)

    def test_participant_is_paid_once_they_submit(self, stage):
        worker = stage.worker()
        worker.finish()
        assert {row.state for row in stage.pay_all().values()} == {"approved"} and worker.status == STATUS.WORKING
        worker.submit()
        for _round in range(6):
            stage.sweep()
        assert worker.states == {"confirmed"} and len(worker.paid("base")) == len(worker.paid("bonus")) == 1

    def test_silent_participants_keep_their_place_while_it_is_theirs(self, stage):
        worker = stage.worker()
        person = worker.arrive()
        Enrolment.objects.filter(pk=person.pk).update(last_seen_at=timezone.now() - timedelta(minutes=1))
        stage.sync()
        assert not worker.person.ended
