"""Participants come from oTree by signed links; oTree asks for their outcome with signed tokens."""

from __future__ import annotations

import time
from datetime import timedelta
from urllib.parse import urlsplit

import jwt
import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from api.tests.calling import call
from api.tests.test_access import OPERATIONS, SCHEMA, assert_declared
from audit.models import Record
from exports.dataset import export
from exports.tests import building
from exports.tests.test_dataset import rows
from lobby import services as lobby
from lobby.models import Place
from matches.models import Match, Seat
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from recruiters import otree
from recruiters.models import Identity, OtreeServer
from studies.models import Study
from studies.tests import kit

RETURN_TO = "https://otree.example/lab/InitializeParticipant/abc123xy"
PERSON = {"sub": "abc123xy", "round": "parley/1", "session": "s3ss10n0", "group": 1}
RESULT, PROGRESS, CONNECTION = (
    SCHEMA["paths"][f"/api/v1/{name}/{{token}}"]["get"] for name in ("results", "progress", "connection")
)


@pytest.fixture
def study(db):
    OtreeServer.objects.create(study="splitting", addresses="https://otree.example/lab/\nhttps://other.example")
    return building.new_study(via="otree", roles=["alice", "bob"])


def sign_token(*, key: str | None = None, audience: str = otree.PLAY, lifetime: float = 60, **claims) -> str:
    """Return a token as an oTree server creates it."""
    default_claims = {"aud": audience, "study": "splitting", "exp": time.time() + lifetime, **PERSON}
    if audience == otree.PLAY:
        default_claims |= {"back": RETURN_TO}
    key = key or otree.link_key(OtreeServer.objects.get(study="splitting"))
    return jwt.encode(
        {name: value for name, value in {**default_claims, **claims}.items() if value is not None}, key, "HS256"
    )


def result_token(**claims) -> str:
    return sign_token(audience=otree.RESULT, **claims)


def join(token: str, study: str = "splitting"):
    return Client().get(f"/join/{study}/", {"token": token})


def text(response) -> str:
    return response.content.decode()


# ---- arriving ------------------------------------------------------------------------------------------


def test_link_opens_the_study_at_the_current_step(study):
    first = join(sign_token(role="bob"))
    assert first.status_code == 302
    person = Enrolment.objects.get()
    assert first["Location"] == person.get_absolute_url()
    assert (person.placement.cell.role, person.return_to) == ("bob", RETURN_TO)
    building.answer(person, agree="yes")
    replayed = join(sign_token(role="bob", lifetime=120))
    assert replayed["Location"] == first["Location"]
    assert Enrolment.objects.count() == Identity.objects.count() == 1


def test_every_round_is_a_separate_enrolment_of_the_same_person(study, tmp_path):
    building.launch_with(study, participations=2)
    for round_of_app in ("parley/1", "parley/2"):
        assert join(sign_token(round=round_of_app, role="alice")).status_code == 302
        finish(Enrolment.objects.latest("pk"))
    assert join(sign_token(round="parley/3")).status_code == 403, "the study allows two"
    first, second = Enrolment.objects.order_by("pk")
    export(study, tmp_path / "d", ["csv"])
    people_in_file = [(row["participant"], row["person"]) for row in rows(tmp_path / "d", "participants")]
    assert people_in_file == [(first.pseudonym, first.pseudonym), (second.pseudonym, first.pseudonym)]


def test_one_session_per_participant_stops_a_second_round(study):
    join(sign_token(role="alice"))
    finish(Enrolment.objects.get())
    refused = join(sign_token(round="parley/2"))
    assert refused.status_code == 403 and "You have already taken part" in text(refused)
    assert Enrolment.objects.count() == 1


def test_a_person_sent_on_too_early_can_finish_the_earlier_game(study):
    building.launch_with(study, participations=2)
    join(sign_token())
    refused = join(sign_token(round="parley/2"))
    assert refused.status_code == 403
    assert f'href="{Enrolment.objects.get().get_absolute_url()}"' in text(refused)


def test_a_link_chooses_the_treatment(study):
    building.launch_with(study, grid={"rounds": [3, 6, 9]})
    for number in (6, 1):
        join(sign_token(sub=f"person{number}", cell=number))
        assert Enrolment.objects.latest("pk").placement.cell.number == number
    assert Study.objects.get().latest_version().cells.count() == 6


# ---- who may meet --------------------------------------------------------------------------------------


