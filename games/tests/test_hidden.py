"""Hidden information in the published tables' configurations (384 + 576 + 360).

Usual runs check one configuration of 47; runs with the slow tests check all.
"""

from __future__ import annotations

import pytest

from conftest import slow_except
from games import contract, registry
from games.contract import seen
from games.examples import Case, examples_of
from games.grids import table
from games.play import configure, start

PARTS = 47
"""47 divides no parameter's number of values, so every part of a table takes them in turn."""


def cases(key: str, part: int) -> list[Case]:
    configs = table(key, "glee")[part::PARTS]
    return [Case(registry.get(key), config, seed, examples_of(key), moments=2) for seed, config in enumerate(configs)]


@pytest.mark.parametrize("part", slow_except(range(PARTS), [0]))
@pytest.mark.parametrize("key", ["bargaining", "negotiation", "persuasion"])
def test_no_role_sees_a_secret_parameter(key, part):
    for case in cases(key, part):
        contract.secret_parameters_stay_secret(case)


@pytest.mark.parametrize("part", slow_except(range(PARTS), [0]))
def test_no_buyer_sees_an_unrevealed_quality(part):
    for case in cases("persuasion", part):
        contract.hidden_draws_stay_hidden(case)


@pytest.mark.parametrize(
    ("key", "of_the_other"),
    [
        ("bargaining", {"alice": {"delta_bob"}, "bob": {"delta_alice"}}),
        ("negotiation", {"alice": {"buyer_factor"}, "bob": {"seller_factor"}}),
        ("persuasion", {"alice": {"high_value", "low_value"}, "bob": set()}),
    ],
)
def test_the_others_value_is_secret_only_under_incomplete_information(key, of_the_other):
    known, hidden = (configure(registry.get(key), {"complete_information": complete}) for complete in (True, False))
    for role, values in of_the_other.items():
        assert (known.secrets(role), hidden.secrets(role)) == ({"cap"}, {"cap", *values})


def test_comparison_can_fail():
    """Under complete information, a role sees the other's parameter."""
    config = {"complete_information": True}
    game = configure(registry.get("bargaining"), config)
    shadow = configure(registry.get("bargaining"), {**config, "delta_bob": 0.8})
    assert seen(start(game, 1)[0], "alice") != seen(start(shadow, 1)[0], "alice")
