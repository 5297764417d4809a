"""Researchers plan, start and monitor collections in the admin."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from collecting import driver, leases, services
from collecting.admin.status import percent
from collecting.models import Collection, Driver, Item
from collecting.planning import Plan, make_collection, planned_match
from collecting.progress import progress
from games import registry, strategies
from games.grids import table
from llm_agents import endpoints
from matches.models import Match
from opponents.models import Call
from plans.asking import AgentSettings
from rights.members import give
from rights.roles import Role
from tests.forms import new_form_data
from tests.visitors import text_of

pytestmark = pytest.mark.django_db
Status = Collection.Status

ADD = "/admin/collecting/collection/add/"
ACTIONS = ["start", "pause", "retry", "budget"]


@pytest.fixture
def administrator(client: Client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def staff(client: Client, role: Role | None = None) -> User:
    """Return a staff user with this role in every collection."""
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    for collection in Collection.objects.all() if role else ():
        give(collection, user=user, role=role, by=None)
    client.force_login(user)
    return user


def agents(*specs: str, **settings) -> str:
    """Return the agents' field as the page's script fills it in, with specifications as labels."""
    return json.dumps({spec: {"spec": spec, **({"settings": settings} if settings else {})} for spec in specs})


def add(client: Client, *, game: str = "bargaining", **changes):
    """Post the form as a browser would, with some fields changed."""
    typed = {
        "title": "Scripts",
        "slug": "scripts",
        "configurations_from": "grid",
        "several_rounds": "2, 4",
        "agents": agents("script:fair"),
    }
    address = f"{ADD}?game={game}"
    return client.post(address, new_form_data(client, address, **{**typed, **changes}))


def page_of(collection: Collection) -> str:
    return reverse("admin:collecting_collection_change", args=[collection.pk])


def action_url(collection: Collection, name: str) -> str:
    return reverse(f"admin:collecting_collection_{name}", args=[collection.pk])


def new_collection(**changes) -> Collection:
    plan = {
        "title": "A collection",
        "slug": "a-collection",
        "game": "bargaining",
        "configurations": [{"rounds": 2}, {"rounds": 4}],
        "agents": ["script:fair", "script:haggler"],
        "repetitions": 3,
        "seed": 3,
    }
    collection = make_collection(Plan(**{**plan, **changes}))
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


def test_a_collection_is_made_from_a_published_table(client, administrator):
    response = add(
        client,
        configurations_from="table",
        table="glee",
        agents=agents("script:fair", "script:haggler"),
        repetitions="2",
        seed="7",
    )
    collection = Collection.objects.get()
    assert response.status_code == 302 and response["Location"] == page_of(collection)
    assert collection.content["configurations"] == table("bargaining", "glee")
    assert (collection.planned, collection.items.count()) == (384 * 4 * 2, 0), "rows are created as matches start"
    assert (collection.status, collection.seed, collection.created_by) == (Status.READY, 7, administrator)
    assert (
        "384 configurations × 4 line-ups × 2 repetitions = 3,072 matches"
        in client.get(page_of(collection)).content.decode()
    )


def test_a_collection_is_made_from_a_grid(client, administrator):
    add(client, several_delta_alice="0.8, 0.9", several_rounds="1, none")
    configurations = Collection.objects.get().content["configurations"]
    assert [(config["delta_alice"], config["rounds"]) for config in configurations] == [
        (0.8, 1),
        (0.8, None),
        (0.9, 1),
        (0.9, None),
    ]


def test_collection_from_a_custom_list(client, administrator):
    add(client, configurations_from="list", listed='[{"rounds": 3, "money": 500}, {}]')
    configurations = Collection.objects.get().content["configurations"]
    assert [(config["rounds"], config["money"]) for config in configurations] == [(3, 500), (12, 10_000)]


def test_every_entered_value_is_in_the_plan(client, administrator):
    add(
        client,
        agents=json.dumps(
            {
                "mine": {"spec": "openai:my-model", "settings": {"tries_after_first": 1, "call_seconds": 30}},
                "fair": {"spec": "script:fair", "delay": 0.5},
            }
        ),
        same=None,
        concurrency="20",
        budget="12.50",
        prices='{"openai:my-model": {"input": 0.15, "output": 0.6}}',
        instructions="You are {{ you }}.\r\nPlay.",
    )
    collection = Collection.objects.get()
    content = collection.content
    assert collection.planned == 2 * 2, "no agent plays against itself"
    assert (collection.concurrency, collection.budget) == (20, Decimal("12.50"))
    price = content["prices"]["openai:my-model"]
    assert (price["input"], price["output"]) == ("0.15", "0.6")
    assert (content["agents"]["mine"]["spec"], content["agents"]["fair"]["delay"]) == ("openai:my-model", 0.5)
    asking = content["agents"]["mine"]["settings"]
    assert (asking["tries_after_first"], asking["call_seconds"], asking["limit_seconds"]) == (1, 30, 1800)
    assert (content["edited"], content["texts"]["instructions"]) == (True, "You are {{ you }}.\nPlay.")


def test_unchanged_instructions_follow_the_game(client, administrator):
    add(client)
    content = Collection.objects.get().content
    assert not content["edited"]
    assert content["texts"]["instructions"] == registry.get("bargaining").instruction_template()


def settings_offered(client, game: str) -> dict[str, dict]:
    """Return the agent settings that the page's script receives."""
    form = client.get(reverse("admin:collecting_collection_add"), {"game": game}).context["adminform"].form
    return {setting["name"]: setting for setting in form.fields["agents"].widget.data["settings"]}


