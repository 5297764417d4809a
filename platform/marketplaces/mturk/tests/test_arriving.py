"""Arrivals from mTurk, messages to workers who cannot continue, and the return to mTurk."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces.models import Account
from marketplaces.mturk.deciding import sync
from marketplaces.mturk.models import Hit
from marketplaces.tests.doing import finish
from participants.models import Enrolment
from participants.services import end
from participants.states import ENDINGS, State
from recruiters.models import Identity
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db


def nobody_arrived() -> bool:
    return not Enrolment.objects.exists() and not Identity.objects.exists()


class TestArriving:
    def test_task_link_opens_the_study_and_resumes_it(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        response = staged.follow(staged.link(assignment))
        assert response.status_code == 302
        assert staged.follow(staged.link(assignment))["Location"] == response["Location"]

    @pytest.mark.parametrize("worker", ["", "a@example.org", "A B", "<b>", "A" * 65, "A\x00B", "../../x"])
    def test_invalid_worker_id_is_refused(self, staged, worker):
        answer = staged.follow(staged.link(staged.accept(staged.published(), "AWORKERONE"), workerId=worker))
        assert answer.status_code == 400
        assert "after accepting it" in text_of(answer)
        assert nobody_arrived()

    def test_another_requesters_task_is_refused(self, staged):
        answer = staged.follow(staged.link(staged.accept(staged.published(), "AWORKERONE"), hitId="3SOMEOTHERTASK"))
        assert answer.status_code == 403
        assert "does not belong to this" in heading_of(answer)
        assert nobody_arrived()

    def test_workers_of_an_unconfirmed_task_are_admitted(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        staged.ordered()
        assert staged.follow(staged.link(assignment, hitId="3NOTYETKNOWN")).status_code == 302

    def test_expired_task_is_refused(self, staged):
        hit = staged.published()
        early, late = staged.accept(hit, "AEARLY"), staged.accept(hit, "ALATE")
        response = staged.follow(staged.link(early))
        expired_at = timezone.now() - timedelta(seconds=hit.duration + 60)
        Hit.objects.filter(pk=hit.pk).update(expires_at=expired_at)
        answer = staged.follow(staged.link(late))
        assert answer.status_code == 410
        assert "expired" in heading_of(answer) and "return the task" in text_of(answer)
        assert staged.follow(staged.link(early))["Location"] == response["Location"], "who has begun is led back"

    def test_assignment_submitted_by_another_worker_is_refused(self, staged):
        _person, assignment = staged.work_through(staged.published(), "AWORKERONE")
        sync(staged.recruitment)
        answer = staged.follow(staged.link(assignment, workerId="AFORGER"))
        assert answer.status_code == 403
        assert "submitted already" in heading_of(answer)
        assert Enrolment.objects.count() == 1

    def test_assignment_in_progress_by_another_worker_is_refused(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        person = staged.arrive(assignment)
        answer = staged.follow(staged.link(assignment, workerId="AFORGER"))
        assert answer.status_code == 403
        assert "working on this assignment" in heading_of(answer)
        assert "wait two minutes" in text_of(answer) and "If you accepted a task" not in text_of(answer)
        assert person.token not in answer.content.decode()
        Enrolment.objects.update(last_seen_at=timezone.now() - timedelta(minutes=2))
        assert staged.follow(staged.link(assignment, workerId="ASECOND")).status_code == 302

    def test_second_play_within_the_rest_period_is_refused(self, staged, standin):
        from marketplaces.mturk.tests.staged import staged_at

        other_study = staged_at(standin, slug="other", rest_hours=12)
        staged.arrive(staged.accept(staged.published(), "AWORKERONE"))
        answer = other_study.follow(other_study.link(other_study.accept(other_study.published(), "AWORKERONE")))
        assert answer.status_code == 403
        assert "come back later" in heading_of(answer)
        assert "12 hours" in text_of(answer)

    def test_second_assignment_of_a_worker_is_refused(self, staged):
        hits = staged.published(), staged.published()
        staged.arrive(staged.accept(hits[0], "AWORKERONE"))
        answer = staged.follow(staged.link(staged.accept(hits[1], "AWORKERONE")))
        assert answer.status_code == 403
        assert "already started" in text_of(answer)

    def test_preview_starts_nothing(self, staged):
        hit = staged.published()
        answer = staged.follow({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": str(hit.hit_id)})
        assert answer.status_code == 200
        assert nobody_arrived()


class TestReturning:
    def last_page(self, staged, person):
        return Client().get(person.get_absolute_url())

    def test_assignment_is_posted_to_the_tasks_own_site(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        person = finish(staged.arrive(assignment))
        page = self.last_page(staged, person)
        html = page.content.decode()
        assert f'action="{staged.standin.address}/mturk/externalSubmit"' in html
        assert f'name="assignmentId" value="{assignment.id}"' in html
        assert f'name="completionCode" value="{person.completion_code}"' in html
        assert f"form-action 'self' {staged.standin.address}" in page["Content-Security-Policy"]
        assert "AWORKERONE" not in html

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
        ],
    )
    def test_unknown_submission_site_shows_the_code_instead(self, staged, site):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        answer = staged.follow(staged.link(assignment, turkSubmitTo=site))
        person = finish(Enrolment.objects.get(token=answer["Location"].split("/")[2]))
        page = self.last_page(staged, person)
        assert "externalSubmit" not in page.content.decode()
        assert "evil" not in page.content.decode() + page["Content-Security-Policy"]
        assert person.completion_code in text_of(page)

    @pytest.mark.parametrize(
        ("place", "site"), [("production", "https://www.mturk.com"), ("sandbox", "https://workersandbox.mturk.com")]
    )
    def test_each_environment_has_its_own_site(self, staged, place, site):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        Account.objects.update(place=place)
        answer = staged.follow(staged.link(assignment, turkSubmitTo=site))
        person = finish(Enrolment.objects.get(token=answer["Location"].split("/")[2]))
        page = self.last_page(staged, person)
        assert f'action="{site}/mturk/externalSubmit"' in page.content.decode()
        assert f"{site} https://*.mturk.com" in page["Content-Security-Policy"]

    @pytest.mark.parametrize("state", ENDINGS)
    def test_each_ending_says_whether_to_submit_or_return(self, staged, state):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        person = staged.arrive(assignment)
        end(person, State(state))
        page = self.last_page(staged, person)
        submits = "externalSubmit" in page.content.decode()
        assert submits == (state == State.COMPLETED or person.ledger.exists())
        assert submits != ("return" in text_of(page).lower())

    def test_only_the_environments_own_site_may_frame_the_pages(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        preview = staged.follow({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": assignment.hit.id})
        person = staged.arrive(assignment)
        for page in (preview, self.last_page(staged, person)):
            assert (
                f"frame-ancestors 'self' https://*.mturk.com {staged.standin.address}"
                in page["Content-Security-Policy"]
            )
            assert "X-Frame-Options" not in page
        Account.objects.update(place="sandbox")
        assert staged.standin.address not in self.last_page(staged, person)["Content-Security-Policy"]

    def test_task_created_elsewhere_can_be_submitted_to_either_site(self, staged):
        staged.recruitment.delete()
        person = building.complete(
            staged.study,
            worker="AWORKERONE",
            details={"assignmentId": "3A", "hitId": "3H", "turkSubmitTo": "https://www.mturk.com"},
        )
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in self.last_page(staged, person).content.decode()


class TestInventedIdentifiers:
    def test_unpublished_study_allows_only_the_preview(self, staged):
        invented_link = {"workerId": "AMADEUP", "assignmentId": "3MADEUP", "hitId": "3MADEUP"}
        answer = staged.follow(invented_link)
        assert answer.status_code == 403 and "not published" in heading_of(answer)
        assert staged.follow({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3X"}).status_code == 200
        assert nobody_arrived()

    def test_task_admits_only_as_many_workers_as_assignments(self, staged):
        hit = staged.published()
        Hit.objects.filter(pk=hit.pk).update(assignments=2)
        link = staged.link(staged.accept(hit, "AWORKERONE"))
        links = [{**link, "workerId": f"AMADEUP{n}", "assignmentId": f"3MADEUP{n}"} for n in range(3)]
        assert [staged.follow(link).status_code for link in links] == [302, 302, 403]
        end(Enrolment.objects.order_by("pk")[0], State.RETURNED)
        assert staged.follow(links[2]).status_code == 302, "a place that was given back is free"

    def test_malformed_submission_site_raises_no_error(self, staged):
        assignment = staged.accept(staged.published(), "AWORKERONE")
        response = staged.follow(staged.link(assignment, turkSubmitTo="http://["))
        end(Enrolment.objects.get(), State.COMPLETED)
        assert Client().get(response["Location"]).status_code == 200
