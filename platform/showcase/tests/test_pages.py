"""The demo's home page: every link of it leads to a page, and it shows nobody's data."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from exports.tests import building
from games import registry
from games.tests.ours import OURS
from matches.models import Match
from showcase import watching

pytestmark = pytest.mark.django_db

ALONE = {"patience", "pricing", "procurement", "scheduling", "task_allocation"}
"""Games that one person plays."""


class Ways(HTMLParser):
    """The ways on from a page.

    Attributes:
        links: addresses of links on this server.
        forms: (address, data) for every button that sends a form.
    """

    def __init__(self, html: str):
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, dict[str, str]]] = []
        self._action, self._data = "", {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "a" and values.get("href", "").startswith("/"):
            self.links.append(values["href"])
        elif tag == "form":
            self._action, self._data = values.get("action", ""), {}
        elif tag == "input" and "name" in values:
            self._data[values["name"]] = values.get("value", "")
        elif tag == "button" and values.get("type") == "submit":
            chosen = {values["name"]: values["value"]} if "name" in values else {}
            self.forms.append((self._action, {**self._data, **chosen}))


def follow(client: Client) -> dict[str, str]:
    """Follow every link and send every form, beginning at the home page; return the pages by address."""
    pages: dict[str, str] = {}
    waiting = ["/"]
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        response = client.get(address, follow=True)
        assert response.status_code == 200, address
        pages[address] = response.content.decode()
        if not address.startswith(("/demo/", "/join/")) and address != "/":
            continue
        ways = Ways(pages[address])
        waiting += ways.links
        if address.startswith("/join/"):
            continue
        for action, data in ways.forms:
            key = f"{action} {sorted(data.items() - {('csrfmiddlewaretoken', data.get('csrfmiddlewaretoken', ''))})}"
            if key in pages:
                continue
            response = client.post(action, data, follow=True)
            assert response.status_code == 200, key
            pages[key] = response.content.decode()
            waiting += [way for way in Ways(pages[key]).links if way.startswith("/demo/")]
    return pages


def test_every_link_is_followed(demo):
    pages = follow(Client(headers={"host": "127.0.0.1:8000"}))
    played = [key for key in pages if key.startswith("/join/demo-")]
    assert {game for game in registry.keys() if any(f"demo-{game.replace('_', '-')}" in key for key in played)} == set(
        registry.keys()
    )
    for game in registry.keys():
        assert f"/demo/results/{game}/" in pages and f"/demo/watch/{game}/ []" in pages
        assert (f"/demo/friend/{game}/" in pages) == (game not in ALONE)
    assert any("/admin/studies/study/add/" in key for key in pages) and any("/admin/tour/" in key for key in pages)


def test_seats_that_are_alike_have_one_button(demo, client: Client):
    roles: dict[str, list[str]] = {}
    for action, data in Ways(client.get("/").content.decode()).forms:
        if "role" in data:
            roles.setdefault(action.removeprefix("/join/demo-").strip("/"), []).append(data["role"])
    different = {slug: of for slug, of in roles.items() if len(of) > 1 and slug.replace("-", "_") in OURS}
    assert different == {game: ["alice", "bob"] for game in ("bargaining", "negotiation", "persuasion")}
    assert len(roles) == len(registry.keys())


def test_each_game_says_what_it_is_and_how_long_it_takes(demo, client: Client):
    cards = [card for card in client.get("/").context["cards"] if card.key in OURS]
    assert all(
        card.line and card.system and card.length.startswith("about") and "<svg" in card.picture for card in cards
    )
    assert {card.system for card in cards} == {"GLEE", "Economics Arena", "AucArena", "CoopEval", "EconEvals"}


# ---- playing with a friend -----------------------------------------------------------------------------------


def test_a_friends_phone_gets_a_link_and_a_code_when_the_demo_is_shared(shared, client: Client):
    page = client.get("/demo/friend/bargaining/").content.decode()
    assert "http://192.168.1.20:8000/join/demo-bargaining-together/" in page and "<svg" in page and "QR code" in page


def test_otherwise_the_page_says_how_to_share_it(demo, client: Client):
    page = client.get("/demo/friend/bargaining/").content.decode()
    assert "make demo DEMO=--share" in page and "QR code of the address" not in page
    assert "http://testserver/join/demo-bargaining-together/" in page


# ---- watching --------------------------------------------------------------------------------------------------


def test_watching_begins_one_match_of_scripts_and_shows_every_seat(demo, client: Client):
    Match.objects.all().delete()
    first = client.post("/demo/watch/bargaining/")
    assert client.post("/demo/watch/bargaining/")["Location"] == first["Location"], "the live match is joined"
    match = Match.objects.get()
    assert match.purpose == Match.Purpose.DEMO and not match.people()
    page = client.get(first["Location"]).content.decode()
    screens = re.findall(r'src="([^"]+/screen/[^"]+)"', page)
    assert len(screens) == 2
    for screen in screens:
        response = client.get(unescape(screen))
        assert response.status_code == 200 and "sandbox" in response["Content-Security-Policy"]


def test_nobody_elses_match_is_public(demo, client: Client, django_capture_on_commit_callbacks: Callable[..., Any]):
    """Neither a match of a study, nor one of a collection, nor one that a person plays in the demo."""
    study = building.new_study()
    in_study = building.match_of(building.read_instructions(building.consent(building.arrive(study, worker="A1"))))
    agents_only = watching.begin("bargaining")
    for match, status in ((in_study, 404), (agents_only, 200)):
        for address in ("", "step/1/", "screen/1/after/alice/"):
            assert client.get(f"/demo/match/{match.uid}/{address}").status_code == status
    for purpose in set(Match.Purpose) - {Match.Purpose.DEMO}:
        Match.objects.filter(pk=agents_only.pk).update(purpose=purpose)
        assert client.get(f"/demo/match/{agents_only.uid}/").status_code == 404
    Match.objects.filter(pk=in_study.pk).update(purpose=Match.Purpose.DEMO)
    assert client.get(f"/demo/match/{in_study.uid}/").status_code == 404


@pytest.mark.slow
def test_a_model_on_this_computer_plays_where_one_runs(demo, client: Client):
    from showcase.demo import create_demo

    assert "Watch scripts play" in client.get("/").content.decode()
    create_demo("http://127.0.0.1:9/v1")
    Match.objects.all().delete()
    page = client.get("/").content.decode()
    assert "Watch models play" in page and "Play against a model" in page
    client.post("/demo/watch/bargaining/")
    assert {seat.agent for seat in Match.objects.get().seats.all()} == {"local:smollm2-135m-instruct"}
    create_demo()
    assert "Play against a model" not in client.get("/").content.decode()


# ---- a server ----------------------------------------------------------------------------------------------------


def test_a_servers_home_page_names_its_owner(settings, client: Client):
    settings.DEMO = False
    bare = client.get("/").content.decode()
    assert "use the link you were" in bare and "Contact" not in bare and "Privacy" not in bare
    settings.SITE_OWNER, settings.SITE_CONTACT = "The <Lab>", "lab@example.org"
    settings.PRIVACY_URL = "https://example.org/privacy"
    page = client.get("/").content.decode()
    assert "run by The &lt;Lab&gt;." in page
    assert 'href="mailto:lab@example.org"' in page and 'href="https://example.org/privacy"' in page
