"""Parley's own texts for a study: the default consent text and the sentences about pay."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from games.interface import Game, Role
from participants.states import WITHOUT_ASSIGNMENT
from plans import stages
from plans.checking import matches_of
from plans.pay import HALF, PayRule, in_currency, least_of, shown_bonus
from plans.plan import Plan
from studies.disclosure import Outlook

_ENDINGS = {
    "failed_code_word": gettext_lazy("the code word is wrong"),
    "failed_comprehension": gettext_lazy("you get a question about the rules wrong too often"),
    "failed_quiz": gettext_lazy("you get a question after the game wrong"),
    "opponent_failed": gettext_lazy("the game stops through no fault of yours"),
    "our_outage": gettext_lazy("our server is unavailable for too long"),
    "partner_left": gettext_lazy("another player leaves the game"),
    "no_partner": gettext_lazy("not enough people arrive to start the game, or you miss its start twice"),
    "replaced": gettext_lazy("a program takes your seat because you don't answer"),
    "screened_out": gettext_lazy("your answers show that the study is not for you"),
    "timed_out": gettext_lazy("your time runs out"),
    "dropped_out": gettext_lazy("you are away for too long"),
    "withdrew": gettext_lazy("you leave before the end"),
}


def possible_endings(plan: Plan, *, groups: bool, screens: bool = True) -> list[str]:
    """Return the endings, other than completing and returning, that are possible in a cell.

    Args:
        groups: whether participants play with each other.
        screens: whether answers may still end the study.
    """
    found = list(plan.stages())
    games = [stage for stage in found if isinstance(stage, stages.Game)]
    played = [stage for stage in games if not isinstance(stage, stages.Conversation)]
    first = played if played and played[0].show_if else played[:1]
    questions = [item for stage in found for item in stage.questions()]
    comprehension = [stage.comprehension for stage in games if stage.comprehension is not None]
    conditions = {
        "failed_code_word": any(stage.code_word is not None for stage in first),
        "failed_comprehension": any(asked.failed == "end" for asked in comprehension),
        "failed_quiz": any(stage.quiz for stage in games),
        "screened_out": screens and any(item.ends_if for item in questions),
    }
    conditions |= dict.fromkeys(("partner_left", "no_partner", "replaced"), groups)
    return [ending for ending in _ENDINGS if conditions.get(ending, True)]


def endings_table(rule: PayRule, endings: Collection[str]) -> list[list[str]]:
    """Return what each ending pays, as rows of (ending, pay), completing first and then highest first."""
    rows = sorted(endings, key=lambda ending: _rank(rule, ending), reverse=True)
    table = [[_("You finish"), _pay_of(rule, "completed")]]
    for ending in rows:
        text = str(_ENDINGS[ending])
        table.append([text[:1].upper() + text[1:], _pay_of(rule, ending)])
    return table


def _pay_of(rule: PayRule, ending: str) -> str:
    """Return what an ending pays, within a sentence: "$1.00 and the bonus", "nothing"."""
    pays, amount = rule.endings.get(ending), least_of(rule, ending=ending)
    if pays == "base_and_bonus":
        return _("{amount} and the bonus").format(amount=_amount(rule, amount))
    if pays == "base_after_half" and rule.base:
        return _("{amount} once you have played half, and nothing before").format(amount=_amount(rule, rule.base))
    return _amount(rule, amount) if amount else _("nothing")


def _rank(rule: PayRule, ending: str) -> Decimal:
    half = rule.base / 2 if rule.endings.get(ending) == "base_after_half" else Decimal(0)
    return half or least_of(rule, ending=ending)


def as_markdown(table: list[list[str]], head: tuple[str, str]) -> str:
    """Return a Markdown table with two columns."""
    return "\n".join(f"| {left} | {right} |" for left, right in [head, ("---", "---"), *table])


def worked_examples(rule: PayRule, game: Game[Any, Any], role: Role) -> str:
    """Return worked examples of the bonus, computed by the pay rule; empty if the rule has none."""
    stored = rule.model_dump_json()
    if rule.rule == "fixed":
        return ""
    phrases = []
    for example in game.pay_examples(role):
        amount = shown_bonus(stored, example.payoff, example.share)
        if amount is not None:
            phrases.append(_("{when}, your bonus is {amount}").format(when=example.words, amount=amount))
    if not phrases and rule.rule == "linear" and not game.pays_alike():
        earned = Decimal(10) ** max(0, -rule.rate.adjusted()) if rule.rate else Decimal(100)
        amount = shown_bonus(stored, float(earned), None)
        phrases = [
            _("if you earn {earned}, your bonus is {amount}").format(earned=game.money(float(earned)), amount=amount)
        ]
    if not phrases:
        return ""
    unit = _("Points are not money.") if game.amounts == "points" else _("The game's dollars are not real money.")
    return " ".join([unit, _("For example, {parts}.").format(parts="; ".join(phrases))])


def quiz_stake(rule: PayRule) -> str:
    """Return what is at stake in the quiz, shown before it is answered."""
    if rule.endings.get("failed_quiz") == "base_and_bonus":
        return _("A wrong answer costs you nothing, but your game is then left out of the research data.")
    return _("If you answer correctly, you are paid {right}; otherwise, {wrong}.").format(
        right=_("{base} and the bonus of your game").format(base=_amount(rule, rule.base)),
        wrong=_pay_of(rule, "failed_quiz"),
    )


def key_facts(plan: Plan, rule: PayRule, *, length: str = "", about_minutes: int | None = None) -> list[list[str]]:
    """Return facts to know before consenting, as rows of (topic, text): time, rounds, and effect of being away.

    Args:
        length: of the game, if it is the same for everyone.
        about_minutes: the expected minutes, if known.
    """
    timings = [stage.timing for stage in plan.games() if not isinstance(stage, stages.Conversation)]
    total = _("at most {time} from now").format(time=seconds_in_words(60 * plan.minutes))
    if about_minutes is not None and about_minutes < plan.minutes:
        expected = ngettext("about {minutes} minute", "about {minutes} minutes", about_minutes).format(
            minutes=about_minutes
        )
        total = _("{likely}; {at_most}").format(likely=expected, at_most=total)
    answering, absences = (
        (_time_to_answer(timing) for timing in timings),
        (_absence(timing, rule) for timing in timings),
    )
    rows = [
        [_("Total time"), total],
        [_("Time to answer"), _of_games(answering)],
        [_("Length of the game"), length],
        [_("If you are away longer than that"), _of_games(absences)],
    ]
    return [row for row in rows if row[1]]


def _time_to_answer(timing: stages.Timing) -> str:
    answer = _("{time} for each answer").format(time=seconds_in_words(timing.turn))
    if not timing.extension:
        return answer
    return _("{answer}, plus {extra} more once").format(answer=answer, extra=seconds_in_words(timing.extension))


def _absence(timing: stages.Timing, rule: PayRule) -> str:
    if timing.on_timeout == "default":
        return _("a default answer is given for you, and the game continues")
    ending = "replaced" if timing.on_timeout == "agent" else "timed_out"
    return _("the game ends, and you are paid {pay}").format(pay=_pay_of(rule, ending))


def _of_games(facts: Iterable[str]) -> str:
    """Return what holds for the games of a study, of each if they differ."""
    return _("; or, in other games, ").join(dict.fromkeys(facts))


def seconds_in_words(seconds: int) -> str:
    """Return a duration in readable form: "45 seconds", "3 minutes", "1 minute 30 seconds"."""
    minutes, seconds_left = divmod(seconds, 60)
    phrases = []
    if minutes:
        phrases.append(ngettext("{number} minute", "{number} minutes", minutes).format(number=minutes))
    if seconds_left or not minutes:
        phrases.append(ngettext("{number} second", "{number} seconds", seconds_left).format(number=seconds_left))
    return " ".join(phrases)


def base_reason(rule: PayRule, *, ending: str, played: float) -> str:
    """Return the short reason shown beside the base pay on the last page; empty if none is needed."""
    if rule.endings.get(ending) != "base_after_half":
        return ""
    return _("you had played half or more") if played >= HALF else _("you had played less than half")


def bonus_reason(
    rule: PayRule, *, ending: str, result: tuple[float, float] | None, game: Game[Any, Any] | None, waited: float = 0
) -> str:
    """Return the short reason shown beside the bonus on the last page.

    Args:
        result: the payoff and the share of the match that is paid; None if there is none.
        waited: seconds of waiting for a group that never formed.
    """
    pay = rule.endings.get(ending, "nothing")
    if pay == "base_and_average":
        return _("the average bonus, since the game stopped through no fault of yours")
    if ending == "no_partner" and rule.waiting_rate:
        return _("you waited {time}, paid at {rate} an hour").format(
            time=seconds_in_words(round(waited)), rate=_amount(rule, rule.waiting_rate)
        )
    if pay != "base_and_bonus":
        return _("this ending pays no bonus")
    if result is None or game is None:
        return _("no game was finished")
    if rule.rule == "fixed" or game.pays_alike():
        return _("the same for everyone who finishes")
    payoff, share = result
    if rule.rule == "linear":
        return _("{earned}, times {rate}").format(earned=earned_in(game, payoff), rate=_rate(rule))
    return _("{earned}, {percent} of {most}").format(
        earned=earned_in(game, payoff), percent=f"{100 * share:.4g}%", most=_amount(rule, 2 * rule.announced_average)
    )


def earned_in(game: Game[Any, Any], payoff: float) -> str:
    """Return what a participant earned or lost in a match, in the game's unit."""
    text = _("you lost {amount} in the game") if payoff < 0 else _("you earned {amount} in the game")
    return text.format(amount=game.money(abs(payoff)))


