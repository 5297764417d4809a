"""A study's monitor: its contents, who can see it, and its actions."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from audit.models import Record
from exports.tests import building
from matches.models import Event, Match
from monitoring.models import HandEnding, SpendTally
from monitoring.people import WINDOWS
from monitoring.status import StudyStatus, status_of
from monitoring.tallies import tally_everything
from opponents.models import Call, Circuit
from participants.models import Enrolment
from participants.states import ENDED, State
from payouts.models import LedgerRow
from studies.models import Placement, Study
from studies.tests import kit
from uptime import services as uptime
from uptime.models import Heartbeat, Outage

pytestmark = pytest.mark.django_db


def url(name: str, study: Study) -> str:
    return reverse(f"monitoring:{name}", args=[study.pk])


def current_status(study: Study) -> StudyStatus:
    return status_of(study, WINDOWS["hours"])


def playing(study: Study, worker: str) -> Match:
    return building.match_of(building.read_instructions(building.consent(building.arrive(study, worker=worker))))


def add_call(match: Match, *, ago: timedelta = timedelta(), **columns) -> Call:
    values = {
        "role": "bob", "answering": 2, "endpoint": "openai", "model": "m", "latency": 2.0, "outcome": "move",
        "cost": Decimal("0.01"), "record": {},
    }  # fmt: skip
    return Call.objects.create(
        match_uid=match.uid, budget_of=match.budget_of, at=timezone.now() - ago, **{**values, **columns}
    )


@pytest.mark.parametrize("tallied", [False, True])
def test_each_participant_is_counted_once_tallied_or_not(tallied):
    study = building.new_study(quota=10)
    building.complete(study, worker="A1")
    playing(study, "A2")
    building.read_instructions(building.consent(building.arrive(study, worker="A3")), word="wrong")
    if tallied:
        tally_everything()
        tally_everything()
    people = current_status(study).people
    assert {state: number for state, number in people.by_state.items() if number} == {
        State.COMPLETED: 1, State.PLAYING: 1, State.FAILED_CODE_WORD: 1,
    }  # fmt: skip
    assert set(people.by_state) == set(State), "every state is listed, even without participants"
    assert (people.arrived, people.live, people.completed, people.ended_otherwise) == (3, 1, 1, 1)
    (cell,) = people.cells
    assert (cell.completed, cell.live, cell.left) == (1, 1, 8)
    bars = current_status(study).arrivals.label
    assert "3 participants arrived and 1 completed" in bars


def test_participants_before_the_draw_and_of_equal_cells_of_earlier_versions_are_counted():
    question = {"name": "age", "kind": "number", "text": "How old are you?"}
    study = building.new_study(grid={"rounds": [1, 12]}, before=[question], quota=3)
    waiting = building.consent(building.arrive(study, worker="A1"))
    assert waiting.placement.cell is None
    drawn = building.arrive(study, worker="A2")
    building.consent(drawn)
    building.answer(drawn, question_age="30")
    building.launch_with(study, grid={"rounds": [1, 12, 99]})
    for tallied in (False, True):
        if tallied:
            Enrolment.objects.update(state=State.COMPLETED, ended_at=timezone.now())
            tally_everything()
        people = current_status(study).people
        counts = {cell.title: (cell.completed, cell.live) for cell in people.cells}
        own = drawn.placement.cell or Placement.objects.get(enrolment=drawn).cell
        assert counts.pop(own.title) == ((1, 0) if tallied else (0, 1))
        assert set(counts.values()) == {(0, 0)} and (people.arrived, people.version) == (2, 2)


def test_only_ended_enrolments_are_tallied():
    study = building.new_study()
    building.complete(study, worker="A1")
    match = playing(study, "A2")
    tally_everything()
    assert Placement.objects.get(tallied=False).enrolment.seats.get().match == match
    building.play(Enrolment.objects.get(seats__match=match))
    building.answer_quiz(Enrolment.objects.get(seats__match=match))
    tally_everything()
    assert not Placement.objects.filter(tallied=False).exists()
    assert current_status(study).people.completed == 2


def test_cell_titles_name_what_differs():
    study = building.new_study(grid={"rounds": [1, 12]}, quota=3)
    titles = [cell.title for cell in current_status(study).people.cells]
    assert titles == ["rounds 1", "rounds 12"]


def test_many_cells_are_shown_as_a_map_with_the_emptiest_listed(client, boss):
    study = building.new_study(grid={"rounds": list(range(1, 31))}, quota=1)
    status = current_status(study)
    assert len(status.cell_map.squares) == 30
    assert len(status.people.emptiest) == 16
    assert client.get(url("page", study)).status_code == 200


def test_monitor_shows_who_is_awaited_and_since_when():
    study = building.new_study()
    waiting, other = playing(study, "A1"), playing(study, "A2")
    building.move(other, "alice", building.OFFER)
    shift(waiting, timedelta(seconds=50))
    shift(other, timedelta(seconds=90))
    live = current_status(study).live
    assert live.number == 2
    assert (live.people.number, round(live.people.longest)) == (1, 50)
    assert (live.agents.number, round(live.agents.longest)) == (1, 90)
    first, second = live.longest
    assert (first.pk, first.by_agent, first.agent, first.late) == (other.pk, True, "script:fair", True)
    assert (second.pk, second.by_agent, second.late) == (waiting.pk, False, False)
    assert first.pseudonym == other.seats.get(role="alice").enrolment.pseudonym


def shift(match: Match, by: timedelta) -> None:
    """Make the match's open turns this much older."""
    match.refresh_from_db()
    opened = (timezone.now() - by).isoformat()
    turns = {role: {**turn, "opened_at": opened} for role, turn in match.turns.items()}
    Match.objects.filter(pk=match.pk).update(turns=turns)


