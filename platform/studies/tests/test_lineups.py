"""Line-ups: who takes which seat, crossed with everything else a study varies."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from games import registry
from games.play import configure
from opponents.agents import (
    PERSON,
    Agent,
    draw_lineup,
    label_problem,
    labels_in,
    parse_agents,
    people_in,
)
from studies import forecast as forecasting
from studies.cells import cell_titles
from studies.design import plan_cells
from studies.forecast import forecast
from studies.launching import launch
from studies.lineups import BadLineup, Lineup
from studies.models import Placement, Study
from studies.texts import default_consent
from tests.visitors import arrived_participant

AGENTS = {
    "calm": {"spec": "openai:gpt-4o-mini"},
    "judge": {"spec": "openai:gpt-4o-mini", "settings": {"persona": "You are a judge."}},
    "level 1": {"spec": "script:level_1"},
}


def draft_contest(**fields) -> Study:
    """Return a draft in which participants guess numbers in a group of five."""
    values = {"title": "Guessing", "slug": "guessing", "game": "beauty_contest", "agents": AGENTS, "quota": 2}
    return Study(**{**values, "config": {"players": 5}, "via": "codes", **fields})


def lineup(name: str = "", weight: int = 1, **seats) -> dict:
    return {
        "name": name,
        "weight": weight,
        "seats": {"*" if seat == "others" else seat: player for seat, player in seats.items()},
    }


# ---- what is played --------------------------------------------------------------------------------------


def test_one_participant_among_four_scripts():
    (cell,) = plan_cells(draft_contest(lineups=[lineup(p1="person", others="level 1")]))
    assert cell.seats == {"p1": "person", "p2": "level 1", "p3": "level 1", "p4": "level 1", "p5": "level 1"}
    assert (cell.people, cell.role, cell.quota) == (["p1"], "p1", 2)


def test_line_ups_are_crossed_with_the_grid_and_weighted():
    study = draft_contest(
        grid={"players": [3, 5]},
        lineups=[
            lineup("alone", p1="person", others="level 1"),
            lineup("pair", 3, p1="person", p2="person", others="calm"),
        ],
    )
    cells = [(cell.config["players"], cell.lineup, len(cell.people), cell.quota) for cell in plan_cells(study)]
    assert cells == [(3, "alone", 1, 2), (3, "pair", 2, 6), (5, "alone", 1, 2), (5, "pair", 2, 6)]


def test_default_line_ups_pair_each_role_with_each_agent():
    study = Study(
        title="S",
        slug="s",
        game="bargaining",
        agents=[],
        roles=["alice", "bob"],
    )
    assert [(cell.role, cell.lineup) for cell in plan_cells(study)] == [
        ("alice", "script:fair"),
        ("alice", "openai:m"),
        ("bob", "script:fair"),
        ("bob", "openai:m"),
    ]


@pytest.mark.django_db
def test_equivalent_seats_are_offered_once():
    study = draft_contest(agents={}, lineups=[])
    study.full_clean()
    assert study.roles == ["p1"]
    assert list(study.agents) == [f"script:{registry.get('beauty_contest').default_script}"]


@given(
    st.lists(st.sampled_from(["person", "calm", "level 1", ["calm", "judge"], None]), min_size=5, max_size=5),
    st.booleans(),
)
def test_line_up_with_an_empty_seat_is_refused(players, has_rest):
    seats = {f"p{number}": player for number, player in enumerate(players, start=1) if player is not None}
    parsed = Lineup(seats={**seats, **({"*": "level 1"} if has_rest or not seats else {})})
    game = configure(registry.get("beauty_contest"), {"players": 5})
    has_unfilled = len(seats) < 5 and "*" not in parsed.seats
    if has_unfilled or PERSON not in seats.values():
        with pytest.raises(BadLineup):
            parsed.fitted(game)
        return
    fitted = parsed.fitted(game)
    assert tuple(fitted) == game.roles()
    assert all(fitted[role] == player for role, player in seats.items())
    assert len(people_in(fitted)) == list(seats.values()).count(PERSON)


# ---- drawing ---------------------------------------------------------------------------------------------


def test_agent_list_is_drawn_by_match_and_seat():
    seats = {"p1": "person", "p2": ["calm", "judge"], "p3": ["calm", "judge"], "p4": "level 1"}
    draws = [draw_lineup(seats, seed) for seed in range(400)]
    assert draws == [draw_lineup(seats, seed) for seed in range(400)]
    assert {tuple(sorted(draw)) for draw in draws} == {("p2", "p3", "p4")}
    assert 150 < Counter(draw["p2"] for draw in draws)["calm"] < 250
    assert 150 < sum(draw["p2"] == draw["p3"] for draw in draws) < 250, "seats are drawn independently"


# ---- agents ----------------------------------------------------------------------------------------------


def test_agent_hash_covers_all_behaviour():
    agents = parse_agents(AGENTS)
    hashes = {agent.hash for agent in agents.values()}
    assert len(hashes) == 3 and all(len(digest) == 12 for digest in hashes)
    calm = agents["calm"]
    assert Agent.model_validate(calm.frozen()).hash == calm.hash
    assert Agent(spec=calm.spec, delay=1).hash != calm.hash
    assert Agent(spec="script:fair", settings={"persona": "x"}).hash == Agent(spec="script:fair").hash


@pytest.mark.parametrize("label", ["", "person", "Human", " a", "a,b", "*", "a\n", "<b>", "x" * 201])
def test_invalid_agent_names(label):
    assert label_problem(label)


@pytest.mark.parametrize("label", ["gpt 4o", "openai:gpt-4o-mini", "together:meta-llama/Llama-3.1", "Richterin Ä"])
def test_valid_agent_names(label):
    assert not label_problem(label)


# ---- what is refused -------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lineups", "message"),
    [
        ([lineup(p1="person")], "these seats are empty: p2, p3, p4, p5"),
        ([lineup(p1="person", p9="calm", others="calm")], "there is no seat p9"),
        ([lineup(p1="person", others="nobody")], "there is no agent “nobody”"),
        ([lineup(p1="person", p2=["calm", "nobody"], others="calm")], "there is no agent “nobody”"),
        ([lineup(others="calm")], "no seat is for a participant"),
        ([lineup(p1="person", others=[])], "Line-up 1"),
        ([lineup(p1=["person", "calm"], others="calm")], "not both"),
        ([lineup("a", p1="person", others="calm"), lineup("a", p1="person", others="judge")], "has the same name"),
        ([lineup(weight=0, p1="person", others="calm")], "weight"),
        ([{"seats": {"p1": "person", "*": "calm"}, "colour": "red"}], "colour"),
        (["p1"], "Line-up 1"),
    ],
)
def test_unplayable_line_up_is_refused_at_its_field(lineups, message):
    with pytest.raises(ValidationError) as error:
        draft_contest(lineups=lineups).full_clean()
    assert list(error.value.message_dict) == ["lineups"]
    assert message in error.value.message_dict["lineups"][0]


@pytest.mark.django_db
@pytest.mark.parametrize("agents", [[], {"x": {}}, {"x": "script:level_1"}, {"person": {"spec": "script:level_1"}}])
def test_invalid_agents_are_refused_at_their_field(agents):
    with pytest.raises(ValidationError) as error:
        draft_contest(agents=agents, lineups=[lineup(p1="person", others="x")]).full_clean()
    assert "agents" in error.value.message_dict or "lineups" in error.value.message_dict


# ---- launched --------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_groups_fill_seat_by_seat_and_count_as_matches():
    study = draft_contest(lineups=[lineup("pair", p1="person", p2="person", others="level 1")])
    study.save()
    version = launch(study)
    study.refresh_from_db()
    (cell,) = version.cells.all()
    assert (cell.quota, cell.group_size, cell.places, cell.role) == (2, 2, 4, "")
    assert cell_titles(version.pk, version.sha256) == {1: "2 participants · pair"}
    people = [arrived_participant(study, f"worker {number}") for number in range(4)]
    assert Counter(Placement.objects.values_list("role", flat=True)) == {"p1": 2, "p2": 2}
    assert {step["kind"] for step in people[0].steps} >= {"lobby", "match"}
    assert labels_in(people[0].steps[-1].get("seats", cell.seats)) == ["level 1"]


# ---- disclosure ------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seats", "message"),
    [
        ({"p1": "person", "others": "calm"}, "The 4 other players are computer programs"),
        ({"others": "person"}, "The 4 other players are people taking part in this study, like you."),
        (
            {"p1": "person", "p2": "person", "others": "calm"},
            "The other players are one person taking part in this study, like you, and 3 computer programs, possibly",
        ),
    ],
)
def test_consent_text_describes_the_others_truthfully(seats, message):
    assert message in default_consent(draft_contest(lineups=[lineup(**seats)]))


@pytest.mark.django_db
def test_forecast_counts_matches_participants_and_models():
    one_model = forecast(draft_contest(lineups=[lineup(p1="person", p2="calm", others="level 1")]))
    four_models = forecast(draft_contest(lineups=[lineup(p1="person", others="calm")]))
    two_people = forecast(draft_contest(lineups=[lineup(p1="person", p2="person", others="level 1")]))
    assert (one_model.matches, one_model.people, two_people.matches, two_people.people) == (2, 2, 2, 4)
    assert one_model.model_calls > 0 and four_models.model_calls == pytest.approx(4 * one_model.model_calls)
    assert four_models.model_cost == pytest.approx(4 * one_model.model_cost, rel=0.2)
    assert (two_people.model_calls, two_people.model_cost) == (0, 0)
    assert one_model.minutes < forecasting.SECONDS_PER_DECISION * one_model.decisions * 5 / 60 + 10
