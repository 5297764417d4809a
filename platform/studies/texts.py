"""The house's own texts for a study: consent, and what is said about pay."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from django.utils.translation import gettext as _

from payouts.rules import PayRule
from studies.design import cells_wanted
from studies.models import Study

_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}


def in_currency(amount: Decimal, currency: str) -> str:
    """An amount with its currency: "$1.00", "1.00 CHF"."""
    symbol = _SYMBOLS.get(currency)
    return f"{symbol}{amount:.2f}" if symbol else f"{amount:.2f} {currency}"


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
    return "\n\n".join(
        [
            _("You are invited to take part in a study on how people decide in economic games."),
            _("You will read the rules, play one game, and answer one question about it. {opponent}").format(
                opponent=opponent
            ),
            pay_promise(study.pay(), averages),
            _(
                "We keep your decisions, your messages in the game, your answers to our questions, and how long you "
                "took. They are published without your name or worker number. Please write nothing that tells who you "
                "are."
            )
            if study.survey_before or study.survey_after
            else _(
                "We keep your decisions, your messages in the game, and how long you took. They are published without "
                "your name or worker number. Please write nothing in the game that tells who you are."
            ),
            _("Taking part is voluntary. You can leave at any moment with the link at the bottom of every page."),
        ]
    )