def test_response_times_cover_the_last_minutes():
    study = building.new_study()
    match = building.match_of(building.complete(study, worker="A1", messages=["a", "b"]))
    at = timezone.now()
    moves = Event.objects.filter(match=match, kind="move", role="alice").order_by("number")
    for seconds, event in zip((1, 3, 30, 300, 3), moves, strict=True):
        Event.objects.filter(pk=event.pk).update(shown_at=at - timedelta(seconds=seconds), at=at)
    add_call(match, latency=4.0)
    add_call(match, latency=9.0, ago=timedelta(hours=2))
    add_call(match, latency=60.0, outcome="failed")
    status = current_status(study)
    assert (status.people_latency.number, status.people_latency.p50, status.people_latency.p95) == (5, 3, 300)
    assert status.people_latency.bars == (0, 1, 2, 0, 0, 1, 0, 0, 1)
    assert (status.models_latency.number, status.models_latency.p50) == (1, 4.0)


def test_model_health_uses_only_this_studys_calls():
    study, other = building.new_study(), building.new_study(slug="other")
    match = building.match_of(building.complete(study, worker="A1"))
    for outcome in ["move", "move", "rule_break", "failed"]:
        add_call(match, outcome=outcome)
    Circuit.objects.create(
        endpoint="openai", open_until=timezone.now() + timedelta(seconds=9), changed_at=timezone.now()
    )
    (model,) = current_status(study).models
    assert (model.calls, model.errors, model.rule_break_percent) == (4, 1, 33)
    assert model.open_until is not None
    assert current_status(other).models == []


@pytest.mark.parametrize("tallied", [False, True])
def test_spending_is_the_cost_of_all_calls_against_the_caps(settings, tallied):
    settings.SPEND_CAP_PER_DAY = "5.00"
    study = building.new_study(agents={"m": kit.agent("openai:m", cap_study=0.10, cap_match=0.05)})
    match = playing(study, "A1")
    for days in (0, 0, 2):
        add_call(match, ago=timedelta(days=days))
    add_call(match, cost=None)
    Call.objects.create(match_uid=match.uid, role="bob", answering=2, budget_of="study:x", cost=Decimal(1), record={})
    if tallied:
        Call.objects.update(at=timezone.now() - timedelta(minutes=3))
        tally_everything()
        tally_everything()
        assert SpendTally.objects.count() == 2
        add_call(match, cost=Decimal("0.02"))
    spending = current_status(study).spending
    assert spending.study.spent == Decimal("0.05" if tallied else "0.03")
    assert (spending.study.cap, spending.per_match, spending.unpriced) == (Decimal("0.1"), Decimal("0.05"), 1)
    if timezone.localtime().time() > (timezone.datetime.min + timedelta(minutes=5)).time():
        assert spending.today.spent == Decimal("1.05" if tallied else "1.02")
    assert spending.study.percent == (50 if tallied else 30)


