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

from collecting.models import Collection, Item
from collecting.ratings import ratings_of
from collecting.tests.kit import drive, new_collection
from exports.dataset import export
from games.lineups import Lineups

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
    ratings = {rating.label: rating for rating in ratings_of(played())}
    assert {label: rating.matches for label, rating in ratings.items()} == dict.fromkeys(BIDDERS, REPETITIONS)
    assert all(0 < rating.deviation < 25 / 3 for rating in ratings.values()), "each match makes it more certain"
    assert min(ratings.values(), key=lambda rating: rating.mean).label == "script:greedy"


def test_ratings_do_not_depend_on_the_order_of_play():
    collection = played()
    before = ratings_of(collection)
    ends = list(collection.items.order_by("number").values_list("pk", "ended_at"))
    for (key, _end), (_key, end) in zip(ends, reversed(ends), strict=True):
        Item.objects.filter(pk=key).update(ended_at=end)
    assert ratings_of(collection) == before


def test_failed_matches_do_not_count():
    collection = played()
    collection.items.filter(number=1).update(status=Item.Status.FAILED)
    assert {rating.matches for rating in ratings_of(collection)} == {REPETITIONS - 1}


def test_finished_collections_page_shows_ratings(client: Client):
    collection = played()
    shown_rows = re.findall(
        r'<tr><td>(script:\w+)</td><td class="number">([\d.-]+)</td><td class="number">± ([\d.]+)</td>'
        r'<td class="number">(\d+)</td></tr>',
        page_of(client, collection),
    )
    rated = [
        (rating.label, f"{rating.mean:.2f}", f"{rating.deviation:.2f}", str(rating.matches))
        for rating in ratings_of(collection)
    ]
    assert shown_rows == rated and len(rated) == 3
    Collection.objects.update(status=Collection.Status.RUNNING)
    assert "± " not in page_of(client, collection), "not asked for every second while matches are played"


def test_game_without_ratings_shows_none(client: Client):
    contest = {"game": "beauty_contest", "configurations": [{"players": 2}], "lineups": None}
    collection = played(**contest, agents=["script:rational", "script:level_1"])
    assert ratings_of(collection) == []
    assert "Ratings" not in page_of(client, collection)


def test_dataset_has_the_same_ratings(tmp_path: Path):
    collection = played()
    folder = tmp_path / "dataset"
    export(collection, folder)
    with (folder / "ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    exported = [tuple(row.values()) for row in rows]
    rated = ratings_of(collection)
    assert [(label, int(matches)) for label, *_rest, matches in exported] == [
        (rating.label, rating.matches) for rating in rated
    ]
    assert [float(row[1]) for row in exported] == pytest.approx([rating.mean for rating in rated])
    call_command("verify_dataset", str(folder))
