"""What participants are told about the other players, where it is recorded, and the disclosure on the last page."""

from __future__ import annotations

import csv
import re
from itertools import cycle

import pytest

from exports.dataset import export
from exports.tests import building
from exports.verify import verify
from games import registry
from games.play import script_move
from matches.models import Match, Seat
from matches.services import Player, open_match
from participants.models import Enrolment
from participants.services import expiry_after
from plans.agents import PERSON
from studies.disclosure import disclosure_of, late_disclosure
from studies.journeys import steps_of
from studies.models import Placement
from studies.tests import kit

MODEL, SCRIPT = "lab:m", "script:fair"
MAY_BE_ONE = "may be a person taking part in this study, like you, or a computer program, possibly a language model"
MAY_BE_SOME = "may be people taking part in this study, like you, or computer programs, possibly language models"
HEADING = "What we didn't tell you before"


OTHERS = [
    ([[PERSON]], "counts", (), None, None),
    ([[PERSON, MODEL]], "counts", (), "told", "The other player is a computer program, possibly a language model."),
    ([[PERSON, MODEL]], "none", (), "nothing", ""),
    ([[PERSON, PERSON]], "seats", (), "told", "The other player is a person taking part in this study, like you."),
    ([[PERSON, PERSON]], "none", (), "nothing", ""),
    ([[PERSON, PERSON]], "none", ("agents",), "either", f"The other player {MAY_BE_ONE}."),
    (
        [[PERSON, PERSON], [PERSON, MODEL]],
        "counts",
        (),
        "either",
        f"The other player {MAY_BE_ONE}. Before the first move, you will see which.",
    ),
    (
        [[PERSON, PERSON, MODEL]],
        "counts",
        (),
        "told",
        "The other players are one person taking part in this study, like you, and one computer program, possibly a "
        "language model.",
    ),
    (
        [[PERSON, PERSON, MODEL]],
        "seats",
        (),
        "told",
        "The other players are one person taking part in this study, like you, and one computer program, possibly a "
        "language model. Before the first move, you will see who is a person and who is a program.",
    ),
    ([[PERSON, PERSON, MODEL]], "none", (), "either", f"The other players {MAY_BE_SOME}."),
    (
        [[PERSON, PERSON, PERSON, PERSON]],
        "counts",
        ("agents",),
        "either",
        "The 3 other players are people taking part in this study, like you. If too few people come, computer "
        "programs take the free seats. Before the first move, you will see how many are people and how many are "
        "programs.",
    ),
    (
        [[PERSON, PERSON, PERSON]],
        "counts",
        ("fewer",),
        "told",
        "The 2 other players are people taking part in this study, like you. If too few people come, you play with "
        "fewer others.",
    ),
    (
        [[PERSON, PERSON, MODEL], [PERSON, MODEL, MODEL]],
        "counts",
        (),
        "either",
        f"The other players {MAY_BE_SOME}. Before the first move, you will see how many are people and how many are "
        "programs.",
    ),
]


@pytest.mark.parametrize(("lineups", "discloses", "lobby_after", "told", "words"), OTHERS)
def test_disclosure_is_accurate_for_every_line_up(lineups, discloses, lobby_after, told, words):
    seats = [dict(enumerate(lineup)) for lineup in lineups]
    disclosure = disclosure_of(seats, discloses=discloses, lobby_after=lobby_after)
    assert (disclosure.get("told"), disclosure.get("words")) == (told, words)


def page(client, person) -> str:
    return client.get(f"/p/{person.token}/").content.decode()


@pytest.mark.django_db
def test_disclosure_is_shown_with_a_custom_consent_text(client):
    words = "The other player is a computer program, possibly a language model."
    default_study, custom_study = building.new_study(), building.new_study(slug="own", consent="Please agree.")
    assert page(client, building.arrive(default_study, worker="A1")).count(words) == 1
    html = page(client, building.arrive(custom_study, worker="A2"))
    assert html.count(words) == 1 and "Who you play with" in html