def limit_reason(rule: PayRule, change: Decimal) -> str:
    """Return which limit of the bonus changed it by this amount."""
    if change > 0:
        return _("a bonus is never below zero")
    return _("a bonus is at most {most}").format(most=_amount(rule, rule.cap))


def _rate(rule: PayRule) -> str:
    """Return the rate of a linear rule with all its digits."""
    digits = f"{rule.rate.normalize():f}"
    return in_currency(rule.rate, rule.currency) if rule.rate == round(rule.rate, 2) else f"{digits} {rule.currency}"


def paid_within(days: int | None) -> str:
    """Return the sentence on when the researchers pay; empty if they promise nothing."""
    if days is None:
        return ""
    return ngettext("They pay within {days} day.", "They pay within {days} days.", days).format(days=days)


def whom_to_ask(contact: str, entry: str) -> str:
    """Return the sentence on whom a participant asks about the pay.

    Args:
        entry: the kind of link the participant came by.
    """
    if contact:
        ask = _("Ask {contact}, or use “Report a problem” below.").format(contact=contact)
    elif entry in WITHOUT_ASSIGNMENT:
        ask = _("Ask the people who invited you, or use “Report a problem” below.")
    else:
        ask = _("Ask the researchers through the site that brought you here, or use “Report a problem” below.")
    return _("Questions about your pay? {ask} We read every report.").format(ask=ask)


