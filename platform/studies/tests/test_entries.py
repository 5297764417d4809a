"""A parameter with controls of the game's own: a custom game in its grid, in studies and in collections."""

from __future__ import annotations

import json
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from collecting.models import Collection
from opponents.agents import agents_from_specs
from studies.models import Study
from tests.forms import form_data, new_form_data

pytestmark = pytest.mark.django_db
ADD_URL = "/admin/studies/study/add/?game=social_dilemma"
COLLECTION_ADD_URL = "/admin/collecting/collection/add/?game=social_dilemma"
GRID = {"0,0": (4, 4), "0,1": (0, 5), "1,0": (5, 0), "1,1": (1, 1)}


@pytest.fixture(autouse=True)
def boss(client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def grid_fields(points: dict, **controls: str) -> dict[str, str]:
    """Return the fields of the grid as a browser submits them."""
    values = {f"{key}/{seat}": str(value) for key, row in points.items() for seat, value in enumerate(row, start=1)}
    return {f"parameter_custom_game:{key}": value for key, value in {**values, **controls}.items()}


def grid_form(client, points: dict = GRID, **controls: str) -> dict:
    controls = {"seats": "2", "actions1": "2", "actions2": "2", **controls}
    study_fields = {
        "title": "Dilemma",
        "slug": "dilemma",
        "parameter_base_game": "custom",
        "parameter_mechanism": "none",
    }
    return new_form_data(client, ADD_URL, **study_fields, **grid_fields(points, **controls))


def test_grid_entries_become_part_of_the_study(client):
    reference_controls = {"cooperate1": "0", "cooperate2": "0", "nash": "1", "cooperative": "4"}
    data = grid_form(client, **reference_controls) | {"parameter_action_names": "Share\nKeep"}
    assert client.post(ADD_URL, data).status_code == 302
    study = Study.objects.get()
    custom = study.config["custom_game"]
    assert custom == {
        "actions": [2, 2],
        "payoffs": {key: list(row) for key, row in GRID.items()},
        "cooperate": [0, 0],
        "reference": {"nash": 1, "cooperative": 4},
    }
    assert study.config["action_names"] == ["Share", "Keep"]
    page = client.get(reverse("admin:studies_study_change", args=[study.pk]))
    assert "Points of player 2 where player 1 plays Share, player 2 plays Keep" in page.content.decode()
    assert client.post(page.request["PATH_INFO"], form_data(page, title="Again")).status_code == 302
    saved = Study.objects.get()
    assert (saved.title, saved.config) == ("Again", study.config)


def test_three_players_have_a_table_per_action_of_the_third(client):
    points = {f"{a},{b},{c}": (a, b, c) for a, b, c in product((0, 1), (0, 1, 2), (0, 1))}
    sizes = {"seats": "3", "actions1": "2", "actions2": "3", "actions3": "2"}
    assert client.post(ADD_URL, grid_form(client, points, **sizes)).status_code == 302
    custom = Study.objects.get().config["custom_game"]
    assert custom["actions"] == [2, 3, 2]
    assert custom["payoffs"]["1,2,0"] == [1, 2, 0]


@pytest.mark.parametrize(
    ("points", "controls", "message"),
    [
        ({**GRID, "1,0": (5, "")}, {}, "A1, A0: the points of player 2 are missing."),
        ({**GRID, "0,1": ("five", 5)}, {}, "A0, A1: “five” is not a number"),
        ({**GRID, "0,1": ("nan", 5)}, {}, "A0, A1: “nan” is not a number"),
        ({**GRID, "0,1": ("2000000", 5)}, {}, "A0, A1: “2000000” is not a number from -1,000,000 to 1,000,000"),
        (GRID, {"actions2": "3"}, "A0, A2: the points of player 1 are missing."),
        (GRID, {"cooperate1": "0"}, "the cooperative action of every player"),
        (GRID, {"cooperate1": "0", "cooperate2": "0", "other1": "0", "other2": "1"}, "Player 1: the cooperative"),
        (GRID, {"other1": "1", "other2": "1"}, "Choose a cooperative action as well"),
        (GRID, {"nash": "1"}, "both reference points"),
        (GRID, {"nash": "1", "cooperative": "1"}, "must differ"),
        ({}, {}, "Enter a value"),
    ],
)
def test_grid_errors_are_shown_at_the_field(client, points, controls, message):
    response = client.post(ADD_URL, grid_form(client, points, **controls))
    errors = response.context["adminform"].form.errors
    assert list(errors) == ["parameter_custom_game"]
    assert message in errors["parameter_custom_game"][0]
    assert not Study.objects.exists()
    if controls.get("actions2") == "3":
        assert 'name="parameter_custom_game:0,2/1"' in response.content.decode()


def test_grid_applies_only_to_custom_base_games(client):
    data = grid_form(client, {"0,0": ("half", "")}) | {"parameter_base_game": "stag_hunt"}
    assert client.post(ADD_URL, data).status_code == 302
    assert "custom_game" not in Study.objects.get().config


def test_larger_game_from_a_file_is_kept(client):
    payoffs = {",".join(map(str, profile)): [0, 1, 2, 3] for profile in product((0, 1), repeat=4)}
    config = {"base_game": "custom", "custom_game": {"actions": [2] * 4, "payoffs": payoffs}}
    assert client.post(ADD_URL, grid_form(client)).status_code == 302
    study = Study.objects.get()
    study.config = config
    study.save()
    page = client.get(reverse("admin:studies_study_change", args=[study.pk]))
    assert client.post(page.request["PATH_INFO"], form_data(page)).status_code == 302
    assert Study.objects.get().config["custom_game"] == config["custom_game"]


def test_equilibria_and_cooperation_are_shown_live(client):
    result = client.post(
        ADD_URL.replace("?", "live-preview/?"), grid_form(client, cooperate1="0", cooperate2="0")
    ).json()
    html = result["entries"]["parameter_custom_game"]
    assert "The only equilibrium in pure strategies: A1, A1 (1, 1)." in html
    assert "All cooperate: A0, A0 (4, 4)." in html
    assert "Player 1 would gain 1 by deviating alone to A1: a dilemma." in html
    assert "Everybody gets more there than in any other equilibrium." in html
    assert result["preview"]


def test_collection_form_has_the_same_grid(client):
    data = new_form_data(
        client,
        COLLECTION_ADD_URL,
        title="Custom",
        slug="custom",
        configurations_from="grid",
        several_base_game="stag_hunt, custom",
        agents=json.dumps(agents_from_specs("script:nash")),
        **grid_fields(GRID, seats="2", actions1="2", actions2="2"),
    )
    assert client.post(COLLECTION_ADD_URL, data).status_code == 302
    custom_games = {
        config["base_game"]: config["custom_game"] for config in Collection.objects.get().content["configurations"]
    }
    assert custom_games["stag_hunt"] is None
    assert custom_games["custom"]["payoffs"]["1,0"] == [5, 0]
    incomplete = data | {"slug": "other", "parameter_custom_game:1,1/1": ""}
    errors = client.post(COLLECTION_ADD_URL, incomplete).context["adminform"].form.errors
    assert "A1, A1: the points of player 1 are missing." in errors["parameter_custom_game"][0]