def test_form_offers_the_games_strategies(client, administrator):
    game_strategies = strategies.of(registry.get("item_auction"))
    offered = dict(settings_offered(client, "item_auction")["strategy"]["choices"])
    assert offered == {name: str(strategy.title) for name, strategy in game_strategies.items()}
    assert {"tools", "plan_bid_believe"} <= offered.keys()


def test_collections_default_to_patient_model_settings(client, administrator):
    offered = settings_offered(client, "bargaining")
    assert offered["limit_seconds"]["usual"] == 1800
    assert not offered.keys() & {"appears", "cap_study"}


def test_tools_are_refused_for_endpoints_without_them(client, administrator, monkeypatch):
    without_tools = replace(endpoints.PRESETS["openai"], tools=False)
    monkeypatch.setattr(endpoints, "PRESETS", {**endpoints.PRESETS, "openai": without_tools})
    response = add(client, agents=agents("openai:m", strategy="tools"))
    (expected_text,) = response.context["adminform"].form.errors["agents"]
    assert "Agent “openai:m”" in expected_text and "Tools in plain JSON" in expected_text
    add(client, agents=agents("openai:m", strategy="tools", plain_tools=True))
    assert Collection.objects.get().content["agents"]["openai:m"]["settings"]["plain_tools"]


BIDDERS = agents("script:random", "script:rational")


@pytest.mark.parametrize(
    ("changes", "lineups"),
    [
        ({"rule": "each"}, [["script:random"] * 5, ["script:rational"] * 5]),
        ({"rule": "each", "fixed": '{"p1": "script:rational"}'}, [["script:rational", *["script:random"] * 4]]),
        (
            {"rule": "each", "fixed": '{"p1": "script:rational"}', "pool": '["script:rational", "script:random"]'},
            [["script:rational"] * 5, ["script:rational", *["script:random"] * 4]],
        ),
        (
            {"rule": "listed", "by_hand": json.dumps([dict.fromkeys(("p1", "p2", "p3", "p4", "p5"), "script:random")])},
            [["script:random"] * 5],
        ),
    ],
)
def test_seats_are_assigned_in_the_form(client, administrator, changes, lineups):
    add(client, game="beauty_contest", several_rounds="1", agents=BIDDERS, **changes)
    collection = Collection.objects.get()
    seated = [planned_match(collection, number).players for number in range(1, collection.planned + 1)]
    assert [[player.agent for player in players.values()] for players in seated] == lineups