def leaving_promise(rule: PayRule) -> str:
    """Return one sentence on what leaving before the end pays."""
    amount = least_of(rule, ending="withdrew")
    if not amount:
        return _("You are not paid if you leave before the end.")
    return _("If you leave before the end, you are paid {amount}.").format(amount=_amount(rule, amount))


def _amount(rule: PayRule, amount: Decimal) -> str:
    return in_currency(amount, rule.currency)


def pay_promise(rule: PayRule, averages: Collection[Decimal] = (), *, alike: bool = False) -> str:
    """Return one sentence on what completing pays.

    Args:
        averages: the announced average bonuses, if the study has several.
        alike: whether the bonus is independent of the decisions (`Game.pays_alike`).
    """
    base = in_currency(rule.base, rule.currency)
    average = in_currency(rule.announced_average, rule.currency)
    if len(set(averages)) > 1:
        return _(
            "Finishing pays {base} plus a bonus that depends on the game, between {least} and {most} on "
            "average. You will see yours before the game begins."
        ).format(
            base=base, least=in_currency(min(averages), rule.currency), most=in_currency(max(averages), rule.currency)
        )
    if alike and rule.rule != "linear":
        return _(
            "Finishing pays {base} plus a bonus of {average}, whatever you decide in the game. There are "
            "no right or wrong answers."
        ).format(base=base, average=average)
    if rule.rule == "fixed":
        return _("Finishing pays {base} plus a bonus of {average}.").format(base=base, average=average)
    return _("Finishing pays {base} plus a bonus that depends on how you do in the game, {average} on average.").format(
        base=base, average=average
    )


def counted_matches(of: str, matches: int) -> str:
    """Return from which of several matches the bonus is computed (`plans.pay.Bonus.of`); empty for one match."""
    if matches == 1:
        return ""
    return {
        "all": _("The bonus is computed from the average of your games."),
        "last": _("The bonus is computed from your last game only."),
        "random": _("The bonus is computed from one of your games, drawn at random at the end."),
    }[of]


def session_promise(of: str, matches: int, *, several: bool) -> str:
    """Return what the instructions say about several matches and their pay; empty for one match.

    Args:
        of: which matches count (`plans.pay.Bonus.of`).
        several: whether the matches are not all the same.
    """
    if matches == 1:
        return ""
    text = _("You play {number} games. {pays}").format(number=matches, pays=counted_matches(of, matches))
    if not several:
        return text
    return _("{says} They are not all the same. You will read the rules of each game before it begins.").format(
        says=text
    )


