"""Every page shows the same forecast of what a study costs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse

from opponents.models import Call
from plans.starting import plan_for
from studies.costs import costs_of, costs_of_document, shown_forecast
from studies.tests import kit
from studies.tests.kit import launched, new_study

pytestmark = pytest.mark.django_db
MINI = {"endpoint": "openai", "model": "gpt-4o-mini"}


def plan(*, slug="study", via="prolific", base="1.00", currency="USD", agents=None, **bonus):
    """Return a plan that pays $1.00 and $2.00 on average, at most $4.00, in two cells of ten participants."""
    return plan_for(
        "bargaining",
        config={},
        cells={"quota": 10},
        agents=agents or {"fair": {"script": "fair"}},
        pay={"base": base, "currency": currency, "bonus": {"average": "2.00", **bonus}},
        entry={"via": via},
    )


def costs(slug="study", **parts):
    return costs_of_document(plan(**parts), slug=slug)


def test_expected_and_highest_cost_include_the_recruiters_fee():
    figures = costs()
    assert figures.places == 20
    expected, highest = Decimal(60), Decimal(100)
    fees = figures.fee(figures.bonus), figures.fee(figures.highest_bonus)
    assert (figures.expected - fees[0], figures.at_most - fees[1]) == (expected, highest)
    assert figures.expected == expected + 20 * (Decimal("0.33") + Decimal("0.67"))
    assert figures.at_most == highest + 20 * (Decimal("0.33") + Decimal("1.33"))
    assert "assumed, without taxes" in " ".join(figures.notes)


@pytest.mark.parametrize(
    ("rule", "highest"), [({"rule": "fixed"}, 2), ({"rule": "linear", "rate": "1"}, 10), ({"cap": "3.00"}, 3)]
)
def test_highest_bonus_follows_the_pay_rule(rule, highest):
    assert costs(**rule).highest_bonus == highest


@pytest.mark.parametrize(
    ("via", "currency", "text"),
    [
        ("prolific", "GBP", "minimum of £6.00 per hour"),
        ("prolific", "EUR", "minimum pay in this currency"),
        ("mturk", "USD", "Turk states no minimum pay"),
        ("panel", "USD", "own fee is not included"),
        ("open", "USD", "Participants who end early"),
    ],
)
def test_terms_of_each_recruiter_are_stated(via, currency, text):
    figures = costs(via=via, currency=currency)
    assert text in f"{figures.minimum_note} {' '.join(figures.notes)}"


def test_pay_below_the_recruiters_minimum_is_warned_of():
    assert "at least $8.00 per hour" in costs(average="0.01", base="0.05").warnings[0]
    assert "not counting bonuses" in costs(average="50.00", cap="100.00", base="0.05").warnings[0]
    assert costs(base="50.00").warnings == []


def test_cell_that_pays_less_than_the_minimum_is_warned_of():
    base = {"by": "stakes", "values": {"low": "0.05", "high": "90.00"}}
    document = plan(base=base) | {"factors": {"stakes": {"levels": ["low", "high"]}, **plan()["factors"]}}
    figures = costs_of_document(document, slug="study")
    assert figures.base == Decimal("45.025")
    assert "Without them, this study pays $" in figures.warnings[0]


def test_model_calls_cost_what_earlier_matches_cost_and_have_a_limit():
    agents = {"mini": {**MINI, "cap_study": 9.0}}
    estimated = costs(agents=agents)
    assert estimated.models and not estimated.measured and estimated.models_limit == 9
    for number in (1, 2):
        match = {"match_uid": f"{number:032}", "role": "bob", "answering": 1, "record": {}}
        Call.objects.create(**match, cost=Decimal("0.25"), budget_of="study:study")
    measured = costs(agents=agents)
    assert measured.measured and measured.models == Decimal("0.25") * 20


def test_limit_that_allows_no_call_is_warned_of():
    agent = {"endpoint": "openai", "model": "gpt-5", "cap_match": 0.05, "cap_study": 5.0}
    (warning,) = costs(via="open", agents={"five": agent}).warnings
    assert "openai:gpt-5 can cost up to $0.16" in warning and "limit of $0.05" in warning
    assert costs(via="open", agents={"five": {**agent, "max_tokens": 500}}).warnings == []


def test_editor_gets_every_cell_with_its_pay_and_the_totals():
    shown = shown_forecast(plan(), slug="study")
    assert [(cell["quota"], cell["pay"]) for cell in shown["cells"]] == [(10, "$3.00")] * 2
    assert shown["rows"] == costs().rows


def test_launching_says_what_it_will_cost(client):
    draft = new_study("draft", game="bargaining")
    kit.administrator(client)
    page = client.get(reverse("admin:studies_study_change", args=[draft.pk])).content.decode()
    assert costs_of(draft).total_sentence in page


def test_every_page_shows_the_same_figures(client):
    study = launched("study", game="bargaining", quota=10, via="prolific")
    kit.administrator(client)
    pages = [
        client.get(reverse("admin:studies_study_change", args=[study.pk])),
        client.get(reverse("paydesk:page", args=[study.pk])),
    ]
    for title, expected, at_most in costs_of(study).rows:
        for page in pages:
            row = f'>{title}</td><td class="number">{expected}</td><td class="number">{at_most}</td>'
            assert row in page.content.decode()