def test_empty_seed_is_drawn_at_random(client, administrator):
    add(client)
    add(client, slug="other")
    first, second = Collection.objects.all()
    assert first.seed != second.seed


HUNDREDS = ", ".join(map(str, range(1, 201)))
TOO_MANY_VALUES = {"several_money": HUNDREDS, "several_rounds": HUNDREDS, "several_delta_alice": "0.7, 0.8, 0.9"}


@pytest.mark.parametrize(
    ("changes", "field", "expected_text"),
    [
        ({"title": ""}, "title", "required"),
        ({"slug": "not a slug"}, "slug", "valid"),
        ({"several_delta_alice": "0.9, 7"}, "several_delta_alice", "“7” is not valid"),
        ({"several_rounds": "3, 3"}, "several_rounds", "“3” appears twice"),
        ({"several_rounds": "3, soon"}, "several_rounds", "“soon” is not a number"),
        ({"several_money": "1e999"}, "several_money", "not valid"),
        ({"several_money": "nan"}, "several_money", "not valid"),
        (TOO_MANY_VALUES, "several_money", "the maximum is 100000"),
        ({"configurations_from": "list", "listed": '[{}, {"rounds": 0}]'}, "listed", "Configuration 2"),
        ({"configurations_from": "list", "listed": "[]"}, "listed", "Add at least one configuration"),
        ({"configurations_from": "list", "listed": "[3]"}, "listed", "Add at least one configuration"),
        ({"configurations_from": "list", "listed": "{"}, "listed", "valid JSON"),
        ({"configurations_from": "table", "table": "nobody's"}, "table", "valid choice"),
        ({"configurations_from": "dice"}, "configurations_from", "valid choice"),
        ({"agents": ""}, "agents", "required"),
        ({"agents": "{}"}, "agents", "required"),
        ({"agents": "[3]"}, "agents", "maps each name"),
        ({"agents": agents("robot")}, "agents", "is not a valid agent"),
        ({"agents": agents("script:nobody")}, "agents", "no scripted player “nobody”"),
        ({"agents": '{"person": {"spec": "script:fair"}}'}, "agents", "reserved for participants"),
        ({"agents": json.dumps({"long": {"spec": "openai:" + "m" * 300}})}, "agents", "at most 200 characters"),
        ({"agents": '{"a": {"spec": "script:fair", "delay": -1}}'}, "agents", "Agent “a”: Input should be greater"),
        ({"agents": agents("openai:m", tries_after_first=-1)}, "agents", "Retries after illegal moves: Input should"),
        ({"agents": agents("openai:m", call_seconds=0)}, "agents", "Seconds per call: Input should"),
        ({"agents": agents("openai:m", strategy="telepathy")}, "agents", "telepathy"),
        ({"agents": agents("openai:m", left_out=["belief"])}, "agents", "has no call “belief”"),
        ({"rule": "dice"}, "rule", "valid choice"),
        ({"rule": "listed"}, "by_hand", "at least one is needed"),
        ({"rule": "listed", "by_hand": '[{"alice": "script:fair"}]'}, "by_hand", "Line-up 1: seat “bob” is missing"),
        ({"rule": "listed", "by_hand": '[{"alice": "x", "bob": "x"}]'}, "by_hand", "Line-up 1: there is no agent “x”"),
        ({"rule": "listed", "by_hand": "[3]"}, "by_hand", "listed.0"),
        ({"fixed": '{"carol": "script:fair"}', "pool": '["script:fair"]'}, "rule", "there is no seat “carol”"),
        ({"fixed": '{"bob": "x"}'}, "fixed", "There is no agent “x”"),
        ({"pool": '["x"]'}, "pool", "There is no agent “x”"),
        ({"same": None}, "same", "has no matches"),
        ({"repetitions": "0"}, "repetitions", "greater than or equal to 1"),
        ({"repetitions": "600000"}, "repetitions", "1,200,000 matches; the maximum is 1,000,000"),
        ({"concurrency": "0"}, "concurrency", "greater than or equal to 1"),
        ({"budget": "-1"}, "budget", "greater than or equal to 0"),
        ({"agents": agents("openai:unheard-of"), "budget": "5"}, "prices", "price of openai:unheard-of"),
        ({"prices": '{"openai:m": {"input": -1, "output": 1}}'}, "prices", "dollars per million tokens"),
        ({"prices": '{"openai:m": 3}'}, "prices", "dollars per million tokens"),
        ({"prices": '{"robot": {"input": 1, "output": 1}}'}, "prices", "is not a valid agent"),
        ({"seed": "-4"}, "seed", "greater than or equal to 0"),
        ({"seed": str(2**70)}, "seed", "less than or equal"),
        ({"instructions": "Hello {{ nobody }}"}, "instructions", "nobody"),
    ],
)  # fmt: skip
def test_invalid_values_are_refused_at_their_field(client, administrator, changes, field, expected_text):
    response = add(client, **changes)
    assert response.status_code == 200
    errors = response.context["adminform"].form.errors
    assert list(errors) == [field]
    assert expected_text in " ".join(errors[field])
    assert not Collection.objects.exists()