def waiting_promise(plan: Plan, longest: stages.Lobby) -> str:
    """Return one sentence on waiting for the others, for studies with several participants per match.

    Args:
        longest: the lobby with the longest wait.
    """
    minutes = max(1, round(longest.wait / 60))
    limit_text = ngettext(
        "You may have to wait for the others, for at most {minutes} minute.",
        "You may have to wait for the others, for at most {minutes} minutes.",
        minutes,
    ).format(minutes=minutes)
    if longest.otherwise == "agents":
        return f"{limit_text} {_('After that, the study goes on.')}"
    pay_sentence = _(
        "If too few people arrive by then, you are paid {base} and {rate} an hour for the time you waited."
    ).format(
        base=in_currency(plan.pay.base, plan.pay.currency), rate=in_currency(plan.pay.waiting_rate, plan.pay.currency)
    )
    return f"{limit_text} {pay_sentence}"


def behaviour_counted() -> str:
    """Return what participants are told about the recording of page behaviour."""
    return _(
        "We record how you type, move the pointer and click (never which keys), to see whether people "
        "or computer programs answer. It affects neither your pay nor whether you may take part. You "
        "are welcome to use screen readers, dictation and other aids."
    )


def default_debriefing(contact: str) -> str:
    """Return a debriefing that is true of every study (Markdown).

    Args:
        contact: whom to ask; empty if the study names nobody.
    """
    return _(
        "Thank you for taking part. We study how people decide in economic games, with other people and with computer "
        "programs. Your decisions help us to understand what each of them does differently. If you have questions "
        "about the study, or want your data to be deleted, please write to {contact}."
    ).format(contact=contact or _("the people who invited you"))


def default_consent(plan: Plan, outlook: Outlook) -> str:
    """Return a consent text that is accurate for a cell, and holds for all of them where that matters (Markdown)."""
    number = matches_of(plan.journey, games=True)
    asks_quiz = any(stage.quiz for stage in plan.games())
    if number > 1:
        template = _("You will read the rules, play {number} games, and answer questions about them.")
        if not asks_quiz:
            template = _("You will read the rules and play {number} games.")
        tasks = template.format(number=number)
    elif asks_quiz:
        tasks = _("You will read the rules, play one game, and answer one question about it.")
        if outlook.questions:
            tasks = _("You will read the rules, play one game, and answer a few questions about it.")
    elif number == 1:
        tasks = _("You will read the rules and play one game.")
    else:
        tasks = ""
    talks = any(isinstance(stage, stages.Conversation) for stage in plan.games())
    talking = _("You will talk in a chat.") if talks else ""
    waiting_sentence = waiting_promise(plan, outlook.longest) if outlook.longest is not None else ""
    disclosure_text = outlook.disclosures[plan.told.others].get("words")
    before = any(stage.comprehension is not None for stage in plan.games())
    questions_first = _("Before you play, you answer a few questions about the rules.") if before else ""
    tasks = " ".join(filter(None, [tasks, talking, questions_first, disclosure_text, waiting_sentence]))
    rule = plan.pay.rule_for()
    pay = [pay_promise(rule, outlook.averages, alike=outlook.alike)]
    if len(outlook.averages) < 2:
        table = endings_table(rule, possible_endings(plan, groups=outlook.longest is not None))
        pay.append(as_markdown(table, (_("How it ends"), _("You are paid"))))
    asks = any(stage.questions() for stage in plan.stages())
    return "\n\n".join(
        [
            _("You are invited to take part in a study on how people make decisions in economic games."),
            tasks,
            *pay,
            _(
                "We keep your decisions, your messages in the game, your answers to our questions, and how you "
                "used our pages: how long you took, whether you switched to another window, and whether you "
                "pasted text (never which text). They are published without your name or participant ID. Please "
                "don't write anything that shows who you are."
            )
            if asks
            else _(
                "We keep your decisions, your messages in the game, and how you used our pages: how long you "
                "took, whether you switched to another window, and whether you pasted text (never which text). "
                "They are published without your name or participant ID. Please don't write anything in the "
                "game that shows who you are."
            ),
            *([behaviour_counted()] if plan.checks.behaviour else []),
            _("Taking part is voluntary. You can leave at any time with the link at the bottom of every page."),
        ]
    )