@pytest.fixture
def pairs(study):
    """Two treatments in which alice and bob are participants."""
    people_only = {"factors": {}, "agents": {}, "seats": {"*": "person"}, "grid": {"rounds": [3, 6]}}
    building.launch_with(study, **people_only, participations=2, ready=0)
    return study


def wait_in_lobby(code: str, **claims) -> Enrolment:
    """Let a person follow the link and go to the lobby."""
    assert join(sign_token(sub=code, **claims)).status_code == 302
    person = Enrolment.objects.latest("pk")
    building.consent(person)
    building.read_instructions(person)
    people.show_step(enrolment_id=person.pk)
    return person


def group_in_lobby() -> list[str]:
    """Form the groups that can be formed; return the codes of those who play, pair by pair."""
    lobby.sweep()
    return [
        "+".join(sorted(seat.enrolment.identity.worker for seat in match.seats.all()))
        for match in Match.objects.order_by("pk")
    ]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
class TestMeeting:
    def test_people_of_one_group_in_otree_meet(self, pairs):
        """Also if others arrive in between, whatever cell and role these were given."""
        for code, claims in {
            "a1": {"session": "first"},
            "b1": {"session": "second"},
            "c1": {"session": "second", "group": 2},
            "b2": {"session": "second"},
            "a2": {"session": "first"},
            "c2": {"session": "second", "group": 2},
        }.items():
            wait_in_lobby(code, **claims)
        assert group_in_lobby() == ["b1+b2", "a1+a2", "c1+c2"]
        assert len({match.seed for match in Match.objects.all()}) == 3

    def test_anyone_meets_if_the_experiment_says_so(self, pairs):
        wait_in_lobby("a1", session="first", meet="anyone")
        wait_in_lobby("b1", session="second", meet="anyone")
        assert group_in_lobby() == ["a1+b1"]

    @pytest.mark.parametrize("partners", ["new", "any"])
    def test_partners_of_an_earlier_round_count_as_the_study_says(self, pairs, partners):
        building.launch_with(pairs, partners=partners)
        for code in ("a1", "a2"):
            wait_in_lobby(code)
        assert group_in_lobby() == ["a1+a2"]
        for person in Enrolment.objects.all():
            people.withdraw(enrolment_id=person.pk)
        for code in ("a1", "a2"):
            wait_in_lobby(code, round="parley/2")
        assert group_in_lobby() == ["a1+a2", "a1+a2"][: 1 if partners == "new" else 2]
        Place.objects.update(since=timezone.now() - timedelta(seconds=200))
        assert group_in_lobby() == ["a1+a2", "a1+a2"], "no one else came"

    def test_the_report_shows_who_waits_and_a_wait_ends_while_the_page_is_closed(self, pairs):
        person = wait_in_lobby("a1")
        code = person.identity.proof
        waiting = call_api("progress", session=PERSON["session"]).json()["participants"][code]
        assert (waiting["state"], waiting["ended"], waiting["missing"]) == ("waiting", False, 1)
        assert 290 <= waiting["seconds"] <= 300
        Place.objects.update(until=timezone.now(), heard_at=None)
        assert outcome(result_token(sub="a1")).json()["ending"] == "no_partner", "oTree's page is still open"
        ended = call_api("progress", session=PERSON["session"]).json()["participants"][code]
        assert ended == {"state": "no_partner", "ended": True, "missing": None, "seconds": None}
        assert call_api("progress", session="another").json() == {"participants": {}}


def test_last_page_leads_back_to_the_experiment(study):
    join(sign_token())
    person = Enrolment.objects.get()
    people.withdraw(enrolment_id=person.pk)
    page = text(Client().get(person.get_absolute_url()))
    assert f'href="{RETURN_TO}"' in page and person.completion_code not in page


def test_the_last_page_says_that_the_experiment_pays(study):
    join(sign_token(role="alice"))
    person = Enrolment.objects.get()
    finish(person)
    page = text(Client().get(person.get_absolute_url()))
    assert "experiment that brought you here" in page and "researchers approve" not in page
    other_person = building.complete(building.new_study(slug="other"), worker="A1WORKER")
    page = text(Client().get(other_person.get_absolute_url()))
    assert "Once the researchers approve it" in page and "by the experiment that brought" not in page


