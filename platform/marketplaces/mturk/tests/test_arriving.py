"""Arrivals from mTurk, messages to workers who cannot continue, and the return to mTurk."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces.models import Account, Offer
from marketplaces.tests.kit import finish
from participants.models import Enrolment
from participants.services import end
from participants.states import ENDINGS, State
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


class TestArriving:
    def test_link_is_stored_with_the_identity(self, staged):
        worker = staged.worker()
        identity = worker.arrive().identity
        assert identity.details == {name: value for name, value in worker.link().items() if name != "workerId"}

    def test_another_requesters_task_is_refused(self, staged):
        answer = staged.worker().open(hitId="3SOMEOTHERTASK")
        assert answer.status_code == 403 and "does not belong to this" in heading_of(answer)
        assert not Enrolment.objects.exists()

    def test_workers_of_an_unconfirmed_task_are_admitted(self, staged):
        worker = staged.worker()
        staged.ordered()
        assert worker.open(hitId="3NOTYETKNOWN").status_code == 302

    def test_expired_task_is_refused(self, staged):
        early, late = staged.worker(), staged.worker()
        person = early.arrive()
        Offer.objects.get().keep(terms={"expires_at": timezone.now() - timedelta(seconds=7200 + 60)})
        answer = late.open()
        assert answer.status_code == 410
        assert "expired" in heading_of(answer) and "return the task" in text_of(answer)
        assert early.arrive() == person, "who has begun is led back"

    def test_assignment_submitted_by_another_worker_is_refused(self, staged):
        answer = staged.submitted().open(workerId="AFORGER")
        assert answer.status_code == 403 and "submitted already" in heading_of(answer)
        assert Enrolment.objects.count() == 1

    def test_assignment_in_progress_by_another_worker_is_refused(self, staged):
        worker = staged.worker()
        person = worker.arrive()
        answer = worker.open(workerId="AFORGER")
        assert answer.status_code == 403 and "working on this assignment" in heading_of(answer)
        assert "wait two minutes" in text_of(answer) and "If you accepted a task" not in text_of(answer)
        assert person.token not in answer.content.decode()
        Enrolment.objects.update(last_seen_at=timezone.now() - timedelta(minutes=2))
        assert worker.open(workerId="ASECOND").status_code == 302

    def test_unpublished_study_allows_only_the_preview(self, staged):
        answer = staged.follow({"workerId": "AMADEUP", "assignmentId": "3MADEUP", "hitId": "3MADEUP"})
        assert answer.status_code == 403 and "not published" in heading_of(answer)
        assert staged.follow({"assignmentId": PREVIEW, "hitId": "3X"}).status_code == 200
        assert not Enrolment.objects.exists()

    def test_task_admits_only_as_many_workers_as_assignments(self, staged):
        worker = staged.worker()
        Offer.objects.update(places=2)
        links = [worker.link(workerId=f"AMADEUP{n}", assignmentId=f"3MADEUP{n}") for n in range(3)]
        assert [staged.follow(link).status_code for link in links] == [302, 302, 403]
        end(Enrolment.objects.order_by("pk")[0], State.RETURNED)
        assert staged.follow(links[2]).status_code == 302, "a place that was given back is free"


def last_page(person: Enrolment):
    return Client().get(person.get_absolute_url())


class TestReturning:
    def test_assignment_is_posted_to_the_tasks_own_site(self, staged):
        worker = staged.worker()
        person = worker.finish()
        page = last_page(person)
        html = page.content.decode()
        assert f'action="{staged.standin.address}/mturk/externalSubmit"' in html
        assert f'name="assignmentId" value="{worker.key}"' in html
        assert f'name="completionCode" value="{person.completion_code}"' in html
        assert f"form-action 'self' {staged.standin.address}" in page["Content-Security-Policy"]

    @pytest.mark.parametrize(
        "site",
        [
            "https://evil.example",
            "https://www.mturk.com.evil.example",
            "https://www.mturk.com@evil.example",
            "javascript:alert(1)",
            "http://www.mturk.com",
            "https://www.mturk.com",
            "",
            "//evil.example",
            "https://evil.example/https://www.mturk.com",
            "http://[",
        ],
    )
    def test_unknown_submission_site_shows_the_code_instead(self, staged, site):
        worker = staged.worker()
        worker.open(turkSubmitTo=site)
        page = last_page(finish(worker.person))
        assert "externalSubmit" not in page.content.decode()
        assert "evil" not in page.content.decode() + page["Content-Security-Policy"]
        assert worker.person.completion_code in text_of(page)

    @pytest.mark.parametrize(
        ("place", "site"), [("production", "https://www.mturk.com"), ("sandbox", "https://workersandbox.mturk.com")]
    )
    def test_each_environment_has_its_own_site(self, staged, place, site):
        worker = staged.worker()
        Account.objects.update(place=place)
        worker.open(turkSubmitTo=site)
        page = last_page(finish(worker.person))
        assert f'action="{site}/mturk/externalSubmit"' in page.content.decode()
        assert f"{site} https://*.mturk.com" in page["Content-Security-Policy"]

    @pytest.mark.parametrize("state", ENDINGS)
    def test_each_ending_says_whether_to_submit_or_return(self, staged, state):
        person = staged.worker().arrive()
        end(person, State(state))
        page = last_page(person)
        submits = "externalSubmit" in page.content.decode()
        assert submits == (state == State.COMPLETED or person.ledger.exists())
        assert submits != ("return" in text_of(page).lower())

    def test_only_the_environments_own_site_may_frame_the_pages(self, staged):
        worker = staged.worker()
        preview = staged.follow({"assignmentId": PREVIEW, "hitId": worker.there.hit.id})
        person = worker.arrive()
        for page in (preview, last_page(person)):
            allowed = f"frame-ancestors 'self' https://*.mturk.com {staged.standin.address}"
            assert allowed in page["Content-Security-Policy"] and "X-Frame-Options" not in page
        Account.objects.update(place="sandbox")
        assert staged.standin.address not in last_page(person)["Content-Security-Policy"]

    def test_task_created_elsewhere_can_be_submitted_to_either_site(self, staged):
        staged.recruitment.delete()
        details = {"assignmentId": "3A", "hitId": "3H", "turkSubmitTo": "https://www.mturk.com"}
        person = building.complete(staged.study, worker="AWORKERONE", details=details)
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in last_page(person).content.decode()
