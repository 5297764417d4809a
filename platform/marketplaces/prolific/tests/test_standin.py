"""The stand-in: participants' pages, requests that it refuses, and its start."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from marketplaces.prolific.standin import TOKEN, StandIn

STUDY = {
    "name": "A <b>study</b>", "description": "Share money.", "external_study_url": "http://127.0.0.1:9/?p={{%PROLIFIC_PID%}}",
    "prolific_id_option": "url_parameters", "total_available_places": 1, "estimated_completion_time": 5, "reward": 100,
    "completion_codes": [{"code": "DONE", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}],
}  # fmt: skip


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def study(standin: StandIn) -> str:
    new_study_id: str = standin.market.create(STUDY)["id"]
    return new_study_id


def ask(standin: StandIn, method: str, path: str, **fields) -> httpx.Response:
    return httpx.request(
        method, f"{standin.address}/api/v1{path}", json=fields or None, headers={"Authorization": f"Token {TOKEN}"}
    )


def test_participant_starts_and_completes_a_study(standin, study):
    with httpx.Client(base_url=standin.address) as worker:
        assert "No study is published" in worker.get("/").text
        standin.market.transition(study, "PUBLISH")
        page = worker.get("/").text
        assert "A &lt;b&gt;study&lt;/b&gt;" in page and "1.00 USD" in page
        response = worker.post(f"/studies/{study}/start")
        (submission,) = standin.market.submissions.values()
        assert response.headers["location"] == f"http://127.0.0.1:9/?p={submission.participant}"
        assert "Open again" in worker.get("/").text
        assert "It is AWAITING REVIEW" in worker.get("/submissions/complete?cc=DONE").text
        assert httpx.post(f"{standin.address}/submissions/{submission.id}/return").status_code == 404
        worker.post(f"/submissions/{submission.id}/return")
        assert submission.status == "RETURNED"
        assert "Already taken part" not in worker.get("/").text
        assert worker.post(f"/studies/{study}/start").status_code == 400


def test_places_are_given_once(standin, study):
    standin.market.transition(study, "PUBLISH")
    answers = [httpx.post(f"{standin.address}/studies/{study}/start").status_code for _i in range(2)]
    assert answers == [303, 400]


def test_errors_have_prolifics_format(standin, study):
    assert httpx.get(f"{standin.address}/api/v1/users/me/").status_code == 401
    response = ask(standin, "POST", "/studies/", name="x")
    assert response.status_code == 400 and set(response.json()["error"]) == {"status", "error_code", "title", "detail"}
    assert response.json()["error"]["detail"]["reward"]
    assert ask(standin, "GET", "/studies/nothing/").status_code == 404
    assert ask(standin, "POST", f"/studies/{study}/transition/", action="START").status_code == 400


def test_return_request_shows_its_reasons(standin, study):
    standin.market.transition(study, "PUBLISH")
    with httpx.Client(base_url=standin.address) as worker:
        worker.post(f"/studies/{study}/start")
        (submission,) = standin.market.submissions.values()
        path = f"/submissions/{submission.id}/request-return/"
        assert ask(standin, "POST", path, request_return_reasons=["Sorry."]).status_code == 400, "not handed in yet"
        worker.get("/submissions/complete?cc=DONE")
        assert ask(standin, "POST", path, request_return_reasons=[]).status_code == 400
        data = ask(standin, "POST", path, request_return_reasons=["<b>Sorry.</b>"]).json()
        assert data["return_requested"] and data["status"] == "AWAITING REVIEW"
        assert "&lt;b&gt;Sorry.&lt;/b&gt;" in worker.get("/").text


def test_paying_a_bonus_twice_pays_twice(standin, study):
    standin.market.transition(study, "PUBLISH")
    standin.market.start(study, "w" * 24)
    submission = standin.market.submission_of(study, "w" * 24)
    standin.market.complete(submission.id, "DONE")
    bulk = ask(
        standin, "POST", "/submissions/bonus-payments/", study_id=study, csv_bonuses=f"{submission.id},0.50"
    ).json()
    assert bulk["amount"] == 50 and not submission.bonuses
    for _i in range(2):
        assert ask(standin, "POST", f"/bulk-bonus-payments/{bulk['id']}/pay/").status_code == 202
    assert submission.bonuses == [50, 50]
