"""Judging: each text once, with models of both protocols, in a collection and its dataset."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from collecting import driver, services
from collecting.models import Collection
from collecting.tests.kit import new_collection
from games.social_dilemma.justifications import LABELS
from judging import runs
from judging.models import Judgement, JudgingRun
from judging.services import rubric_of
from judging.texts import justification, of_collection
from llm_agents.standins import BothStandIn
from opponents.models import Call
from studies.tests import kit

pytestmark = pytest.mark.django_db(transaction=True)
REASONS = (
    "I want as many points as I can get, whatever the other does.",
    "If we both give we both do well, and that is worth more to me.",
)


def answered(request) -> str:
    """Answer for the stand-in servers: reasons and an action as a player, labels that fit the text as a judge."""
    body = json.dumps(request)
    if "wrote down why it chose" not in body:
        return f'{REASONS[len(body) % 2]} {{"action": "A0"}}'
    greedy = "as many points" in body.split("<message")[-1]
    second = "claude" in request["model"]
    return json.dumps({"labels": ["individual_utility"] if greedy else ["social_welfare"] if second else []})


PLAYER, FIRST, SECOND = "openai:player", "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"


@pytest.fixture
def standin(monkeypatch):
    with BothStandIn(answered, tokens=(1000, 100)) as served:
        for name, value in served.environment.items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.fixture
def played(standin) -> Collection:
    """Two matches of the prisoner's dilemma between models that give reasons."""
    plan = {"game": "social_dilemma", "configurations": [{"mechanism": "none"}], "agents": [PLAYER]}
    collection = services.start(new_collection("reasons", title="Reasons", repetitions=2, seed=1, **plan))
    driver.drive(collection, slot=0)
    collection.refresh_from_db()
    assert collection.status == "done"
    standin.requests.clear()
    return collection


def run_judging(collection: Collection, *judges: str, cap: str | None = None) -> JudgingRun:
    """Start judging and run it to the end."""
    judging_run = runs.begin(collection, judges, None if cap is None else Decimal(cap))
    runs.run(judging_run.pk)
    judging_run.refresh_from_db()
    return judging_run


def test_two_judges_label_each_text_once_and_calls_are_stored_with_cost(standin, played):
    texts = {justification.text for justification in of_collection(played)}
    assert texts <= set(REASONS) and texts
    judging_run = run_judging(played, FIRST, SECOND)
    assert (judging_run.status, judging_run.known, judging_run.wanted) == ("done", 2 * len(texts), 2 * len(texts))
    assert len(standin.requests) == 2 * len(texts)
    assert json.dumps(standin.requests).count('"enum"') >= len(texts)
    calls = Call.objects.filter(purpose="judge")
    assert {call.budget_of for call in calls} == {"judge:reasons"}
    assert {call.endpoint for call in calls} == {"openai", "anthropic"}
    assert all(call.cost for call in calls)
    greedy = Judgement.objects.filter(labels=["individual_utility"]).values_list("judge", flat=True)
    assert set(greedy) <= {FIRST, SECOND}
    second_run = run_judging(played, FIRST, SECOND)
    assert second_run.known == second_run.wanted == judging_run.known
    assert len(standin.requests) == 2 * len(texts)


def test_dataset_is_judged_without_repeated_calls(standin, played, tmp_path, capsys):
    run_judging(played, FIRST, SECOND)
    request_count = len(standin.requests)
    call_command("export_dataset", "reasons", "--to", str(tmp_path / "data"))
    folder = str(tmp_path / "data")
    call_command("judge", folder, "--judge", FIRST, "--second", SECOND)
    assert len(standin.requests) == request_count
    with (tmp_path / "data" / "labels.csv").open() as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 2 * len(list(of_collection(played))) == 8
    assert {name for name in rows[0] if name.startswith("label_")} == {f"label_{label}" for label in LABELS}
    summary = json.loads((tmp_path / "data" / "labels.json").read_text())
    assert summary["judges"] == [FIRST, SECOND]
    call_command("verify_dataset", folder)
    with pytest.raises(CommandError, match=r"There is no matches\.csv"):
        call_command("judge", str(tmp_path), "--judge", FIRST)


def test_judging_stops_at_the_cap(standin, played):
    judging_run = run_judging(played, FIRST, SECOND, cap="1")
    texts = len({justification.text for justification in of_collection(played)})
    assert judging_run.status == "done"
    Call.objects.filter(purpose="judge").update(cost=Decimal(1))
    Judgement.objects.filter(judge=SECOND).delete()
    stopped = run_judging(played, FIRST, SECOND, cap="1")
    assert (stopped.status, stopped.known) == ("stopped", texts)
    assert "their limit is $1.00" in stopped.problem


def test_page_starts_judging_and_offers_labels(client, standin, played):
    kit.administrator(client)
    address = reverse("judging:page", args=[played.pk])
    assert (
        reverse("judging:page", args=[played.pk])
        in client.get(reverse("admin:collecting_collection_change", args=[played.pk])).content.decode()
    )
    refused = client.post(f"{address}begin/", {"first": "script:nash"})
    assert "judge must be a model" in refused.content.decode()
    assert not JudgingRun.objects.exists()
    assert client.post(f"{address}begin/", {"first": FIRST, "second": SECOND, "cap": "5"}).status_code == 302
    runs.run(JudgingRun.objects.get().pk)
    page = client.get(address).content.decode()
    assert "social_welfare" in page and "κ" in page and "Download the labels" in page
    table = client.post(f"{address}labels.csv").content.decode().splitlines()
    assert table[0].startswith("match,role,answering,judge_number,judge,")
    assert len(table) == 9


@pytest.mark.parametrize(
    ("judges", "cap", "expected_text"),
    [
        ([], None, "one or two judges"),
        ([FIRST, FIRST], None, "different model"),
        (["moon:m"], None, "is not a valid agent"),
        (["openai:unpriced"], "1", "The price of openai:unpriced"),
    ],
)
def test_invalid_judge_is_refused(played, judges, cap, expected_text):
    with pytest.raises(runs.JudgingError, match=re.escape(expected_text)):
        run_judging(played, *judges, cap=cap)
    assert not JudgingRun.objects.exists()


@pytest.mark.parametrize(
    ("answer", "remarks", "text"),
    [
        ('Because it pays. Therefore:\n```json\n{"action": "A0"}\n```', None, "Because it pays. Therefore:"),
        ('{"reasoning": "Both gain when both give.", "action": "A0"}', None, "Both gain when both give."),
        ('{"action": "A0"}', {"reason": "The other gave twice."}, "The other gave twice."),
        ('{"action": "A0"}', None, ""),
        ("no object at all, only words and words", None, ""),
        ('\'=1+1 is two, and so I choose this. {"action": "A0"}', None, "=1+1 is two, and so I choose this."),
    ],
)
def test_justification_is_the_text_around_a_move(answer, remarks, text):
    assert justification(answer, remarks) == text


def test_labels_are_enforced_by_an_enumeration():
    rubric = rubric_of("social_dilemma")
    assert rubric is not None and len(rubric.labels) == 15
    assert rubric_of("bargaining") is None
    assert rubric.inquiry("x").sha256 != rubric.sha256
