"""What a firm may know, as blocks: its cost, its prices, sales and profits, the rival's prices, and its notes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from games.duopoly.state import DuopolyCore as Duopoly
from games.duopoly.state import History
from games.interface import Attempt, Bar, Bars, Block, Cell, Chart, Fact, Facts, Role, Series, Table, Text
from games.periods import Screen, as_number, shown, two_decimals, with_best
from games.words import gettext as _


def _data(game: Duopoly, state: History, role: Role) -> tuple[Block, ...]:
    charts = _prices(game, state, role), _profit(game, state, role)
    return (*charts, _history(game, state, role))


def _not_in_tools(game: Duopoly, state: History, role: Role) -> tuple[Block, ...]:
    """Return what no tool shows: the period, the cost and the advice."""
    return (_situation(game, state),)


def _rival(game: Duopoly, role: Role) -> Role | None:
    return next((other for other in game.roles() if other != role), None)


def _outcome(game: Duopoly, state: History, role: Role) -> tuple[Block, ...]:
    """Return the outcome of the last period."""
    price, quantity, profit = game.outcome(state, len(state.prices) - 1)[role]
    template = _("At {price} you sold {quantity} and made a profit of {profit}.")
    summary = template.format(price=game.money(price), quantity=shown(quantity), profit=game.money(profit))
    if (rival := _rival(game, role)) is not None:
        summary += " " + _("{rival}'s price was {price}.").format(
            rival=game.role_title(rival), price=game.money(state.prices[-1][rival])
        )
    return (Text("outcome", summary),)


def _situation(game: Duopoly, state: History) -> Facts:
    """Return the period, the cost and the advice."""
    cost = game.market.unit_cost
    facts = [
        game.period_fact(state),
        Fact("cost", _("Your cost per unit"), two_decimals(cost), game.money(cost)),
    ]
    if game.config.advice is not None:
        advice = game.shown_advice
        facts.append(Fact("advised", _("Highest recommended price"), advice, game.money(advice)))
    return Facts("situation", _("Where you stand"), tuple(facts))


def _prices(game: Duopoly, state: History, role: Role) -> Chart:
    """Return the chart of the firm's and its rival's prices."""

    def line(name: str, firm: Role) -> Series:
        points = tuple(
            (float(t), two_decimals(prices[firm])) for t, prices in enumerate(state.prices, start=game.first_period)
        )
        return Series(name, points, firm)

    lines = [line(_("you"), role)] if state.prices else []
    if (rival := _rival(game, role)) is not None and state.prices:
        lines.append(line(game.role_title(rival), rival))
    return Chart("prices", _("Prices so far"), _("Period"), _("Price"), tuple(lines), cuts_outliers=True)


def _profit(game: Duopoly, state: History, role: Role) -> Chart:
    """Return the chart of the firm's profit."""
    points = tuple(
        (float(game.shown_period(t)), two_decimals(game.outcome(state, t)[role][2])) for t in range(len(state.prices))
    )
    lines = (Series(_("you"), points, role),) if points else ()
    return Chart("profit", _("Your profit"), _("Period"), _("Profit"), lines)


def _history(game: Duopoly, state: History, role: Role) -> Table:
    """Return every earlier period."""
    rival = _rival(game, role)
    rows: list[tuple[Cell, ...]] = []
    for t in range(len(state.prices)):
        own_outcome = tuple(shown(value) for value in game.outcome(state, t)[role])
        rows.append(
            (game.shown_period(t), *own_outcome, *([shown(state.prices[t][rival])] if rival is not None else []))
        )
    columns: tuple[str, ...] = (_("Period"), _("Your price"), _("Sold"), _("Your profit"))
    if rival is not None:
        columns = (*columns, _("{rival}'s price").format(rival=game.role_title(rival)))
    return Table("history", _("Your sales so far"), columns, tuple(rows), sortable=True, newest_first=True, folds=True)


def _attempts(history: Table) -> Sequence[Attempt]:
    """Return the firm's earlier prices with what came of them, and the rival's prices."""
    attempts = [
        Attempt(str(period), f"{_('Price')}: {price}", tuple(zip(history.columns[2:], map(str, outcome), strict=True)))
        for period, price, *outcome in history.rows
    ]
    profits = [as_number(str(profit)) for _period, _price, _sold, profit, *_rival in history.rows]
    return with_best(attempts, profits, _("highest profit so far"))


def _result(game: Duopoly, state: History, role: Role) -> tuple[Block, ...]:
    """Return how the game ended."""
    profit = game.payoffs(state)[role]
    return (Facts("result", _("The result"), (Fact("payoff", _("Your total profit"), profit, game.money(profit)),)),)


def _bars(game: Duopoly, state: History, role: Role) -> Bars:
    """Return the firms' average prices; profits of others stay their own."""
    means = {firm: fmean(prices[firm] for prices in state.prices) for firm in game.roles()}
    return Bars(
        _("Average price") if len(means) == 1 else _("Who asked which price, on average"),
        tuple(
            Bar(_("You") if firm == role else game.role_title(firm), game.money(mean), mean, role=firm)
            for firm, mean in means.items()
        ),
    )


def _published(game: Duopoly, state: History, role: Role) -> tuple[Block, ...]:
    """Return the advice."""
    if game.over(state) or game.config.advice is None:
        return ()
    words = _("Prices above {price} are not recommended.")
    return (Text("advised", words.format(price=f"{game.shown_advice:.2f}")),)


SCREEN = Screen(_outcome, _result, _data, _bars, not_in_tools=_not_in_tools, published=_published, attempts=_attempts)