def test_all_errors_are_shown_at_once(client, administrator):
    response = add(client, title="", several_rounds="soon", agents=agents("robot"), prices="[]", budget="x")
    assert set(response.context["adminform"].form.errors) == {"title", "several_rounds", "agents", "prices", "budget"}


def test_fields_of_another_source_are_ignored(client, administrator):
    add(client, several_rounds="soon", listed="[3]", configurations_from="table", table="glee")
    assert Collection.objects.get().planned == 384


def test_duplicate_short_name_is_refused(client, administrator):
    add(client)
    response = add(client)
    assert list(response.context["adminform"].form.errors) == ["slug"]
    assert Collection.objects.count() == 1


def test_game_is_chosen_before_the_form(client, administrator):
    page = client.get(ADD).content.decode()
    for key in registry.keys():
        game = registry.get(key)
        assert f'href="?game={key}"' in page
        fields = client.get(ADD, {"game": key}).context["adminform"].form.fields
        assert [parameter["name"] for parameter in fields["listed"].widget.data["parameters"]] == list(
            game.Config.model_fields
        )
        assert fields["agents"].widget.data["scripts"] == sorted(game.scripts), "those that know hidden draws, too"


@pytest.mark.parametrize("key", registry.keys())
def test_new_form_needs_only_a_name(client, administrator, key):
    address = f"{ADD}?game={key}"
    typed = new_form_data(client, address, title="As it is", slug="as-it-is", configurations_from="grid")
    assert client.post(address, typed).status_code == 302


def test_form_shows_the_size_live(client, administrator):
    def size_text(**typed) -> str:
        form_data = {
            "configurations_from": "grid",
            "several_rounds": "2, 4",
            "agents": agents("script:fair", "script:random"),
            "same": "on",
        }
        form_data |= {"rule": "product", "seeds": "instance"}
        url = reverse("admin:collecting_collection_size")
        return client.post(f"{url}?game=bargaining", {**form_data, "repetitions": "5", **typed}).json()["size"]

    assert size_text() == "2 configurations × 4 line-ups × 5 repetitions = 40 matches"
    assert (
        size_text(agents=agents("script:fair"), repetitions="1")
        == "2 configurations × 1 line-up × 1 repetition = 2 matches"
    )
    assert size_text(several_rounds="soon") == ""


def test_grid_can_be_copied_into_the_list(client, administrator):
    def preview_data(game: str, **typed) -> dict:
        url = reverse("admin:collecting_collection_size")
        return client.post(f"{url}?game={game}", {"configurations_from": "grid", "agents": "{}", **typed}).json()

    preview = preview_data("bargaining", several_rounds="2, 4")
    assert [config["rounds"] for config in preview["configurations"]] == [2, 4]
    assert preview_data("bargaining", several_money=HUNDREDS)["configurations"] is None, "too many for a list"
    seats = preview_data("beauty_contest", several_players="3, 7")["seats"]
    assert [seat["role"] for seat in seats] == [f"p{number}" for number in range(1, 8)]
    assert (
        "Add at least one" in preview_data("bargaining", configurations_from="list", listed="[]")["errors"]["listed"][0]
    )
    assert not Collection.objects.exists()


