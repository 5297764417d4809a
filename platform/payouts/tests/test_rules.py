"""Amounts owed: the formulas of the specification, exact to the cent, each amount once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import IntegrityError, transaction
from hypothesis import example, given
from hypothesis import strategies as st

from games import registry
from games.play import configure
from participants.models import Enrolment
from participants.signals import enrolment_ended
from participants.states import ENDINGS, State
from payouts.models import LedgerRow
from payouts.services import record_due
from plans.pay import CAN_PAY, ENDINGS_PAY, PayRule, bonus, cents, due
from studies.endings import Earnings, Result, counted_matches, mean_bonus, pay_lines
from tests.visitors import Visitor, arrived_participant, launched_study

AMOUNTS = st.decimals(0, 999_999, places=2)
RATES = st.decimals(0, 1000, places=6)
PAYOFFS = st.floats(-1e9, 1e9)
SHARES = st.floats(0, 1)
RULES = st.builds(
    PayRule, base=AMOUNTS, rule=st.sampled_from(["share", "linear", "fixed"]), announced_average=AMOUNTS, rate=RATES,
    cap=AMOUNTS,
)  # fmt: skip


def half_up(amount: Fraction) -> Decimal:
    """Round a non-negative amount to whole cents, computed differently from the code under test."""
    whole_cents, rest = divmod(amount * 100, 1)
    return Decimal(int(whole_cents) + (rest >= Fraction(1, 2))) / 100


def exactly(number: float) -> Fraction:
    """Return the decimal as written: 0.1 is exactly a tenth."""
    return Fraction(repr(number))


@given(rule=RULES, payoff=PAYOFFS, share=SHARES)
def test_the_bonus_is_clipped_between_zero_and_the_cap_in_whole_cents(rule, payoff, share):
    amount = {
        "share": 2 * Fraction(rule.announced_average) * exactly(share),
        "linear": Fraction(rule.rate) * exactly(payoff),
        "fixed": Fraction(rule.announced_average),
    }[rule.rule]
    expected = half_up(min(max(amount, Fraction(0)), Fraction(rule.cap)))
    paid = bonus(rule, payoff=payoff, share=share)
    assert paid == expected
    assert 0 <= paid <= rule.cap


@given(average=AMOUNTS, share=SHARES)
@example(average=Decimal("0.01"), share=0.25)
@example(average=Decimal("3.00"), share=0.5)
def test_the_share_rule_pays_twice_the_average_times_g(average, share):
    rule = PayRule(rule="share", announced_average=average, cap=Decimal(2) * average)
    assert bonus(rule, payoff=0, share=share) == half_up(2 * Fraction(average) * exactly(share))


@given(rule=RULES, payoff=PAYOFFS, shares=st.tuples(SHARES, SHARES))
def test_doing_better_never_pays_less(rule, payoff, shares):
    low, high = sorted(shares)
    assert bonus(rule, payoff=payoff, share=low) <= bonus(rule, payoff=payoff, share=high)
    assert bonus(rule, payoff=payoff, share=low) <= bonus(rule, payoff=payoff + 1000, share=high)


@given(
    rule=RULES.map(lambda rule: rule.model_copy(update={"waiting_rate": Decimal("6.00")})),
    ending=st.sampled_from(sorted(ENDINGS)),
    quiz=st.sampled_from(CAN_PAY["failed_quiz"]),
    matches=st.lists(st.tuples(PAYOFFS, SHARES), max_size=5),
    of=st.sampled_from(["all", "last", "random"]),
    seed=st.integers(0, 99),
    waited=st.floats(0, 10_000),
    own=st.none() | st.lists(RULES, min_size=5, max_size=5),
)
@example(PayRule(), "failed_quiz", "base", [(8.0, 0.44)], "all", 1, 0.0, None)
def test_the_lines_of_the_last_page_add_up_to_what_is_owed(rule, ending, quiz, matches, of, seed, waited, own):
    rule = rule.model_copy(update={"endings": {**ENDINGS_PAY, "failed_quiz": quiz}})
    results = [Result(number, "", *result) for number, result in enumerate(matches, start=1)]
    payoff, share, numbers = counted_matches(results, of, seed=seed)
    own_amounts = {
        result.number: bonus(each, payoff=result.payoff, share=result.share)
        for result, each in zip(results, own or (), strict=False)
    }
    earned = Earnings(
        payoff,
        share,
        waited,
        bonus=mean_bonus(rule, own_amounts, numbers),
        results=results,
        counted=[result for result in results if result.number in numbers],
        own=own_amounts,
    )
    owed = due(rule, ending=ending, **earned.rule_inputs())
    games = dict.fromkeys(range(1, 6), configure(registry.get("beauty_contest"), {}))
    lines = pay_lines(ending, rule, owed, earned, games)
    assert sum(line.amount for line in lines) == sum(owed.values())
    assert all(line.amount == cents(line.amount) for line in lines)
    assert sum(line.reason == "lost" for line in lines) <= 1


@pytest.mark.parametrize(
    ("amount", "rounded"), [("0.005", "0.01"), ("0.015", "0.02"), ("0.025", "0.03"), ("0.0249", "0.02"), ("1", "1.00")]
)
def test_half_a_cent_is_rounded_up(amount, rounded):
    assert str(cents(Decimal(amount))) == rounded


@pytest.mark.parametrize(
    ("ending", "owed"),
    [
        ("completed", {"base": "1.00", "bonus": "1.60"}), ("failed_quiz", {"base": "1.00"}),
        ("opponent_failed", {"base": "1.00", "bonus": "1.00"}), ("failed_code_word", {}), ("timed_out", {}),
        ("dropped_out", {}), ("withdrew", {}), ("returned", {}), ("screened_out", {}),
    ],
)  # fmt: skip
def test_what_each_ending_pays_by_default(ending, owed):
    result = due(PayRule(), ending=ending, payoff=8000, share=0.8)
    assert {reason: str(amount) for reason, amount in result.items()} == owed


def test_every_ending_has_a_default():
    assert set(PayRule().endings) == set(ENDINGS)


@given(rule=RULES, ending=st.sampled_from(sorted(ENDINGS)), payoff=PAYOFFS, share=SHARES)
def test_only_payable_amounts_are_owed(rule, ending, payoff, share):
    owed = due(rule, ending=ending, payoff=payoff, share=share)
    assert all(amount > 0 and amount == cents(amount) for amount in owed.values())
    assert owed.get("bonus", Decimal(0)) <= rule.cap
    assert owed.get("base", rule.base) == rule.base


def test_an_ending_not_named_pays_nothing():
    assert due(PayRule(endings={}), ending="completed", payoff=1, share=1) == {}


def test_completing_without_a_result_pays_the_base():
    assert due(PayRule(), ending="completed", payoff=None, share=None) == {"base": Decimal("1.00")}


@pytest.mark.parametrize(
    "invalid", [{"base": -1}, {"cap": "NaN"}, {"base": "1.005"}, {"currency": "usd"}, {"rate": -1}]
)
def test_an_unpayable_rule_is_invalid(invalid):
    with pytest.raises(ValueError):
        PayRule(**invalid)


def ledger() -> dict[str, Decimal]:
    return dict(LedgerRow.objects.values_list("reason", "amount"))


@pytest.mark.django_db
class TestLedger:
    def finish(self, **study) -> Enrolment:
        """Let a participant finish with half of the money each in the first round."""
        visitor = Visitor(arrived_participant(launched_study(**study))).walk_to("quiz")
        visitor.send(loss_rate="10%")
        return visitor.now()

    def test_a_finished_enrolment_owes_base_and_bonus_with_their_workings(self):
        person = self.finish(base="1.50", average="3.00", currency="EUR")
        assert ledger() == {"base": Decimal("1.50"), "bonus": Decimal("3.00")}
        for row in LedgerRow.objects.all():
            assert (row.enrolment, row.state, row.currency) == (person, LedgerRow.State.DUE, "EUR")
            assert row.workings["payoff"] == 5000
            assert row.workings["share"] == 0.5
            assert PayRule.model_validate(row.workings["rule"]).announced_average == 3
        assert person.earnings["total"] == "€4.50"

    def test_rows_have_unique_identifiers(self):
        self.finish()
        assert len({row.uid for row in LedgerRow.objects.all()}) == 2

    def test_settling_a_second_time_adds_nothing_and_changes_nothing(self):
        person = self.finish()
        before = list(LedgerRow.objects.order_by("pk").values())
        enrolment_ended.send(Enrolment, enrolment=person)
        record_due(person, PayRule(base="9.00"), study="splitting", payoff=1, share=1)
        assert list(LedgerRow.objects.order_by("pk").values()) == before

    def test_looking_at_pages_after_the_end_changes_no_pay(self):
        person = self.finish()
        before = list(LedgerRow.objects.order_by("pk").values())
        visitor = Visitor(person)
        for page in ("", "leave/", "problem/"):
            visitor.client.get(visitor.url + page)
            visitor.client.post(visitor.url + page, {"position": 4, "text": "x"})
        assert list(LedgerRow.objects.order_by("pk").values()) == before

    def test_the_same_reason_cannot_be_owed_twice(self):
        row = {"enrolment": self.finish(), "currency": "USD", "workings": {}}
        with pytest.raises(IntegrityError), transaction.atomic():
            LedgerRow.objects.create(reason="base", amount=1, **row)

    def test_demos_owe_nothing_but_show_what_they_would_pay(self):
        person = self.finish(purpose="demo")
        assert ledger() == {}
        assert person.earnings["total"] == "$2.00"
        assert person.earnings["purpose"] == "demo"
        assert b"would pay" in Visitor(person).see().content

    @pytest.mark.parametrize("ending", [State.FAILED_CODE_WORD, State.WITHDREW, State.TIMED_OUT, State.DROPPED_OUT])
    def test_an_ending_that_pays_nothing_leaves_no_row(self, ending):
        from participants import services

        services.end(arrived_participant(launched_study()), ending)
        assert ledger() == {}

    def test_participants_are_paid_by_the_rule_of_their_version(self):
        from studies.tests.kit import launch_again

        study = launched_study(base="1.00")
        visitor = Visitor(arrived_participant(study)).walk_to("quiz")
        launch_again(study, base="7.00")
        visitor.send(loss_rate="10%")
        assert ledger()["base"] == Decimal("1.00")
