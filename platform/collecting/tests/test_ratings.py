"""Ratings of a collection's agents, on its page and in its dataset."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from collecting.admin.status import CollectionStatus, status_of
from collecting.models import Collection, Item
from collecting.ratings import Rating, Ratings, ratings_of, units_of
from collecting.tests.kit import drive, new_collection
from exports.dataset import export
from games.lineups import Lineups
from matches.models import Match

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
LOTS = [{"name": "Lot 1", "start_price": 100}, {"name": "Lot 2", "start_price": 300}]
BIDDERS = ("script:estimate", "script:greedy", "script:withdraw")
REPETITIONS = 4


def played(**changes) -> Collection:
    """Play auctions of three scripts with rotating seats; the one that bids its whole budget overpays."""
    plan = {
        "title": "Auctions",
        "slug": "auctions",
        "game": "item_auction",
        "configurations": [{"items": LOTS, "budget": 1000}],
        "agents": list(BIDDERS),
        "lineups": Lineups(rule="together", agents=BIDDERS, rotate=True),
        "repetitions": REPETITIONS,
        "seed": 5,
    }
    collection = drive(new_collection(**{**plan, **changes}))
    assert collection.status == Collection.Status.DONE
    return collection


def page_of(client: Client, collection: Collection) -> str:
    client.force_login(User.objects.get_or_create(username="boss", is_staff=True, is_superuser=True)[0])
    return client.get(reverse("admin:collecting_collection_change", args=[collection.pk])).content.decode()


def test_every_finished_match_of_every_agent_counts():
    ratings = {agent.label: agent for agent in ratings_of(played()).agents}
    assert {label: agent.matches for label, agent in ratings.items()} == dict.fromkeys(BIDDERS, REPETITIONS)
    assert ratings["script:greedy"].rank == 3


def test_ratings_do_not_depend_on_the_order_of_matches():
    collection = played()
    before = ratings_of(collection)
    numbers = dict(collection.items.values_list("pk", "number"))
    for key, number in numbers.items():
        Item.objects.filter(pk=key).update(number=1000 - number, ended_at=timezone.now())
    assert ratings_of(collection) == before


def test_failed_matches_do_not_count():
    collection = played()
    assert {agent.matches for agent in ratings_of(collection).agents} == {REPETITIONS}
    collection.items.filter(number=1).update(status=Item.Status.FAILED)
    assert {agent.matches for agent in ratings_of(collection).agents} == {REPETITIONS - 1}


def test_matches_that_repeat_each_other_are_one_unit():
    assert units_of([["a", "x"], ["b", "y"], ["c", "x"], ["b", "z"], ["d", "w"], ["e", "w"], ["c", "y"]]) == [
        0, 0, 0, 0, 4, 4, 0
    ]  # fmt: skip
    collection = played(repetitions=12)
    apart = ratings_of(collection).agents
    Match.objects.filter(item__collection=collection, item__number__gt=4).update(seed=7)
    Item.objects.filter(collection=collection, number=1).update(ended_at=timezone.now())
    together = ratings_of(collection).agents
    assert max(agent.clusters for agent in apart) > max(agent.clusters for agent in together)
    assert all(agent.low is None and agent.rank_low is None for agent in together)


def test_finished_collections_page_shows_ratings(client: Client):
    collection = played()
    shown_rows = re.findall(
        r'<tr><td>(script:\w+)</td><td class="number whole">(.+?)</td><td class="number whole">(.+?)</td>'
        r'<td class="number">(\d+)</td></tr>',
        page_of(client, collection),
    )
    status = status_of(collection)
    assert shown_rows == [(*words, str(matches)) for *words, matches in status.leaderboard] and len(shown_rows) == 3
    Collection.objects.update(status=Collection.Status.RUNNING)
    assert "Bradley–Terry" not in page_of(client, collection), "not asked for every second while matches are played"


def test_page_says_intervals_and_why_there_are_none():
    unknown = {"strength": None, "low": None, "high": None, "note": "they won everything"}
    agents = [
        Rating("a", 1, 1, 2, **unknown, matches=30, clusters=30),
        Rating("b", 2, 1, 3, 0.5341, -0.1, 1.2, matches=30, clusters=30, note=""),
    ]
    effect = {"estimate": 0.25, "low": 0.1, "high": 0.4}
    status = CollectionStatus(None, False, [], [], [], ratings=Ratings(agents, effect))
    assert status.leaderboard == [("a", "1 (1 to 2)", "–", 30), ("b", "2 (1 to 3)", "0.53 (-0.10 to 1.20)", 30)]
    seat, interval = status.leaderboard_notes
    assert "0.25 (0.10 to 0.40)" in seat and interval.startswith("No interval for a: ")


def test_game_without_ratings_shows_none(client: Client):
    contest = {"game": "beauty_contest", "configurations": [{"players": 2}], "lineups": None}
    collection = played(**contest, agents=["script:rational", "script:level_1"])
    assert ratings_of(collection).agents == ()
    assert "Ratings" not in page_of(client, collection)


def test_dataset_has_the_same_ratings(tmp_path: Path):
    collection = played()
    folder = tmp_path / "dataset"
    export(collection, folder)
    with (folder / "ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["agent"], int(row["matches"]), int(row["rank"])) for row in rows] == [
        (agent.label, agent.matches, agent.rank) for agent in ratings_of(collection).agents
    ]
    call_command("verify_dataset", str(folder))