def test_failures_are_listed_newest_first_with_reasons(client, boss):
    study = building.new_study()
    match = playing(study, "A1")
    add_call(match, outcome="failed", ago=timedelta(minutes=2), record={"error": "Timeout: <b>60 s</b>"})
    client.post(url("end_match", study), {"match": match.pk, "reason": "The provider <i>hangs</i>"})
    ended, timeout = (failure.reason for failure in current_status(study).failures)
    assert ended.endswith("The provider <i>hangs</i>") and timeout == "Timeout: <b>60 s</b>"
    page = client.get(url("page", study)).content.decode()
    assert "Timeout: &lt;b&gt;60 s&lt;/b&gt;" in page and "<b>60 s" not in page and "<i>hangs" not in page


def test_monitor_shows_no_identity_token_or_code(client, boss):
    study = building.new_study()
    match = playing(study, "A1WORKERID")
    person = match.seats.get(role="alice").enrolment
    Enrolment.objects.filter(pk=person.pk).update(code_word="zzyzx")
    page = client.get(url("page", study)).content.decode()
    assert person.pseudonym in page
    for secret in ["A1WORKERID", person.token, person.completion_code, "zzyzx", "Robin"]:
        assert secret not in page
    part = client.get(url("now", study)).content.decode()
    assert "<script" not in part and " style=" not in part and " onclick=" not in part


def test_paused_study_admits_no_one_and_resumes_as_launched(client, boss):
    study = building.new_study()
    study.draft |= {"minutes": 7}
    study.save()
    page = client.post(url("pause", study), follow=True).content.decode()
    study.refresh_from_db()
    assert study.status == "paused" and "Paused: closed to new participants" in page and "Resume" in page
    client.post(url("resume", study))
    study.refresh_from_db()
    assert study.status == "launched"
    records = Record.objects.filter(of_kind="studies.study", of_key=study.pk).order_by("pk")
    assert [(record.action, record.by) for record in records] == [("paused", "boss"), ("resumed", "boss")]
    assert study.versions.count() == 1, "changes saved in the meantime wait for the next launch"
    logged = [entry.get_change_message().partition(":")[0] for entry in LogEntry.objects.order_by("pk")]
    assert logged == ["Paused", "Resumed"]


@pytest.mark.parametrize(("action", "status"), [("resume", "closed"), ("resume", "draft"), ("pause", "closed")])
def test_impossible_action_is_refused_and_changes_nothing(client, boss, action, status):
    study = building.new_study()
    Study.objects.filter(pk=study.pk).update(status=status)
    page = client.post(url(action, study), follow=True).content.decode()
    study.refresh_from_db()
    assert study.status == status and "Only a" in page
    assert not LogEntry.objects.exists()


def test_stuck_match_is_ended_with_pay_and_a_permanent_reason(client, boss):
    study = building.new_study()
    match = playing(study, "A1")
    building.move(match, "alice", building.OFFER)
    client.post(url("end_match", study), {"match": match.pk, "reason": " the endpoint \n is down "})
    match.refresh_from_db()
    person = match.seats.get(role="alice").enrolment
    assert (match.status, match.ending, person.state) == ("abandoned", "opponent_failed", "opponent_failed")
    assert {row.reason for row in LedgerRow.objects.filter(enrolment=person)} == {"base", "bonus"}
    page = client.get(person.get_absolute_url()).content.decode()
    assert "this study ended the game" in page and "stopped answering" not in page
    record = Record.objects.get(action="match_ended")
    assert (record.by, record.of_key) == ("boss", str(study.pk))
    assert record.details == {"match": str(match.uid), "reason": "the endpoint is down"}
    ending = HandEnding.objects.get()
    assert (ending.match, ending.who, ending.reason) == (match, boss, "the endpoint is down")
    with pytest.raises(TypeError):
        ending.save()
    with pytest.raises(TypeError):
        ending.delete()


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 501, "\x00"])
def test_match_is_not_ended_without_a_valid_reason(client, boss, reason):
    study = building.new_study()
    match = playing(study, "A1")
    page = client.post(url("end_match", study), {"match": match.pk, "reason": reason}, follow=True).content.decode()
    match.refresh_from_db()
    assert match.status == "live" and "Please " in page
    assert not HandEnding.objects.exists() and not LogEntry.objects.exists()