# ---- the list --------------------------------------------------------------------------------------------


def test_list_shows_progress(client, administrator):
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
def test_each_status_offers_its_actions(client, administrator, status, failed, budget, buttons):
    collection = collection_with(status, failed=failed, budget=budget)
    page = client.get(page_of(collection)).content.decode()
    assert {name for name in ACTIONS if f'action="{action_url(collection, name)}"' in page} == buttons
    assert page.count("csrfmiddlewaretoken") >= len(buttons)


def test_start_pause_and_resume(client, administrator):
    collection = new_collection()
    for name, status in [("start", Status.RUNNING), ("pause", Status.PAUSED), ("start", Status.RUNNING)]:
        assert client.post(action_url(collection, name))["Location"] == page_of(collection)
        collection.refresh_from_db()
        assert collection.status == status
    assert (
        "Started." in client.get(reverse("admin:collecting_collection_history", args=[collection.pk])).content.decode()
    )


def test_impossible_actions_are_refused_with_a_reason(client, administrator):
    collection = new_collection()
    page = client.post(action_url(collection, "pause"), follow=True).content.decode()
    assert "You cannot pause a collection that is ready." in page
    collection.refresh_from_db()
    assert collection.status == Status.READY


def test_failed_matches_are_replayed_at_once(client, administrator):
    collection = collection_with(Status.DONE, failed=2)
    page = client.post(action_url(collection, "retry"), follow=True).content.decode()
    assert "Replaying 2 failed matches" in page
    assert (progress(collection).failed, Collection.objects.get().status) == (0, Status.RUNNING)


def test_failed_matches_wait_for_budget(client, administrator):
    collection = collection_with(Status.OVER_BUDGET, failed=2, budget=Decimal(0))
    client.post(action_url(collection, "retry"))
    assert (progress(collection).failed, Collection.objects.get().status) == (0, Status.OVER_BUDGET)


@pytest.mark.parametrize(
    ("typed", "budget", "expected_text"),
    [
        ("25.50", Decimal("25.50"), "The budget is now $25.50."),
        ("1", Decimal(5), "Enter a budget higher than the current one."),
        ("much", Decimal(5), "Enter the new budget"),
        ("", Decimal(5), "Enter the new budget"),
        ("NaN", Decimal(5), "Enter the new budget"),
        ("1e9", Decimal(5), "Enter the new budget"),
    ],
)
def test_budget_can_only_be_raised(client, administrator, typed, budget, expected_text):
    collection = new_collection(budget=Decimal(5))
    page = client.post(action_url(collection, "budget"), {"budget": typed}, follow=True).content.decode()
    assert expected_text in page
    assert Collection.objects.get().budget == budget


def test_collection_with_a_raised_budget_is_paused_not_stopped(client, administrator):
    collection = collection_with(Status.OVER_BUDGET, budget=Decimal(0))
    page = client.post(action_url(collection, "budget"), {"budget": "5"}, follow=True).content.decode()
    assert "stopped at its budget" not in page and Collection.objects.get().status == Status.PAUSED
    assert f'action="{action_url(collection, "start")}"' in page


@pytest.mark.parametrize(("same", "answer"), [(True, "yes"), (False, "no")])
def test_page_says_whether_agents_play_against_themselves(client, administrator, same, answer):
    page = text_of(client.get(page_of(new_collection(same=same))))
    assert f"Also against itself {answer}" in page


