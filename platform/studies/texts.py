"""The house's own texts for a study: consent, and what is said about pay."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from payouts.rules import PayRule, least_of
from studies.design import cells_wanted
from studies.models import Study

_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}


def in_currency(amount: Decimal, currency: str) -> str:
    """An amount with its currency: "$1.00", "1.00 CHF"."""
    symbol = _SYMBOLS.get(currency)
    return f"{symbol}{amount:.2f}" if symbol else f"{amount:.2f} {currency}"


_ENDINGS = {
    "failed_code_word": _lazy("the code word is wrong"),
    "failed_quiz": _lazy("the question after the game is answered wrongly"),
    "opponent_failed": _lazy("the game stops through no fault of yours"),
    "screened_out": _lazy("your answers show that the study is not for you"),
    "timed_out": _lazy("your time runs out"),
    "dropped_out": _lazy("you are away for too long"),
    "withdrew": _lazy("you leave before the end"),
}


def possible_endings(*, code_word: bool, quiz: bool, screens: bool) -> list[str]:
    """Which endings, other than completing and returning, somebody can meet in such a study."""
    asked = {"failed_code_word": code_word, "failed_quiz": quiz, "screened_out": screens}
    return [ending for ending in _ENDINGS if asked.get(ending, True)]


def endings_of(study: Study) -> list[str]:
    """Which endings somebody can meet in the study as it stands."""
    screens = any(question.get("ends") for question in study.survey_before or ())
    return possible_endings(code_word=study.asks_code_word, quiz=study.asks_quiz, screens=screens)


def endings_promise(rule: PayRule, endings: Collection[str]) -> str:
    """What ending otherwise pays, in one sentence, the most first."""
    by_pay: dict[tuple[Decimal, bool], list[str]] = {}
    for ending in endings:
        with_bonus = rule.endings.get(ending) == "base_and_bonus"
        by_pay.setdefault((least_of(rule, ending=ending), with_bonus), []).append(str(_ENDINGS[ending]))
    parts = []
    for (amount, with_bonus), reasons in sorted(by_pay.items(), reverse=True):
        *most, last = reasons
        listed = _("{reasons} or {last}").format(reasons=", ".join(most), last=last) if most else last
        if with_bonus:
            says = _("{amount} and the bonus if {reasons}")
        else:
            says = _("{amount} if {reasons}") if amount else _("nothing if {reasons}")
        parts.append(says.format(amount=_of(rule, amount), reasons=listed))
    return _("If it ends otherwise, you are paid {parts}.").format(parts="; ".join(parts))


def leaving_promise(rule: PayRule) -> str:
    """What leaving before the end pays, in one sentence."""
    amount = least_of(rule, ending="withdrew")
    if not amount:
        return _("Leaving before the end pays nothing.")
    return _("Leaving before the end pays {amount}.").format(amount=_of(rule, amount))


def _of(rule: PayRule, amount: Decimal) -> str:
    return in_currency(amount, rule.currency)


def pay_promise(rule: PayRule, averages: Collection[Decimal] = ()) -> str:
    """What finishing pays, in one sentence.

    Args:
        averages: the announced average bonuses of a study in which they differ.
    """
    base = in_currency(rule.base, rule.currency)
    average = in_currency(rule.announced_average, rule.currency)
    if len(set(averages)) > 1:
        return _(
            "Finishing pays {base} plus a bonus that depends on the game: on average between {least} and {most}. "
            "You learn yours before the game begins."
        ).format(
            base=base, least=in_currency(min(averages), rule.currency), most=in_currency(max(averages), rule.currency)
        )
    if rule.rule == "fixed":
        return _("Finishing pays {base} plus a bonus of {average}.").format(base=base, average=average)
    return _("Finishing pays {base} plus a bonus that depends on how you do in the game, {average} on average.").format(
        base=base, average=average
    )


def default_consent(study: Study) -> str:
    """A consent text that is true for this study (Markdown)."""
    averages = [cell.average for cell in cells_wanted(study) if cell.average is not None]
    opponent = (
        _("The other player is a computer program, possibly a language model.")
        if study.tells_opponent
        else _("The other player may be a person or a computer program.")
    )
    pay = [pay_promise(study.pay(), averages)]
    if len(set(averages)) < 2:
        pay.append(endings_promise(study.pay(), endings_of(study)))
    return "\n\n".join(
        [
            _("You are invited to take part in a study on how people decide in economic games."),
            _("You will read the rules, play one game, and answer one question about it. {opponent}").format(
                opponent=opponent
            ),
            " ".join(pay),
            _(
                "We keep your decisions, your messages in the game, your answers to our questions, and how you used "
                "our pages: how long you took, whether you went to another window, and whether you pasted text (never "
                "which). They are published without your name or worker number. Please write nothing that tells who "
                "you are."
            )
            if study.survey_before or study.survey_after
            else _(
                "We keep your decisions, your messages in the game, and how you used our pages: how long you took, "
                "whether you went to another window, and whether you pasted text (never which). They are published "
                "without your name or worker number. Please write nothing in the game that tells who you are."
            ),
            _("Taking part is voluntary. You can leave at any moment with the link at the bottom of every page."),
        ]
    )
