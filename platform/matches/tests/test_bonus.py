"""What pages show of the bonus during a match: in every game, at all times, and as the pay rule has it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from games import registry
from games.examples import Case
from games.play import Play
from games.tests.ours import OURS
from matches import bonus
from matches.screens import render_screen
from plans.pay import PayRule, shown_bonus

RULES = {
    rule: PayRule(rule=rule, announced_average=Decimal("3.10"), rate=Decimal("0.01"), cap=Decimal(5)).model_dump_json()
    for rule in ("share", "linear", "fixed")
}
KNOWN_AT_THE_END = {"duopoly": {"linear", "fixed"}}
"""In which games the rule decides whether a page may show the bonus of the result."""


def moments(key: str) -> list[Play]:
    walk = Case(registry.get(key), registry.get(key).starting_config, 3).walk()
    steps = [moment.after for moment in walk.moments]
    return [walk.opening, *steps[:6], *steps[:: max(1, len(steps) // 12)], steps[-1]]


@pytest.mark.parametrize("key", OURS)
def test_every_game_shows_the_bonus_so_far_or_says_what_it_depends_on(key):
    for play in moments(key):
        for rule in RULES.values():
            for role in play.game.roles():
                shown, _promises = bonus.shown(play, role, rule)
                assert shown is not None and all(promise.words and promise.amount for promise in shown.amounts)
                assert len(shown.amounts) == 2 or (shown.amounts[0].words != "At the end") or shown.why
                html = render_screen(play, role, pay=rule)
                assert html.count('class="bonus-now"') == 1 and shown.amounts[0].amount in html


@pytest.mark.parametrize("key", OURS)
def test_a_result_shows_the_bonus_that_is_paid(key):
    play = moments(key)[-1]
    assert play.finished
    for name, rule in RULES.items():
        for role in play.game.roles():
            payoff, share = play.payoffs()[role], play.game.pay_share(play.state, role)
            paid = "$3.10" if name == "fixed" else shown_bonus(rule, payoff, share)
            (promise,) = bonus.shown(play, role, rule)[0].amounts
            if name in KNOWN_AT_THE_END.get(key, {name}):
                assert promise.amount == ("none" if paid == "$0.00" else paid)


def test_nothing_is_shown_without_a_rule_and_the_note_is_shown_with_it():
    play = moments("bargaining")[0]
    assert "bonus" not in render_screen(play, "alice").replace("data-bonus", "")
    assert "One of your games counts." in render_screen(
        play, "alice", pay=RULES["share"], pay_note="One of your games counts."
    )


def test_practice_counts_for_nothing():
    play = Case(registry.get("procurement"), registry.get("procurement").starting_config, 3).walk().opening
    assert "practice does not count" in bonus.shown(play, "agent", RULES["share"])[0].why
