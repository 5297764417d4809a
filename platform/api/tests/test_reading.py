"""What the API returns about a study, and what it never returns."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from api.tests.calling import call, issue_token
from exports.dataset import export
from exports.tests import building
from matches.models import Match
from participants.models import Enrolment
from participants.states import State
from studies.models import Study
from studies.tests import kit

NAME = "Rosalind"
WORKER = "A1WORKERID77"


def get(path: str, secret: str, **parameters):
    response = call(path, secret, data=parameters)
    assert response.status_code == 200, response.content
    return response.json()


@pytest.fixture
def completed(study):
    """A participant who completed the study and wrote their name and worker ID in messages."""
    return building.complete(
        study, worker=WORKER, name=NAME, messages=[f"I am {NAME}, my id is {WORKER}"], details={"hitId": "HIT4711X"}
    )


def test_the_study_returns_its_status(study, completed, read_token):
    arrived = building.arrive(study, worker="A2")
    status = get("/studies/splitting", read_token)
    assert (status["state"], status["version"]["number"], status["purpose"]) == ("launched", 1, "study")
    assert status["participants"] == {
        "arrived": 2, "live": 1, "completed": 1, "states": {"arrived": 1, "completed": 1},
    }  # fmt: skip
    assert status["matches"] == {"live": 0, "finished": 1, "abandoned": 0}
    (cell,) = status["cells"]
    assert (cell["role"], cell["opponents"], cell["held"], cell["completed"]) == ("alice", {"bob": "script:fair"}, 2, 1)
    assert cell["config"]["money"] == 10000
    assert arrived.token not in json.dumps(status)


def test_cells_say_what_varies_and_participants_have_none_before_the_draw(study, read_token):
    question = {"name": "age", "kind": "number", "text": "How old are you?"}
    building.launch_with(study, grid={"rounds": [2, 3]}, before=[question])
    building.arrive(study, worker="A1")
    cells = get("/studies/splitting", read_token)["cells"]
    assert [(cell["factors"], cell["config"]["rounds"], cell["held"]) for cell in cells] == [
        ({"rounds": "2"}, 2, 0), ({"rounds": "3"}, 3, 0),
    ]  # fmt: skip
    (result,) = get("/studies/splitting/results", read_token)["results"]
    assert (result["cell"], result["factors"], result["version"]) == (None, {}, 2)


def test_unlaunched_draft_has_no_version_and_no_cells(owner):
    secret = issue_token(Study.objects.create(slug="draft", draft=kit.document(), created_by=owner), owner, "read")
    status = get("/studies/draft", secret)
    assert (status["state"], status["version"], status["cells"]) == ("draft", None, [])
    assert get("/studies/draft/matches", secret)["matches"] == []
    assert get("/studies/draft/results", secret)["results"] == []


def test_a_match_returns_the_same_data_as_the_dataset(study, completed, read_token, tmp_path):
    export(study, tmp_path / "dataset")
    (line,) = (tmp_path / "dataset" / "transcripts.jsonl").read_text().splitlines()
    exported = json.loads(line)
    (listed,) = get("/studies/splitting/matches", read_token)["matches"]
    returned = get(f"/studies/splitting/matches/{listed['uid']}", read_token)
    for event in exported["events"]:
        event.pop("at", None)
        event.pop("turn", None)
    assert returned["events"] == exported["events"]
    assert returned["config"] == exported["config"]
    assert returned["metrics"] == exported["metrics"]
    assert {role: seat["payoff"] for role, seat in returned["roles"].items()} == exported["payoffs"]
    assert {role: seat["player"] for role, seat in returned["roles"].items()} == exported["players"]
    assert returned["roles"]["alice"]["participant"] == completed.pseudonym
    assert returned["in_dataset"] is True and returned["left_out_because"] == []
    assert (listed["config"], listed["events"]) == (None, None)
    (detailed,) = get("/studies/splitting/matches", read_token, include=["config", "events"])["matches"]
    assert (detailed["config"], detailed["events"]) == (returned["config"], returned["events"])


def test_no_response_identifies_a_participant(study, completed, read_token):
    (match,) = get("/studies/splitting/matches", read_token)["matches"]
    paths = ["/studies", "/studies/splitting", "/studies/splitting/results", "/studies/splitting/matches"]
    responses = [get(path, read_token, **({"include": "events"} if path.endswith("matches") else {})) for path in paths]
    responses.append(get(f"/studies/splitting/matches/{match['uid']}", read_token))
    everything = json.dumps(responses)
    assert "[name]" in everything and "[identifier]" in everything
    for secret in (NAME, WORKER, "HIT4711X", completed.token, completed.completion_code):
        assert secret.lower() not in everything.lower()


def test_results_contain_ending_payoff_and_amounts_owed(study, completed, read_token):
    failed = building.arrive(study, worker="A2")
    building.consent(failed)
    building.read_instructions(failed, word="wrong")
    first, second = get("/studies/splitting/results", read_token)["results"]
    assert (first["participant"], first["state"], first["role"]) == (completed.pseudonym, "completed", "alice")
    assert first["payoff"] == Match.objects.get().payoffs["alice"]
    rows = {row.reason: str(row.amount) for row in completed.ledger.all()}
    assert {reason: entry["amount"] for reason, entry in first["owed"].items()} == rows
    assert first["in_dataset"] is True
    assert (second["state"], second["match"], second["owed"]) == ("failed_code_word", None, {})
    assert second["left_out_because"] == ["failed_code_word"]


def test_pages_list_everyone_once_despite_new_arrivals(study, read_token):
    people = [building.complete(study, worker=f"A{i}") for i in range(5)]
    for path, entries, name in (("matches", "matches", "uid"), ("results", "results", "participant")):
        listed, cursor = [], None
        while True:
            page = get(f"/studies/splitting/{path}", read_token, limit=2, **({"cursor": cursor} if cursor else {}))
            listed += [entry[name] for entry in page[entries]]
            if len(listed) == 2:
                building.complete(study, worker=f"late-{path}")
            cursor = page["next"]
            if cursor is None:
                break
        assert len(listed) == len(set(listed)) == Enrolment.objects.count()
        assert all(person.pseudonym in listed for person in people) or path == "matches"


def test_matches_are_found_by_state_cell_and_time(study, completed, read_token):
    building.consent(building.arrive(study, worker="A2"))
    second = Enrolment.objects.exclude(pk=completed.pk).get()
    building.read_instructions(second)
    live = building.match_of(second)

    def listed_uids(**parameters) -> set[str]:
        return {match["uid"] for match in get("/studies/splitting/matches", read_token, **parameters)["matches"]}

    finished = completed.seats.get().match
    all_uids = {str(live.uid), str(finished.uid)}
    assert listed_uids() == all_uids
    assert listed_uids(state="live") == {str(live.uid)} and listed_uids(state="finished") == {str(finished.uid)}
    assert listed_uids(cell=1) == all_uids and listed_uids(cell=2) == set() and listed_uids(version=2) == set()
    finished.refresh_from_db()
    Match.objects.filter(pk=finished.pk).update(started_at=timezone.now() - timedelta(hours=1))
    Match.objects.filter(pk=live.pk).update(started_at=timezone.now() - timedelta(minutes=30))
    moment = (timezone.now() - timedelta(minutes=10)).isoformat()
    assert listed_uids(since=moment) == {str(finished.uid)}, "it began earlier and ended since"
    assert listed_uids(until=moment) == all_uids
    assert listed_uids(since=(timezone.now() + timedelta(minutes=1)).isoformat()) == set()


@pytest.mark.parametrize(
    ("path", "parameters", "field"),
    [
        ("matches", {"since": "yesterday"}, "since"),
        ("matches", {"since": "2026-01-31T12:00:00"}, "since"),
        ("matches", {"limit": 201}, "limit"),
        ("matches", {"limit": 0}, "limit"),
        ("matches", {"state": "over"}, "state"),
        ("matches", {"include": "keys"}, "include"),
        ("matches", {"cursor": "nonsense"}, "cursor"),
        ("matches", {"cursor": "00000000-0000-4000-8000-000000000000"}, "cursor"),
        ("results", {"cursor": "p-nobody"}, "cursor"),
        ("results", {"ended_since": "now"}, "ended_since"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(study, read_token, path, parameters, field):
    response = call(f"/studies/splitting/{path}", read_token, data=parameters)
    assert response.status_code == 422
    assert any(field in name for name in response.json()["fields"])


def test_polling_returns_304_if_nothing_has_changed(study, completed, read_token):
    for path in ("/studies", "/studies/splitting", "/studies/splitting/matches", "/studies/splitting/results"):
        first = call(path, read_token)
        again = call(path, read_token, headers={"If-None-Match": first["ETag"]})
        assert (again.status_code, again.content) == (304, b""), path
    building.arrive(study, worker="A2")
    first_etag = call("/studies/splitting", read_token)["ETag"]
    Enrolment.objects.filter(pk=completed.pk).update(state=State.WITHDREW)
    assert call("/studies/splitting", read_token, headers={"If-None-Match": first_etag}).status_code == 200


def test_the_number_of_queries_does_not_grow_with_the_matches(study, read_token):
    query_counts = []
    for number in (2, 4):
        for i in range(number):
            building.complete(study, worker=f"{number}-{i}")
        get("/studies/splitting/matches", read_token)
        with CaptureQueriesContext(connection) as queries:
            get("/studies/splitting/matches", read_token, include=["config", "events"])
            get("/studies/splitting/results", read_token)
        query_counts.append(len(queries))
    assert query_counts[0] == query_counts[1]
