"""Researchers plan, start and monitor collections in the admin."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import Record
from collecting import driver, leases, services
from collecting.admin.status import percent
from collecting.models import Collection, Driver, Item
from collecting.planning import configured, planned_match
from collecting.progress import progress
from collecting.tests import kit
from collecting.tests.kit import document
from games import registry
from games.lineups import Lineups
from llm_agents import endpoints
from matches.models import Match
from opponents.models import Call
from plans.files import dumps, loads
from plans.library import ready_made
from plans.starting import plan_for
from rights.roles import Role
from studies.tests.kit import staff
from tests.visitors import text_of

pytestmark = pytest.mark.django_db
Status = Collection.Status

ADD = "/admin/collecting/collection/add/"
ACTIONS = ["start", "pause", "retry", "budget"]


def add(client: Client, *, slug: str = "scripts", **changes):
    """Create a collection as the editor does."""
    plan = changes.pop("plan", None) or document(**{"agents": ["script:fair"], **changes})
    return client.post(action("save"), {"slug": slug, "document": as_file(plan)})


def checked(client: Client, plan: dict) -> dict:
    """Return what the editor shows beside this plan."""
    return client.post(action("check"), {"document": as_file(plan)}).json()


def as_file(plan: dict) -> SimpleUploadedFile:
    return SimpleUploadedFile("document.json", json.dumps(plan).encode(), "application/json")


def action(name: str) -> str:
    return reverse(f"admin:collecting_collection_{name}")


def page_of(collection: Collection) -> str:
    return reverse("admin:collecting_collection_change", args=[collection.pk])


def action_url(collection: Collection, name: str) -> str:
    return reverse(f"admin:collecting_collection_{name}", args=[collection.pk])


def new_collection(**changes) -> Collection:
    configurations = [{"rounds": 2}, {"rounds": 4}]
    plan = {
        "title": "A collection",
        "slug": "a-collection",
        "configurations": configurations,
        "repetitions": 3,
        "seed": 3,
    }
    collection = kit.new_collection(**{**plan, **changes})
    rows = leases.claim(collection, "nobody", collection.planned)
    leases.give_back([row.pk for row in rows], "nobody")
    return collection


def collection_with(status: str, *, failed: int = 0, **changes) -> Collection:
    """Return a collection with this status, some of its matches failed."""
    collection = new_collection(**changes)
    Collection.objects.update(status=status, started_at=None if status == Status.READY else timezone.now())
    failing = collection.items.filter(number__lte=failed)
    failing.update(status=Item.Status.FAILED, problem="It would rather not.", ended_at=timezone.now())
    return Collection.objects.get()


# ---- creating --------------------------------------------------------------------------------------------


def test_games_and_published_collections_are_offered(client, boss):
    page = client.get(ADD).content.decode()
    assert all(f'href="?game={key}"' in page for key in registry.keys())
    assert all(f'href="?preset={name}"' in page for name in ready_made("collections"))


@pytest.mark.parametrize("key", registry.keys())
def test_a_new_plan_can_be_created_as_it_is(client, boss, key):
    plan = client.get(ADD, {"game": key}).context["editor"]["plan"]
    answer = checked(client, plan)
    assert (answer["faults"], answer["totals"][0][1]) == ([], "1")
    saved = add(client, plan=plan, slug="as-it-is").json()
    assert saved["url"] == page_of(Collection.objects.get())


def test_a_published_collection_opens_in_the_editor(client, boss):
    editor = client.get(ADD, {"preset": "glee-llm-bargaining"}).context["editor"]
    assert editor["plan"] == ready_made("collections")["glee-llm-bargaining"].document
    answer = checked(client, editor["plan"])
    assert answer["totals"][1][1] == "384 configurations × 4 line-ups × 1 repetition = 1,536 matches"
    assert len(answer["levels"]["row"]) == 384 and answer["seats"]["journey.0"][0]["role"] == "alice"
    assert client.get(ADD, {"preset": "moon"}).status_code == client.get(ADD, {"game": "moon"}).status_code == 404


def test_a_collection_belongs_to_its_creator(client, boss):
    add(client, agents=["script:fair", "script:haggler"], repetitions=2, seed=7)
    collection = Collection.objects.get()
    assert (collection.status, collection.created_by) == (Status.READY, boss)
    assert (collection.seed, collection.planned, collection.items.count()) == (7, 8, 0)
    assert [record.by for record in Record.objects.filter(action="made")] == ["boss"]


def test_every_value_is_in_the_plan(client, boss):
    agents = {
        "mine": {"endpoint": "openai", "model": "my-model", "tries_after_first": 1, "call_seconds": 30},
        "fair": {"script": "fair", "delay": 0.5},
    }
    price = {"openai:my-model": {"input": "0.15", "output": "0.6"}}
    add(
        client, agents=agents, same=False, concurrency=20, budget="12.50", prices=price, instructions="Play, {{ you }}."
    )
    collection = Collection.objects.get()
    plan = configured(collection).plan
    assert collection.planned == 2, "no agent plays against itself"
    assert (collection.concurrency, collection.budget) == (20, Decimal("12.50"))
    assert (plan.prices["openai:my-model"].input, plan.agents["fair"].delay) == (Decimal("0.15"), 0.5)
    asking = configured(collection).agents()["mine"].settings
    assert (asking.tries_after_first, asking.call_seconds, asking.limit_seconds) == (1, 30, 1800)
    assert planned_match(collection, 1).instructions == "Play, {{ you }}."


def test_instructions_may_be_a_treatment_of_agents(client, boss):
    words = {"by": "wording", "values": {"give": "You give, {{ you }}.", "take": "You {{ wording }}."}}
    add(client, instructions=words, factors={"wording": {"levels": ["give", "take"]}})
    collection = Collection.objects.get()
    texts = [planned_match(collection, number).instructions for number in (1, 2)]
    assert texts == ["You give, {{ you }}.", '{% set wording = "take" %}\nYou {{ wording }}.']


def test_tools_are_refused_for_endpoints_without_them(client, boss, monkeypatch):
    without_tools = replace(endpoints.PRESETS["openai"], tools=False)
    monkeypatch.setattr(endpoints, "PRESETS", {**endpoints.PRESETS, "openai": without_tools})
    response = add(client, agents=["openai:m"], asking={"strategy": "tools"})
    assert "Agent “openai:m”" in response.json()["error"] and "Tools in plain JSON" in response.json()["error"]
    add(client, agents=["openai:m"], asking={"strategy": "tools", "plain_tools": True})
    assert configured(Collection.objects.get()).agents()["openai:m"].settings.plain_tools


@pytest.mark.parametrize(
    ("changes", "at", "expected_text"),
    [
        ({"title": " "}, "title", "title"),
        ({"configurations": [{"rounds": 0}]}, "journey.0.config.rounds", "at least 1"),
        ({"agents": ["openai:m"], "asking": {"call_seconds": 0}}, "agents.openai:m.call_seconds", "at least 1"),
        ({"agents": ["openai:unheard-of"], "budget": "5"}, "agents", "price of openai:unheard-of"),
        ({"repetitions": 0}, "repetitions", "should be at least 1."),
        ({"instructions": "Hello {{ nobody }}"}, "journey.0.instructions", "nobody"),
        ({"lineups": Lineups(agents=("script:fair",), fixed={"carol": "script:fair"})}, "journey.0.seats", "carol"),
    ],
)
def test_faults_are_shown_at_their_place_and_create_nothing(client, boss, changes, at, expected_text):
    plan = document(**{"agents": ["script:fair"], **changes})
    (fault,) = checked(client, plan)["faults"]
    assert fault["at"] == at and expected_text in fault["what"]
    response = add(client, plan=plan)
    assert response.status_code == 400 and expected_text in response.json()["error"]
    assert not Collection.objects.exists()


def test_a_studys_plan_is_refused(client, boss):
    assert "not the plan of a" in checked(client, plan_for("bargaining"))["faults"][0]["what"]
    assert add(client, plan=plan_for("bargaining")).status_code == 400


def test_duplicate_short_name_is_refused(client, boss):
    add(client)
    assert "Short name" in add(client).json()["error"]
    assert Collection.objects.count() == 1


def test_a_file_opens_in_the_editor_or_is_refused_with_every_fault(client, boss):
    def read(text: str) -> dict:
        return client.post(action("read"), {"file": SimpleUploadedFile("plan.yaml", text.encode())}).json()

    opened = read(dumps(document()))
    assert (opened["faults"], opened["document"]) == ([], document())
    assert len(read(dumps(document(repetitions=0, concurrency=0)))["faults"]) == 2


# ---- the list --------------------------------------------------------------------------------------------


def test_list_shows_progress(client, boss):
    collection = collection_with(Status.RUNNING, failed=6)
    collection.items.filter(number__in=(7, 8)).update(cost=Decimal("0.25"), decisions=600)
    page = client.get(reverse("admin:collecting_collection_changelist")).content.decode()
    for figure in ("A collection", "Bargaining", "running", "played here", "6 of 24 (25%)", "1,200", "$0.50"):
        assert figure in page


# ---- its page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "failed", "budget", "buttons"),
    [
        (Status.READY, 0, None, {"start"}),
        (Status.RUNNING, 1, None, {"pause"}),
        (Status.PAUSED, 0, None, {"start"}),
        (Status.PAUSED, 2, None, {"start", "retry"}),
        (Status.PAUSED, 0, Decimal(5), {"start", "budget"}),
        (Status.OVER_BUDGET, 0, Decimal(5), {"start", "budget"}),
        (Status.OVER_BUDGET, 0, Decimal(0), {"budget"}),
        (Status.DONE, 0, None, set()),
        (Status.DONE, 3, None, {"retry"}),
        (Status.DONE, 3, Decimal(5), {"retry"}),
        (Status.DONE, 3, Decimal(0), {"retry", "budget"}),
    ],
)
def test_each_status_offers_its_actions(client, boss, status, failed, budget, buttons):
    collection = collection_with(status, failed=failed, budget=budget)
    page = client.get(page_of(collection)).content.decode()
    assert {name for name in ACTIONS if f'action="{action_url(collection, name)}"' in page} == buttons
    assert page.count("csrfmiddlewaretoken") >= len(buttons)


def test_start_pause_and_resume(client, boss):
    collection = new_collection()
    for name, status in [("start", Status.RUNNING), ("pause", Status.PAUSED), ("start", Status.RUNNING)]:
        assert client.post(action_url(collection, name))["Location"] == page_of(collection)
        collection.refresh_from_db()
        assert collection.status == status
    assert "Started." in client.get(action_url(collection, "history")).content.decode()


def test_impossible_actions_are_refused_with_a_reason(client, boss):
    collection = new_collection()
    page = client.post(action_url(collection, "pause"), follow=True).content.decode()
    assert "You cannot pause a collection" in page
    collection.refresh_from_db()
    assert collection.status == Status.READY


def test_failed_matches_are_replayed_at_once(client, boss):
    collection = collection_with(Status.DONE, failed=2)
    page = client.post(action_url(collection, "retry"), follow=True).content.decode()
    assert "Replaying 2 failed matches" in page
    assert (progress(collection).failed, Collection.objects.get().status) == (0, Status.RUNNING)


def test_failed_matches_wait_for_budget(client, boss):
    collection = collection_with(Status.OVER_BUDGET, failed=2, budget=Decimal(0))
    client.post(action_url(collection, "retry"))
    assert (progress(collection).failed, Collection.objects.get().status) == (0, Status.OVER_BUDGET)


@pytest.mark.parametrize(
    ("typed", "budget", "expected_text"),
    [
        ("25.50", Decimal("25.50"), "The budget is now $25.50."),
        ("1", Decimal(5), "higher than the current one"),
        *((typed, Decimal(5), "Enter the new budget") for typed in ("much", "", "NaN", "1e9")),
    ],
)
def test_budget_can_only_be_raised(client, boss, typed, budget, expected_text):
    collection = new_collection(budget=Decimal(5))
    page = client.post(action_url(collection, "budget"), {"budget": typed}, follow=True).content.decode()
    assert expected_text in page
    assert Collection.objects.get().budget == budget


def test_collection_with_a_raised_budget_is_paused_not_stopped(client, boss):
    collection = collection_with(Status.OVER_BUDGET, budget=Decimal(0))
    page = client.post(action_url(collection, "budget"), {"budget": "5"}, follow=True).content.decode()
    assert "stopped at its budget" not in page and Collection.objects.get().status == Status.PAUSED
    assert f'action="{action_url(collection, "start")}"' in page


@pytest.mark.parametrize(("same", "answer"), [(True, "yes"), (False, "no")])
def test_page_says_whether_agents_play_against_themselves(client, boss, same, answer):
    page = text_of(client.get(page_of(new_collection(same=same))))
    assert f"Also against itself {answer}" in page


def test_plan_is_shown_read_only(client, boss):
    collection = new_collection(agents=["openai:gpt-4o-mini", "script:fair"])
    page = client.get(page_of(collection)).content.decode()
    assert collection.sha256 in page
    assert "2 configurations × 4 line-ups × 3 repetitions = 24 matches" in page
    assert "All combinations of these values." in page
    for text in ("Rounds", "Money to divide", "openai:gpt-4o-mini", "0.15", "rule: product"):
        assert text in page
    before = Collection.objects.values().get()
    client.post(page_of(collection), {"title": "Other", "slug": "other", "budget": "9"})
    assert Collection.objects.values().get() == before


def test_incomplete_grids_are_not_called_grids(client, boss):
    collection = new_collection(configurations=[{"rounds": 2, "money": 5}, {"rounds": 4, "money": 7}])
    assert "Only some combinations" in client.get(page_of(collection)).content.decode()


def test_plan_can_be_downloaded_and_used_again(client, boss):
    collection = new_collection()
    response = client.get(action_url(collection, "file"))
    assert response["Content-Disposition"] == 'attachment; filename="a-collection.yaml"'
    add(client, plan=loads(response.content.decode()), slug="again")
    assert Collection.objects.get(slug="again").document == collection.document


def test_failure_reasons_are_counted_and_escaped(client, boss):
    collection = collection_with(Status.DONE, failed=5)
    collection.items.filter(number=1).update(problem="<script>alert(1)</script>")
    page = client.get(page_of(collection)).content.decode()
    assert "<td>4</td><td>It would rather not.</td>" in page
    assert "&lt;script&gt;alert(1)" in page and "<script>alert(1)" not in page


def figures(page: str) -> dict[str, str]:
    """Return the value beside each title of the progress part."""
    return {title: figure for title, figure in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)}


@pytest.mark.django_db(transaction=True)
def test_progress_fragment_matches_the_collection(client, boss):
    collection = services.start(new_collection())
    collection.items.filter(number__lte=3).update(
        status=Item.Status.FAILED, problem="It would rather not.", ended_at=timezone.now()
    )
    driver.drive(collection, slot=0)
    collection.refresh_from_db()
    now = progress(collection)
    page = client.get(action_url(collection, "progress")).content.decode()
    figure_by_title = figures(page)
    assert (now.finished, now.failed) == (21, 3)
    assert [int(figure_by_title[title]) for title in ("finished", "failed", "in progress", "waiting")] == [21, 3, 0, 0]
    assert int(figure_by_title["Decisions"]) == now.decisions > 0
    assert figure_by_title["Cost"] == "$0.00"
    assert "100%: 24 of 24 matches" in page
    assert "data-alive" not in page
    latest = Match.objects.latest("ended_at")
    assert reverse("admin:matches_match_change", args=[latest.pk]) in page
    assert "<html" not in page


def test_progress_fragment_shows_rate_and_time_left(client, boss):
    collection = new_collection(agents=["openai:gpt-4o-mini"], repetitions=50, budget=Decimal(2))
    started_at = timezone.now() - timezone.timedelta(seconds=30)
    Collection.objects.update(status=Status.RUNNING, started_at=started_at)
    collection.items.filter(number__lte=20).update(
        status=Item.Status.FINISHED, ended_at=timezone.now(), decisions=15, cost=Decimal("0.05")
    )
    page = client.get(action_url(collection, "progress")).content.decode()
    figure_by_title = figures(page)
    assert "20%: 20 of 100 matches" in page and "data-alive" in page
    assert figure_by_title["Cost"] == "$1.00 of $2.00"
    assert figure_by_title["Expected further cost"] == "about $4.00"
    assert "will not cover all matches" not in page, "the more urgent notice is shown: nobody plays it"
    assert "Waiting for a worker" in page
    assert 38 <= float(figure_by_title["Matches per minute"]) <= 40
    assert 9 <= float(figure_by_title["Decisions per second"]) <= 10
    assert figure_by_title["Time left"] == "about 2 min"
    Driver.objects.create(
        collection=collection, slot=0, holder="x", until=timezone.now() + timezone.timedelta(seconds=60)
    )
    assert "will not cover all matches" in client.get(action_url(collection, "progress")).content.decode()


def test_estimate_is_shown_before_the_start(client, boss):
    model = "openai:gpt-4o-mini"
    collection = new_collection(agents=[model], repetitions=50, asking={"max_tokens": 100})
    page = client.get(page_of(collection)).content.decode()
    estimates = figures(page)
    assert estimates["Model calls expected"] == "about 400", "four in each of 100 matches"
    expected, at_most = (Decimal(estimates[name].split("$")[1]) for name in ("Cost expected", "Cost at most"))
    assert 0 < expected < at_most
    assert "60 tokens per answer" in page and "There is no budget" in page
    match = Match.objects.create(game="bargaining", config={}, rules_version=1, seed=1)
    call = {"match_uid": match.uid, "role": "alice", "answering": 1, "endpoint": "openai", "model": "gpt-4o-mini"}
    Call.objects.create(**call, cost="0.001", record={"input_tokens": 1000, "output_tokens": 50})
    Collection.objects.update(budget=Decimal("0.00"))
    page = client.get(page_of(collection)).content.decode()
    estimates = figures(page)
    assert estimates["Tokens expected"] == "about 400,000 read, 20,000 written"
    assert (estimates["Cost expected"], estimates["Cost at most"]) == ("about $0.0720", "about $0.00")
    assert "earlier calls in this game" in page and "so none would be made" in page
    Collection.objects.update(status=Status.RUNNING)
    assert "Cost expected" not in figures(client.get(page_of(collection)).content.decode())


def test_imported_collection_is_read_only(client, boss):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    Collection.objects.update(source=Collection.Source.GLEE, document={}, frozen={}, seed=0)
    page = client.get(page_of(collection)).content.decode()
    assert "imported from GLEE&#x27;s published layout" in page
    assert not [name for name in ACTIONS if action_url(collection, name) in page]
    page = client.post(action_url(collection, "retry"), follow=True).content.decode()
    assert "its matches were played elsewhere" in page


def test_items_link_to_their_transcripts(client, boss):
    collection = collection_with(Status.DONE, failed=2)
    other_collection = new_collection(slug="other", configurations=[{}], agents=["script:fair"], repetitions=1)
    response = client.get(
        reverse("admin:collecting_item_changelist"), {"collection": collection.pk, "status__exact": "failed"}
    )
    assert [item.number for item in response.context["cl"].result_list] == [1, 2]
    assert other_collection.items.get().collection_id != collection.pk
    item = collection.items.first()
    assert client.get(reverse("admin:collecting_item_change", args=[item.pk])).status_code == 200
    assert client.get(reverse("admin:collecting_item_add")).status_code == 403


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.0001, "under 1%"), (0.5, "50%"), (0.9999, "99%"), (1, "100%")]
)
def test_percentages_never_round_to_0_or_100(share, text):
    assert percent(share) == text


# ---- rights, beside those that tests/test_rights.py asks of every page ----------------------------------------


@pytest.mark.parametrize("name", ACTIONS)
def test_forged_requests_are_refused(boss, name):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    csrf_client = Client(enforce_csrf_checks=True)
    csrf_client.force_login(boss)
    assert csrf_client.post(action_url(collection, name), {"budget": "9"}).status_code == 403
    assert (progress(collection).failed, Collection.objects.get().budget) == (1, Decimal(5))


def test_viewers_have_no_actions(client):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    staff(client, *Collection.objects.all(), role=Role.VIEWER)
    page = client.get(page_of(collection)).content.decode()
    assert "A collection" in page
    assert not [name for name in ACTIONS if action_url(collection, name) in page]
    assert client.get(action_url(collection, "progress")).status_code == 200
    for name in ACTIONS:
        assert client.post(action_url(collection, name), {"budget": "9"}).status_code == 403
    assert (progress(collection).failed, Collection.objects.get().budget) == (1, Decimal(5))


def test_editors_start_and_creators_own(client):
    collection = new_collection()
    user = staff(client, *Collection.objects.all(), role=Role.EDITOR)
    client.post(action_url(collection, "start"))
    assert Collection.objects.get().status == Status.RUNNING
    assert add(client).status_code == 200
    copy = Collection.objects.exclude(pk=collection.pk).get()
    assert [(member.user, member.role) for member in copy.members.all()] == [(user, Role.OWNER)]


def test_collections_cannot_be_deleted(client, boss):
    collection = new_collection()
    url = reverse("admin:collecting_collection_delete", args=[collection.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    assert Collection.objects.exists()


def test_unknown_collection_is_not_found(client, boss):
    for pk in ("99", "nothing"):
        assert client.get(f"/admin/collecting/collection/{pk}/change/").status_code == 404
        assert client.get(f"/admin/collecting/collection/{pk}/progress/").status_code == 404
        assert client.post(f"/admin/collecting/collection/{pk}/start/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_results_are_shown_if_the_game_has_analyses(client, boss):
    agents = ["script:always_cooperate", "script:always_defect"]
    plan = {"game": "social_dilemma", "configurations": [{}], "agents": agents, "repetitions": 1}
    collection = kit.new_collection("dilemma", **plan)
    assert "No finished matches yet" in client.get(action_url(collection, "results")).content.decode()
    services.start(collection)
    driver.drive(collection, slot=0)
    assert action_url(collection, "results") in client.get(page_of(collection)).content.decode()
    page = client.get(action_url(collection, "results")).content.decode()
    assert "Deviation rating" in page and "Replicator dynamics: prisoners dilemma" in page
    assert client.get(action_url(new_collection(), "results")).status_code == 404


class TestWhatModelsAreTold:
    def test_shows_the_calls_the_facts_and_both_modes(self, client: Client, boss):
        page = text_of(client.get("/admin/collecting/collection/told/coopeval-contract/?seat=p2&turns=3"))
        assert "whole number for every action" in page and "Call 3: move" in page
        assert "Who voted for what." in page and "Payments that go beyond" in page

    @pytest.mark.parametrize("address", ["nothing/", "coopeval-none/?seat=p9"])
    def test_finds_nothing_else(self, client: Client, boss, address: str):
        assert client.get(f"/admin/collecting/collection/told/{address}").status_code == 404