def test_ended_matches_and_those_of_other_studies_cannot_be_ended(client, boss):
    study, other = building.new_study(), building.new_study(slug="other")
    match = playing(other, "A1")
    for key in [str(match.pk), "", "1; drop", "٣", "9" * 30, str(match.uid)]:
        assert client.post(url("end_match", study), {"match": key, "reason": "x"}).status_code == 404
    match.refresh_from_db()
    assert match.status == "live"
    ended = building.match_of(building.complete(study, worker="A2"))
    page = client.post(url("end_match", study), {"match": ended.pk, "reason": "late"}, follow=True).content.decode()
    assert Match.objects.get(pk=ended.pk).status == "finished"
    assert "already over" in page and not HandEnding.objects.exists()


ACTIONS = ["pause", "resume", "end_match"]


@pytest.mark.parametrize(("role", "page_status", "action_status"), [("", 404, 404), ("viewer", 200, 403)])
def test_viewers_change_nothing(client, role, page_status, action_status):
    study = building.new_study()
    match = playing(study, "A1")
    kit.staff(client, study, role=role)
    page = client.get(url("page", study))
    assert page.status_code == client.get(url("now", study)).status_code == page_status
    assert url("pause", study) not in page.content.decode() and "data-end" not in page.content.decode()
    for action in ACTIONS:
        assert client.post(url(action, study), {"match": match.pk, "reason": "x"}).status_code == action_status
    study.refresh_from_db()
    match.refresh_from_db()
    assert (study.status, match.status) == ("launched", "live")


def test_editor_pauses_resumes_and_ends_only_this_studys_matches(client):
    study, other = building.new_study(), building.new_study(slug="other")
    match, other_match = playing(study, "A1"), playing(other, "A2")
    kit.staff(client, study, role="editor")
    for action, status in (("pause", "paused"), ("resume", "launched")):
        client.post(url(action, study))
        assert Study.objects.get(pk=study.pk).status == status
    for posted in (other_match, match):
        client.post(url("end_match", study), {"match": posted.pk, "reason": "stuck"})
        posted.refresh_from_db()
    assert (match.status, other_match.status) == ("abandoned", "live")


def test_visitors_must_sign_in_and_unknown_studies_are_not_found(client):
    study = building.new_study()
    for name in ["page", "now"]:
        response = client.get(url(name, study))
        assert response.status_code == 302 and "/admin/login/" in response["Location"]
    kit.administrator(client)
    assert client.get(reverse("monitoring:page", args=[study.pk + 1])).status_code == 404
    assert {client.get(url(action, study)).status_code for action in ACTIONS} == {405}


def test_states_are_coloured_by_kind():
    kinds = {row.state: row.kind for row in current_status(building.new_study()).states}
    assert kinds[State.COMPLETED] == "good" and kinds[State.WAITING] == "live"
    assert all(kinds[state] == "bad" for state in ENDED if state != State.COMPLETED)


def test_the_monitor_shows_our_last_outages(client, boss):
    study, now = building.new_study(), timezone.now()
    for minutes in (60 * 30, 20):
        began_at = now - timedelta(minutes=minutes)
        Outage.objects.create(began_at=began_at, ended_at=began_at + timedelta(seconds=30))
    Heartbeat.objects.create(pk=Heartbeat.ONLY, at=now)
    uptime.forget()
    for status, outages in (("launched", 1), ("closed", 0)):  # an outage after a study is not its own
        Study.objects.update(status=status)
        page = client.get(url("now", study)).content.decode()
        assert page.count("unavailable to participants from") == outages


@pytest.mark.parametrize(("days_ago", "shown"), [(0, "hours"), (0.5, "day"), (3, "weeks"), (60, "hours")])
def test_the_chart_reaches_back_to_the_latest_arrival(client, boss, days_ago, shown):
    study = building.new_study()
    assert client.get(url("page", study)).context["window"] == "hours"
    person = building.arrive(study)
    Enrolment.objects.filter(pk=person.pk).update(arrived_at=timezone.now() - timedelta(days=days_ago))
    assert client.get(url("page", study)).context["window"] == shown