@pytest.mark.django_db
def test_dataset_records_what_each_participant_was_told(tmp_path):
    study = building.new_study()
    person = building.complete(study, worker="A1")
    export(study, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    seats = {row["role"]: row for row in csv.DictReader((tmp_path / "d" / "seats.csv").open(newline=""))}
    consented_at = next(visit.answered_at for visit in person.visits if visit.kind == "consent")
    assert seats["alice"]["told_of_players"] == "told"
    assert seats["alice"]["told_words"] == "The other player is a computer program, possibly a language model."
    assert seats["alice"]["told_at"].startswith(f"{consented_at:%Y-%m-%dT%H:%M:%S}")
    assert (seats["bob"]["told_of_players"], seats["bob"]["told_words"], seats["bob"]["told_at"]) == ("", "", "")
    (match,) = csv.DictReader((tmp_path / "d" / "matches.csv").open(newline=""))
    assert (match["disclosure"], match["told_of_players"]) == ("counts", "told")


@pytest.mark.django_db
def test_last_page_discloses_what_was_withheld(client):
    study = building.new_study(others="none")
    player = building.complete(study, worker="A1")
    assert "The other player" not in str(player.steps[0])
    last_page = page(client, player)
    assert HEADING in last_page and "You played with a computer program with fixed rules." in last_page
    leaver = building.arrive(study, worker="A2")
    building.people.withdraw(enrolment_id=leaver.pk)
    assert HEADING not in page(client, leaver)


@pytest.mark.django_db
def test_informed_participants_get_no_later_disclosure(client):
    player = building.complete(building.new_study(), worker="A1")
    assert late_disclosure(player) == [] and HEADING not in page(client, player)


@pytest.mark.django_db
@pytest.mark.parametrize("game", registry.keys())
def test_debriefing_names_the_undisclosed_players_of_every_game(game):
    """Models and scripts are named whatever the game; a game for one player has nothing to add."""
    roles = list(registry.get(game)(registry.get(game).Config()).roles())
    study = building.new_study(others="none")
    person = building.arrive(study, worker="A1")
    match = Match.objects.create(game=game, config={}, seed=1, purpose="study", rules_version=1)
    Seat.objects.create(match=match, role=roles[0], enrolment=person, step=2)
    for role, agent in zip(roles[1:], cycle(["openai:m", SCRIPT])):
        Seat.objects.create(match=match, role=role, agent=agent)
    disclosure = " ".join(late_disclosure(person))
    assert ("language model" in disclosure) == (len(roles) > 1) and ("fixed rules" in disclosure) == (len(roles) > 2)
    assert bool(disclosure) == (len(roles) > 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("contact", "asked"), [("", "the people who invited you"), ("lab@example.org", "lab@example.org")]
)
def test_default_debriefing_says_whom_to_ask(client, contact, asked):
    player = building.complete(building.new_study(debriefing="default", contact=contact), worker="A1")
    assert f"please write to {asked}." in page(client, player)


AGENTS = [SCRIPT, "vllm:model"]


def sit_down(version, cell, role: str) -> Enrolment:
    """Return a participant of this cell who does not have to wait for others."""
    steps = [step for step in steps_of(version, cell, role) if step["kind"] != "lobby"]
    person = Enrolment.objects.create(steps=steps, expires_at=expiry_after(60), seed=3, code_word="zebra")
    Placement.objects.create(enrolment=person, version=version, cell=cell, role=role)
    return person


def walk_to_match(client, person) -> str:
    """Take the participant to the match; return the pages on the way, and the page for leaving."""
    pages = ""
    for answer in ({"agree": "yes"}, {"name": "Robin"}, {"code_word": person.code_word}):
        pages += page(client, person) + client.get(f"/p/{person.token}/leave/").content.decode()
        building.answer(person, **answer)
    person.refresh_from_db()
    return pages.replace(person.token, "TOKEN")


def pages_of(client, version, cell) -> tuple[str, str]:
    """Return what alice sees before a match with this cell's bob, and on the last page before the disclosure."""
    alice = sit_down(version, cell, "alice")
    if cell.group_size > 1:
        position = next(number for number, step in enumerate(alice.steps) if step["kind"] == "match")
        seated = {"alice": alice, "bob": sit_down(version, cell, "bob")}
        players = {role: Player(enrolment=person, step=position) for role, person in seated.items()}
        step = {name: alice.steps[position][name] for name in ("game", "config", "texts", "timers")}
        open_match(players=players, seed=1, **step)
    before = walk_to_match(client, alice)
    match = building.match_of(alice)
    building.move(match, "alice", building.FAIR)
    match.refresh_from_db()
    building.move(match, "bob", script_move(match.play(), "bob", "fair"))
    building.answer_quiz(alice)
    alice.refresh_from_db()
    last_page = page(client, alice).replace(alice.token, "TOKEN")
    assert HEADING in last_page
    return before, re.sub(r'<output id="code".*?</output>', "", last_page.partition(HEADING)[0])


@pytest.mark.django_db
def test_pages_around_a_blind_match_are_alike(client):
    """Consent, name, instructions, leaving and the last page up to the disclosure, for a person, script and model."""
    bobs = ("person", SCRIPT, "vllm:model")
    lineups = kit.lineups(**{f"with_{number}": {"alice": "person", "bob": bob} for number, bob in enumerate(bobs)})
    study = building.new_study(others="none", agents=AGENTS, **lineups)
    version = study.latest_version()
    seen = [pages_of(client, version, cell) for cell in version.cells.order_by("number")]
    assert len(seen) == 3
    assert "The other player may be a person" in seen[0][0] and "Only you will see it" in seen[0][0]
    for before, last_page in seen[1:]:
        assert (before, last_page) == seen[0]
