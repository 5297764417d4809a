"""The ready-made plans: every file can be used, and says what the publication says."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from games import registry
from llm_agents.errors import AgentError
from plans.canonical import canonical
from plans.checking import check
from plans.files import dumps, loads
from plans.library import ready_made, with_seed
from plans.reading import Reader

STUDIES = ready_made("studies")
PEOPLE = {"glee-human-bargaining": 78, "glee-human-negotiation": 60, "glee-human-persuasion": 57}
TABLES = {"glee-table-bargaining": 384, "glee-table-negotiation": 576, "glee-table-persuasion": 360}


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_without_a_fault_and_described(name):
    study = STUDIES[name]
    checked = check(study.document)
    assert checked.cells and not checked.faults
    assert study.summary and study.source and study.title
    assert study.game in registry.keys()


@pytest.mark.parametrize("name", [name for name in STUDIES if not name.startswith("glee")])
def test_base_pay_is_six_dollars_an_hour_and_the_bonus_on_average_as_much(name):
    for cell in (reader := Reader(STUDIES[name].document)).cells:
        pay = reader.plan(cell.factors).pay
        assert pay.base == pay.bonus.average == pay.bonus.cap / 2


def test_only_glee_asks_after_play_and_the_others_before():
    for name, study in STUDIES.items():
        for cell in (reader := Reader(study.document)).cells[:1]:
            for game in reader.plan(cell.factors).games():
                assert (game.quiz, game.comprehension is None) == (name.startswith("glee"),) * 2, name


@pytest.mark.parametrize("name", PEOPLE | TABLES)
def test_glee_has_the_published_cells_and_pay(name):
    reader = Reader(STUDIES[name].document)
    assert len(reader.cells) == (PEOPLE | TABLES)[name]
    hours = Decimal(20 if "persuasion" in name else 10) / 60
    averages = set()
    for cell in reader.cells:
        plan = reader.plan(cell.factors)
        (game,) = plan.games()
        stake = next(game.config[key] for key in ("money", "scale", "price") if key in game.config)
        averages.add((plan.pay.bonus.average, stake))
        assert game.quiz and (plan.entry.participations, plan.entry.rest_hours) == (None, 12)
        assert plan.pay.base == round(6 * hours, 2)
        assert list(game.seats.values()).count("person") == 1
    assert averages == {(round(hourly * hours, 2), stake) for hourly, stake in [(3, 1e2), (6, 1e4), (9, 1e6)]}


def test_glee_resolves_and_validates_in_five_seconds():
    began = time.process_time()
    for name in PEOPLE | TABLES:
        assert not check(STUDIES[name].document).faults
    assert time.process_time() - began < 5


def test_auctions_with_people_sell_in_three_orders():
    reader = Reader(STUDIES["aucarena-human"].document)
    plans = [reader.plan(cell.factors) for cell in reader.cells]
    assert [plan.games()[0].config["order"] for plan in plans] == ["random", "ascending", "descending"]
    assert {cell.quota for cell in reader.cells} == {4}
    for label in ("first", "second"):
        settings = plans[0].agents[label].settings(plans[0].agents)
        assert (settings["strategy"], settings["temperature"], settings["script"]) == ("adaptive", 0, "withdraw")


def test_the_same_seed_draws_the_same_cells():
    drawn = [
        Reader(with_seed(STUDIES["glee-human-bargaining"].document, seed)).values["row"].values() for seed in (3, 4, 3)
    ]
    assert list(drawn[0]) == list(drawn[2]) != list(drawn[1])


def test_agents_take_the_places_of_models_and_are_asked_alike():
    study = STUDIES["aucarena-human"].document
    agents = STUDIES["aucarena-human"].adapted(["openai:a", "script:rule"])["agents"]
    assert agents["first"] == {**study["agents"]["first"], "model": "a"}
    assert agents["second"] == {"script": "rule"}
    assert not check(STUDIES["aucarena-human"].adapted(["script:rule"])).faults
    with pytest.raises(AgentError):
        STUDIES["aucarena-human"].adapted(["script:nobody"])


@pytest.mark.parametrize("name", STUDIES)
def test_file_and_document_are_the_same_in_canonical_form(name):
    document = canonical(STUDIES[name].document)
    assert canonical(loads(dumps(document))) == document
