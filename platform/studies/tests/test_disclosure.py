"""What participants are told about the other players, where it is recorded, and the disclosure on the last page."""

from __future__ import annotations

import csv
from itertools import cycle

import pytest

from exports.dataset import export
from exports.tests import building
from exports.verify import verify
from games import registry
from matches.models import Match, Seat
from opponents.agents import PERSON
from studies.disclosure import disclosure_of, late_disclosure

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
    consented_at = person.visits.get(kind="consent").answered_at
    assert seats["alice"]["told_of_players"] == "told"
    assert seats["alice"]["told_words"] == "The other player is a computer program, possibly a language model."
    assert seats["alice"]["told_at"].startswith(f"{consented_at:%Y-%m-%dT%H:%M:%S}")
    assert (seats["bob"]["told_of_players"], seats["bob"]["told_words"], seats["bob"]["told_at"]) == ("", "", "")
    (match,) = csv.DictReader((tmp_path / "d" / "matches.csv").open(newline=""))
    assert (match["disclosure"], match["told_of_players"]) == ("counts", "told")


@pytest.mark.django_db
def test_last_page_discloses_what_was_withheld(client):
    study = building.new_study(discloses="none")
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
    study = building.new_study(discloses="none")
    person = building.arrive(study, worker="A1")
    match = Match.objects.create(game=game, config={}, seed=1, purpose="study", rules_version=1)
    Seat.objects.create(match=match, role=roles[0], enrolment=person, step=2)
    for role, agent in zip(roles[1:], cycle(["openai:m", SCRIPT])):
        Seat.objects.create(match=match, role=role, agent=agent)
    disclosure = " ".join(late_disclosure(person))
    assert ("language model" in disclosure) == (len(roles) > 1) and ("fixed rules" in disclosure) == (len(roles) > 2)
    assert bool(disclosure) == (len(roles) > 1)
