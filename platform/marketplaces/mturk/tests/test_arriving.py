"""Arrivals from mTurk, messages to workers who cannot continue, and the return to mTurk."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces.models import Account
from marketplaces.mturk.models import Hit
from marketplaces.mturk.syncing import sync_study
from participants.models import Enrolment
from participants.services import end
from participants.states import ENDINGS, State
from recruiters.models import Identity
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db


def nobody_came() -> bool:
    return not Enrolment.objects.exists() and not Identity.objects.exists()


class TestTheDoor:
    def test_task_link_opens_the_study_and_resumes_it(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        first = house.follow(house.link(assignment))
        assert first.status_code == 302
        assert house.follow(house.link(assignment))["Location"] == first["Location"]

    @pytest.mark.parametrize("worker", ["", "a@example.org", "A B", "<b>", "A" * 65, "A\x00B", "../../x"])
    def test_invalid_worker_id_is_refused(self, house, worker):
        answer = house.follow(house.link(house.accept(house.published(), "AWORKERONE"), workerId=worker))
        assert answer.status_code == 400
        assert "after accepting it" in text_of(answer)
        assert nobody_came()

    def test_another_requesters_task_is_refused(self, house):
        answer = house.follow(house.link(house.accept(house.published(), "AWORKERONE"), hitId="3SOMEOTHERTASK"))
        assert answer.status_code == 403
        assert "does not belong to this study" in heading_of(answer)
        assert nobody_came()

    def test_workers_of_an_unconfirmed_task_are_admitted(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        house.ordered()
        assert house.follow(house.link(assignment, hitId="3NOTYETKNOWN")).status_code == 302

    def test_expired_task_is_refused(self, house):
        hit = house.published()
        early, late = house.accept(hit, "AEARLY"), house.accept(hit, "ALATE")
        came = house.follow(house.link(early))
        over = timezone.now() - timedelta(seconds=hit.duration + 60)
        Hit.objects.filter(pk=hit.pk).update(expires_at=over)
        answer = house.follow(house.link(late))
        assert answer.status_code == 410
        assert "expired" in heading_of(answer) and "return the task" in text_of(answer)
        assert house.follow(house.link(early))["Location"] == came["Location"], "who has begun is led back"

    def test_assignment_submitted_by_another_worker_is_refused(self, house):
        _person, assignment = house.through(house.published(), "AWORKERONE")
        sync_study(house.recruitment)
        answer = house.follow(house.link(assignment, workerId="AFORGER"))
        assert answer.status_code == 403
        assert "submitted already" in heading_of(answer)
        assert Enrolment.objects.count() == 1

    def test_assignment_in_progress_by_another_worker_is_refused(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        mine = house.come(assignment)
        answer = house.follow(house.link(assignment, workerId="AFORGER"))
        assert answer.status_code == 403
        assert "working on this assignment" in heading_of(answer)
        assert "wait two minutes" in text_of(answer) and "If you accepted a task" not in text_of(answer)
        assert mine.token not in answer.content.decode()
        Enrolment.objects.update(last_seen_at=timezone.now() - timedelta(minutes=2))
        assert house.follow(house.link(assignment, workerId="ASECOND")).status_code == 302

    def test_second_play_within_the_rest_period_is_refused(self, house, standin):
        from marketplaces.mturk.tests.house import house_at

        other = house_at(standin, slug="other", rest_hours=12)
        house.come(house.accept(house.published(), "AWORKERONE"))
        answer = other.follow(other.link(other.accept(other.published(), "AWORKERONE")))
        assert answer.status_code == 403
        assert "come back later" in heading_of(answer)
        assert "12 hours" in text_of(answer)

    def test_second_assignment_of_a_worker_is_refused(self, house):
        hits = house.published(), house.published()
        house.come(house.accept(hits[0], "AWORKERONE"))
        answer = house.follow(house.link(house.accept(hits[1], "AWORKERONE")))
        assert answer.status_code == 403
        assert "already started" in text_of(answer)

    def test_preview_starts_nothing(self, house):
        hit = house.published()
        answer = house.follow({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": str(hit.hit_id)})
        assert answer.status_code == 200
        assert nobody_came()


class TestGoingBack:
    def last_page(self, house, person):
        return Client().get(person.get_absolute_url())

    def test_assignment_is_posted_to_the_tasks_own_site(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.finish(house.come(assignment))
        page = self.last_page(house, person)
        html = page.content.decode()
        assert f'action="{house.standin.url}/mturk/externalSubmit"' in html
        assert f'name="assignmentId" value="{assignment.id}"' in html
        assert f'name="completionCode" value="{person.completion_code}"' in html
        assert f"form-action 'self' {house.standin.url}" in page["Content-Security-Policy"]
        assert "AWORKERONE" not in html

    @pytest.mark.parametrize(
        "elsewhere",
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
    def test_unknown_submission_site_shows_the_code_instead(self, house, elsewhere):
        assignment = house.accept(house.published(), "AWORKERONE")
        answer = house.follow(house.link(assignment, turkSubmitTo=elsewhere))
        person = house.finish(Enrolment.objects.get(token=answer["Location"].split("/")[2]))
        page = self.last_page(house, person)
        assert "externalSubmit" not in page.content.decode()
        assert "evil" not in page.content.decode() + page["Content-Security-Policy"]
        assert person.completion_code in text_of(page)

    @pytest.mark.parametrize(
        ("place", "site"), [("production", "https://www.mturk.com"), ("sandbox", "https://workersandbox.mturk.com")]
    )
    def test_each_environment_has_its_own_site(self, house, place, site):
        assignment = house.accept(house.published(), "AWORKERONE")
        Account.objects.update(place=place)
        answer = house.follow(house.link(assignment, turkSubmitTo=site))
        person = house.finish(Enrolment.objects.get(token=answer["Location"].split("/")[2]))
        page = self.last_page(house, person)
        assert f'action="{site}/mturk/externalSubmit"' in page.content.decode()
        assert f"{site} https://*.mturk.com" in page["Content-Security-Policy"]

    @pytest.mark.parametrize("state", ENDINGS)
    def test_each_ending_says_whether_to_submit_or_return(self, house, state):
        assignment = house.accept(house.published(), "AWORKERONE")
        person = house.come(assignment)
        end(person, State(state))
        page = self.last_page(house, person)
        submits = "externalSubmit" in page.content.decode()
        assert submits == (state == State.COMPLETED or person.ledger.exists())
        assert submits != ("return" in text_of(page).lower())

    def test_only_the_environments_own_site_may_frame_the_pages(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        door = house.follow({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": assignment.hit.id})
        person = house.come(assignment)
        for page in (door, self.last_page(house, person)):
            assert f"frame-ancestors 'self' https://*.mturk.com {house.standin.url}" in page["Content-Security-Policy"]
            assert "X-Frame-Options" not in page
        Account.objects.update(place="sandbox")
        assert house.standin.url not in self.last_page(house, person)["Content-Security-Policy"]

    def test_task_created_elsewhere_can_be_submitted_to_either_site(self, house):
        house.recruitment.delete()
        person = building.complete(
            house.study,
            worker="AWORKERONE",
            details={"assignmentId": "3A", "hitId": "3H", "turkSubmitTo": "https://www.mturk.com"},
        )
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in self.last_page(house, person).content.decode()


class TestInventedIdentifiers:
    def test_unpublished_study_allows_only_the_preview(self, house):
        made_up = {"workerId": "AMADEUP", "assignmentId": "3MADEUP", "hitId": "3MADEUP"}
        answer = house.follow(made_up)
        assert answer.status_code == 403 and "not published" in heading_of(answer)
        assert house.follow({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3X"}).status_code == 200
        assert nobody_came()

    def test_task_admits_only_as_many_workers_as_assignments(self, house):
        hit = house.published()
        Hit.objects.filter(pk=hit.pk).update(assignments=2)
        link = house.link(house.accept(hit, "AWORKERONE"))
        links = [{**link, "workerId": f"AMADEUP{n}", "assignmentId": f"3MADEUP{n}"} for n in range(3)]
        assert [house.follow(link).status_code for link in links] == [302, 302, 403]
        end(Enrolment.objects.order_by("pk")[0], State.RETURNED)
        assert house.follow(links[2]).status_code == 302, "a place that was given back is free"

    def test_malformed_submission_site_raises_no_error(self, house):
        assignment = house.accept(house.published(), "AWORKERONE")
        came = house.follow(house.link(assignment, turkSubmitTo="http://["))
        end(Enrolment.objects.get(), State.COMPLETED)
        assert Client().get(came["Location"]).status_code == 200
