"""Limits on open links: nobody can spend the study's money or fill it with empty enrolments."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.test import Client, override_settings

from participants.models import Enrolment
from participants.states import State
from recruiters import addresses
from recruiters.models import LabCode
from studies.models import Study
from studies.tests import kit
from tests.visitors import Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clear_cache() -> None:
    cache.clear()


def form_of(client: Client) -> dict[str, str]:
    page = client.get("/join/splitting").content.decode()
    return {"form": page.split('name="form" value="')[1].split('"')[0]}


@override_settings(JOINS_PER_HOUR=2)
def test_enrolments_per_address_and_hour_are_limited() -> None:
    launched_study(via="open")
    for _person in range(2):
        assert Client().post("/join/splitting").status_code == 302
    response = Client().post("/join/splitting")
    assert response.status_code == 429 and "your network" in heading_of(response)
    assert '<meta http-equiv="refresh" content="60">' in response.content.decode()
    assert Enrolment.objects.count() == 2
    assert Client().post("/join/splitting", REMOTE_ADDR="192.0.2.7").status_code == 302
    kit.launch_again(Study.objects.get(), via="mturk")
    invented = {"workerId": "AMADEUP", "assignmentId": "3X", "hitId": "3H"}
    assert Client().get("/join/splitting", invented).status_code == 429


def test_only_failed_attempts_of_an_address_have_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "FAILURES_PER_MINUTE", 3)
    monkeypatch.setattr(addresses.time, "time", lambda: 1_000_000.0)  # one window
    launched_study(via="codes")
    for code in LabCode.objects.bulk_create(LabCode(study="splitting") for _person in range(5)):
        assert Client().get("/join/splitting", {"code": code.code}).status_code == 302
    for wrong in ("/join/splitting?code=WRONG1", "/join/none", "/join/splitting?code=WRONG2"):
        assert Client().get(wrong).status_code == 404
    waiting = Client().get("/join/splitting", {"code": code.code})
    assert (waiting.status_code, waiting["Retry-After"]) == (429, "10")
    assert '<meta http-equiv="refresh" content="10">' in waiting.content.decode()
    assert "tries again automatically" in text_of(waiting)
    assert Client().get("/join/none", REMOTE_ADDR="192.0.2.7").status_code == 404
    monkeypatch.setattr(addresses.time, "time", lambda: 1_000_061.0)
    assert Client().get("/join/splitting", {"code": code.code}).status_code == 302


@override_settings(JOINS_PER_HOUR=0)
def test_lab_codes_are_exempt_from_the_limit() -> None:
    launched_study(via="codes")
    code = LabCode.objects.create(study="splitting").code
    assert Client().get("/join/splitting", {"code": code}).status_code == 302


@pytest.mark.parametrize("repeat", ["with the cookie", "without it"])
def test_a_repeated_join_leads_to_the_same_enrolment(repeat: str) -> None:
    """The browser submits the form again; without the cookie, as if the response that set it had been lost."""
    launched_study(via="open")
    browser = Client()
    form = form_of(browser)
    first = browser.post("/join/splitting", form)
    resubmitted = (browser if repeat == "with the cookie" else Client()).post("/join/splitting", form)
    assert resubmitted["Location"] == first["Location"]
    assert Enrolment.objects.count() == 1
    assert Client().post("/join/splitting", form_of(Client()))["Location"] != first["Location"]


def test_lost_response_does_not_use_up_a_code() -> None:
    launched_study(via="codes")
    code = LabCode.objects.create(study="splitting", kind=LabCode.Kind.ONCE).code
    address = f"/join/splitting?code={code}"
    page = Client().get(address).content.decode()
    form = {"form": page.split('name="form" value="')[1].split('"')[0]}
    first = Client().post(address, form)
    assert Client().post(address, form)["Location"] == first["Location"]
    assert "has already been used" in heading_of(Client().post(address, {"form": "x" * 30}))


def test_opening_the_link_takes_no_place() -> None:
    study = launched_study(via="open", quota=1)
    for worker in ("one", "two", "three"):
        arrived_participant(study, worker=worker)
    first, second, _third = (Visitor(enrolment) for enrolment in Enrolment.objects.order_by("pk"))
    first.send(agree="yes")
    assert "All places" in text_of(second.refused(agree="yes"))
    assert (first.now().state, second.now().state) == (State.CONSENTED, State.ARRIVED)


def test_cell_that_filled_before_consent_is_replaced() -> None:
    pays = {"factors": {"pays": {"levels": ["1.00", "2.00"]}}, "base": {"by": "pays"}}
    study = launched_study(via="open", quota=1, **pays)  # the consent page says what is paid, so the draw comes first
    people = [Visitor(arrived_participant(study, worker=str(number))) for number in range(3)]
    for visitor in people:
        visitor.send(agree="yes")
    placed = [visitor.now().placement.cell.number for visitor in people if visitor.now().state != State.ARRIVED]
    assert sorted(placed) == [1, 2]
    for visitor in people[:2]:
        step = next(step for step in visitor.now().steps if step["kind"] == "match")
        assert step["texts"]["pay"]["base"] == visitor.now().placement.cell.factors["pays"]


def test_open_study_with_a_model_needs_a_spending_limit() -> None:
    with pytest.raises(ValidationError, match="set a spending limit"):
        launched_study(via="open", agents="openai:m")
    launched_study(via="open", agents={"openai:m": kit.agent("openai:m", cap_study=5.0)}, slug="capped")
    launched_study(via="codes", agents="openai:m", slug="by-code")
