"""Amounts as players read them: at most two decimals, unless these would show nothing."""

from __future__ import annotations

import pytest

from games.words import money, plain_points


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.8917, "0.89"), (22.22222222, "22.22"), (12.5, "12.5"), (10_000, "10,000"), (0, "0"), (-0.001, "-0.001"),
     (0.00428571, "0.004286"), (2e15, "2e+15")],
)  # fmt: skip
def test_points_have_two_decimals_unless_these_would_show_nothing(amount, shown):
    assert plain_points(amount) == shown


@pytest.mark.parametrize(("amount", "shown"), [(0.5, "$0.50"), (-3, "-$3"), (22.22222222, "$22.22")])
def test_money_has_two_decimals_or_none(amount, shown):
    assert money(amount) == shown