def test_plan_is_shown_read_only(client, administrator):
    collection = new_collection(agents=["openai:gpt-4o-mini", "script:fair"])
    page = client.get(page_of(collection)).content.decode()
    assert collection.sha256 in page
    assert "2 configurations × 4 line-ups × 3 repetitions = 24 matches" in page
    assert "All combinations of these values." in page
    for text in ("Rounds", "Money to divide", "openai:gpt-4o-mini", "0.15", "&quot;lineups&quot;"):
        assert text in page
    before = Collection.objects.values().get()
    client.post(page_of(collection), {"title": "Other", "slug": "other", "budget": "9"})
    assert Collection.objects.values().get() == before


def test_incomplete_grids_are_not_called_grids(client, administrator):
    collection = new_collection(configurations=[{"rounds": 2, "money": 5}, {"rounds": 4, "money": 7}])
    assert "Only some combinations" in client.get(page_of(collection)).content.decode()


def test_content_can_be_downloaded(client, administrator):
    collection = new_collection()
    response = client.get(action_url(collection, "content"))
    assert response.json() == collection.content
    assert response["Content-Disposition"] == 'attachment; filename="a-collection-content.json"'


def test_failure_reasons_are_counted_and_escaped(client, administrator):
    collection = collection_with(Status.DONE, failed=5)
    collection.items.filter(number=1).update(problem="<script>alert(1)</script>")
    page = client.get(page_of(collection)).content.decode()
    assert "<td>4</td><td>It would rather not.</td>" in page
    assert "&lt;script&gt;alert(1)" in page and "<script>alert(1)" not in page


def figures(page: str) -> dict[str, str]:
    """Return the value beside each title of the progress part."""
    return {title: figure for title, figure in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)}


@pytest.mark.django_db(transaction=True)
def test_progress_fragment_matches_the_collection(client, administrator):
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


def test_progress_fragment_shows_rate_and_time_left(client, administrator):
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
    assert "budget will not cover all matches" not in page, "the more urgent notice is shown: nobody plays it"
    assert "Waiting for a worker" in page
    assert 38 <= float(figure_by_title["Matches per minute"]) <= 40
    assert 9 <= float(figure_by_title["Decisions per second"]) <= 10
    assert figure_by_title["Time left"] == "about 2 min"
    Driver.objects.create(
        collection=collection, slot=0, holder="x", until=timezone.now() + timezone.timedelta(seconds=60)
    )
    assert "budget will not cover all matches" in client.get(action_url(collection, "progress")).content.decode()


def test_estimate_is_shown_before_the_start(client, administrator):
    model = "openai:gpt-4o-mini"
    collection = new_collection(agents=[model], repetitions=50, settings=AgentSettings(max_tokens=100))
    page = client.get(page_of(collection)).content.decode()
    estimates = figures(page)
    assert estimates["Model calls expected"] == "about 400", "four in each of 100 matches"
    expected, at_most = (Decimal(estimates[name].split("$")[1]) for name in ("Cost expected", "Cost at most"))
    assert 0 < expected < at_most
    assert "characters per token, 60 tokens per answer" in page and "There is no budget" in page
    match = Match.objects.create(game="bargaining", config={}, rules_version=1, seed=1)
    call = {"match_uid": match.uid, "role": "alice", "answering": 1, "endpoint": "openai", "model": "gpt-4o-mini"}
    Call.objects.create(**call, cost="0.001", record={"input_tokens": 1000, "output_tokens": 50})
    Collection.objects.update(budget=Decimal("0.00"))
    page = client.get(page_of(collection)).content.decode()
    estimates = figures(page)
    assert estimates["Tokens expected"] == "about 400,000 read, 20,000 written"
    assert (estimates["Cost expected"], estimates["Cost at most"]) == ("about $0.0720", "about $0.00")
    assert "earlier calls in this game" in page and "more than the budget, so none would be made" in page
    Collection.objects.update(status=Status.RUNNING)
    assert "Cost expected" not in figures(client.get(page_of(collection)).content.decode())


def test_imported_collection_is_read_only(client, administrator):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    Collection.objects.update(source=Collection.Source.GLEE, content={"source": "somewhere"}, seed=0)
    page = client.get(page_of(collection)).content.decode()
    assert "imported from GLEE&#x27;s published layout" in page
    assert not [name for name in ACTIONS if action_url(collection, name) in page]
    assert (
        "its matches were played elsewhere"
        in client.post(action_url(collection, "retry"), follow=True).content.decode()
    )