@pytest.mark.parametrize(
    ("claims", "status", "expected_text"),
    [
        ({"lifetime": -5}, 410, "expired"),
        ({"key": "f" * 64}, 403, "cut off or changed"),
        ({"audience": otree.RESULT, "back": RETURN_TO}, 403, "cut off or changed"),
        ({"back": "https://evil.example/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example.evil/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example@evil.example/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example/other/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example/lab/InitializeParticipant/../../x"}, 403, "accept links from"),
        ({"back": "javascript:alert(1)"}, 403, "accept links from"),
        ({"back": None}, 403, "accept links from"),
        ({"back": "https://[otree.example/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example./lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example:444/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "http://otree.example/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"back": "https://otree.example\\@evil.example/lab/InitializeParticipant/abc"}, 403, "accept links from"),
        ({"role": "carol"}, 403, "role"),
        ({"cell": 9}, 403, "cell 9"),
        *((claims, 403, "cut off or changed") for claims in (
            {"study": "another"}, {"cell": "1"}, {"sub": ""}, {"sub": None}, {"sub": "x" * 101}, {"round": None},
            {"session": None}, {"session": "\ud800"}, {"exp": None},
        )),
    ],
)  # fmt: skip
def test_an_invalid_link_gets_a_clear_page_and_changes_nothing(study, claims, status, expected_text):
    refused = join(sign_token(**claims))
    assert refused.status_code == status and expected_text in text(refused)
    assert "evil" not in text(refused)
    assert not Enrolment.objects.exists()


@pytest.mark.parametrize("purpose", ["expired", "closed", "of no role"])
def test_refused_participants_can_return_to_the_experiment(study, purpose):
    if purpose == "closed":
        Study.objects.update(status=Study.Status.CLOSED)
    refused = join(
        sign_token(lifetime=-5 if purpose == "expired" else 60, role="carol" if purpose == "of no role" else None)
    )
    assert refused.status_code in (403, 410) and f'href="{RETURN_TO}"' in text(refused)
    assert not Enrolment.objects.exists()


def test_a_refusal_links_to_no_unknown_address(study):
    for claims in (
        {"back": "https://evil.example/InitializeParticipant/abc", "lifetime": -5},
        {"back": "javascript:alert(1)", "lifetime": -5},
        {"back": None, "lifetime": -5},
        {"key": "f" * 64, "lifetime": -5},
        {"key": "f" * 64},
    ):
        page = text(join(sign_token(**claims)))
        assert "evil" not in page and "javascript" not in page and "Back to the experiment" not in page


def test_an_unsigned_token_is_refused(study):
    claims = {"aud": otree.PLAY, "study": "splitting", "exp": time.time() + 60, "back": RETURN_TO, **PERSON}
    for token in (jwt.encode(claims, None, "none"), "nonsense", "a.b.c", "\x00"):
        assert join(token).status_code == 403
    assert join("").status_code == 400
    assert not Enrolment.objects.exists()


def test_study_without_an_otree_server_admits_no_one(study):
    token = sign_token()
    OtreeServer.objects.all().delete()
    assert join(token).status_code == 403


def test_links_survive_a_change_of_the_server_secret(study, settings):
    token = sign_token()
    with override_settings(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert join(token).status_code == 302


# ---- the outcome -------------------------------------------------------------------------------------


def outcome(token: str):
    response = call(f"/results/{token}")
    assert_declared(RESULT, response)
    return response


def call_api(name: str, **claims):
    """Return the answer to a request that oTree signs, for `progress` or `connection`."""
    response = call(f"/{name}/{sign_token(audience=f'parley:{name}', **claims)}")
    assert_declared({"progress": PROGRESS, "connection": CONNECTION}[name], response)
    return response


def finish(person: Enrolment) -> None:
    building.consent(person, name="Rosalind")
    building.read_instructions(person)
    building.play(person, messages=["Rosalind here"])
    building.answer_quiz(person)


def test_the_outcome_is_pending_until_the_enrolment_ends(study):
    assert outcome(result_token()).json()["state"] == "pending", "no one has arrived yet"
    join(sign_token(role="alice"))
    person = Enrolment.objects.get()
    pending = outcome(result_token()).json()
    assert (pending["state"], pending["participant"], pending["matches"]) == ("pending", person.pseudonym, [])
    finish(person)
    person.refresh_from_db()
    result = outcome(result_token()).json()
    owed_cents = {row.reason: int(row.amount * 100) for row in person.ledger.all()}
    assert (result["state"], result["ending"], result["role"], result["currency"]) == (
        "finished",
        "completed",
        "alice",
        "USD",
    )
    assert (result["base_cents"], result["bonus_cents"]) == (owed_cents["base"], owed_cents["bonus"])
    assert result["payoff_cents"] == sum(owed_cents.values()) and isinstance(result["payoff_cents"], int)
    match = Seat.objects.get(enrolment=person).match
    assert (result["participant"], result["cell"]) == (person.pseudonym, person.placement.cell.number)
    (played,) = result["matches"]
    assert (played["match"], played["payoff"]) == (str(match.uid), match.payoffs["alice"])
    assert (played["role"], played["opponents"], played["moved_by"]) == ("alice", {"bob": "script:fair"}, [])
    moves = list(match.events.filter(kind="move").order_by("number"))
    assert [(turn["number"], turn["role"]) for turn in played["turns"]] == [
        (i, event.role) for i, event in enumerate(moves, start=1)
    ]
    assert played["turns"][0]["move"]["message"] == "[name] here"
    for secret in (person.token, person.completion_code, "Rosalind"):
        assert secret not in str(result)


def test_all_matches_of_a_session_come_back(study):
    building.launch_with(study, repeats=3)
    join(sign_token(role="alice"))
    person = Enrolment.objects.get()
    building.consent(person)
    building.read_instructions(person)
    for number in range(3):
        if number:
            building.answer(person)  # continue from the match before
        people.show_step(enrolment_id=person.pk)
        match = Seat.objects.filter(enrolment=person).latest("step").match
        building.move(match, "alice", building.FAIR)
        building.let_agent_answer(match)
    building.answer_quiz(person)
    played = outcome(result_token()).json()["matches"]
    seats = Seat.objects.filter(enrolment=person).order_by("step").select_related("match")
    assert [match["match"] for match in played] == [str(seat.match.uid) for seat in seats]
    assert len(played) == 3 and all(match["turns"] for match in played)


def test_an_enrolment_that_ended_early_has_an_outcome_too(study):
    join(sign_token())
    people.withdraw(enrolment_id=Enrolment.objects.get().pk)
    result = outcome(result_token()).json()
    assert (result["state"], result["ending"], result["payoff_cents"], result["matches"]) == (
        "finished",
        State.WITHDREW,
        0,
        [],
    )


def test_a_demonstration_shows_what_would_be_paid(db):
    OtreeServer.objects.create(study="splitting", addresses="https://otree.example/lab")
    building.new_study(via="otree", purpose="demo")
    join(sign_token())
    finish(Enrolment.objects.get())
    result = outcome(result_token()).json()
    assert (result["base_cents"], result["bonus_cents"]) == (100, round(200 * result["matches"][0]["payoff"] / 10000))
    assert not Enrolment.objects.get().ledger.exists()


def test_experiments_see_only_their_own_participants(study):
    join(sign_token())
    other_token = result_token(sub="zzz")
    assert outcome(other_token).json()["state"] == "pending"
    invalid_tokens = [
        sign_token(),  # the participant's own link gives no access to results
        result_token(key="f" * 64),
        result_token(lifetime=-5),
        result_token(study="another"),
        result_token(study="split\x00"),
        result_token(study="\ud800"),
        result_token(study=["splitting"]),
        "nonsense",
    ]
    for token in invalid_tokens:
        refused = outcome(token)
        assert refused.status_code == 401 and "Invalid token" in refused.json()["reason"]


def test_no_other_operation_works_without_a_bearer_token():
    assert [path for _method, path, operation in OPERATIONS if not operation.get("security")] == [
        *(f"/{name}/{{token}}" for name in ("results", "progress", "connection")),
        *(f"/seats/{{token}}/{name}" for name in ("chat", "tool", "move")),
    ]


# ---- testing the connection --------------------------------------------------------------------------

TESTED = {"back": "https://otree.example/lab", "rounds": 1, "cells": [], "roles": [], "currency": "USD"}
"""What oTree says about a session that is in order."""


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ({}, None), ({"back": "https://otree.example/lab/"}, None),
        ({"cells": [1, 2], "roles": ["bob", "alice"]}, None),
        ({"back": "http://127.0.0.1:8001"}, "OTREE_URL is http://127.0.0.1:8001"),
        ({"currency": "EUR"}, "pays in USD"), ({"cells": [9]}, "no cell 9"), ({"roles": ["carol"]}, "role “carol”"),
        ({"roles": ["bob"], "cells": [1]}, "role “bob”"), ({"rounds": 2}, "raise “sessions per participant” to 2"),
    ],
)  # fmt: skip
def test_a_session_that_could_not_work_is_refused_with_the_reason(study, claims, problem):
    problems = call_api("connection", **{**TESTED, **claims}).json()["problems"]
    assert (problems == []) if problem is None else (len(problems) == 1 and problem in problems[0])


@pytest.mark.parametrize(
    ("changes", "problem"), [({"status": "paused"}, "not open"), ({"via": "codes"}, "choose “an oTree experiment”")]
)
def test_a_study_that_admits_no_one_is_named(study, changes, problem):
    if "via" in changes:
        building.launch_with(study, **changes)
    else:
        Study.objects.update(**changes)
    (said,) = call_api("connection", **TESTED).json()["problems"]
    assert problem in said


def test_the_connection_is_tested_only_with_the_key(study):
    assert call(f"/connection/{sign_token(audience='parley:connection', key='f' * 64, **TESTED)}").status_code == 401
    assert call(f"/connection/{result_token(**TESTED)}").status_code == 401


# ---- setting it up -----------------------------------------------------------------------------------


def test_the_link_key_is_shown_once_when_the_server_is_added(client, admin_user):
    client.force_login(admin_user)
    study = building.new_study()
    form_data = {"study": "splitting", "addresses": "http://127.0.0.1:8001"}
    page = client.post(reverse("admin:recruiters_otreeserver_add"), form_data)
    server = OtreeServer.objects.get()
    key = otree.link_key(server)
    assert f"PARLEY_LINK_KEYS=splitting:{key}" in text(page) and "no-store" in page["Cache-Control"]
    assert "OTREE_AUTH_LEVEL=STUDY" in text(page)
    assert "OTREE_URL=http://127.0.0.1:8001" in text(page)
    record = Record.objects.get(kind="recruiters.otreeserver")
    assert (record.action, record.of_kind, record.of_key) == ("made", "studies.study", str(study.pk))
    again = client.get(reverse("admin:recruiters_otreeserver_change", args=[server.pk]))
    assert key not in text(again) and "127.0.0.1:8001" in text(again)
    server.delete()
    client.post(reverse("admin:recruiters_otreeserver_add"), form_data)
    assert otree.link_key(OtreeServer.objects.get()) != key, "a server that is added again gets another key"


@pytest.mark.parametrize("role", ["viewer", "editor", ""])
def test_only_owners_choose_the_otree_server(client, db, role):
    study = building.new_study()
    kit.staff(client, study, role=role)
    form_data = {"study": "splitting", "addresses": "http://127.0.0.1:8001"}
    page = client.post(reverse("admin:recruiters_otreeserver_add"), form_data)
    assert page.status_code == 200 and study.title not in text(page)
    assert not OtreeServer.objects.exists()
    server = OtreeServer.objects.create(**form_data)
    assert client.get(reverse("admin:recruiters_otreeserver_change", args=[server.pk])).status_code == 404


def test_an_owner_chooses_among_their_own_studies(client, db):
    own_study, other_study = building.new_study(), building.new_study(slug="elsewhere", title="Someone else's")
    kit.staff(client, own_study, role="owner")
    add = reverse("admin:recruiters_otreeserver_add")
    assert own_study.slug in text(client.get(add)) and other_study.slug not in text(client.get(add))
    for slug in (other_study.slug, own_study.slug):
        client.post(add, {"study": slug, "addresses": "http://127.0.0.1:8001"})
    server = OtreeServer.objects.get()
    assert server.study == own_study.slug
    client.post(reverse("admin:recruiters_otreeserver_delete", args=[server.pk]), {"post": "yes"})
    records = Record.objects.filter(kind="recruiters.otreeserver").order_by("pk")
    assert [(record.action, record.by, record.of_key) for record in records] == [
        ("made", "staff", str(own_study.pk)), ("deleted", "staff", str(own_study.pk)),
    ]  # fmt: skip


def test_an_invalid_address_is_refused(client, admin_user):
    building.new_study()
    client.force_login(admin_user)

    def added(address: str) -> bool:
        page = client.post(reverse("admin:recruiters_otreeserver_add"), {"study": "splitting", "addresses": address})
        assert page.status_code == 200
        return OtreeServer.objects.exists()

    for address in (
        *("", "otree.example", "ftp://otree.example", "https://a@b.example", "https://a/?x", "https://[a.example"),
        *("https://a:99999", "https://a:b"),
    ):
        assert not added(address), address
    assert added("https://otree.example:8001/lab http://127.0.0.1:8001")


def test_return_address_belongs_to_the_study(study):
    assert {urlsplit(address).netloc for address in OtreeServer.objects.get().allowed()} == {
        "otree.example",
        "other.example",
    }
    assert join(sign_token(back="https://other.example/InitializeParticipant/abc")).status_code == 302
