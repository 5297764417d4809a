"""What pages say about the other players, by what the study discloses."""

from __future__ import annotations

import pytest

from games import registry
from games.play import configure, start
from matches.disclosing import Disclosure
from opponents.agents import Agent

AGENT = Agent(spec="script:rational")
REPLACED = {"agent": AGENT.frozen()}


def disclosure(told: str, *agents: str, players: int = 4, **fields) -> Disclosure:
    """Return a contest's disclosure in which these seats are played by agents."""
    game = configure(registry.get("beauty_contest"), {"players": players})
    return Disclosure(game, told=told, seated=dict.fromkeys(agents, AGENT), **fields)


@pytest.mark.parametrize(
    ("told", "agents", "line"),
    [
        ("none", ("p4",), ""),
        ("counts", (), "You play with 3 other people."),
        ("counts", ("p4",), "You play with 2 other people and a computer program."),
        ("counts", ("p2", "p3", "p4"), "You play with 3 computer programs."),
        ("seats", ("p4",), "Player 2 and Player 3 are people; Player 4 is a computer program."),
        ("seats", ("p2", "p3", "p4"), "You play with 3 computer programs."),
    ],
)
def test_others_are_described_as_the_study_discloses(told, agents, line):
    assert disclosure(told, *agents).others("p1") == line


def test_filled_seats_are_explained():
    line = "You play with another person and 2 computer programs. Too few people came, so programs play in the 2 free"
    assert disclosure("counts", "p3", "p4", filling_in=("p3", "p4")).others("p1").startswith(line)


@pytest.mark.parametrize(
    ("told", "agents", "takeover"),
    [
        ("counts", ("p4",), "2 computer programs. One of these programs plays for a person who stopped playing."),
        ("counts", (), "a computer program. Player 2 plays for a person who stopped playing."),
        ("seats", ("p4",), "Player 2 plays for a person who stopped playing."),
    ],
)
def test_the_line_follows_a_takeover_until_the_participant_is_back(told, agents, takeover):
    before = disclosure(told, *agents)
    after = disclosure(told, *agents, absences={"p2": REPLACED})
    assert after.others("p1").endswith(takeover) and takeover not in before.others("p1")
    assert disclosure(told, *agents, absences={"p2": {"used": 3}}).others("p1") == before.others("p1")
    assert "stopped" not in after.others("p2"), "one's own seat is none of the others"


@pytest.mark.parametrize(
    ("told", "agents", "shows"),
    [
        ("none", ("p4",), False),
        ("none", (), False),
        ("counts", ("p4",), False),
        ("counts", (), True),
        ("counts", ("p2", "p3", "p4"), True),
        ("seats", ("p4",), True),
        ("", ("p4",), True),
    ],
)
def test_pages_show_which_seat_an_agent_plays_only_if_it_is_known(told, agents, shows):
    shown = disclosure(told, *agents, absences={"p3": REPLACED})
    assert shown.shows_seats == shows
    assert shown.note("p3") == ("program" if shows else "")


def test_absent_participants_are_named_only_if_seats_are_known():
    lost = {"p2": 100, "p3": 20}
    assert [(line.text, line.time) for line in disclosure("seats", "p4").absent(lost, {})] == [
        ("Player 2 has lost the connection.", "1:40"),
        ("Player 3 has lost the connection.", "0:20"),
    ]
    (line,) = disclosure("counts", "p4").absent(lost, {})
    assert (line.text, line.seconds) == ("2 others have lost the connection.", 100)
    assert disclosure("none").absent(lost, {}) == disclosure("counts").absent({}, {}) == ()


def test_one_limit_holds_for_everybody_where_seats_are_hidden():
    play, _events = start(disclosure("none").game, 1)
    text = disclosure("none", longest_answer=301).awaited(play)
    assert text == (
        "Waiting for Player 1, Player 2, Player 3 and Player 4. An answer takes at most 6 minutes; after that, the "
        "game goes on without it or ends. This page updates automatically."
    )
    assert "at most" not in disclosure("seats", longest_answer=301).awaited(play)
