"""Watching a match: permissions, what is shown, and that players notice nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from collecting import leases, playing
from collecting.tests.kit import new_collection
from exports.tests import building
from matches import announce
from matches.models import Match, Seat
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests.kit import staff

pytestmark = pytest.mark.django_db

LOTS = [{"name": "Walnut chest", "start_price": 3000}, {"name": "Copper still", "start_price": 500}]
AUCTION = {
    "items": LOTS, "order": "listed", "budgets": [17123, 18456, 19789], "overestimate_percents": [11, 23, 37],
    "tie_break": "first_seat",
}  # fmt: skip
HIDDEN = ["17,123", "18,456", "19,789", "6,660", "7,380", "8,220"]
"""Budgets and the estimates of the first item, as pages write them."""


@pytest.fixture
def match() -> Match:
    """Return a match of a participant and two scripts before the first bid."""
    study = building.new_study(
        game="item_auction", config=AUCTION, roles=["p1"], agents={"script:rule": {"spec": "script:rule", "delay": 60}}
    )
    return building.match_of(building.read_instructions(building.consent(building.arrive(study, worker="A1"))))


def address(match: Match, name: str = "watch") -> str:
    return reverse(f"admin:matches_match_{name}", args=[match.pk])


def bid(match: Match, role: str, amount: int | None) -> None:
    match.refresh_from_db()
    building.move(match, role, {"bid": amount})


@pytest.mark.parametrize("name", ["watch", "watch_now"])
def test_only_members_watch_and_watching_changes_nothing(client: Client, match: Match, name: str):
    response = client.get(address(match, name))
    assert response.status_code == 302 and "login" in response["Location"]
    member = staff(client)
    assert client.get(address(match, name)).status_code == 404
    give(Study.objects.get(), user=member, role=Role.VIEWER, by=None)
    page = client.get(address(match, name))
    assert page.status_code == 200 and "<form" not in page.content.decode()
    assert client.post(address(match, name)).status_code == 405


def test_public_information_is_shown_without_secrets(client: Client, match: Match):
    staff(client, Study.objects.get(), role="viewer")
    bid(match, "p1", 3333)
    before_reveal = client.get(address(match)).content.decode()
    assert "Walnut chest" in before_reveal and 'data-seat="p1" data-mark="answered"' in before_reveal
    assert "3,333" not in before_reveal, "bids are hidden during a round"
    bid(match, "p2", 3210)
    bid(match, "p3", None)
    after_reveal = client.get(address(match)).content.decode()
    assert "3,333" in after_reveal and "3,210" in after_reveal and "withdrew" in after_reveal
    assert not [secret for secret in [*HIDDEN, "6,000"] if secret in after_reveal]
    bid(match, "p2", None)
    after_sale = client.get(address(match)).content.decode()
    assert "Sold to Bidder 1" in after_sale and "6,000" in after_sale, "the true value is public after the sale"
    assert not [secret for secret in HIDDEN if secret in after_sale]


def test_page_fetches_only_changes(client: Client, match: Match):
    staff(client, Study.objects.get(), role="viewer")
    version = client.get(address(match)).context["watched"].version
    assert client.get(address(match, "watch_now"), {"seen": version}).status_code == 204
    bid(match, "p2", 3210)
    response = client.get(address(match, "watch_now"), {"seen": version})
    assert response.status_code == 200 and b"<html" not in response.content


def test_game_without_a_public_view_shows_each_seat(client: Client):
    study = building.new_study()
    live = building.match_of(building.read_instructions(building.consent(building.arrive(study, worker="A1"))))
    staff(client, study, role="viewer")
    page = client.get(address(live)).content.decode()
    for role in ("alice", "bob"):
        assert reverse("admin:matches_match_screen", args=[live.pk, live.events.count(), "after", role]) in page


def test_players_notice_no_spectators(
    client: Client, match: Match, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Callable
):
    sent_messages: list[object] = []
    monkeypatch.setattr(announce, "_send", lambda *arguments: sent_messages.append(arguments))
    staff(client, Study.objects.get(), role="viewer")
    before = [list(rows.order_by("pk").values()) for rows in (Match.objects.all(), Seat.objects.all())]
    with django_capture_on_commit_callbacks(execute=True):
        client.get(address(match))
        client.get(address(match, "watch_now"))
    assert sent_messages == []
    assert [list(rows.order_by("pk").values()) for rows in (Match.objects.all(), Seat.objects.all())] == before


def test_monitor_links_to_waiting_matches(client: Client, match: Match):
    study = Study.objects.get()
    staff(client, study, role="viewer")
    assert address(match) in client.get(reverse("monitoring:page", args=[study.pk])).content.decode()


def test_a_collections_page_links_to_its_running_matches(client: Client):
    collection = new_collection("c", game="item_auction", configurations=[AUCTION], agents=["openai:m"], seed=1)
    (item,) = leases.claim(collection, "nobody", 1)
    match = playing.begin(collection, item, "nobody")
    staff(client, collection, role="viewer")
    page = client.get(reverse("admin:collecting_collection_change", args=[collection.pk])).content.decode()
    assert address(match) in page
    assert client.get(address(match)).status_code == 200
