"""Every page shows the same forecast of what a study costs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from exports.tests import building
from opponents.agents import agents_from_specs
from opponents.models import Call
from studies.costs import costs_of
from studies.models import Study

pytestmark = pytest.mark.django_db


def study(**fields):
    """Launch a study that pays $1.00 and $2.00 on average, at most $4.00."""
    pay = {"base": Decimal(1), "announced_average": Decimal(2), "cap": Decimal(10)}
    return building.new_study(**{"entry": "prolific", "quota": 10, **pay, **fields})


def test_expected_and_highest_cost_include_the_recruiters_fee():
    costs = costs_of(study())
    places = costs.places
    assert places % 10 == 0
    expected, highest = places * Decimal(3), places * Decimal(5)
    assert (costs.pay(costs.bonus), costs.pay(costs.highest_bonus)) == (expected, highest)
    assert costs.expected == expected + places * (Decimal("0.33") + Decimal("0.67"))
    assert costs.at_most == highest + places * (Decimal("0.33") + Decimal("1.33"))
    assert "assumed, without taxes" in " ".join(costs.notes)


@pytest.mark.parametrize(
    ("rule", "highest"), [({"pay_rule": "fixed"}, 2), ({"pay_rule": "linear", "rate": 1}, 10), ({"cap": Decimal(3)}, 3)]
)
def test_highest_bonus_follows_the_pay_rule(rule, highest):
    assert costs_of(study(**rule)).highest_bonus == highest


@pytest.mark.parametrize(
    ("entry", "currency", "text"),
    [
        ("prolific", "GBP", "states a minimum of £6.00 per hour"),
        ("prolific", "EUR", "Prolific states no minimum pay in this currency"),
        ("mturk", "USD", "Mechanical Turk states no minimum pay"),
        ("panel", "USD", "The panel's own fee is not included"),
        ("open", "USD", "Participants who end early"),
    ],
)
def test_terms_of_each_recruiter_are_stated(entry, currency, text):
    costs = costs_of(study(entry=entry, currency=currency))
    assert text in f"{costs.minimum_note} {' '.join(costs.notes)}"


def test_pay_below_the_recruiters_minimum_is_warned_of():
    low = costs_of(study(announced_average=Decimal("0.01"), base=Decimal("0.05")))
    assert "at least $8.00 per hour. This study pays $" in low.warnings[0]
    rewarding = costs_of(study(slug="other", announced_average=Decimal(50), cap=Decimal(100), base=Decimal("0.05")))
    assert "not counting bonuses" in rewarding.warnings[0]
    assert costs_of(study(slug="third", base=Decimal(50))).warnings == []


def test_model_calls_cost_what_earlier_matches_cost_and_have_a_limit():
    agents = agents_from_specs("openai:gpt-4o-mini", settings={"cap_study": 9.0})
    launched = study(agents=agents)
    estimated = costs_of(launched)
    assert estimated.models and not estimated.measured and estimated.models_limit == 9
    for number in (1, 2):
        match = {"match_uid": f"{number:032}", "role": "bob", "answering": 1, "record": {}}
        Call.objects.create(**match, cost=Decimal("0.25"), budget_of=f"study:{launched.slug}")
    measured = costs_of(launched)
    assert measured.measured and measured.models == Decimal("0.25") * 10 * len(launched.latest_version().cells.all())


def test_limit_that_allows_no_call_is_warned_of():
    agents = agents_from_specs("openai:gpt-5", settings={"cap_match": 0.05, "cap_study": 5.0})
    (warning,) = costs_of(study(entry="open", agents=agents)).warnings
    assert "One call of openai:gpt-5 can cost up to $0.16" in warning and "limit of $0.05" in warning
    short = agents_from_specs("openai:gpt-5", settings={"cap_match": 0.05, "cap_study": 5.0, "max_tokens": 500})
    assert costs_of(study(entry="open", slug="short", agents=short)).warnings == []


def test_launching_says_what_it_will_cost(client):
    agents = agents_from_specs("script:fair")
    draft = Study.objects.create(title="Draft", slug="draft", game="bargaining", roles=["alice"], agents=agents)
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("admin:studies_study_change", args=[draft.pk])).content.decode()
    assert f"can enter with the link. {costs_of(draft).total_sentence}" in page


def test_every_page_shows_the_same_figures(client):
    launched = study()
    client.force_login(User.objects.create_superuser("boss"))
    pages = [
        client.get(reverse("admin:studies_study_change", args=[launched.pk])),
        client.get(reverse("paydesk:page", args=[launched.pk])),
    ]
    for title, expected, at_most in costs_of(launched).rows:
        for page in pages:
            row = f'>{title}</td><td class="number">{expected}</td><td class="number">{at_most}</td>'
            assert row in page.content.decode()