def test_items_link_to_their_transcripts(client, administrator):
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


# ---- rights ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTIONS)
def test_get_requests_change_nothing(client, administrator, name):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    before = Collection.objects.values().get()
    assert client.get(action_url(collection, name), {"budget": "9"}).status_code == 405
    assert Collection.objects.values().get() == before
    assert progress(collection).failed == 1


@pytest.mark.parametrize("name", ACTIONS)
def test_forged_requests_are_refused(administrator, name):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    csrf_client = Client(enforce_csrf_checks=True)
    csrf_client.force_login(administrator)
    assert csrf_client.post(action_url(collection, name), {"budget": "9"}).status_code == 403
    assert progress(collection).failed == 1


def test_staff_without_membership_see_nothing(client):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    staff(client)
    for url in (
        page_of(collection),
        action_url(collection, "progress"),
        action_url(collection, "content"),
    ):
        assert client.get(url).status_code == 404
    for name in ACTIONS:
        assert client.post(action_url(collection, name), {"budget": "9"}).status_code == 404
    assert (progress(collection).failed, Collection.objects.get().budget) == (1, Decimal(5))


def test_viewers_have_no_actions(client):
    collection = collection_with(Status.DONE, failed=1, budget=Decimal(5))
    staff(client, Role.VIEWER)
    page = client.get(page_of(collection)).content.decode()
    assert "A collection" in page
    assert not [name for name in ACTIONS if action_url(collection, name) in page]
    assert client.get(action_url(collection, "progress")).status_code == 200
    for name in ACTIONS:
        assert client.post(action_url(collection, name), {"budget": "9"}).status_code == 403
    assert (progress(collection).failed, Collection.objects.get().budget) == (1, Decimal(5))


def test_editors_start_and_creators_own(client):
    collection = new_collection()
    user = staff(client, Role.EDITOR)
    client.post(action_url(collection, "start"))
    assert Collection.objects.get().status == Status.RUNNING
    assert add(client).status_code == 302
    copy = Collection.objects.exclude(pk=collection.pk).get()
    assert [(member.user, member.role) for member in copy.members.all()] == [(user, Role.OWNER)]


def test_collections_cannot_be_deleted(client, administrator):
    collection = new_collection()
    url = reverse("admin:collecting_collection_delete", args=[collection.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    assert Collection.objects.exists()


def test_unknown_collection_is_not_found(client, administrator):
    for pk in ("99", "nothing"):
        assert client.get(f"/admin/collecting/collection/{pk}/change/").status_code == 404
        assert client.get(f"/admin/collecting/collection/{pk}/progress/").status_code == 404
        assert client.post(f"/admin/collecting/collection/{pk}/start/").status_code == 404


def test_anonymous_users_are_sent_to_sign_in(client):
    collection = new_collection()
    for response in (client.get(page_of(collection)), client.post(action_url(collection, "start"))):
        assert response.status_code == 302 and "/admin/login/" in response["Location"]
    assert Collection.objects.get().status == Status.READY


@pytest.mark.django_db(transaction=True)
def test_results_are_shown_if_the_game_has_analyses(client, administrator):
    agents = ["script:always_cooperate", "script:always_defect"]
    plan = {"game": "social_dilemma", "configurations": [{}], "agents": agents, "repetitions": 1}
    collection = make_collection(Plan(title="Dilemma", slug="dilemma", **plan))
    assert "No finished matches yet" in client.get(action_url(collection, "results")).content.decode()
    services.start(collection)
    driver.drive(collection, slot=0)
    assert action_url(collection, "results") in client.get(page_of(collection)).content.decode()
    page = client.get(action_url(collection, "results")).content.decode()
    assert "Deviation rating" in page and "Replicator dynamics: prisoners dilemma" in page
    assert client.get(action_url(new_collection(), "results")).status_code == 404
